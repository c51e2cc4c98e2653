/* threads.h: runs a job on several threads (bench/base/thread_pool.h). */
#pragma once

#include "../bench/algorithm.h"
#include "../bench/base/thread_pool.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Does each part of the job once, on up to as many threads of the device as there are parts. */
void run_on_threads(const struct device_limits *device, unsigned parts, part_job *job,
                    void *context);

/* How many of the threads are worth waking for an array of `bytes` bytes, and for the input. */
unsigned useful_threads(unsigned threads, size_t bytes);
unsigned threads_for(const struct problem *problem);

#ifdef __cplusplus
}
#endif
