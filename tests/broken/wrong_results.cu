/* wrong_results: scans on the GPU with one fault each. One thread does all the work; i32 and
 * u32 only. */
#include "../../kernels/launch.cuh"

namespace SCANBENCH_BACKEND
{

enum fault {
    WRONG_ELEMENT,
    PAST_THE_END,
    BEFORE_THE_START,
    PAST_THE_SCRATCH,
    UNWRITTEN_ELEMENT,
    CHANGED_INPUT,
    WRONG_LATER,
    WORKS_ONCE,
    OLD_STATE,
    FAR_PAST_THE_END,
    FAR_BEFORE_THE_START,
    EVERY_OTHER_CALL,
    WRONG_FIFTH,
    TRUSTS_SCRATCH,
};

enum { SCRATCH_ELEMENTS = 16 };

/* `first_call`: of a series; WRONG_LATER, EVERY_OTHER_CALL, WRONG_FIFTH: of so many, whatever the
 * harness says. */
template <fault FAULT>
__global__ void wrong_scan_kernel(uint32_t *in, uint32_t *out, uint32_t *scratch, uint64_t n,
                                  bool inclusive, bool first_call)
{
    if (global_thread() != 0)
        return;
    if ((FAULT == WORKS_ONCE || FAULT == EVERY_OTHER_CALL) && !first_call)
        return;
    uint32_t sum = FAULT == TRUSTS_SCRATCH ? scratch[0] : 0;
    if (FAULT == WRONG_FIFTH && first_call)
        sum = 1;
    for (uint64_t i = 0; i < n; i++) {
        if (FAULT == OLD_STATE && i == n / 2 && first_call)
            scratch[0] = sum;
        if (FAULT == OLD_STATE && i == n / 2)
            sum = scratch[0];
        if (FAULT != UNWRITTEN_ELEMENT || i != n / 4)
            out[i] = sum + (inclusive ? in[i] : 0);
        sum += in[i];
    }
    if (FAULT == TRUSTS_SCRATCH)
        scratch[0] = 0;
    if (FAULT == WRONG_ELEMENT)
        out[n / 2]++;
    if (FAULT == PAST_THE_END)
        out[n] = 7;
    if (FAULT == BEFORE_THE_START)
        *(out - 1) = 7;
    if (FAULT == FAR_PAST_THE_END)
        out[n + 70] = 7;
    if (FAULT == FAR_BEFORE_THE_START)
        *(out - 15000) = 7;
    if (FAULT == PAST_THE_SCRATCH)
        scratch[SCRATCH_ELEMENTS] = 7;
    if (FAULT == CHANGED_INPUT)
        in[n - 1] ^= 1;
    if (FAULT == WRONG_LATER && !first_call)
        out[0]++;
}

template <fault FAULT> static bool is_first(const struct call *call)
{
    static int calls;
    switch (FAULT) {
    case WRONG_LATER:
        return calls++ == 0;
    case EVERY_OTHER_CALL:
        return calls++ % 2 == 0;
    case WRONG_FIFTH:
        return ++calls % 5 == 0;
    default:
        return call->epoch == 1;
    }
}

template <fault FAULT> static void run_wrong(const struct call *call)
{
    launch<wrong_scan_kernel<FAULT>>(queue_of(call), {1, call->problem.block},
                                     static_cast<uint32_t *>(const_cast<void *>(call->input)),
                                     static_cast<uint32_t *>(call->output),
                                     static_cast<uint32_t *>(call->scratch), call->problem.n,
                                     call->problem.kind == KIND_INCLUSIVE, is_first<FAULT>(call));
}

static size_t scratch_bytes(const struct problem *)
{
    return SCRATCH_ELEMENTS * sizeof(uint32_t);
}

static const char *only_32_bit_integers(const struct problem *problem)
{
    return problem->type == TYPE_I32 || problem->type == TYPE_U32 ? nullptr : "i32 and u32 only";
}

} // namespace SCANBENCH_BACKEND

#define WRONG(op_name, its_name, fault, its_summary)                   \
    ALGORITHM_DESCRIPTOR(op_name) = {                                  \
        .name = its_name,                                              \
        .op = OP_SCAN,                                                 \
        .family = FAMILY_OWN,                                          \
        .traits = TRAIT_HAS_BLOCK,                                     \
        .default_block = 32,                                           \
        .summary = its_summary,                                        \
        .source = "none",                                              \
        .supports = SCANBENCH_BACKEND::only_32_bit_integers,           \
        .scratch_bytes = SCANBENCH_BACKEND::scratch_bytes,             \
        .run = SCANBENCH_BACKEND::run_wrong<SCANBENCH_BACKEND::fault>, \
    };

WRONG(scan_wrong_element, "wrong-element", WRONG_ELEMENT, "element n/2 is one too large")
WRONG(scan_past_the_end, "past-the-end", PAST_THE_END, "writes output[n]")
WRONG(scan_before_the_start, "before-the-start", BEFORE_THE_START, "writes output[-1]")
WRONG(scan_past_the_scratch, "past-the-scratch", PAST_THE_SCRATCH, "writes past its scratch")
WRONG(scan_unwritten_element, "unwritten-element", UNWRITTEN_ELEMENT, "does not write output[n/4]")
WRONG(scan_changed_input, "changed-input", CHANGED_INPUT, "changes input[n-1]")
WRONG(scan_wrong_later, "wrong-later", WRONG_LATER, "right only when first called")
WRONG(scan_works_once, "works-once", WORKS_ONCE, "does nothing after its first call")
WRONG(scan_old_state, "old-state", OLD_STATE, "uses a sum of the first call")
WRONG(scan_far_past_the_end, "far-past-the-end", FAR_PAST_THE_END, "writes output[n + 70]")
WRONG(scan_far_before_the_start, "far-before-the-start", FAR_BEFORE_THE_START,
      "writes output[-15000]")
WRONG(scan_every_other_call, "every-other-call", EVERY_OTHER_CALL, "works in every other call")
WRONG(scan_wrong_fifth, "wrong-fifth", WRONG_FIFTH, "wrong in every fifth call")
WRONG(scan_trusts_scratch, "trusts-scratch", TRUSTS_SCRATCH, "relies on scratch that is zero")
