/* team.h: runs a job on several threads. */
#ifndef SCANBENCH_CPU_TEAM_H
#define SCANBENCH_CPU_TEAM_H

#include "../bench/algorithm.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns NULL, or why OpenMP does not provide the problem's threads. */
const char *openmp_unsupported(const struct problem *problem);

/* A job, called once per thread. `size` is the number of threads that the system provided,
 * which may be less than requested: a job must not wait for a member that does not exist. */
typedef void team_job(void *context, unsigned member, unsigned size);

/* Runs the job on `threads` threads of the device, the caller being member 0; returns when all
 * are done. */
void run_team(const struct device_limits *device, unsigned threads, team_job *job, void *context);

/* How many of the threads are worth waking for an array of `bytes` bytes. */
unsigned useful_threads(unsigned threads, size_t bytes);

/* Call this in a loop that waits for another member: it yields the processor if there are more
 * threads than processors. `spins` starts at 0. */
void spin_wait(unsigned *spins);

#ifdef __cplusplus
}
#endif

#endif
