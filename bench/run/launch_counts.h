/* launch_counts.h: what each launch of a run(), and each line of its kernels, did to memory
 * (memory_counts.h). */
#pragma once

#include "../device/backend.h"
#include "../../timing/memory_counts.h"
#include "../rows/row.h"

struct launch_counts {
    unsigned launches; /* 0: not counted, or nothing was launched */
    struct memory_counts *each;
    size_t line_count; /* 0: lines were not counted, or no kernel accessed memory */
    struct line_counts *lines;
};

/* Counts the launches of one untimed run, and if asked the lines of their kernels: kernel by
 * kernel, the line with the most traffic first. Returns NULL, or why it failed, with nothing left
 * to free. The device can count; if it has counted nothing, `why_not` says why. */
const char *count_launches(struct device *device, const struct trial *trial,
                           const struct launch_log *log, bool by_line, struct launch_counts *counts,
                           const char **why_not);

/* Fills the columns of one launch of n elements, or of all launches. If nothing was counted, they
 * stay empty. */
void fill_launch_counts(struct row *row, const struct launch_counts *counts, unsigned launch,
                        uint64_t n);
void fill_all_counts(struct row *row, const struct launch_counts *counts, uint64_t n);

/* Fills the columns of one line. */
void fill_line_counts(struct row *row, const struct line_counts *line, uint64_t n);

void free_launch_counts(struct launch_counts *counts);
