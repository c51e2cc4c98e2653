/* nearest.h: suggestions for misspelt words. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The candidate nearest to a word by edit distance, or one that begins with the word. NULL only
 * if there are no candidates. */
const char *nearest_match(const char *word, const char *const *candidates, size_t count);

/* Is the candidate near enough to be suggested? */
bool is_near(const char *word, const char *candidate);
