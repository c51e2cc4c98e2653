/* memcpy: none of the operations, but the memory ceiling they are measured by. */
#include "../bench/algorithm.h"

#include <string.h>

static void run(const struct call *call)
{
    memcpy(call->output, call->input, call->problem.n * element_bytes(call->problem.type));
}

const struct algorithm cpu_memcpy = {
    .name = "memcpy",
    .family = FAMILY_CEILING,
    .result = RESULT_COPY,
    .summary = "host memory copy, one thread: what the memory allows",
    .source = "C library",
    .run = run,
};
