/* decimal.h: decimal numbers, and nothing else that strtod takes for a number. */
#ifndef SCANBENCH_BENCH_DECIMAL_H
#define SCANBENCH_BENCH_DECIMAL_H

#include <stdbool.h>

/* Reads a decimal number from 0 up and sets `end` to what follows it. strtod alone
 * would take spaces, signs, hexadecimal, infinities and NaN as well. What is too
 * large for a double is HUGE_VAL. */
bool read_decimal(const char *text, double *number, const char **end);

/* The same of a text that is nothing but a finite decimal number. */
bool is_decimal(const char *text, double *number);

#endif
