/* row_file.h: a CSV file that rows are added to: a new one, or one to go on with. */
#ifndef SCANBENCH_BENCH_ROW_FILE_H
#define SCANBENCH_BENCH_ROW_FILE_H

#include "csv_reader.h"
#include "options.h"

struct row_file {
    const char *flag; /* "--output", for messages */
    const char *path;
    enum file_opening opening;
    const char *const *names; /* the header that is wanted */
    size_t name_count;
    bool whole_launches; /* --kernels: a row without all of its launches is not whole */

    FILE *file;     /* what open_row_file() opens */
    bool is_new;    /* it still lacks its header */
    struct csv had; /* --resume: what it holds already; free_csv() it */
};

/* Opens the file as the fields above say. A file that holds something is never
 * overwritten: it is refused, or goes on, if its header is the wanted one; to
 * resume it, a torn last line is cut off. Returns EXIT_OK, or another code after
 * one line on stderr. */
int open_row_file(struct row_file *row_file);

#endif
