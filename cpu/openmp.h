/* openmp.h: what OpenMP provides to the algorithms that are its own. */
#pragma once

#include "../bench/algorithm.h"

#include <omp.h>
#include <stdio.h>

/* Returns NULL, or why OpenMP does not provide the problem's threads. */
static inline const char *openmp_unsupported(const struct problem *problem)
{
    static char reason[64];
    const int most = omp_get_thread_limit();
    if (problem->threads <= (unsigned)most)
        return NULL;
    snprintf(reason, sizeof reason, "OMP_THREAD_LIMIT allows OpenMP %d thread%s", most,
             most == 1 ? "" : "s");
    return reason;
}
