/* cpu_features.h: what the CPU can do. */
#ifndef SCANBENCH_BENCH_CPU_FEATURES_H
#define SCANBENCH_BENCH_CPU_FEATURES_H

#include "algorithm.h"

/* The widest vector instructions that this CPU has. */
enum simd_path best_simd_path(void);

#endif
