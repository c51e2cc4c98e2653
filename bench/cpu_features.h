/* cpu_features.h: what the CPU can do. */
#pragma once

#include "algorithm.h"

/* The widest vector instructions that this CPU has. */
enum simd_path best_simd_path(void);
