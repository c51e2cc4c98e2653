/* list.h: --list. */
#ifndef SCANBENCH_BENCH_CLI_LIST_H
#define SCANBENCH_BENCH_CLI_LIST_H

#include <stdio.h>

/* Every name of every operation, where it runs, and what it is. */
void print_list(FILE *out);

#endif
