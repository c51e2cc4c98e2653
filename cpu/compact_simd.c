/* compact_simd: vectors packed in registers, on one thread, without a scan.
 * Source:  Intel, Intrinsics Guide: vpcompressd; with AVX2, pext and a shuffle.
 * Work:    O(n).
 * DRAM:    one read; the elements kept are written once, whole lines at a time,
 *          past the caches if the array is large. */
#include "compact_kernels.h"

const struct algorithm cpu_compact_simd = {
    .name = "simd",
    .op = OP_COMPACT,
    .traits = TRAIT_HAS_SIMD | TRAIT_UNALIGNED | TRAIT_IN_PLACE,
    .summary = "AVX-512 or AVX2 on one CPU thread: vectors packed in registers",
    .source = "Intel Intrinsics Guide",
    .supports = simd_unsupported,
    .run = compact_on_one_thread,
};
