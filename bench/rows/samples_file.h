/* samples_file.h: --samples-file, a line for each sample of a row. */
#pragma once

#include "output_spec.h"
#include "resume.h"
#include "row_writer.h"

/* Opens the file, unless there is none to be, and writes its header. With --resume, finds the rows
 * that have their samples, and cuts off a set of samples that was left incomplete. It may not be
 * one of `others`. Returns EXIT_OK, or another code after one line on stderr. */
int open_samples(const struct output_spec *spec, const struct row_writer *others,
                 size_t other_count, struct resume *resume, struct row_writer *samples);

/* Writes the samples of a row. Returns false on failure, as write_text() does. */
bool write_samples(struct row_writer *samples, const struct row *row, const double *time_ms,
                   size_t count);
