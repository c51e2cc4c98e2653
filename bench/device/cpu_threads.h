/* cpu_threads.h: how many threads there can be, found before a library that starts
 * them ends the process because it cannot. */
#ifndef SCANBENCH_BENCH_DEVICE_CPU_THREADS_H
#define SCANBENCH_BENCH_DEVICE_CPU_THREADS_H

/* As many of so many threads, the caller among them, as the system gives. Found by
 * starting them; what is known from an earlier call is not tried again. */
unsigned startable_threads(unsigned wanted);

/* The same, and no more than OpenMP gives. From then on OpenMP gives them: not fewer
 * because the machine is busy (OMP_DYNAMIC), and not one (OMP_MAX_ACTIVE_LEVELS=0). */
unsigned openmp_threads(unsigned wanted);

#endif
