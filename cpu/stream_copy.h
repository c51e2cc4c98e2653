/* stream_copy.h: copies past the caches. */
#pragma once

#include "simd.h"

/* Copies with non-temporal stores if `path` has them, else with memcpy. The arrays must not
 * overlap. */
void stream_copy(void *to, const void *from, size_t bytes, enum simd_path path);
