/* scan_simd: vectors of elements scanned in registers, on one thread.
 * Source:  Hillis and Steele 1986, in a register; Zhang, Wang and Ross 2023.
 * Work:    log2(lanes) additions per vector; one of them waits for the previous vector.
 * DRAM:    one read, one write, stored past the caches if the array is large. */
#include "scan_kernels.h"
#include "segments.h"

static void run(const struct call *call)
{
    for_each_segment(call, scan_on_one_thread);
}

const struct algorithm cpu_scan_simd = {
    .name = "simd",
    .op = OP_SCAN,
    .wide_sum_types = TYPES_OF_WIDE_SUMS,
    .operator_types = ALL_TYPES,
    .segment_types = ALL_TYPES,
    .segment_operator_types = ALL_TYPES,
    .traits = TRAIT_HAS_SIMD | TRAIT_UNALIGNED | TRAIT_INCLUSIVE_IN_PLACE,
    .summary = "AVX-512 or AVX2 on one CPU thread, the carry off the critical path",
    .source = "Hillis and Steele 1986",
    .supports = simd_unsupported,
    .run = run,
};
