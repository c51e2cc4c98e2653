/* processes: the others that mpirun has started, by MPI.
 *
 * Nothing here blocks in MPI: a process that waits for the others looks from time to time whether
 * they still live, and ends with one line if one does not. */
#define _GNU_SOURCE /* sched_yield, gethostname, flock */
#include "processes.h"

#include "build.h"
#include "errors.h"
#include "interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>
#ifdef SCANBENCH_MPI
#include <mpi.h>

/* MPICH's MPI_STATUSES_IGNORE is the address 1, where gcc sees no room for an array. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif
#endif

struct processes processes = {.count = 1, .hosts = 1, .on_this_host = 1};

/* ---- how this process was started ---- */

/* The variables by which launchers number the processes that they start. */
static const struct {
    const char *count, *number;
} launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, /* Open MPI */
    {"PMI_SIZE", "PMI_RANK"},                         /* MPICH */
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},         /* srun */
};

/* The value of a variable; 0 if it is not set. */
static unsigned variable(const char *name)
{
    const char *text = getenv(name);
    return text != NULL ? (unsigned)strtoul(text, NULL, 10) : 0;
}

/* The number of processes that were started together, and of this one. */
static unsigned started_together(unsigned *number)
{
    *number = 0;
    for (size_t l = 0; l < sizeof launchers / sizeof *launchers; l++)
        if (variable(launchers[l].count) > 1) {
            *number = variable(launchers[l].number);
            return variable(launchers[l].count);
        }
    return 1;
}

#ifdef SCANBENCH_MPI

/* ---- the others ---- */

/* What the processes know of each other. */
struct place {
    char host[64];
    pid_t pid;
};

static struct place *places;

bool is_on_this_host(unsigned process)
{
    return strcmp(places[process].host, places[processes.number].host) == 0;
}

static bool is_alive(unsigned process)
{
    return !is_on_this_host(process) || kill(places[process].pid, 0) == 0 || errno == EPERM;
}

static void find_hosts(void)
{
    processes.hosts = processes.on_this_host = processes.number_on_host = 0;
    for (unsigned p = 0; p < processes.count; p++) {
        unsigned earlier = 0;
        while (earlier < p && strcmp(places[earlier].host, places[p].host) != 0)
            earlier++;
        processes.hosts += earlier == p;
        processes.on_this_host += is_on_this_host(p);
        processes.number_on_host += p < processes.number && is_on_this_host(p);
    }
}

/* ---- waiting ---- */

enum { TESTS_BEFORE_YIELD = 2000, LOOK_NS = 100 * 1000 * 1000, LOOKS_TO_SAY_WHO = 5 };

/* Ends this process if another on this host is gone. The first one left says which. */
static void look_for_the_lost(void)
{
    for (unsigned p = 0; p < processes.count; p++) {
        unsigned first = 0;
        if (is_alive(p))
            continue;
        while (!is_alive(first))
            first++;
        if (first == processes.number) {
            speak_again();
            complain("rank %u (process %d on %s) has ended; earlier rows are kept", p,
                     (int)places[p].pid, places[p].host);
        }
        _exit(EXIT_ERROR);
    }
}

static uint64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* mpirun interrupts the others when one has ended, so a little later it is known which. */
static void wait_for(int count, MPI_Request *requests)
{
    uint64_t looked_ns = now_ns();
    int done = 0;
    unsigned looks = 0;
    for (unsigned tests = 0; !done; tests++) {
        MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
        if (done || tests < TESTS_BEFORE_YIELD)
            continue;
        sched_yield();
        if (places == NULL || now_ns() - looked_ns < LOOK_NS)
            continue;
        looked_ns = now_ns();
        look_for_the_lost();
        looks += interrupted();
        if (looks > LOOKS_TO_SAY_WHO)
            _exit(EXIT_INTERRUPTED);
    }
}

static void gather(const void *mine, size_t bytes, void *all)
{
    MPI_Request request;
    MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
    wait_for(1, &request);
}

/* ---- joining and leaving ---- */

static void join(void)
{
    int count = 1, number = 0;
    MPI_Init(NULL, NULL);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    MPI_Comm_rank(MPI_COMM_WORLD, &number);
    processes.count = (unsigned)count;
    processes.number = (unsigned)number;
    struct place mine = {.pid = getpid()};
    if (gethostname(mine.host, sizeof mine.host - 1) != 0)
        mine.host[0] = '\0';
    struct place *all = allocate_or_die(NULL, processes.count * sizeof *all);
    gather(&mine, sizeof mine, all);
    places = all;
    find_hosts();
}

/* The rows name the build of process 0 alone. */
static bool have_one_build(void)
{
    char mine[BUILD_BYTES] = "";
    identify_build(mine);
    const unsigned other = first_that_differs(mine, strlen(mine));
    if (other == 0)
        return true;
    char *all = allocate_or_die(NULL, (size_t)processes.count * BUILD_BYTES);
    gather(mine, BUILD_BYTES, all);
    complain("rank %u is another build than rank 0: %s; rank 0 is %s", other,
             all + (size_t)other * BUILD_BYTES, all);
    free(all);
    return false;
}

int leave_processes(int code)
{
    if (processes.count == 1)
        return code;
    code = worst_of_processes(code);
    MPI_Finalize();
    return code;
}

/* ---- exchanging ---- */

/* One message holds less than 2^31 bytes. */
enum { MESSAGE_BYTES = 1 << 30 };

static unsigned messages_for(size_t bytes)
{
    return (unsigned)((bytes + MESSAGE_BYTES - 1) / MESSAGE_BYTES);
}

static unsigned count_messages(const size_t *sent, const size_t *got)
{
    unsigned count = 0;
    for (unsigned p = 0; p < processes.count; p++)
        count += messages_for(sent[p]) + messages_for(got[p]);
    return count;
}

static int message_bytes(size_t bytes, unsigned message)
{
    const size_t left = bytes - (size_t)message * MESSAGE_BYTES;
    return left < MESSAGE_BYTES ? (int)left : MESSAGE_BYTES;
}

void exchange_between_processes(const void *from, const size_t *sent, void *to, const size_t *got)
{
    if (processes.count == 1) {
        memcpy(to, from, *sent);
        return;
    }
    MPI_Request *requests =
        allocate_or_die(NULL, (1 + count_messages(sent, got)) * sizeof *requests);
    const char *out = from;
    char *in = to;
    int count = 0;
    for (unsigned p = 0; p < processes.count; p++) {
        for (unsigned m = 0; m < messages_for(got[p]); m++)
            MPI_Irecv(in + (size_t)m * MESSAGE_BYTES, message_bytes(got[p], m), MPI_BYTE, (int)p,
                      (int)m, MPI_COMM_WORLD, &requests[count++]);
        in += got[p];
    }
    for (unsigned p = 0; p < processes.count; p++) {
        for (unsigned m = 0; m < messages_for(sent[p]); m++)
            MPI_Isend(out + (size_t)m * MESSAGE_BYTES, message_bytes(sent[p], m), MPI_BYTE, (int)p,
                      (int)m, MPI_COMM_WORLD, &requests[count++]);
        out += sent[p];
    }
    wait_for(count, requests);
    free(requests);
}

void gather_from_processes(const void *mine, size_t bytes, void *all)
{
    if (processes.count == 1)
        memcpy(all, mine, bytes);
    else
        gather(mine, bytes, all);
}

void meet_processes(void)
{
    if (processes.count == 1)
        return;
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    wait_for(1, &request);
}

const char *why_no_processes(void)
{
    return processes.count > 1 ? NULL : "one process; start several: mpirun -np 2 scanbench ...";
}

const char *missing_for_processes(void)
{
    return NULL;
}

#else

int leave_processes(int code)
{
    return code;
}

void exchange_between_processes(const void *from, const size_t *sent, void *to, const size_t *got)
{
    (void)got;
    memcpy(to, from, *sent);
}

void gather_from_processes(const void *mine, size_t bytes, void *all)
{
    memcpy(all, mine, bytes);
}

void meet_processes(void)
{
}

bool is_on_this_host(unsigned process)
{
    return process == processes.number;
}

const char *why_no_processes(void)
{
    return "not in this build: make MPI=1";
}

const char *missing_for_processes(void)
{
    return "make MPI=1";
}

#endif

/* Only process 0 prints and writes. */
static void fall_silent(void)
{
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        close(nowhere);
    }
    say_nothing();
}

/* Is no other process of this one's launcher on this host here? It remains so for as long as this
 * one lives. One that comes later returns when that one has ended. */
static bool comes_first(void)
{
    char launcher[32];
    snprintf(launcher, sizeof launcher, "/proc/%d", (int)getppid());
    const int file = open(launcher, O_RDONLY | O_CLOEXEC);
    const bool first = flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    if (!first)
        flock(file, LOCK_EX);
    return first;
}

/* Processes that do not know of each other cannot leave it to process 0 to complain: that one may
 * wait for them in MPI, or come late, and mpirun stops it once another has ended. So on each host
 * the one that comes first does, and lives until the others have come, too. */
static void complain_alone(unsigned number, unsigned count)
{
    enum { SECONDS_FOR_OTHERS_TO_COME = 1 };
    if (!comes_first())
        return;
    speak_again();
#ifdef SCANBENCH_MPI
    complain("rank %u: started as %u processes, but MPI knows of %u; the launcher must be that of "
             "this build's MPI",
             number, count, processes.count);
#else
    complain("rank %u: started as %u processes, but built without MPI; build with: make MPI=1",
             number, count);
#endif
    sleep(SECONDS_FOR_OTHERS_TO_COME);
}

int join_processes(void)
{
    unsigned number;
    const unsigned count = started_together(&number);
    if (count == 1)
        return EXIT_OK;
#ifdef SCANBENCH_MPI
    join();
    if (processes.count == count)
        number = processes.number;
#endif
    if (number > 0)
        fall_silent();
#ifdef SCANBENCH_MPI
    if (processes.count == count && have_one_build())
        return EXIT_OK;
    if (processes.count != count)
        complain_alone(number, count);
    MPI_Finalize();
#else
    complain_alone(number, count);
#endif
    return EXIT_USAGE;
}

void *gathered(const void *mine, size_t bytes)
{
    void *all = allocate_or_die(NULL, processes.count * bytes);
    gather_from_processes(mine, bytes, all);
    return all;
}

int worst_of_processes(int code)
{
    int *all = gathered(&code, sizeof code);
    for (unsigned p = 0; p < processes.count; p++)
        code = worse_exit_code(code, all[p]);
    free(all);
    return code;
}

bool all_processes(bool yes)
{
    bool *all = gathered(&yes, sizeof yes);
    for (unsigned p = 0; p < processes.count; p++)
        yes = yes && all[p];
    free(all);
    return yes;
}

bool first_process(bool yes)
{
    bool *all = gathered(&yes, sizeof yes);
    yes = all[0];
    free(all);
    return yes;
}

/* Length and FNV-1a hash of the contents. */
struct summary {
    uint64_t bytes, digest;
};

unsigned first_that_differs(const void *mine, size_t bytes)
{
    struct summary summary = {bytes, 0xcbf29ce484222325u};
    unsigned p = 1;
    for (size_t b = 0; b < bytes; b++)
        summary.digest = (summary.digest ^ ((const unsigned char *)mine)[b]) * 0x100000001b3u;
    struct summary *all = gathered(&summary, sizeof summary);
    while (p < processes.count && memcmp(&all[p], all, sizeof *all) == 0)
        p++;
    free(all);
    return p < processes.count ? p : 0;
}
