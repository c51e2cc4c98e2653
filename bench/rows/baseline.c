/* baseline: compares rows with those of an earlier run's CSV file. */
#include "baseline.h"

#include "../base/decimal.h"
#include "../base/errors.h"
#include "../base/summarize.h"
#include "../base/text.h"
#include "columns.h"
#include "row_index.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct baseline {
    const char *path;
    struct csv csv;
    struct row_index same_configuration;
    struct row_matcher same_build;
    bool says_builds;                     /* whether the rows name their builds */
    int time, noise, device_name, commit; /* columns of the file */
    double fail_slower_pct;               /* NAN: not requested */
    bool strict;                          /* rows that the file lacks are a failure */
    size_t timed, compared, slower;
    char slowest[2 * FIELD_BYTES]; /* the worst of the rows slower than allowed */
    double worst_ratio;
    size_t simulated, counted, changed; /* rows of the emulator; with counts; with other counts */
    char first_changed[2 * FIELD_BYTES];
    bool named_machine; /* the note on the baseline's machine is printed or not needed */
};

/* The columns that any comparison needs. */
static bool has_columns(const struct baseline *baseline)
{
    static const char *const needed[] = {"algo", "n", "time_ms", "noise_pct"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (csv_column(&baseline->csv, needed[i]) == NO_COLUMN) {
            complain("--baseline=%s: it has no column %s; name a CSV file that scanbench wrote",
                     baseline->path, needed[i]);
            return false;
        }
    return true;
}

/* The cell as a number from 0 up, else NAN. */
static double number_in(const char *text)
{
    double number;
    return is_decimal(text, &number) ? number : NAN;
}

/* A row without measurements has an empty time. A time that is there must be a number. */
static void tell_of_bad_times(const struct baseline *baseline)
{
    const char *first = NULL;
    size_t count = 0;
    for (size_t r = 0; r < baseline->csv.row_count; r++) {
        const char *text = csv_cell(&baseline->csv, r, baseline->time);
        if (text[0] == '\0' || number_in(text) > 0)
            continue;
        first = first == NULL ? text : first;
        count++;
    }
    char copy[SHORT_TEXT_BYTES];
    if (count > 0)
        complain(
            "--baseline=%s: time_ms is not a time in %zu row%s (\"%s\"), which %s not compared",
            baseline->path, count, count == 1 ? "" : "s", shorten(first, copy),
            count == 1 ? "is" : "are");
}

struct baseline *open_baseline(const struct output_spec *spec, int *code)
{
    struct baseline *baseline = allocate_or_die(NULL, sizeof *baseline);
    *baseline = (struct baseline){.path = spec->baseline_path,
                                  .fail_slower_pct = spec->fail_slower_pct,
                                  .strict = spec->strict,
                                  .named_machine = spec->quiet};
    char why[CSV_REASON_BYTES];
    *code = read_csv_file(baseline->path, &baseline->csv, why);
    if (*code != EXIT_OK) {
        complain("--baseline=%s: %s", baseline->path, why);
    } else if (!has_columns(baseline)) {
        *code = EXIT_USAGE;
    } else {
        if (baseline->csv.torn && !spec->quiet)
            complain("--baseline=%s: its last line is torn and was ignored", baseline->path);
        const struct row_matcher matcher = make_row_matcher(&baseline->csv, SAME_CONFIGURATION);
        baseline->same_configuration = make_row_index(&matcher);
        baseline->same_build = make_row_matcher(&baseline->csv, SAME_BUILD);
        baseline->says_builds = missing_match_column(&baseline->csv, SAME_BUILD, NULL) == NULL;
        baseline->commit = csv_column(&baseline->csv, "commit");
        baseline->time = csv_column(&baseline->csv, "time_ms");
        baseline->noise = csv_column(&baseline->csv, "noise_pct");
        baseline->device_name = csv_column(&baseline->csv, "device_name");
        tell_of_bad_times(baseline);
        return baseline;
    }
    free_csv(&baseline->csv);
    free(baseline);
    return NULL;
}

double find_one_run_pct(const char *device, int64_t n)
{
    static const struct {
        const char *kind;
        int64_t n;
        double pct;
    } table[] = {
#define ONE_RUN(kind, n, pct) {#kind, n, pct},
#include "one_run.def"
#undef ONE_RUN
    };
    double found_pct = NAN, most_pct = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        most_pct = fmax(most_pct, table[i].pct);
        if (strncmp(device, table[i].kind, strlen(table[i].kind)) == 0 &&
            (isnan(found_pct) || table[i].n <= n))
            found_pct = table[i].pct;
    }
    return isnan(found_pct) ? most_pct : found_pct;
}

int real_change(double ms, double noise_pct, const struct past_runs *past)
{
    const double noise = (ms * noise_pct + past->median_ms * past->noise_pct) / 100;
    double run_to_run = fmax(RUN_TO_RUN_PCT / 100 * past->median_ms, past->max_ms - past->min_ms);
    if (past->count < ENOUGH_RUNS)
        run_to_run = fmax(run_to_run, RUN_TO_RUN_MS);
    if (past->count == 1)
        run_to_run = fmax(run_to_run, past->one_run_pct / 100 * past->median_ms);
    if (ms > past->max_ms + noise + run_to_run)
        return 1;
    return ms < past->min_ms - noise - run_to_run ? -1 : 0;
}

/* Is the row, of the same configuration, also of the same build and device as the row found? A row
 * with uncommitted changes, or with no commit, may come from any build. */
static bool is_another_run(const struct baseline *baseline, size_t row, size_t found)
{
    static const char dirty[] = "-dirty";
    const struct csv *csv = &baseline->csv;
    if (!baseline->says_builds || !rows_match(&baseline->same_build, row, found))
        return false;
    const char *commit = csv_cell(csv, found, baseline->commit);
    const size_t length = strlen(commit);
    if (length == 0 ||
        (length >= strlen(dirty) && strcmp(commit + length - strlen(dirty), dirty) == 0))
        return false;
    return strcmp(csv_cell(csv, row, baseline->device_name),
                  csv_cell(csv, found, baseline->device_name)) == 0;
}

static struct past_runs gather_past_runs(const struct baseline *baseline, size_t found)
{
    const struct row_index *index = &baseline->same_configuration;
    double *times_ms = NULL;
    struct past_runs past = {0};
    for (long at = (long)found; at != NO_ROW; at = find_match_before(index, (size_t)at)) {
        const size_t r = (size_t)at;
        if (r != found && !is_another_run(baseline, r, found))
            continue;
        const double ms = number_in(csv_cell(&baseline->csv, r, baseline->time));
        const double noise_pct = number_in(csv_cell(&baseline->csv, r, baseline->noise));
        if (!(ms > 0) || !isfinite(noise_pct))
            continue;
        if ((past.count & (past.count - 1)) == 0) /* a power of two, and full */
            times_ms = allocate_or_die(times_ms, 2 * (past.count + 1) * sizeof *times_ms);
        times_ms[past.count++] = ms;
        past.noise_pct = fmax(past.noise_pct, noise_pct);
    }
    const struct statistics statistics = summarize(times_ms, past.count);
    past.median_ms = statistics.median;
    past.min_ms = statistics.min;
    past.max_ms = statistics.max;
    free(times_ms);
    return past;
}

/* Times of another machine are compared, but with a note. */
static void look_at_machine_of(struct baseline *baseline, long found, const struct row *row)
{
    const char *name = csv_cell(&baseline->csv, (size_t)found, baseline->device_name);
    if (baseline->named_machine || name[0] == '\0' || row->device_name == NULL ||
        strcmp(name, row->device_name) == 0)
        return;
    complain("--baseline=%s: it was measured on %s, this is %s", baseline->path, name,
             row->device_name);
    baseline->named_machine = true;
}

/* All that distinguishes the row from others of the run. */
static void describe_configuration(const struct row *row, char *text, size_t size)
{
    snprintf(text, size, "%s %s, n = %lld", row->op, row->algo, (long long)row->n);
    for (size_t c = 0; c < COLUMN_COUNT; c++) {
        const struct column *column = &columns[c];
        char field[FIELD_BYTES];
        if (column->class != CLASS_AXIS || column->offset == offsetof(struct row, op) ||
            column->offset == offsetof(struct row, algo) ||
            column->offset == offsetof(struct row, n))
            continue;
        column_text(column, row, field, sizeof field);
        if (field[0] != '\0' && (column->before == NULL || strcmp(field, column->before) != 0))
            append_text(text, size, ", %s=%s", column->name, field);
    }
}

void describe_slowdown(const struct row *row, char *text, size_t size)
{
    describe_configuration(row, text, size);
    append_text(text, size, ": %.6g ms, %.1f %% slower than %.6g ms", row->time_ms,
                100 * (row->baseline_ratio - 1), row->baseline_ms);
}

static void note_slowdown(struct baseline *baseline, const struct row *row)
{
    baseline->slower++;
    if (row->baseline_ratio <= baseline->worst_ratio)
        return;
    baseline->worst_ratio = row->baseline_ratio;
    describe_slowdown(row, baseline->slowest, sizeof baseline->slowest);
}

/* Appends ": bank_conflicts 7, was 0; ..." for counts that differ. Returns how many counts the row
 * and the row found both have. */
static size_t compare_counts(const struct baseline *baseline, size_t found, const struct row *row,
                             char *text, size_t size)
{
    size_t compared = 0, changed = 0;
    for (size_t c = 0; c < COLUMN_COUNT; c++) {
        const int place = csv_column(&baseline->csv, columns[c].name);
        char field[FIELD_BYTES];
        double now, before;
        if (!needs_flag(&columns[c], "--counts") || place == NO_COLUMN)
            continue;
        const char *cell = csv_cell(&baseline->csv, found, place);
        column_text(&columns[c], row, field, sizeof field);
        if (!is_decimal(field, &now) || !is_decimal(cell, &before))
            continue;
        compared++;
        if (now != before)
            append_text(text, size, "%s %s %s, was %s", changed++ == 0 ? ":" : ";", columns[c].name,
                        field, cell);
    }
    return compared;
}

/* Times of the emulator say nothing about a GPU; what it counts is the same in every run. */
static void compare_simulated(struct baseline *baseline, const struct row *row)
{
    const long found = find_last_match(&baseline->same_configuration, row);
    char changes[FIELD_BYTES] = "";
    if (row->kernel != NULL)
        return;
    baseline->simulated++;
    if (found == NO_ROW ||
        compare_counts(baseline, (size_t)found, row, changes, sizeof changes) == 0)
        return;
    baseline->counted++;
    if (changes[0] == '\0' || baseline->changed++ > 0)
        return;
    describe_configuration(row, baseline->first_changed, sizeof baseline->first_changed);
    append_text(baseline->first_changed, sizeof baseline->first_changed, "%s", changes);
}

bool compare_with_baseline(struct baseline *baseline, struct row *row)
{
    if (!isfinite(row->time_ms))
        return false;
    if (row->simulated) {
        compare_simulated(baseline, row);
        return false;
    }
    const bool counts = row->kernel == NULL; /* launches follow their run */
    baseline->timed += counts;
    const long found = find_last_match(&baseline->same_configuration, row);
    if (found == NO_ROW)
        return false;
    struct past_runs past = gather_past_runs(baseline, (size_t)found);
    if (past.count == 0)
        return false;
    past.one_run_pct = find_one_run_pct(row->device != NULL ? row->device : "", row->n);
    static const char *const changes[3] = {"faster", "none", "slower"};
    const int change = real_change(row->time_ms, row->noise_pct, &past);
    look_at_machine_of(baseline, found, row);
    baseline->compared += counts;
    row->baseline_ms = past.median_ms;
    row->baseline_ratio = row->time_ms / past.median_ms;
    row->change = changes[change + 1];
    const bool too_slow =
        counts && change > 0 && row->baseline_ratio > 1 + baseline->fail_slower_pct / 100;
    if (too_slow)
        note_slowdown(baseline, row);
    return too_slow;
}

void free_baseline(struct baseline *baseline)
{
    if (baseline == NULL)
        return;
    free_row_index(&baseline->same_configuration);
    free_csv(&baseline->csv);
    free(baseline);
}

int close_baseline(struct baseline *baseline)
{
    if (baseline == NULL)
        return EXIT_OK;
    const bool gate = isfinite(baseline->fail_slower_pct);
    int code = EXIT_OK;
    if (baseline->slower > 0) {
        complain("--fail-slower: %zu row%s slower than the baseline; %s", baseline->slower,
                 baseline->slower == 1 ? " is" : "s are", baseline->slowest);
        code = EXIT_SLOWER;
    } else if (baseline->timed > 0 && baseline->compared == 0) {
        complain("--baseline=%s: it has no row for anything that was measured", baseline->path);
        code = gate ? EXIT_ERROR : EXIT_OK;
    } else if (baseline->timed == 0 && gate) {
        complain("--fail-slower: no row has a time to compare%s",
                 baseline->simulated > 0 ? "; those of the emulator say nothing about a GPU" : "");
        code = EXIT_ERROR;
    }
    if (baseline->changed > 0)
        complain("--baseline=%s: %zu of %zu rows of the emulator with counts to compare have other "
                 "counts; %s",
                 baseline->path, baseline->changed, baseline->counted, baseline->first_changed);
    else if (baseline->counted < baseline->simulated)
        complain("--baseline=%s: %zu of %zu rows of the emulator have no counts to compare, and "
                 "its times are not compared; run both with --counts",
                 baseline->path, baseline->simulated - baseline->counted, baseline->simulated);
    if (baseline->compared > 0 && baseline->compared < baseline->timed) {
        complain("--baseline=%s: it has no row for %zu of the %zu rows that were measured",
                 baseline->path, baseline->timed - baseline->compared, baseline->timed);
        code = worse_exit_code(code, gate && baseline->strict ? EXIT_ERROR : EXIT_OK);
    }
    free_baseline(baseline);
    return code;
}
