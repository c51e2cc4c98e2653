/* row_file.h: a CSV file that rows are added to: a new one, or one to go on with. */
#ifndef SCANBENCH_BENCH_ROWS_ROW_FILE_H
#define SCANBENCH_BENCH_ROWS_ROW_FILE_H

#include "csv_reader.h"
#include "output_spec.h"
#include "row_writer.h"

struct row_file {
    const char *flag; /* "--output", for messages */
    const char *path;
    enum file_opening opening;
    const char *const *names; /* the header that is wanted */
    size_t name_count;
    const struct row_writer *other; /* must be another file; NULL: there is none */
    bool quiet;                     /* does not say what was mended */

    struct row_writer writer; /* what open_row_file() opens */
    bool is_new;              /* it still lacks its header */
    struct csv had;           /* what it holds already; free_csv() it */
};

/* Opens the file as the fields above say. A file that holds something is never
 * overwritten: it is refused, or goes on, if its header is the wanted one. A last row
 * that lacks nothing but the end of its line gets that; to resume the file, a last
 * line that is torn is cut off. Returns EXIT_OK, or another code after one line on
 * stderr. */
int open_row_file(struct row_file *row_file);

#endif
