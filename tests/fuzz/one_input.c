/* one_input: runs the program's parsers on one input of a fuzzer. */
#include "one_input.h"

#include "../../bench/rows/baseline.h"
#include "../../bench/rows/columns.h"
#include "../../bench/cli/parse_options.h"
#include "../../bench/rows/resume.h"
#include "../../bench/rows/row_file.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ARGUMENTS = 40 };

static const char *path; /* in memory if there is such a folder */

static void remove_file(void)
{
    unlink(path);
}

static void write_file(const uint8_t *bytes, size_t size)
{
    static char name[64];
    if (path == NULL) {
        const bool in_memory = access("/dev/shm", W_OK) == 0;
        snprintf(name, sizeof name, "%s/scanbench-fuzz-%d.csv", in_memory ? "/dev/shm" : "/tmp",
                 (int)getpid());
        path = name;
        atexit(remove_file);
    }
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        abort();
}

/* A row that a file might have. */
static struct row some_row(void)
{
    struct row row = {.op = "scan", .algo = "naive", .type = "i32", .n = 4096};
    row.time_ms = 1;
    row.noise_pct = 1;
    row.device_name = "some device";
    return row;
}

static void as_baseline(void)
{
    int code = 0;
    struct output_spec spec = {.baseline_path = path, .fail_slower_pct = 5};
    struct baseline *baseline = open_baseline(&spec, &code);
    if (baseline == NULL)
        return;
    struct row row = some_row();
    compare_with_baseline(baseline, &row);
    close_baseline(baseline);
}

static void as_output(enum file_opening opening)
{
    const char *names[128];
    for (size_t c = 0; c < COLUMN_COUNT; c++)
        names[c] = columns[c].name;
    struct row_file row_file = {.flag = "--output",
                                .path = path,
                                .opening = opening,
                                .names = names,
                                .name_count = COLUMN_COUNT,
                                .quiet = true};
    if (open_row_file(&row_file) != 0)
        return;
    const struct row row = some_row();
    struct resume resume;
    start_resume(&resume, &row_file.had, true, true);
    if (resume.rows.column_count > 0) {
        resume_has_all(&resume, &row);
        resume_lost_count(&resume, &row);
    }
    free_resume(&resume);
    close_row_writer(&row_file.writer);
}

void one_csv_file(const uint8_t *bytes, size_t size)
{
    write_file(bytes, size);
    as_baseline();
    as_output(FILE_APPEND);
    as_output(FILE_RESUME);
    /* A file that was continued can be continued again. */
    as_output(FILE_APPEND);
}

void one_command_line(const uint8_t *bytes, size_t size)
{
    char *text = malloc(size + 1), *arguments[MOST_ARGUMENTS + 2] = {"scanbench"};
    if (text == NULL)
        abort();
    memcpy(text, bytes, size);
    text[size] = '\0';
    int count = 1;
    for (char *line = text; line != NULL && count <= MOST_ARGUMENTS; count++) {
        arguments[count] = line;
        line = strchr(line, '\n');
        if (line != NULL)
            *line++ = '\0';
    }
    optind = 0; /* restarts getopt */
    struct options options;
    if (parse_options(count, arguments, &options) == 0)
        free_options(&options);
    free(text);
}
