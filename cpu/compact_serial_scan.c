/* compact_serial_scan: map, scan and scatter on one thread, as on a GPU.
 * Source:  Blelloch 1990.
 * DRAM:    elements read twice, flags and indices written and read, and the
 *          kept elements written: the cost of a scan-based compaction on a CPU. */
#include "../bench/algorithm.h"

/* The scan turns flags into indices in place. */
#define DEFINE_RUN(TYPE, STORED, T)                  \
    static void run_##TYPE(const struct call *call)  \
    {                                                \
        const STORED *in = call->input;              \
        STORED *out = call->output;                  \
        uint32_t *indices = call->scratch, kept = 0; \
        const uint64_t n = call->problem.n;          \
        for (uint64_t i = 0; i < n; i++)             \
            indices[i] = widen_##STORED(in[i]) != 0; \
        for (uint64_t i = 0; i < n; i++) {           \
            const uint32_t flag = indices[i];        \
            indices[i] = kept;                       \
            kept += flag;                            \
        }                                            \
        for (uint64_t i = 0; i < n; i++)             \
            if (widen_##STORED(in[i]) != 0)          \
                out[indices[i]] = in[i];             \
        *call->count = kept;                         \
    }
#include "of_type.h"

static const char *supports(const struct problem *problem)
{
    return problem->n > UINT32_MAX ? "its indices have 32 bits" : NULL;
}

static size_t scratch_bytes(const struct problem *problem)
{
    return problem->n * sizeof(uint32_t);
}

const struct algorithm cpu_compact_serial_scan = {
    .name = "serial-scan",
    .op = OP_COMPACT,
    .summary = "map to 0/1, scan, scatter on one CPU thread",
    .source = "Blelloch 1990",
    .supports = supports,
    .scratch_bytes = scratch_bytes,
    .run = run,
};
