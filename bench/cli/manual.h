/* manual.h: what is said of the flags: --help, the manual page, completions.
 *
 * All are made of the table of options, of the registry and of the columns. */
#ifndef SCANBENCH_BENCH_CLI_MANUAL_H
#define SCANBENCH_BENCH_CLI_MANUAL_H

#include "options.h"

#include <stdio.h>

/* The text of --help. */
void print_help(FILE *out);

/* What --generate asks for: the manual page in man(7), or a shell's completions. */
void generate(enum generated what, FILE *out);

#endif
