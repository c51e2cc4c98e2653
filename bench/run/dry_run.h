/* dry_run.h: --dry-run. */
#pragma once

#include "plan.h"

#include <stdio.h>

/* Prints what would be run and the memory it needs. */
int print_plan(const struct options *options, const struct plan *plan, FILE *out);
