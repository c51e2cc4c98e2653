/* team.h: several threads at one job, each on a processor of its own. */
#ifndef SCANBENCH_CPU_TEAM_H
#define SCANBENCH_CPU_TEAM_H

#include "../bench/algorithm.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NULL, or why OpenMP does not give the problem its threads. */
const char *openmp_unsupported(const struct problem *problem);

/* A job as one of its threads sees it. `size` is what the system gave, which may
 * be less than was asked for: a job must not wait for a member that is not there. */
typedef void team_job(void *context, unsigned member, unsigned size);

/* Runs the job on so many threads, the caller among them as member 0; returns
 * when all are done. */
void run_team(unsigned threads, team_job *job, void *context);

/* So many of the threads as are worth waking for an array of so many bytes. */
unsigned useful_threads(unsigned threads, size_t bytes);

/* Call it in a loop that waits for another member: gives way when there are more
 * threads than processors. `spins` starts as 0. */
void spin_wait(unsigned *spins);

#ifdef __cplusplus
}
#endif

#endif
