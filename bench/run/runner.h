/* runner.h: measures what a plan lists, and sends the rows to the results.
 *
 * The third stage: plan -> runner -> algorithm -> timing -> verify -> results. It owns every
 * buffer. */
#pragma once

#include "plan.h"
#include "../worker/results.h"
#include "../worker/run_state.h"

/* Runs what the state says is left of the plan. Returns the exit code: EXIT_OK, EXIT_ERROR,
 * EXIT_WRONG_ANSWER or EXIT_INTERRUPTED. Rows are written as each group is finished. Sets
 * state->lost if the device is lost and a new worker must do the rest. */
int run_plan(const struct options *options, const struct plan *plan, struct results *results,
             struct run_state *state);
