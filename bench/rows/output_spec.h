/* output_spec.h: what the user asked of the results: where they go, and in what form. */
#ifndef SCANBENCH_BENCH_ROWS_OUTPUT_SPEC_H
#define SCANBENCH_BENCH_ROWS_OUTPUT_SPEC_H

#include <stdbool.h>
#include <stddef.h>

enum format {
    FORMAT_AUTO,
    FORMAT_CSV,
    FORMAT_TABLE,
    FORMAT_JSON,
    FORMAT_MARKDOWN,
    FORMAT_COUNT,
};

/* What may become of a file that holds something: nothing, more rows after those it has,
 * those it does not have yet, or, where it is this run's own, the rest of its rows. */
enum file_opening { FILE_NEW, FILE_APPEND, FILE_RESUME, FILE_GO_ON };

struct output_spec {
    enum format format;
    const char *path;    /* NULL: stdout */
    const char *columns; /* NULL: all */
    enum file_opening opening;
    const char *samples_path;  /* NULL: none */
    const char *baseline_path; /* NULL: none */
    double fail_slower_pct;    /* NAN: never mind */
    bool launches;             /* rows of launches will come, too */
    bool copies;               /* and times with copies */
    bool fresh_scratch;        /* and with scratch set up in each run */
    bool quiet;                /* only errors on stderr */
    bool going_on;             /* another process began this run, and wrote the headers */
    size_t rows_before;        /* and so many rows */
};

#endif
