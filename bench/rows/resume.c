/* resume: finds the rows, launches, lines and samples that a file has already. */
#include "resume.h"

#include "../base/errors.h"
#include "../launch_log.h"

#include <stdlib.h>
#include <string.h>

void start_resume(struct resume *resume, const struct csv *rows, bool launches, bool lines)
{
    *resume = (struct resume){.rows = *rows, .launches = launches, .lines = lines};
    const struct row_matcher matcher = make_row_matcher(&resume->rows, SAME_DATA);
    const struct row_matcher runs = match_runs(&matcher);
    resume->index = make_row_index(&matcher);
    if (launches || lines)
        resume->runs = make_row_index(&runs);
    resume->check = csv_column(&resume->rows, "check");
    resume->met = allocate_or_die(NULL, rows->row_count * sizeof *resume->met);
    memset(resume->met, 0, rows->row_count * sizeof *resume->met);
}

void free_resume(struct resume *resume)
{
    free_csv(&resume->rows);
    free_row_index(&resume->index);
    free_row_index(&resume->runs);
    free(resume->sampled);
    free(resume->met);
    *resume = (struct resume){0};
}

/* ---- rows ---- */

static bool has_check(const struct resume *resume, size_t row, const char *check)
{
    return strcmp(csv_cell(&resume->rows, row, resume->check), check) == 0;
}

/* Is the row finished, so that it is not measured again? */
static bool is_done(const struct resume *resume, size_t row)
{
    return !has_check(resume, row, "error") && (resume->sampled == NULL || resume->sampled[row]);
}

/* The last matching row, if it is finished; else NO_ROW. */
static long find_done(const struct resume *resume, const struct row *row)
{
    const long found = find_last_match(&resume->index, row);
    return found != NO_ROW && is_done(resume, (size_t)found) ? found : NO_ROW;
}

bool resume_has_row(const struct resume *resume, const struct row *row)
{
    return find_done(resume, row) != NO_ROW;
}

/* Launches follow the row of their run, or come later in the file if they were added later. */
static bool has_launches(const struct resume *resume, size_t whole)
{
    const struct csv *rows = &resume->rows;
    const int launches = csv_column(rows, "launches"), launch = csv_column(rows, "launch");
    const unsigned long launched = strtoul(csv_cell(rows, whole, launches), NULL, 10);
    const size_t wanted = launched < LAUNCH_LOG_RECORDS ? launched : LAUNCH_LOG_RECORDS;
    bool there[LAUNCH_LOG_RECORDS] = {false};
    size_t count = 0;
    for (long r = find_last_like(&resume->runs, whole); r != NO_ROW && count < wanted;
         r = find_match_before(&resume->runs, (size_t)r)) {
        if (!is_done(resume, (size_t)r))
            continue;
        const unsigned long number = strtoul(csv_cell(rows, (size_t)r, launch), NULL, 10);
        if (number < 1 || number > wanted || there[number - 1])
            continue;
        there[number - 1] = true;
        count++;
    }
    return count == wanted;
}

static bool is_of_line(const struct csv *rows, size_t row)
{
    return csv_cell(rows, row, csv_column(rows, "line"))[0] != '\0';
}

/* The sum of the counts that a run has in total and each of its lines in part. 0 if any is
 * unknown: a GPU does not tell lines apart. */
static uint64_t sum_of_counts(const struct csv *rows, size_t row)
{
    static const char *const names[] = {"global_load_sectors", "global_store_sectors",
                                        "shared_requests", "atomics"};
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *count = csv_cell(rows, row, csv_column(rows, names[i]));
        if (count[0] == '\0')
            return 0;
        sum += strtoull(count, NULL, 10);
    }
    return sum;
}

/* Are the counts of the lines together those of the run? How many lines it has is not known. A
 * row that was not counted has none. */
static bool has_lines(const struct resume *resume, size_t whole)
{
    const struct csv *rows = &resume->rows;
    const uint64_t wanted = sum_of_counts(rows, whole);
    uint64_t sum = 0;
    for (long r = find_last_like(&resume->runs, whole); r != NO_ROW && sum < wanted;
         r = find_match_before(&resume->runs, (size_t)r))
        if (is_of_line(rows, (size_t)r))
            sum += sum_of_counts(rows, (size_t)r);
    return sum >= wanted;
}

bool resume_has_all(const struct resume *resume, const struct row *whole)
{
    const long found = find_done(resume, whole);
    return found != NO_ROW && (!resume->launches || has_launches(resume, (size_t)found)) &&
           (!resume->lines || has_lines(resume, (size_t)found));
}

const char *resume_cell(const struct resume *resume, const struct row *row, const char *column)
{
    const long found = find_done(resume, row);
    return found != NO_ROW
               ? csv_cell(&resume->rows, (size_t)found, csv_column(&resume->rows, column))
               : "";
}

bool resume_meets(struct resume *resume, const struct row *row)
{
    const long found = find_done(resume, row);
    if (found == NO_ROW || resume->met[found])
        return false;
    return resume->met[found] = true;
}

unsigned resume_lost_count(const struct resume *resume, const struct row *row)
{
    const int reason = csv_column(&resume->rows, "reason");
    unsigned count = 0;
    for (long r = find_last_match(&resume->index, row); r != NO_ROW;
         r = find_match_before(&resume->index, (size_t)r))
        count += has_check(resume, (size_t)r, "error") &&
                 strncmp(csv_cell(&resume->rows, (size_t)r, reason), DEVICE_WAS_LOST,
                         strlen(DEVICE_WAS_LOST)) == 0;
    return count;
}

/* ---- samples ---- */

enum { NOT_OF_A_ROW = 2 }; /* the last columns, sample and time_ms, are not a row's */

/* The samples of one row: consecutive lines, numbered from 1. */
struct sample_set {
    size_t first, count; /* lines */
    long row;            /* NO_ROW: no row in the file */
    bool whole;
};

static const char *sample_number(const struct csv *samples, size_t line)
{
    return csv_cell(samples, line, (int)samples->column_count - NOT_OF_A_ROW);
}

static bool is_same_row(const struct csv *samples, size_t a, size_t b)
{
    for (size_t c = 0; c + NOT_OF_A_ROW < samples->column_count; c++)
        if (strcmp(csv_cell(samples, a, (int)c), csv_cell(samples, b, (int)c)) != 0)
            return false;
    return true;
}

/* The row of a line of the samples, by the columns that both files have. Sets are in the order of
 * their rows: of several rows alike it is the next one after that of the previous set, and past
 * the last the first. */
static long row_of_line(const struct csv *samples, size_t line, const struct row_index *index,
                        long row_before)
{
    const struct row_matcher *matcher = &index->matcher;
    const char *cells[COLUMN_COUNT];
    for (size_t c = 0; c < matcher->count; c++)
        cells[c] = csv_cell(samples, line, csv_column(samples, matcher->columns[c]->name));
    const size_t next = (size_t)(row_before + 1);
    if (next < matcher->csv->row_count && has_cells(matcher, next, cells))
        return (long)next;
    long row = NO_ROW;
    for (long r = find_last_with(index, cells); r != NO_ROW;
         r = find_match_before(index, (size_t)r))
        if (r > row_before || row <= row_before)
            row = r;
    return row;
}

/* Reads the set that begins at line `first`. */
static struct sample_set read_set(const struct csv *samples, size_t first,
                                  const struct row_index *index, long row_before)
{
    const struct csv *rows = index->matcher.csv;
    struct sample_set set = {.first = first, .count = 1};
    while (first + set.count < samples->row_count &&
           strcmp(sample_number(samples, first + set.count), "1") != 0 &&
           is_same_row(samples, first, first + set.count))
        set.count++;
    set.row = row_of_line(samples, first, index, row_before);
    const int count = csv_column(rows, "samples");
    set.whole = strcmp(sample_number(samples, first), "1") == 0 &&
                strtoul(sample_number(samples, first + set.count - 1), NULL, 10) == set.count;
    if (set.row != NO_ROW && count != NO_COLUMN)
        set.whole &= strtoul(csv_cell(rows, (size_t)set.row, count), NULL, 10) == set.count;
    return set;
}

/* A run writes a row's samples before the row, so a killed run can leave a set without a row,
 * but only as the last set. In the samples of another output no set has a row here; the set
 * before the last one tells these cases apart. */
static bool is_left_over(const struct resume *resume, const struct sample_set *last,
                         long row_before)
{
    if (last->row != NO_ROW)
        return !last->whole;
    return resume->rows.column_count > 0 && (last->first == 0 || row_before != NO_ROW);
}

off_t find_sample_sets(struct resume *resume, const struct csv *samples, off_t bytes)
{
    const struct csv *rows = &resume->rows;
    struct sample_set set = {.row = NO_ROW};
    long row_before = NO_ROW;
    const struct row_matcher matcher = match_columns_of(
        rows, samples, samples->column_count > 0 ? samples->column_count - NOT_OF_A_ROW : 0);
    struct row_index index = make_row_index(&matcher);
    resume->sampled = allocate_or_die(NULL, rows->row_count * sizeof *resume->sampled);
    for (size_t r = 0; r < rows->row_count; r++)
        resume->sampled[r] = !has_check(resume, r, "passed") || is_of_line(rows, r);
    for (size_t line = 0; line < samples->row_count; line += set.count) {
        row_before = set.row;
        set = read_set(samples, line, &index, row_before);
        if (set.row != NO_ROW && set.whole)
            resume->sampled[set.row] = true;
    }
    free_row_index(&index);
    if (samples->row_count > 0 && is_left_over(resume, &set, row_before))
        return (off_t)samples->row_starts[set.first];
    return bytes;
}

off_t resume_last_without_samples(const struct resume *resume, const struct row *row)
{
    if (resume->sampled == NULL || resume->rows.row_count == 0)
        return -1;
    const size_t last = resume->rows.row_count - 1;
    return !resume->sampled[last] && is_matching_row(&resume->index.matcher, last, row)
               ? (off_t)resume->rows.row_starts[last]
               : -1;
}
