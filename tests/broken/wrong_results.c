/* wrong_results: scans on the CPU with one fault each. i32 and u32 only, which is enough to see
 * whether the faults are found. */
#include "../../bench/algorithm.h"

#include <string.h>

enum { SCRATCH_ELEMENTS = 16 };

static void scan(const struct call *call)
{
    const uint32_t *in = call->input;
    uint32_t *out = call->output, sum = 0;
    const int inclusive = call->problem.kind == KIND_INCLUSIVE;
    for (uint64_t i = 0; i < call->problem.n; i++) {
        out[i] = sum + (inclusive ? in[i] : 0);
        sum += in[i];
    }
}

/* Element n/2 is one too large. */
static void wrong_element(const struct call *call)
{
    scan(call);
    ((uint32_t *)call->output)[call->problem.n / 2]++;
}

static void past_the_end(const struct call *call)
{
    scan(call);
    ((volatile uint32_t *)call->output)[call->problem.n] = 7;
}

static void before_the_start(const struct call *call)
{
    scan(call);
    ((volatile uint32_t *)call->output)[-1] = 7;
}

static void past_the_scratch(const struct call *call)
{
    scan(call);
    ((volatile uint32_t *)call->scratch)[SCRATCH_ELEMENTS] = 7;
}

static size_t scratch_bytes(const struct problem *problem)
{
    (void)problem;
    return SCRATCH_ELEMENTS * sizeof(uint32_t);
}

/* Element n/4 is not written. */
static void unwritten_element(const struct call *call)
{
    uint32_t *out = call->output;
    const uint64_t i = call->problem.n / 4;
    const uint32_t before = out[i];
    scan(call);
    out[i] = before;
}

/* Element n-1 of the input is changed once the result is done. */
static void changed_input(const struct call *call)
{
    scan(call);
    ((uint32_t *)call->input)[call->problem.n - 1] ^= 1;
}

/* Right in the first call, and wrong in all others. */
static void wrong_later(const struct call *call)
{
    static int calls;
    scan(call);
    if (calls++ > 0)
        ((uint32_t *)call->output)[0]++;
}

/* Does the work in the first call of a series, and nothing in the others. */
static void works_once(const struct call *call)
{
    if (call->epoch == 1)
        scan(call);
}

static void works_three_times(const struct call *call)
{
    if (call->epoch <= 3)
        scan(call);
}

/* Uses, as the sum of the first half, the value that the first call of a series left in
 * scratch. */
static void old_state(const struct call *call)
{
    const uint32_t *in = call->input;
    uint32_t *out = call->output, *state = call->scratch, sum = 0;
    const int inclusive = call->problem.kind == KIND_INCLUSIVE;
    for (uint64_t i = 0; i < call->problem.n; i++) {
        if (i == call->problem.n / 2) {
            state[0] = call->epoch == 1 ? sum : state[0];
            sum = state[0];
        }
        out[i] = sum + (inclusive ? in[i] : 0);
        sum += in[i];
    }
}

/* Checks whether its result is there already, in which case a run costs nothing. */
static void idle_when_done(const struct call *call)
{
    const uint32_t *out = call->output;
    if (call->problem.n > 0 && out[call->problem.n - 1] == 0x5C5C5C5C)
        scan(call);
}

static void far_past_the_end(const struct call *call)
{
    scan(call);
    ((volatile uint32_t *)call->output)[call->problem.n + 70] = 7;
}

static void far_before_the_start(const struct call *call)
{
    scan(call);
    ((volatile uint32_t *)call->output)[-15000] = 7;
}

/* Just past the margin of 64 KiB and the rest of its last page. */
static void past_the_fence(const struct call *call)
{
    scan(call);
    if (call->problem.n >= 1000)
        ((volatile uint32_t *)call->output)[call->problem.n + 17500] = 7;
}

static const char *only_32_bit_integers(const struct problem *problem)
{
    return problem->type == TYPE_I32 || problem->type == TYPE_U32 ? NULL : "i32 and u32 only";
}

#define WRONG(op_name, its_name, its_run, its_summary, its_scratch_bytes)            \
    const struct algorithm cpu_scan_##op_name = {.name = its_name,                   \
                                                 .op = OP_SCAN,                      \
                                                 .family = FAMILY_OWN,               \
                                                 .summary = its_summary,             \
                                                 .source = "none",                   \
                                                 .supports = only_32_bit_integers,   \
                                                 .scratch_bytes = its_scratch_bytes, \
                                                 .run = its_run};

WRONG(wrong_element, "wrong-element", wrong_element, "element n/2 is one too large", NULL)
WRONG(past_the_end, "past-the-end", past_the_end, "writes output[n]", NULL)
WRONG(before_the_start, "before-the-start", before_the_start, "writes output[-1]", NULL)
WRONG(past_the_scratch, "past-the-scratch", past_the_scratch, "writes past its scratch",
      scratch_bytes)
WRONG(unwritten_element, "unwritten-element", unwritten_element, "does not write output[n/4]", NULL)
WRONG(changed_input, "changed-input", changed_input, "changes input[n-1]", NULL)
WRONG(wrong_later, "wrong-later", wrong_later, "right only when first called", NULL)
WRONG(works_once, "works-once", works_once, "does nothing after its first call", NULL)
WRONG(works_three_times, "works-three-times", works_three_times,
      "does nothing after its third call", NULL)
WRONG(old_state, "old-state", old_state, "uses a sum of the first call", scratch_bytes)
WRONG(idle_when_done, "idle-when-done", idle_when_done, "does nothing if its result is there", NULL)
WRONG(far_past_the_end, "far-past-the-end", far_past_the_end, "writes output[n + 70]", NULL)
WRONG(far_before_the_start, "far-before-the-start", far_before_the_start, "writes output[-15000]",
      NULL)
WRONG(past_the_fence, "past-the-fence", past_the_fence, "writes output[n + 17500]", NULL)
