/* reduce_serial: the plain loop on one thread.
 * Source:  none; the definition of a sum.
 * Work:    n additions. Depth: n; the compiler may add integers in any order, and so by
 *          vectors, but floats only one after the other.
 * DRAM:    one read. */
#include "../bench/algorithm.h"

#define DEFINE_RUN(TYPE, T)                            \
    static void run_##TYPE(const struct call *call)    \
    {                                                  \
        const T *in = call->input;                     \
        T sum = 0;                                     \
        for (uint64_t i = 0; i < call->problem.n; i++) \
            sum += in[i];                              \
        *(T *)call->output = sum;                      \
    }
#include "of_type.h"

const struct algorithm cpu_reduce_serial = {
    .name = "serial",
    .op = OP_REDUCE,
    .summary = "the plain loop on one CPU thread",
    .source = "definition",
    .run = run,
};
