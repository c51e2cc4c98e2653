/* row_file.h: a CSV file to add rows to, new or existing. */
#pragma once

#include "csv_reader.h"
#include "output_spec.h"
#include "row_writer.h"

struct row_file {
    const char *flag; /* "--output", for messages */
    const char *path;
    enum file_opening opening;
    const char *const *names; /* the required header; NULL: no rows can be added */
    size_t name_count;
    const char *replaces; /* FILE_NEW: a file that begins so may be overwritten; NULL: none */
    const struct row_writer *others; /* must not be the same file; some may not be open */
    size_t other_count;
    bool quiet; /* do not report repairs */

    struct row_writer writer; /* opened by open_row_file() */
    bool is_new;              /* its header is not written yet */
    struct csv had;           /* its earlier contents; free with free_csv() */
};

/* Opens the file as the fields above say. A file that is not empty is never overwritten: it is
 * continued if its header is the required one, and refused otherwise. A complete last row
 * without a line break is given one; for --resume, a torn last line is cut off. Returns
 * EXIT_OK, or another code after one line on stderr. What is replaced is still there. */
int open_row_file(struct row_file *row_file);
