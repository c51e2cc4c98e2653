/* common_plan_test: two processes whose hosts have different devices. In place of MPI, they talk
 * through a socket. */
#include "../../bench/device/team_device.h"
#include "../../bench/device/backends.h"
#include "../../emulator/emulator.h"
#include "../../bench/base/errors.h"
#include "../../bench/base/processes.h"
#include "../../bench/cli/parse_options.h"
#include "../../bench/run/common_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int to_other = -1;

static void transfer(ssize_t (*function)(int, void *, size_t), char *at, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t done = function(to_other, at, bytes);
        if (done <= 0)
            _exit(99); /* the other has ended */
        at += done;
        bytes -= (size_t)done;
    }
}

static ssize_t write_some(int file, void *at, size_t bytes)
{
    return write(file, at, bytes);
}

/* Takes the place of the function in bench/base/processes.c. */
void gather_from_processes(const void *mine, size_t bytes, void *all)
{
    char *const in = all;
    memcpy(in + processes.number * bytes, mine, bytes);
    if (processes.count == 1)
        return;
    transfer(write_some, in + processes.number * bytes, bytes);
    transfer(read, in + (1 - processes.number) * bytes, bytes);
}

static void start_as(unsigned number)
{
    processes = (struct processes){.count = 2, .number = number, .hosts = 2, .on_this_host = 1};
    if (number > 0)
        say_nothing();
}

/* Plans as one of two processes, each on a host of its own. Returns the exit code. */
static int plan_as(int gpu_count, const char *const flags[])
{
    const struct machine machine = {.gpu_count = gpu_count, .why_none = "no GPU"};
    struct options options;
    struct plan plan;
    char *argv[8] = {"scanbench"};
    int argc = 1;
    for (; flags[argc - 1] != NULL; argc++)
        argv[argc] = (char *)flags[argc - 1];
    int code = parse_options(argc, argv, &options);
    if (code != EXIT_OK)
        return code;
    code = make_common_plan(&options, &machine, &plan);
    free_plan(&plan);
    free_options(&options);
    return code;
}

/* Opens a team of emulated devices with so many multiprocessors. */
static int open_as(int multiprocessors, const char *const flags[])
{
    (void)flags;
    struct device_info info;
    struct device_limits limits;
    struct device *device;
    emulator_set_multiprocessors((unsigned)multiprocessors);
    const char *why = open_team(backend_of(DEVICE_EMULATOR), 0, 1, 1, &info, &limits, &device);
    complain("%s", why != NULL ? why : info.name);
    if (why == NULL)
        device->can->close(device);
    return why != NULL ? EXIT_ERROR : EXIT_OK;
}

/* Runs both. Returns the exit code of both, and fills `said`. */
static int run_both(int (*run)(int number, const char *const flags[]), const int numbers[2],
                    const char *const flags[2][8], char said[4096])
{
    int pair[2], errors[2], status;
    size_t length = 0;
    ssize_t part;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(pipe(errors), 0);
    pid_t child[2];
    for (unsigned number = 0; number < 2; number++) {
        child[number] = fork();
        if (child[number] == 0) {
            dup2(errors[1], STDERR_FILENO);
            close(errors[1]);
            to_other = pair[number];
            close(pair[1 - number]);
            start_as(number);
            _exit(run(numbers[number], flags[number]));
        }
    }
    close(errors[1]);
    close(pair[0]);
    close(pair[1]);
    while ((part = read(errors[0], said + length, 4095 - length)) > 0)
        length += (size_t)part;
    said[length] = '\0';
    close(errors[0]);
    int code[2];
    for (int number = 0; number < 2; number++) {
        waitpid(child[number], &status, 0);
        code[number] = WIFEXITED(status) ? WEXITSTATUS(status) : 99;
    }
    if (code[0] != code[1] || code[0] == 99)
        fail_msg("exit codes %d and %d: %s", code[0], code[1], said);
    return code[0];
}

static int plan_both(const int gpus[2], const char *const flags[2][8], char said[4096])
{
    return run_both(plan_as, gpus, flags, said);
}

static void hosts_with_different_numbers_of_gpus(void **state)
{
    (void)state;
    const char *const all[2][8] = {{"--gpus=all", "--algo=mpi", "--n=10"},
                                   {"--gpus=all", "--algo=mpi", "--n=10"}};
    const char *const two[2][8] = {{"--gpus=2", "--algo=mpi", "--n=10"},
                                   {"--gpus=2", "--algo=mpi", "--n=10"}};
    char said[4096];
    assert_int_equal(plan_both((const int[]){2, 4}, all, said), EXIT_UNUSABLE);
    /* A build without CUDA names what it lacks, too. */
    assert_non_null(strstr(said,
                           "scanbench: rank 1 would run scan of n = 10, i32, sum, exclusive, none, "
                           "cold, on gpu, 4 per process: mpi"));
    assert_non_null(strstr(said,
                           ", and rank 0 scan of n = 10, i32, sum, exclusive, none, cold, on gpu, "
                           "2 per process: mpi"));
    assert_non_null(strstr(said, "; the hosts have different devices: name some that all have, by "
                                 "--device and --gpus\n"));
    assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
    assert_int_equal(plan_both((const int[]){2, 4}, two, said), EXIT_OK);
    assert_string_equal(said, "");
    assert_int_equal(plan_both((const int[]){4, 4}, all, said), EXIT_OK);
    assert_string_equal(said, "");
    assert_int_equal(plan_both((const int[]){2, 1}, two, said), EXIT_UNUSABLE);
    assert_string_equal(said,
                        "scanbench: another process cannot run this: its host lacks a device\n");
}

/* GPU algorithms are emulated on one of the hosts. */
static void a_host_without_a_gpu(void **state)
{
    (void)state;
    const char *const any[2][8] = {{"--algo=mpi", "--n=10"}, {"--algo=mpi", "--n=10"}};
    const char *const cpu[2][8] = {{"--algo=mpi", "--n=10", "--device=cpu"},
                                   {"--algo=mpi", "--n=10", "--device=cpu"}};
    char said[4096];
    assert_int_equal(plan_both((const int[]){1, 0}, any, said), EXIT_UNUSABLE);
    assert_non_null(strstr(said, "scanbench: rank 1 would run scan of n = 10, "));
    assert_non_null(strstr(said, "the hosts have different devices"));
    assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
    assert_int_equal(plan_both((const int[]){1, 0}, cpu, said), EXIT_OK);
    assert_string_equal(said, "");
}

static void gpus_of_different_kinds(void **state)
{
    (void)state;
    const char *const none[2][8] = {{NULL}, {NULL}};
    char said[4096];
    assert_int_equal(run_both(open_as, (const int[]){4, 4}, none, said), EXIT_OK);
    assert_null(strstr(said, " and ")); /* the name, once */
    assert_int_equal(run_both(open_as, (const int[]){4, 6}, none, said), EXIT_ERROR);
    assert_non_null(strstr(said, "scanbench: GPUs that share an array must be alike: rank 1 has "));
    assert_non_null(strstr(said, " (6 multiprocessors, "));
    assert_non_null(strstr(said, ", rank 0 "));
    assert_non_null(strstr(said, " (4 multiprocessors, "));
}

/* What no MPI is needed to see. */
static void flags_that_differ(void **state)
{
    (void)state;
    const char *const sizes[2][8] = {{"--n=10", "--device=cpu"}, {"--n=20", "--device=cpu"}};
    const char *const wrong[2][8] = {{"--n=10", "--device=cpu"}, {"--m=20", "--device=cpu"}};
    char said[4096];
    assert_int_equal(plan_both((const int[]){0, 0}, sizes, said), EXIT_USAGE);
    assert_string_equal(said, "scanbench: rank 1 has --n=20, and rank 0 has --n=10; every process "
                              "needs the same flags\n");
    assert_int_equal(plan_both((const int[]){0, 0}, wrong, said), EXIT_USAGE);
    assert_non_null(strstr(said, "scanbench: rank 1: "));
    assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_with_different_numbers_of_gpus),
        cmocka_unit_test(a_host_without_a_gpu),
        cmocka_unit_test(gpus_of_different_kinds),
        cmocka_unit_test(flags_that_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
