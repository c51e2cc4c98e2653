/* runner.h: measures what a plan lists, and passes the rows to the report.
 *
 * The third stage: plan -> runner -> algorithm -> timing -> verify -> report. It owns every
 * buffer. */
#pragma once

#include "plan.h"
#include "../rows/report.h"

/* Runs the plan. Returns the exit code: EXIT_OK, EXIT_ERROR, EXIT_WRONG_ANSWER or
 * EXIT_INTERRUPTED. Rows are written as each group is finished. */
int run_plan(const struct options *options, const struct plan *plan, struct report *report);
