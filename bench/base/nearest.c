/* nearest: finds the candidate with the least edit distance. */
#include "nearest.h"

#include <ctype.h>
#include <string.h>

/* Longer words are compared by this many first bytes. */
enum { COMPARED_BYTES = 96 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Edit distance that ignores case and counts two swapped letters as one edit (optimal string
 * alignment, with three rows of the table). */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows_of_table[3][COMPARED_BYTES + 1];
    size_t *before = rows_of_table[0], *above = rows_of_table[1], *here = rows_of_table[2];
    size_t a_length = strnlen(a, COMPARED_BYTES);
    size_t b_length = strnlen(b, COMPARED_BYTES);
    for (size_t j = 0; j <= b_length; j++)
        here[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *oldest = before;
        before = above;
        above = here;
        here = oldest;
        here[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            here[j] = above[j - 1] + !same_letter(a[i - 1], b[j - 1]);
            here[j] = smaller(here[j], smaller(above[j], here[j - 1]) + 1);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                same_letter(a[i - 2], b[j - 1]))
                here[j] = smaller(here[j], before[j - 2] + 1);
        }
    }
    return here[b_length];
}

/* The distance in half edits. A prefix counts half an edit: worse than an exact match, better
 * than any misspelling. */
static size_t half_slips(const char *word, const char *candidate)
{
    size_t length = strlen(word);
    if (length > 0 && length < strlen(candidate) && strncmp(word, candidate, length) == 0)
        return 1;
    return 2 * edit_distance(word, candidate);
}

const char *nearest_match(const char *word, const char *const *candidates, size_t count)
{
    const char *nearest = NULL;
    size_t fewest = 0;
    for (size_t i = 0; i < count; i++) {
        size_t slips = half_slips(word, candidates[i]);
        if (!nearest || slips < fewest) {
            nearest = candidates[i];
            fewest = slips;
        }
    }
    return nearest;
}

bool is_near(const char *word, const char *candidate)
{
    enum { SHORT = 4, ONE_SLIP = 2 }; /* half slips; two make any short word another */
    const size_t a = strnlen(word, COMPARED_BYTES), b = strlen(candidate);
    const size_t longer = a > b ? a : b;
    return half_slips(word, candidate) <= (longer <= SHORT ? ONE_SLIP : longer);
}
