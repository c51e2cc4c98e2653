/* parse_options.h: reads the command line with the table of options. */
#pragma once

#include "options.h"

/* Fills `options` from the flags in the environment variable SCANBENCH_FLAGS, separated by
 * blanks, and then from the command line, whose strings must outlive it. Returns EXIT_OK, or
 * EXIT_USAGE after one line on stderr that names the flag, the value and what would be right;
 * nothing is left to free then. --help and --version take effect at once: arguments after them
 * are not read. Of several processes, each calls it, and it fails in all of them if it does in one
 * or if their flags differ. */
int parse_options(int argc, char **argv, struct options *options);
void free_options(struct options *options);
