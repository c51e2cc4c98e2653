/* samples_file: writes a line for each sample of a row. */
#include "samples_file.h"

#include "../base/errors.h"
#include "../base/text.h"
#include "columns.h"
#include "format.h"
#include "row_file.h"

#include <stdlib.h>
#include <string.h>

/* The columns of --samples-file: those that identify a row, followed by these. */
static const char *const sample_columns[] = {
    "op",      "algo",   "kernel",      "launch", "type",    "kind",   "n",        "block",
    "threads", "device", "device_name", "cache",  "input",   "max",    "keep",     "seed",
    "host",    "date",   "label",       "simd",   "scratch", "clocks", "operator", "segments",
    "values",  "gpus",   "ranks",       "engine", "sample",  "time_ms"};
enum { SAMPLE_COLUMN_COUNT = sizeof sample_columns / sizeof *sample_columns };

static void write_header(struct row_writer *samples)
{
    struct text text;
    open_text(&text);
    for (int c = 0; c < SAMPLE_COLUMN_COUNT; c++)
        fprintf(text.out, "%s%s", c > 0 ? "," : "", sample_columns[c]);
    fputc('\n', text.out);
    write_and_free(samples, &text);
}

int open_samples(const struct output_spec *spec, const struct row_writer *others,
                 size_t other_count, struct resume *resume, struct row_writer *samples)
{
    if (spec->samples_path == NULL)
        return EXIT_OK;
    struct row_file row_file = {
        .flag = "--samples-file",
        .path = spec->samples_path,
        .opening = spec->opening,
        .names = sample_columns,
        .name_count = SAMPLE_COLUMN_COUNT,
        .others = others,
        .other_count = other_count,
        .quiet = spec->quiet,
    };
    const int code = open_row_file(&row_file);
    if (code != EXIT_OK)
        return code;
    *samples = row_file.writer;
    if (spec->opening == FILE_RESUME) {
        const off_t kept = find_sample_sets(resume, &row_file.had, samples->bytes);
        if (kept < samples->bytes)
            cut_file(samples, kept);
    }
    free_csv(&row_file.had);
    if (row_file.is_new)
        write_header(samples);
    return EXIT_OK;
}

bool write_samples(struct row_writer *samples, const struct row *row, const double *time_ms,
                   size_t count)
{
    struct text start, text;
    open_text(&start);
    open_text(&text);
    for (int c = 0; c < SAMPLE_COLUMN_COUNT - 2; c++) {
        char field[FIELD_BYTES];
        column_text(find_column(sample_columns[c], strlen(sample_columns[c])), row, field,
                    sizeof field);
        write_csv_field(start.out, field);
        fputc(',', start.out);
    }
    close_text(&start);
    for (size_t i = 0; i < count; i++)
        fprintf(text.out, "%s%zu,%.6g\n", start.bytes, i + 1, time_ms[i]);
    free(start.bytes);
    return write_and_free(samples, &text);
}
