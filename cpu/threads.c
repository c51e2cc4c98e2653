/* threads: runs a job on several OpenMP threads. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "threads.h"

#include "simd.h"

#include <omp.h>
#include <sched.h>
#include <stdio.h>

enum {
    BYTES_WORTH_THREADS = 128 << 10, /* for less, waking threads costs more than it gains */
    SPINS_BEFORE_YIELD = 4000,
};

/* Pins the thread to the member-th of the processors, once. The thread that calls run_on_threads()
 * is pinned by the measuring code. */
static void pin(unsigned member, const cpu_set_t *processors)
{
    static _Thread_local unsigned pinned_as;
    if (member == 0 || pinned_as == member || CPU_COUNT(processors) == 0)
        return;
    pinned_as = member;
    unsigned left = member % (unsigned)CPU_COUNT(processors);
    for (int processor = 0; processor < CPU_SETSIZE; processor++)
        if (CPU_ISSET(processor, processors) && left-- == 0) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(processor, &one);
            sched_setaffinity(0, sizeof one, &one);
            return;
        }
}

const char *openmp_unsupported(const struct problem *problem)
{
    static char reason[64];
    const int most = omp_get_thread_limit();
    if (problem->threads <= (unsigned)most)
        return NULL;
    snprintf(reason, sizeof reason, "OMP_THREAD_LIMIT allows OpenMP %d thread%s", most,
             most == 1 ? "" : "s");
    return reason;
}

const char *simd_threads_unsupported(const struct problem *problem)
{
    const char *why = simd_unsupported(problem);
    return why != NULL ? why : openmp_unsupported(problem);
}

void run_on_threads(const struct device_limits *device, unsigned threads, thread_job *job,
                    void *context)
{
    if (threads <= 1) {
        job(context, 0, 1);
        return;
    }
#pragma omp parallel num_threads(threads)
    {
        const unsigned member = (unsigned)omp_get_thread_num();
        if (device->pinned_to != NULL)
            pin(member, device->pinned_to);
        job(context, member, (unsigned)omp_get_num_threads());
    }
}

unsigned useful_threads(unsigned threads, size_t bytes)
{
    return bytes < BYTES_WORTH_THREADS ? 1 : threads;
}

unsigned threads_for(const struct problem *problem)
{
    return useful_threads(problem->threads, problem->n * element_bytes(problem->type));
}

void spin_or_yield(unsigned *spins)
{
    if (++*spins >= SPINS_BEFORE_YIELD)
        sched_yield();
#ifdef __x86_64__
    else
        _mm_pause();
#endif
}
