/* compact_serial: the plain loop on one thread, without a scan.
 * Source:  none; the definition of a compaction.
 * DRAM:    one read; the elements kept are written. */
#include "../bench/algorithm.h"

#define DEFINE_COMPACT(T)                                        \
    static uint64_t compact_##T(const T *in, T *out, uint64_t n) \
    {                                                            \
        uint64_t kept = 0;                                       \
        for (uint64_t i = 0; i < n; i++)                         \
            if (in[i] != 0)                                      \
                out[kept++] = in[i];                             \
        return kept;                                             \
    }

DEFINE_COMPACT(uint32_t)
DEFINE_COMPACT(uint64_t)
DEFINE_COMPACT(float)
DEFINE_COMPACT(double)

static void run(const struct call *call)
{
    const uint64_t n = call->problem.n;
    switch (call->problem.type) {
    case TYPE_F32:
        *call->count = compact_float(call->input, call->output, n);
        break;
    case TYPE_F64:
        *call->count = compact_double(call->input, call->output, n);
        break;
    case TYPE_I64:
    case TYPE_U64:
        *call->count = compact_uint64_t(call->input, call->output, n);
        break;
    default:
        *call->count = compact_uint32_t(call->input, call->output, n);
    }
}

const struct algorithm cpu_compact_serial = {
    .name = "serial",
    .op = OP_COMPACT,
    .family = FAMILY_OWN,
    .summary = "the plain loop on one CPU thread, without a scan",
    .source = "definition",
    .run = run,
};
