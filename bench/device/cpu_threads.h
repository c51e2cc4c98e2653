/* cpu_threads.h: how many threads the system can start. Asked before a library is called that
 * ends the process when it cannot start its threads. */
#pragma once

/* The number of threads, up to `wanted` and including the caller, that the system can start.
 * Found by starting them; a known result is not tried again. */
unsigned startable_threads(unsigned wanted);

/* The same, limited by OpenMP. From then on OpenMP uses that many: not fewer because the
 * machine is busy (OMP_DYNAMIC), and not one (OMP_MAX_ACTIVE_LEVELS=0). */
unsigned openmp_threads(unsigned wanted);

/* Has OpenMP start or wake that many threads, before code that may need them: threads that a
 * measured run had to start would begin on the one processor that their starter is pinned to and
 * is busy on. */
void start_team(unsigned threads);

/* Ends the threads of OpenMP, which would otherwise spin for a while after the loops of this
 * backend, on processors that a measured run needs. */
void end_openmp_threads(void);
