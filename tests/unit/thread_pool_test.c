/* thread_pool_test: each part is done once, with helpers, without, and while they get no processor.
 */
#define _GNU_SOURCE /* SCHED_IDLE */
#include "../../bench/base/thread_pool.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

struct tally {
    _Atomic unsigned times[MOST_PARTS];
    unsigned parts;
};

static void count(void *context, unsigned part, unsigned parts)
{
    struct tally *tally = context;
    if (parts == tally->parts && part < parts)
        tally->times[part]++;
}

/* Returns how many of the parts were done exactly once. */
static unsigned done_once(unsigned parts)
{
    struct tally tally = {.parts = parts};
    unsigned once = 0;
    run_parts(parts, NULL, count, &tally);
    for (unsigned part = 0; part < MOST_PARTS; part++)
        once += part < parts ? tally.times[part] == 1 : 0;
    return once;
}

static void each_part_is_done_once(void **state)
{
    (void)state;
    static const unsigned sizes[] = {1, 2, 3, 2, 17, 64, 5, 300, 1};
    for (int round = 0; round < 100; round++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            assert_int_equal(done_once(sizes[s]), sizes[s]);
}

static void as_many_as_possible(void **state)
{
    (void)state;
    assert_int_equal(done_once(MOST_PARTS), MOST_PARTS);
}

/* ---- Several callers ---- */

static void *call_often(void *context)
{
    unsigned *wrong = context;
    for (int round = 0; round < 500; round++)
        *wrong += done_once(4) != 4;
    return NULL;
}

static void callers_do_not_disturb_each_other(void **state)
{
    (void)state;
    enum { CALLERS = 4 };
    pthread_t threads[CALLERS];
    unsigned wrong[CALLERS] = {0};
    for (int c = 0; c < CALLERS; c++)
        assert_int_equal(pthread_create(&threads[c], NULL, call_often, &wrong[c]), 0);
    for (int c = 0; c < CALLERS; c++) {
        pthread_join(threads[c], NULL);
        assert_int_equal(wrong[c], 0);
    }
}

static void call_within(void *context, unsigned part, unsigned parts)
{
    (void)part;
    (void)parts;
    _Atomic unsigned *right = context;
    *right += done_once(3) == 3;
}

static void a_part_may_call(void **state)
{
    (void)state;
    _Atomic unsigned right = 0;
    run_parts(3, NULL, call_within, &right);
    assert_int_equal(right, 3);
}

/* ---- Between calls ---- */

static double now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static double cpu_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static void sleep_ms(int ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static void helpers_rest_when_told_to(void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++) {
        assert_int_equal(done_once(4), 4);
        rest_helpers(1);
        const double before = cpu_ms();
        sleep_ms(10);
        assert_true(cpu_ms() - before < 2);
    }
}

/* Those of an earlier call with more parts do not spin after each later one. */
static void helpers_that_are_not_needed_sleep(void **state)
{
    (void)state;
    assert_int_equal(done_once(16), 16);
    for (int round = 0; round < 20; round++) {
        assert_int_equal(done_once(2), 2);
        sleep_ms(1);
    }
    const double start = now_ms(), before = cpu_ms();
    for (int round = 0; round < 20; round++) {
        assert_int_equal(done_once(2), 2);
        sleep_ms(1);
    }
    assert_true(cpu_ms() - before < 1.5 * (now_ms() - start));
}

/* The signals that a thread of this process blocks, signal s as bit s - 1. */
static uint64_t blocked_by(const char *thread)
{
    char path[64], line[256];
    unsigned long long signals = 0;
    snprintf(path, sizeof path, "/proc/self/task/%.20s/status", thread);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        sscanf(line, "SigBlk: %llx", &signals);
    if (file != NULL)
        fclose(file);
    return signals;
}

/* Faults are for whoever watches memory; Ctrl-C is for the program's own threads. */
static void helpers_block_signals_but_no_faults(void **state)
{
    (void)state;
    unsigned helpers = 0;
    assert_int_equal(done_once(4), 4);
    DIR *threads = opendir("/proc/self/task");
    assert_non_null(threads);
    for (const struct dirent *entry; (entry = readdir(threads)) != NULL;)
        if (atoi(entry->d_name) > 0 && atoi(entry->d_name) != getpid()) {
            const uint64_t blocked = blocked_by(entry->d_name);
            assert_true(blocked >> (SIGINT - 1) & 1);
            assert_false(blocked >> (SIGSEGV - 1) & 1);
            assert_false(blocked >> (SIGBUS - 1) & 1);
            helpers++;
        }
    closedir(threads);
    assert_true(helpers >= 3);
}

/* ---- Without helpers ---- */

static int status_of_child(int (*test)(void))
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(test());
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static unsigned thread_count(void)
{
    DIR *threads = opendir("/proc/self/task");
    unsigned found = 0;
    for (const struct dirent *entry; threads != NULL && (entry = readdir(threads)) != NULL;)
        found += entry->d_name[0] != '.';
    if (threads != NULL)
        closedir(threads);
    return found;
}

static int has_helpers_of_its_own(void)
{
    const unsigned before = thread_count();
    return before != 1 || done_once(4) != 4 || thread_count() != 4;
}

static void a_child_of_fork_has_its_own(void **state)
{
    (void)state;
    assert_int_equal(done_once(4), 4);
    assert_int_equal(status_of_child(has_helpers_of_its_own), 0);
}

enum { NOBODY = 65534 };

/* A limit of threads holds for all users except root. */
static int does_all_alone(void)
{
    const struct rlimit none = {0, 0};
    if ((getuid() == 0 && setuid(NOBODY) != 0) || setrlimit(RLIMIT_NPROC, &none) != 0)
        return 1;
    return done_once(4) != 4 || thread_count() != 1;
}

static void the_caller_does_what_no_thread_can(void **state)
{
    (void)state;
    assert_int_equal(status_of_child(does_all_alone), 0);
}

/* ---- On busy processors ---- */

enum { HELPED = 4, CALLS = 51 };

/* Helpers run only where nothing else wants to. */
static bool make_helpers_idle(void)
{
    DIR *threads = opendir("/proc/self/task");
    bool done = threads != NULL;
    for (const struct dirent *entry; done && (entry = readdir(threads)) != NULL;) {
        const pid_t thread = atoi(entry->d_name);
        if (thread > 0 && thread != getpid())
            done = sched_setscheduler(thread, SCHED_IDLE, &(struct sched_param){0}) == 0;
    }
    if (threads != NULL)
        closedir(threads);
    return done;
}

static int later(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Returns the median time of a call while each processor has a busy process. */
static double median_ms_when_busy(void)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    pid_t *busy = calloc((size_t)processors, sizeof *busy);
    double times[CALLS];
    for (long p = 0; busy != NULL && p < processors; p++)
        if ((busy[p] = fork()) == 0) {
            alarm(60);
            for (volatile unsigned spins = 0;;)
                spins++;
        }
    for (int i = 0; i < CALLS; i++) {
        const double start = now_ms();
        done_once(HELPED);
        times[i] = now_ms() - start;
        sleep_ms(1);
    }
    for (long p = 0; busy != NULL && p < processors; p++) {
        kill(busy[p], SIGKILL);
        waitpid(busy[p], NULL, 0);
    }
    free(busy);
    qsort(times, CALLS, sizeof *times, later);
    return times[CALLS / 2];
}

static int idle_helpers_are_late(void)
{
    if (done_once(HELPED) != HELPED || thread_count() != HELPED || !make_helpers_idle())
        return 1;
    const double ms = median_ms_when_busy();
    printf("a call takes %.3f ms\n", ms);
    fflush(stdout);
    return ms > 2;
}

/* A barrier would take as long as an idle thread waits for a processor: some milliseconds. */
static void nobody_waits_for_a_helper_that_is_late(void **state)
{
    (void)state;
    assert_int_equal(status_of_child(idle_helpers_are_late), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_is_done_once),
        cmocka_unit_test(callers_do_not_disturb_each_other),
        cmocka_unit_test(a_part_may_call),
        cmocka_unit_test(helpers_rest_when_told_to),
        cmocka_unit_test(helpers_that_are_not_needed_sleep),
        cmocka_unit_test(helpers_block_signals_but_no_faults),
        cmocka_unit_test(a_child_of_fork_has_its_own),
        cmocka_unit_test(the_caller_does_what_no_thread_can),
        cmocka_unit_test(nobody_waits_for_a_helper_that_is_late),
        cmocka_unit_test(as_many_as_possible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
