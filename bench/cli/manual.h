/* manual.h: the text of --help, the manual page and the shell completions.
 *
 * All are generated from the tables of options, algorithms and columns. */
#pragma once

#include "options.h"

#include <stdio.h>

/* The text of --help. */
void print_help(FILE *out);

/* The manual page as plain text: that of --help, the columns, and JSON. */
void print_manual(FILE *out);

/* --manual: shows the manual page through man. Without man, prints it as plain text, on a terminal
 * through the pager. */
void show_manual(void);

/* Writes what --generate asks for: the manual page in man(7), or the completions of a shell. */
void generate(enum generated what, FILE *out);
