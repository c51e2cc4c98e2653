/* defect_pattern: what the rows that show a defect have in common, and those that passed have not.
 */
#include "defects.h"

#include "../base/sizes.h"
#include "../base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_VALUES_NAMED = 3 };

/* ---- sizes ---- */

/* The sizes that a defect showed at, and those at which no row showed it. */
struct sizes_seen {
    int64_t least_wrong, most_wrong;
    int64_t least_right, most_right; /* least above most: there are none */
};

static bool is_wrong_at(const struct subject *subject, int defect, int64_t n)
{
    for (size_t r = 0; r < subject->row_count; r++)
        if (subject->rows[r].n == n && subject->rows[r].defect == defect)
            return true;
    return false;
}

static bool is_right_at(const struct subject *subject, int defect, const struct seen_row *row)
{
    return row->defect != defect && !row->skipped && !is_wrong_at(subject, defect, row->n);
}

static struct sizes_seen look_at_sizes(const struct subject *subject, int defect)
{
    struct sizes_seen seen = {INT64_MAX, -1, INT64_MAX, -1};
    for (size_t r = 0; r < subject->row_count; r++) {
        const struct seen_row *row = &subject->rows[r];
        const bool wrong = row->defect == defect, right = is_right_at(subject, defect, row);
        int64_t *least = wrong ? &seen.least_wrong : &seen.least_right;
        int64_t *most = wrong ? &seen.most_wrong : &seen.most_right;
        if (!wrong && !right)
            continue;
        *least = row->n < *least ? row->n : *least;
        *most = row->n > *most ? row->n : *most;
    }
    return seen;
}

/* A property of sizes, for a number. */
typedef bool has_property(int64_t n, int64_t number);

static bool is_no_multiple(int64_t n, int64_t number)
{
    return n % number != 0;
}

static bool is_no_power(int64_t n, int64_t ignored)
{
    (void)ignored;
    return !is_power_of_two((uint64_t)n);
}

static bool is_power(int64_t n, int64_t ignored)
{
    return !is_no_power(n, ignored);
}

/* From the smallest wrong size on: do exactly the wrong ones have the property? At least two right
 * ones must show that others do not. */
static bool tells_apart(const struct subject *subject, int defect, const struct sizes_seen *seen,
                        has_property *property, int64_t number)
{
    size_t right_ones = 0;
    for (size_t r = 0; r < subject->row_count; r++) {
        const struct seen_row *row = &subject->rows[r];
        const bool wrong = row->defect == defect, right = is_right_at(subject, defect, row);
        if (row->n < seen->least_wrong || (!wrong && !right))
            continue;
        if (property(row->n, number) != wrong)
            return false;
        right_ones += right;
    }
    return right_ones >= 2;
}

static void find_pattern_of_sizes(const struct subject *subject, int defect, char *pattern)
{
    static const int64_t tiles[] = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
    const struct sizes_seen seen = look_at_sizes(subject, defect);
    if (seen.least_right > seen.most_right) {
        if (count_sizes(subject, row_shows, defect) ==
                count_sizes(subject, row_was_run, NO_DEFECT) &&
            seen.least_wrong < seen.most_wrong)
            snprintf(pattern, PATTERN_BYTES, "at every size");
    } else if (seen.least_wrong == seen.most_wrong) {
        snprintf(pattern, PATTERN_BYTES, "only at n = %" PRId64, seen.least_wrong);
    } else if (seen.most_right < seen.least_wrong) {
        if (seen.most_right > 0) /* a result of no elements is never wrong */
            snprintf(pattern, PATTERN_BYTES, "only above n = %" PRId64, seen.most_right);
    } else if (seen.most_wrong < seen.least_right) {
        snprintf(pattern, PATTERN_BYTES, "only up to n = %" PRId64, seen.most_wrong);
    } else if (tells_apart(subject, defect, &seen, is_no_power, 0)) {
        snprintf(pattern, PATTERN_BYTES, "only at sizes that are no powers of two");
    } else if (tells_apart(subject, defect, &seen, is_power, 0)) {
        snprintf(pattern, PATTERN_BYTES, "only at powers of two");
    } else {
        for (size_t t = 0; t < sizeof tiles / sizeof *tiles && pattern[0] == '\0'; t++)
            if (tells_apart(subject, defect, &seen, is_no_multiple, tiles[t]))
                snprintf(pattern, PATTERN_BYTES, "only at sizes that are no multiples of %" PRId64,
                         tiles[t]);
    }
}

/* ---- other axes ---- */

/* The order is that of importance: the first that tells rows apart is named. */
static const struct {
    const char *flag;
    size_t text; /* of a row: seen_text() */
} axes[] = {
#define AXIS(name)                                  \
    {                                               \
        "--" #name, offsetof(struct seen_row, name) \
    }
    AXIS(type), AXIS(kind), AXIS(block), AXIS(keep), AXIS(max), AXIS(input),
#undef AXIS
};

/* Did a row with the value show the defect, among those before `end`? */
static bool value_is_wrong(const struct subject *subject, int defect, size_t text,
                           const char *value, size_t end)
{
    for (size_t r = 0; r < end; r++)
        if (subject->rows[r].defect == defect &&
            strcmp(seen_text(&subject->rows[r], text), value) == 0)
            return true;
    return false;
}

/* Lists the values of the axis with which the defect showed. Returns false if one of them also
 * passed, at a size at which the defect showed, or if no other value did. */
static bool list_values(const struct subject *subject, int defect, size_t text, char *list,
                        size_t size)
{
    size_t others = 0, named = 0;
    list[0] = '\0';
    for (size_t r = 0; r < subject->row_count; r++) {
        const struct seen_row *row = &subject->rows[r];
        if (row->passed && is_wrong_at(subject, defect, row->n)) {
            if (value_is_wrong(subject, defect, text, seen_text(row, text), subject->row_count))
                return false;
            others++;
        }
        if (row->defect == defect &&
            !value_is_wrong(subject, defect, text, seen_text(row, text), r))
            if (named++ < MOST_VALUES_NAMED)
                append_text(list, size, "%s%s", comma_after(list), seen_text(row, text));
    }
    return others > 0 && named <= MOST_VALUES_NAMED;
}

static void find_pattern_of_values(const struct subject *subject, int defect, char *pattern)
{
    for (size_t a = 0; a < sizeof axes / sizeof *axes; a++) {
        char list[96];
        if (!list_values(subject, defect, axes[a].text, list, sizeof list) || list[0] == '\0')
            continue;
        append_text(pattern, PATTERN_BYTES, "%sonly with %s=%s", comma_after(pattern), axes[a].flag,
                    list);
        return;
    }
}

/* ---- calls ---- */

static void find_pattern_of_calls(const struct subject *subject, int defect, char *pattern)
{
    for (size_t r = 0; r < subject->row_count; r++)
        if (subject->rows[r].defect == defect && !subject->rows[r].later)
            return;
    append_text(pattern, PATTERN_BYTES, "%sonly from the second call on", comma_after(pattern));
}

void find_pattern(const struct subject *subject, int defect, char pattern[PATTERN_BYTES])
{
    pattern[0] = '\0';
    find_pattern_of_sizes(subject, defect, pattern);
    find_pattern_of_values(subject, defect, pattern);
    find_pattern_of_calls(subject, defect, pattern);
}
