/* parse_options.h: reads the command line with the table of options. */
#pragma once

#include "option_table.h"

/* Fills `options` from the flags in the environment variable SCANBENCH_FLAGS, separated by
 * blanks, and then from the command line, whose strings must outlive it. Returns EXIT_OK, or
 * EXIT_USAGE after one line on stderr that names the flag, the value and what would be right;
 * nothing is left to free then. --help and --version take effect at once: arguments after them
 * are not read. Of several processes, each calls it, and it fails in all of them if it does in one
 * or if their flags differ. */
int parse_options(int argc, char **argv, struct options *options);

/* The two steps of it, for one process: first what flags say by themselves, into line->options;
 * then the algorithms, for which files of the user's are loaded and devices looked for. After a
 * failure of the second, the options are left to free. */
int read_options(int argc, char **argv, struct command_line *line);
int complete_options(const struct command_line *line);

void free_options(struct options *options);
