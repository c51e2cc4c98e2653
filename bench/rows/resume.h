/* resume.h: what --resume finds done already: rows, with --kernels their launches, and
 * with --samples-file their samples. */
#ifndef SCANBENCH_BENCH_ROWS_RESUME_H
#define SCANBENCH_BENCH_ROWS_RESUME_H

#include "csv_reader.h"
#include "row_match.h"

#include <sys/types.h>

struct resume {
    struct csv rows; /* of --output */
    struct row_matcher matcher;
    int check;     /* column of `rows` */
    bool launches; /* --kernels: a row is done with all of its launches only */
    bool *sampled; /* is the row's sample set whole? NULL: never mind */
};

/* Takes over the rows. `resume` must stay where it is. */
void start_resume(struct resume *resume, const struct csv *rows, bool launches);
void free_resume(struct resume *resume);

/* Looks for each row's sample set, whose columns but the last two, `sample` and
 * `time_ms`, the row has as well. Returns how many bytes of the samples' file to keep:
 * not a last set that is cut short, or that a run which was killed left without its
 * row. */
off_t find_sample_sets(struct resume *resume, const struct csv *samples, off_t bytes);

/* Is there a row like this one, a whole or a launch, that need not be written again? */
bool resume_has_row(const struct resume *resume, const struct row *row);

/* And is nothing of it missing? */
bool resume_has_all(const struct resume *resume, const struct row *whole);

/* How many rows like this one ended with the loss of the device? */
unsigned resume_lost_count(const struct resume *resume, const struct row *row);

/* If the file's last row is like this one and only lacks its samples: where it begins;
 * else -1. */
off_t resume_last_without_samples(const struct resume *resume, const struct row *row);

#endif
