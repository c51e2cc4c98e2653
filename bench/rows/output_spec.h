/* output_spec.h: the user's settings for the results: destination and format. */
#pragma once

#include "row.h"

#include <stdbool.h>
#include <stddef.h>

enum format {
    FORMAT_AUTO,
    FORMAT_CSV,
    FORMAT_TABLE,
    FORMAT_JSON,
    FORMAT_JSONL,
    FORMAT_MARKDOWN,
    FORMAT_VERDICTS,
    FORMAT_COUNT,
};

/* Is it the format of a file by default? */
static inline bool is_csv(enum format format)
{
    return format == FORMAT_AUTO || format == FORMAT_CSV || format == FORMAT_TABLE;
}

/* What to do with a file that is not empty: refuse it, append rows, or append the missing rows
 * only. */
enum file_opening { FILE_NEW, FILE_APPEND, FILE_RESUME };

/* A flag as it was given. */
struct given_flag {
    const char *name;  /* "block" */
    const char *value; /* NULL: none */
    bool writes_file;  /* its value names a file that the run writes, or it says how */
};

/* --counts: whether accesses to memory are counted, and whether source lines have rows, too. */
enum counting { COUNTS_NOTHING, COUNTS_BY_RUN, COUNTS_BY_LINE };

struct output_spec {
    enum format format;
    const char *path;    /* NULL: stdout */
    const char *columns; /* NULL: all */
    enum file_opening opening;
    const char *samples_path;       /* NULL: none */
    const char *junit_path;         /* NULL: none */
    const char *trace_path;         /* NULL: none */
    const char *baseline_path;      /* NULL: none */
    double fail_slower_pct;         /* NAN: not requested */
    bool strict;                    /* with it: rows that the baseline lacks are a failure */
    bool launches;                  /* --kernels: launches have rows, too */
    enum counting counts;           /* --counts: rows count accesses to memory */
    bool copies;                    /* --copies: rows have times of copies */
    bool needs[COLUMN_COUNT];       /* rows may differ in it from files that lack the column */
    const char *program;            /* as the user called it */
    char **arguments;               /* of the command line; NULL: unknown */
    const struct given_flag *flags; /* the same, taken apart */
    size_t flag_count;
    bool quiet; /* print only errors on stderr */
};
