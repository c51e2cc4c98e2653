/* slow_to_prepare: a right scan whose prepare() takes 20 ms: whether that is timed can be seen. */
#include "../../bench/algorithm.h"

#include <time.h>

static void prepare(const struct call *call)
{
    (void)call;
    nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
}

static void run(const struct call *call)
{
    const uint32_t *in = call->input;
    uint32_t *out = call->output, sum = 0;
    for (uint64_t i = 0; i < call->problem.n; i++) {
        out[i] = sum + (call->problem.kind == KIND_INCLUSIVE ? in[i] : 0);
        sum += in[i];
    }
}

static const char *only_32_bit_integers(const struct problem *problem)
{
    const int is_one = problem->type == TYPE_I32 || problem->type == TYPE_U32;
    return is_one ? NULL : "takes i32 and u32 only";
}

const struct algorithm cpu_scan_slow_to_prepare = {
    .name = "slow-to-prepare",
    .op = OP_SCAN,
    .family = FAMILY_OWN,
    .summary = "sleeps 20 ms in prepare()",
    .source = "none",
    .supports = only_32_bit_integers,
    .prepare = prepare,
    .run = run,
};
