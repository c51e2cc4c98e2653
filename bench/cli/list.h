/* list.h: --list. */
#ifndef SCANBENCH_BENCH_CLI_LIST_H
#define SCANBENCH_BENCH_CLI_LIST_H

#include "../algorithm.h"

#include <stdbool.h>
#include <stdio.h>

/* Prints every algorithm of every operation, where it runs, and its summary. */
void print_list(FILE *out);

/* Lists the algorithms of these operations that this build lacks, with what to install or build:
 * "tbb, std-par (libtbb-dev), cub (CUDA Toolkit)"; those of several devices only if `several`.
 * Empty if it has all. */
void list_missing(const bool operations[OPERATION_COUNT], bool several, char *text, size_t size);

#endif
