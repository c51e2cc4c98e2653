/* threads.h: runs a job on several threads. */
#pragma once

#include "../bench/algorithm.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns NULL, or why OpenMP does not provide the problem's threads; or, the second, why the CPU
 * cannot run its vector path. */
const char *openmp_unsupported(const struct problem *problem);
const char *simd_threads_unsupported(const struct problem *problem);

/* A job, called once per thread. `size` is the number of threads that the system provided,
 * which may be less than requested: a job must not wait for a member that does not exist. */
typedef void thread_job(void *context, unsigned member, unsigned size);

/* Runs the job on `threads` threads of the device, the caller being member 0; returns when all
 * are done. */
void run_on_threads(const struct device_limits *device, unsigned threads, thread_job *job,
                    void *context);

/* How many of the threads are worth waking for an array of `bytes` bytes, and for the input. */
unsigned useful_threads(unsigned threads, size_t bytes);
unsigned threads_for(const struct problem *problem);

/* Call this in a loop that waits for another member: it yields the processor if there are more
 * threads than processors. `spins` starts at 0. */
void spin_or_yield(unsigned *spins);

#ifdef __cplusplus
}
#endif
