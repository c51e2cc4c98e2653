/* interrupt: signal handlers for a run. */
#include "interrupt.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t caught;

/* Who may end the process: the thread that runs it, or, where that is in an algorithm, the one that
 * waits for signals. */
static atomic_int place;
enum { IN_HARNESS, IN_ALGORITHM, TAKEN_OVER };
static sem_t arrived;
static void (*end_process)(void *);
static void *end_context;

enum { SIGNALS = 3 };
static const int signals[SIGNALS] = {SIGINT, SIGTERM, SIGHUP};
static struct timespec first[SIGNALS]; /* when each arrived */

/* Programs such as `timeout` send a signal to the process and again to its group: within this time
 * the two are one. */
static const double SAME_SIGNAL_S = 0.2;

static double seconds_since(const struct timespec *then)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) + 1e-9 * (double)(now.tv_nsec - then->tv_nsec);
}

static void note_interrupt(int signal_number)
{
    int s = 0;
    while (s < SIGNALS - 1 && signals[s] != signal_number)
        s++;
    if (first[s].tv_sec == 0 && first[s].tv_nsec == 0) {
        clock_gettime(CLOCK_MONOTONIC, &first[s]);
    } else if (seconds_since(&first[s]) > SAME_SIGNAL_S) {
        signal(signal_number, SIG_DFL);
        raise(signal_number); /* takes effect when this handler returns */
    }
    caught = 1;
    sem_post(&arrived);
}

void catch_interrupts(void)
{
    sem_init(&arrived, 0, 0);
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = note_interrupt;
    /* No SA_RESTART: it would make a blocked write to a pipe wait on. */
    action.sa_flags = 0;
    for (size_t s = 0; s < SIGNALS; s++)
        if (sigaction(signals[s], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[s], &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

bool interrupted(void)
{
    return caught != 0;
}

/* ---- an algorithm that does not return ---- */

static void *wait_for_signal(void *unused)
{
    const struct timespec patience = {.tv_sec = 1}, moment = {.tv_nsec = 50 * 1000 * 1000};
    while (sem_wait(&arrived) != 0)
        continue;
    nanosleep(&patience, NULL);
    int expected = IN_ALGORITHM;
    while (!atomic_compare_exchange_strong(&place, &expected, TAKEN_OVER)) {
        expected = IN_ALGORITHM;
        nanosleep(&moment, NULL);
    }
    end_process(end_context);
    return unused;
}

/* The thread takes no signals: they must interrupt what the calling thread waits for. */
static void start_waiting(void)
{
    sigset_t all, before;
    pthread_t thread;
    pthread_attr_t detached;
    sigfillset(&all);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_create(&thread, &detached, wait_for_signal, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&detached);
}

void enter_algorithm(void (*end)(void *context), void *context)
{
    if (end_process == NULL) {
        end_process = end;
        start_waiting();
    }
    end_context = context;
    atomic_store(&place, IN_ALGORITHM);
}

void leave_algorithm(void)
{
    int expected = IN_ALGORITHM;
    if (!atomic_compare_exchange_strong(&place, &expected, IN_HARNESS))
        for (;;)
            pause();
}
