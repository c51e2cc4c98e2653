/* scan_memcpy: no scan at all, but the memory ceiling a scan is measured by. */
#include "../bench/algorithm.h"

#include <string.h>

static void run(const struct call *call)
{
    memcpy(call->output, call->input, call->problem.n * element_bytes(call->problem.type));
}

const struct algorithm cpu_scan_memcpy = {
    .name = "memcpy",
    .op = OP_SCAN,
    .family = FAMILY_CEILING,
    .result = RESULT_COPY,
    .summary = "host memory copy, one thread: what the memory allows",
    .source = "C library",
    .run = run,
};
