/* solve.h: what is done for a call: which algorithm, in which scratch. */
#pragma once

#include "handle.h"
#include "task.h"

/* What is done for a problem. */
struct plan {
    struct problem problem;
    const struct algorithm *algorithm;
    struct scratch *scratch;
    size_t scratch_bytes;
};

/* Completes a problem by what the handle knows, and chooses the algorithm. */
scanbench_status plan_problem(scanbench_handle *handle, struct problem problem, struct plan *plan);

/* Says what the device takes of what a call asks for: of these operators or rows, which types. */
void explain_unsupported(scanbench_handle *handle, struct problem problem);

/* Returns the status, and keeps the reason of a failure with the handle, unless that is known
 * better there. */
scanbench_status keep_reason(scanbench_handle *handle, scanbench_status status);

scanbench_status solve_task(scanbench_handle *handle, struct task task);
