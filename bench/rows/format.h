/* format.h: how rows become text: a line of row_formats and a file for each format. */
#pragma once

#include "chosen_columns.h"
#include "output_spec.h"

#include <jansson.h>
#include <stdio.h>

struct verdicts;

/* What a format knows of the rows before and of the run. */
struct written_rows {
    struct chosen_columns columns;
    size_t count;
    size_t measured;
    size_t noisy;        /* rows whose noise stayed above --max-noise */
    json_t *devices;     /* JSON: those that had rows */
    const char *program; /* as the user called it */
    char **arguments;    /* of the command line; NULL: unknown */
    const struct given_flag *flags;
    size_t flag_count;
    struct verdicts *verdicts; /* what the rows so far say of their algorithms; NULL: nobody asks */
};

/* Each function writes its part. NULL: the format has no such part. */
struct row_format {
    const char *name;
    void (*begin)(const struct written_rows *rows, FILE *out);
    void (*row)(const struct written_rows *rows, const struct row *row, FILE *out);
    void (*end)(const struct written_rows *rows, FILE *out);
    const char *ending; /* of the names of files that have it unless --format says otherwise */
};

/* The formats of files. A file beside a table on the terminal has CSV. */
extern const struct row_format row_formats[FORMAT_COUNT];

void begin_csv(const struct written_rows *rows, FILE *out);
void write_csv_row(const struct written_rows *rows, const struct row *row, FILE *out);
void begin_json(const struct written_rows *rows, FILE *out);
void write_json_row(const struct written_rows *rows, const struct row *row, FILE *out);
void write_jsonl_row(const struct written_rows *rows, const struct row *row, FILE *out);
void end_json(const struct written_rows *rows, FILE *out);
void begin_markdown(const struct written_rows *rows, FILE *out);
void write_markdown_row(const struct written_rows *rows, const struct row *row, FILE *out);
void end_verdicts(const struct written_rows *rows, FILE *out);

/* --junit: the same verdicts for programs. The file begins with the head. */
extern const char junit_head[];
void write_junit(const struct written_rows *rows, FILE *out);

/* A field as CSV has it, in quotes if it needs them. */
void write_csv_field(FILE *file, const char *text);
