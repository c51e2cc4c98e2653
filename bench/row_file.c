#include "row_file.h"

#include "backend.h"
#include "exit_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool holds_something(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
}

static bool header_is_wanted(const struct row_file *row_file)
{
    const struct csv *csv = &row_file->had;
    if (csv->column_count != row_file->name_count)
        return false;
    for (size_t c = 0; c < csv->column_count; c++)
        if (strcmp(csv_name(csv, c), row_file->names[c]) != 0)
            return false;
    return true;
}

/* Where what is whole ends: before a last row that lacks some of its launches. */
static size_t whole_bytes(const struct row_file *row_file)
{
    const struct csv *csv = &row_file->had;
    const int kernel = csv_column(csv, "kernel"), launches = csv_column(csv, "launches");
    size_t row = csv->row_count;
    if (!row_file->whole_launches || row == 0)
        return csv->whole_bytes;
    do
        row--;
    while (row > 0 && csv_cell(csv, row, kernel)[0] != '\0');
    const unsigned long wanted = strtoul(csv_cell(csv, row, launches), NULL, 10);
    const size_t there = csv->row_count - row - 1;
    const bool all = there >= wanted || there >= LAUNCH_LOG_RECORDS;
    return all ? csv->whole_bytes : csv->row_starts[row];
}

static int refuse(const struct row_file *row_file, int code, const char *why)
{
    complain("%s=%s: %s", row_file->flag, row_file->path, why);
    return code;
}

/* Cuts off what is not whole, and reads the rest again. */
static int cut_file(struct row_file *row_file, size_t bytes)
{
    char why[CSV_REASON_BYTES];
    free_csv(&row_file->had);
    if (truncate(row_file->path, (off_t)bytes) != 0)
        return refuse(row_file, EXIT_ERROR, strerror(errno));
    const int code = read_csv_file(row_file->path, &row_file->had, why);
    if (code != EXIT_OK)
        return refuse(row_file, code, why);
    row_file->is_new = row_file->had.column_count == 0;
    return EXIT_OK;
}

/* Looks at a file that holds something already. */
static int look_at_file(struct row_file *row_file)
{
    char why[CSV_REASON_BYTES];
    if (row_file->opening == FILE_NEW)
        return refuse(row_file, EXIT_USAGE,
                      "the file exists and is not empty; name another, remove it, or say --append "
                      "or --resume");
    const int code = read_csv_file(row_file->path, &row_file->had, why);
    if (code != EXIT_OK)
        return refuse(row_file, code, why);
    const bool torn_header = row_file->had.whole_bytes == 0;
    if (!torn_header && !header_is_wanted(row_file))
        return refuse(row_file, EXIT_USAGE,
                      "its columns are not those of this run; name another file, or its --columns");
    const size_t whole = whole_bytes(row_file);
    struct stat status;
    if (stat(row_file->path, &status) != 0 || (size_t)status.st_size == whole)
        return EXIT_OK;
    if (row_file->opening == FILE_APPEND || torn_header)
        return refuse(row_file, EXIT_USAGE,
                      torn_header ? "not even its header is whole; remove it"
                                  : "its last line is torn; --resume cuts that off and goes on");
    return cut_file(row_file, whole);
}

int open_row_file(struct row_file *row_file)
{
    int code = EXIT_OK;
    row_file->is_new = !holds_something(row_file->path);
    if (!row_file->is_new)
        code = look_at_file(row_file);
    if (code == EXIT_OK) {
        row_file->file = fopen(row_file->path, row_file->is_new ? "w" : "a");
        if (row_file->file == NULL)
            code = refuse(row_file, EXIT_ERROR, strerror(errno));
    }
    if (code != EXIT_OK)
        free_csv(&row_file->had);
    return code;
}
