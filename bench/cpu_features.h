/* cpu_features.h: what the CPU can do. */
#pragma once

#include "algorithm.h"

/* The widest vector instructions that this CPU has. */
enum simd_path best_simd_path(void);

/* Whether a thread of this CPU that reads and writes a part of an array of its own gains by
 * prefetching it in rounds (cpu/prefetch.h), rather than leaving it to the processor. */
bool prefetching_in_rounds_helps(void);
