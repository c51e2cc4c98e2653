/* decimal.h: reads decimal numbers, and none of the other forms that strtod accepts. */
#pragma once

#include <stdbool.h>

/* Reads a decimal number from 0 up and sets `end` to what follows it. strtod alone would accept
 * spaces, signs, hexadecimal, infinities and NaN as well. A number too large for a double
 * becomes HUGE_VAL. */
bool read_decimal(const char *text, double *number, const char **end);

/* Reads a text that must be a finite decimal number and nothing else. */
bool is_decimal(const char *text, double *number);
