/* rows: the library as rows of the program, on the GPU and in the emulator. */
#include "rows.h"

#include "../kernels/launch.cuh"

namespace SCANBENCH_BACKEND
{

static void keep_error(const struct call *call, scanbench_status status)
{
    const char *why = scanbench_error(static_cast<scanbench_handle *>(*call->kept));
    if (status != SCANBENCH_OK)
        fail(queue_of(call), "libscanbench", why[0] != '\0' ? why : scanbench_status_text(status));
}

static void prepare(const struct call *call)
{
    int device = 0;
    if (succeeded(queue_of(call), "device", cudaGetDevice(&device)))
        keep_error(call,
                   open_row(call, &DESCRIPTOR_NAME(SCANBENCH_BACKEND, side), (unsigned)device));
}

static void run(const struct call *call)
{
    queue_of(call)->lines_kept = true; /* the library does not say by which kernels */
    keep_error(call, run_row(call, queue_of(call)->stream));
}

static constexpr struct algorithm row(enum operation op, unsigned traits)
{
    return {
        .name = "libscanbench",
        .op = op,
        .family = FAMILY_OWN,
        .traits = traits,
        .wide_sum_types = TYPES_OF_WIDE_SUMS,
        .operator_types = TYPES_OF_4_AND_8_BYTES,
        .recurrence_types = TYPES_OF_4_BYTES,
        .segment_types = TYPES_OF_4_BYTES,
        .narrow_key_types = TYPES_OF_NARROW_KEYS,
        .summary = "what `make library` builds, called as users call it",
        .source = "library/scanbench.h",
        .supports = no_such_call,
        .prepare = prepare,
        .run = run,
        .release = release_row,
    };
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(scan_libscanbench) = SCANBENCH_BACKEND::row(OP_SCAN, 0);
ALGORITHM_DESCRIPTOR(compact_libscanbench) = SCANBENCH_BACKEND::row(OP_COMPACT, 0);
ALGORITHM_DESCRIPTOR(sort_libscanbench) = SCANBENCH_BACKEND::row(OP_SORT,
                                                                 TRAIT_PAIRS | TRAIT_STABLE);
