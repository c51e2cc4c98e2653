/* nearest.h: what a misspelt word may have meant. */
#ifndef SCANBENCH_BENCH_NEAREST_H
#define SCANBENCH_BENCH_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* The candidate nearest to a word by edit distance, or one that begins with the
 * word. NULL only where there is no candidate. */
const char *nearest_match(const char *word, const char *const *candidates, size_t count);

/* Is it near enough to be what was meant? */
bool is_near(const char *word, const char *candidate);

#endif
