/* threads: how many threads an array is worth. */
#include "threads.h"

enum { LEAST_BYTES = 128 << 10, BYTES_PER_THREAD = 64 << 10 };

void run_on_threads(const struct device_limits *device, unsigned parts, part_job *job,
                    void *context)
{
    run_parts(parts, device->pinned_to, job, context);
}

/* Waking a thread must cost less than it gains. */
unsigned useful_threads(unsigned threads, size_t bytes)
{
    const size_t most = bytes < LEAST_BYTES ? 1 : bytes / BYTES_PER_THREAD;
    return threads < most ? threads : (unsigned)most;
}

unsigned threads_for(const struct problem *problem)
{
    return useful_threads(problem->threads, problem->n * element_bytes(problem->type));
}
