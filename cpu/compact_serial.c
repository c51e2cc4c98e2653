/* compact_serial: the plain loop on one thread, without a scan.
 * Source:  none; the definition of a compaction.
 * Work:    n comparisons, one after the other.
 * DRAM:    one read; the elements kept are written. */
#include "../bench/algorithm.h"

#define DEFINE_RUN(TYPE, STORED, T)                    \
    static void run_##TYPE(const struct call *call)    \
    {                                                  \
        const STORED *in = call->input;                \
        STORED *out = call->output;                    \
        uint64_t kept = 0;                             \
        for (uint64_t i = 0; i < call->problem.n; i++) \
            if (widen_##STORED(in[i]) != 0)            \
                out[kept++] = in[i];                   \
        *call->count = kept;                           \
    }
#include "of_type.h"

const struct algorithm cpu_compact_serial = {
    .name = "serial",
    .op = OP_COMPACT,
    .summary = "the plain loop on one CPU thread, without a scan",
    .source = "definition",
    .run = run,
};
