/* list.h: --list. */
#pragma once

#include "options.h"

#include <stdbool.h>
#include <stdio.h>

/* Prints the algorithms that --op, --algo and --device leave, where each runs, and its summary. */
void print_list(const struct options *options, FILE *out);

/* Lists the algorithms of these operations that this build lacks, with what to install or build:
 * "tbb, std-par (libtbb-dev), cub (CUDA Toolkit)"; those of several devices only if `several`.
 * Empty if it has all. */
void list_missing(const bool operations[OPERATION_COUNT], bool several, char *text, size_t size);
