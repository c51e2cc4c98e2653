/* dry_run.h: --dry-run. */
#ifndef SCANBENCH_BENCH_RUN_DRY_RUN_H
#define SCANBENCH_BENCH_RUN_DRY_RUN_H

#include "plan.h"

#include <stdio.h>

/* Prints what would be run and the memory it needs. */
int print_plan(const struct options *options, const struct plan *plan, FILE *out);

#endif
