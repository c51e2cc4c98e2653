/* never_returns: a scan on the CPU whose run() never returns: a signal must end the process. */
#include "../../bench/algorithm.h"

static void run(const struct call *call)
{
    volatile uint32_t seen = 0;
    for (;;)
        seen = seen + *(const volatile uint32_t *)call->input;
}

static const char *only_large_arrays(const struct problem *problem)
{
    return problem->n > 32 ? NULL : "takes more than 32 elements";
}

const struct algorithm cpu_scan_never_returns = {
    .name = "never-returns",
    .op = OP_SCAN,
    .family = FAMILY_OWN,
    .summary = "never returns",
    .source = "none",
    .supports = only_large_arrays,
    .run = run,
};
