/* resume.h: what --resume finds finished: rows, with --kernels their launches, with --counts=lines
 * their lines, and with --samples-file their samples. */
#pragma once

#include "csv_reader.h"
#include "row_index.h"

#include <sys/types.h>

struct resume {
    struct csv rows; /* of --output */
    struct row_index index;
    struct row_index runs; /* the launches and lines of a run match it; empty if not asked */
    int check;             /* column of `rows` */
    bool launches;         /* --kernels: a row is finished only with all of its launches */
    bool lines;            /* --counts=lines: and only with all of its lines */
    bool *sampled;         /* for each row: is its sample set complete? NULL: not asked */
    bool *met;             /* for each row: has the run come to it? */
};

/* Takes ownership of the rows. `resume` must not be moved. */
void start_resume(struct resume *resume, const struct csv *rows, bool launches, bool lines);
void free_resume(struct resume *resume);

/* Finds each row's sample set. The columns of `samples`, except the last two, `sample` and
 * `time_ms`, are also columns of the rows. Returns how many bytes of the samples file to keep:
 * the last set is dropped if it is incomplete, or if a killed run left it without its row. */
off_t find_sample_sets(struct resume *resume, const struct csv *samples, off_t bytes);

/* Is there a matching row, of a run, a launch or a line, that need not be written again? */
bool resume_has_row(const struct resume *resume, const struct row *row);

/* Is the matching row there with all of its launches, lines and samples? */
bool resume_has_all(const struct resume *resume, const struct row *whole);

/* A cell of the matching row, if that is finished; "" if it is not, or the file lacks the column.
 */
const char *resume_cell(const struct resume *resume, const struct row *row, const char *column);

/* Marks the matching row, if it is finished, as met. Returns false if it was before, by an earlier
 * worker say, or if there is none. */
bool resume_meets(struct resume *resume, const struct row *row);

/* Prefix of the reason of a row whose run lost the device. */
#define DEVICE_WAS_LOST "the device was lost: "

/* How many matching rows ended with the loss of the device? */
unsigned resume_lost_count(const struct resume *resume, const struct row *row);

/* The offset of the file's last row, if it matches and lacks only its samples; else -1. */
off_t resume_last_without_samples(const struct resume *resume, const struct row *row);
