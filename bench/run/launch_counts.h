/* launch_counts.h: what each launch of a run() did to memory (memory_counts.h). */
#pragma once

#include "../device/backend.h"
#include "../memory_counts.h"
#include "../rows/row.h"

struct launch_counts {
    unsigned launches; /* 0: not counted, or nothing was launched */
    struct memory_counts *each;
};

/* Counts the launches of one untimed run. Returns NULL, or why it failed, with nothing left to
 * free. The device can count. */
const char *count_launches(struct device *device, const struct trial *trial,
                           const struct launch_log *log, struct launch_counts *counts);

/* Fills the columns of one launch of n elements, or of all launches. If nothing was counted, they
 * stay empty. */
void fill_launch_counts(struct row *row, const struct launch_counts *counts, unsigned launch,
                        uint64_t n);
void fill_all_counts(struct row *row, const struct launch_counts *counts, uint64_t n);

void free_launch_counts(struct launch_counts *counts);
