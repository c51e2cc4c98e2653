/* terminal.h: what the program may assume about the terminal it prints to. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

enum { USUAL_WIDTH = 80 };

/* Columns of the terminal behind a descriptor; USUAL_WIDTH if it is none or does not say. */
int terminal_width(int descriptor);

/* May output to this descriptor be coloured? Not into files and pipes, nor with NO_COLOR set
 * (no-color.org). */
bool terminal_has_colour(int descriptor);

/* The width to break lines at: the terminal's, or, in files and pipes, none. */
int wrapping_width(FILE *out);

/* Prints words from column `indent` on, in lines of `width` columns at most; `column` is where
 * the line stands now. Ends the last line. */
void print_wrapped(FILE *out, int width, int indent, int column, const char *text);

/* The columns that UTF-8 text takes, without characters of double width. */
int shown_width(const char *text);
