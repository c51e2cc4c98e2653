/* defects.h: what is wrong with an algorithm, from all its rows: each defect once.
 *
 * The formats `verdicts` and JUnit are written from it. */
#pragma once

#include "defect_kind.h"
#include "row.h"

#include <stddef.h>

enum { NO_DEFECT = -1, PATTERN_BYTES = 256 };

/* What a row says of its algorithm. The texts are copies. */
struct seen_row {
    char *type, *kind, *input, *max, *keep, *block; /* "" if empty */
    int64_t n;
    int64_t launches; /* negative: unknown */
    bool passed, skipped;
    bool later;        /* it failed, but not in its first call */
    int defect;        /* an index; NO_DEFECT: it passed or was skipped */
    double slower_pct; /* than the baseline, if that is more than --fail-slower allows; else NAN */
    char *what;        /* of a row that failed: what was wanted and what came; of a slow one: its
                          configuration and times; else NULL */
};

/* One of the row's texts, whose place in struct seen_row is `member`. */
static inline const char *seen_text(const struct seen_row *row, size_t member)
{
    return *(char *const *)(const void *)((const char *)row + member);
}

struct defect {
    struct explanation explanation;
    size_t first; /* the row of the smallest n that shows it */
    size_t rows;
};

/* An algorithm of an operation on a device. */
struct subject {
    char *op, *algo, *device;
    struct seen_row *rows;
    size_t row_count, passed, skipped;
    char *why_skipped; /* the last reason; "": no row was skipped */
    struct defect *defects;
    size_t defect_count;
};

struct verdicts {
    struct subject *subjects;
    size_t count;
    bool interrupted; /* rows are missing, nobody knows how many */
};

struct verdicts *new_verdicts(void);
void free_verdicts(struct verdicts *verdicts);

/* Rows of launches (--kernels) are not looked at. */
void add_to_verdicts(struct verdicts *verdicts, const struct row *row, bool too_slow);

/* Some of the rows: those that passed, that show a defect, or that were not skipped. */
typedef bool of_rows(const struct seen_row *row, int defect);
of_rows row_passed, row_shows, row_was_run;

/* The number of different n among them. */
size_t count_sizes(const struct subject *subject, of_rows *which, int defect);

/* Says which rows show a defect, as against those that passed: "only at sizes that are no powers
 * of two". Empty if nothing tells them apart. */
void find_pattern(const struct subject *subject, int defect, char pattern[PATTERN_BYTES]);
