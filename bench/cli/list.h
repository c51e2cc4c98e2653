/* list.h: --list. */
#ifndef SCANBENCH_BENCH_CLI_LIST_H
#define SCANBENCH_BENCH_CLI_LIST_H

#include <stdio.h>

/* Prints every algorithm of every operation, where it runs, and its summary. */
void print_list(FILE *out);

#endif
