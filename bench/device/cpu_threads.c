/* cpu_threads: finds how many threads can be started, by starting them. */
#include "cpu_threads.h"

#include "../base/errors.h"

#include <limits.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>

/* Held while threads are started, so that all of them exist at the same time. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *wait_at_gate(void *context)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return context;
}

/* Starts `wanted` threads and ends them again; returns how many could be started. */
static unsigned try_threads(unsigned wanted)
{
    pthread_t *threads = allocate_or_die(NULL, wanted * sizeof *threads);
    unsigned started = 0;
    pthread_mutex_lock(&gate);
    while (started < wanted && pthread_create(&threads[started], NULL, wait_at_gate, NULL) == 0)
        started++;
    pthread_mutex_unlock(&gate);
    for (unsigned t = 0; t < started; t++)
        pthread_join(threads[t], NULL);
    free(threads);
    return started;
}

unsigned startable_threads(unsigned wanted)
{
    static unsigned known = 1, most = UINT_MAX;
    if (wanted > known && wanted <= most) {
        known = 1 + try_threads(wanted - 1);
        if (known < wanted)
            most = known;
    }
    return wanted < most ? wanted : most;
}

unsigned openmp_threads(unsigned wanted)
{
    omp_set_dynamic(0);
    if (omp_get_max_active_levels() < 1)
        omp_set_max_active_levels(1);
    const unsigned limit = (unsigned)omp_get_thread_limit();
    return startable_threads(wanted < limit ? wanted : limit);
}

void start_team(unsigned threads)
{
#pragma omp parallel num_threads(threads)
    {
    }
}

void end_openmp_threads(void)
{
    omp_pause_resource_all(omp_pause_soft);
}
