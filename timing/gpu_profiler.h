/* gpu_profiler.h: what kernel launches count on a GPU, by the Range Profiler of CUPTI, which is
 * loaded at run time. In builds with CUDA.
 *
 * Counters are read for ranges of work: here a launch each. There are more counters than the GPU
 * has registers for, so that the same work is done several times. */
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Global memory without atomics; shared memory with them. */
enum profiled {
    PROFILED_LOAD_REQUESTS,
    PROFILED_LOAD_SECTORS,
    PROFILED_STORE_REQUESTS,
    PROFILED_STORE_SECTORS,
    PROFILED_SHARED_REQUESTS,
    PROFILED_BANK_CONFLICTS,
    PROFILED_COUNT,
};

enum { MOST_PROFILED_LAUNCHES = 1024 };

/* Calls `work` with its context as often as it takes to count what the first `launches` launches of
 * a call do, at most MOST_PROFILED_LAUNCHES, on the current device. All calls launch the same
 * kernels, and call mark_profiled() right before and right after each; `work` waits for them and
 * returns whether they succeeded. Returns NULL, also if they did not, or why nothing was counted:
 * then `work` need not have been called. Nothing of CUPTI is loaded before. */
const char *profile_launches(bool (*work)(void *context), void *context, unsigned launches,
                             double (*counts)[PROFILED_COUNT]);
void mark_profiled(void);

#ifdef __cplusplus
}
#endif
