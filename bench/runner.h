/* runner.h: measures what a plan says, and hands the rows to the report.
 *
 * The third step of the way: plan -> runner -> algorithm -> timing -> verify ->
 * report. It owns every buffer. */
#ifndef SCANBENCH_BENCH_RUNNER_H
#define SCANBENCH_BENCH_RUNNER_H

#include "plan.h"
#include "report.h"

/* The backend of a kind of device; NULL if this build has none. */
const struct backend *backend_of(enum device_kind kind);

/* How many GPUs there are, or why none. */
struct machine look_at_machine(void);

/* Runs the plan. Returns the exit code: EXIT_OK, EXIT_ERROR, EXIT_WRONG_ANSWER,
 * or EXIT_INTERRUPTED. Rows are written as each group is done. */
int run_plan(const struct options *options, const struct plan *plan, struct report *report);

/* --dry-run: prints what would be run and the memory it needs. */
int print_plan(const struct options *options, const struct plan *plan, FILE *out);

#endif
