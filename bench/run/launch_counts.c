/* launch_counts: counts what launches and lines do to memory, and fills their columns. */
#include "launch_counts.h"

#include "../base/errors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a line takes of the memory's time, roughly: sectors of global memory, passes over the banks
 * of shared memory, atomics. */
static uint64_t traffic_of(const struct line_counts *line)
{
    const struct memory_counts *c = &line->counts;
    return c->load_sectors + c->store_sectors + c->shared_requests + c->bank_conflicts + c->atomics;
}

/* Sorts by traffic within each kernel. Lines of equal traffic stay in the order of the source. */
static void sort_lines(struct line_counts *lines, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct line_counts line = lines[i];
        size_t to = i;
        for (; to > 0 && strcmp(lines[to - 1].kernel, line.kernel) == 0 &&
               traffic_of(&lines[to - 1]) < traffic_of(&line);
             to--)
            lines[to] = lines[to - 1];
        lines[to] = line;
    }
}

static void count_lines(struct device *device, struct launch_counts *counts)
{
    const struct line_counts *lines;
    counts->line_count = device->can->count_lines(device, &lines);
    const size_t bytes = counts->line_count * sizeof *lines;
    counts->lines = allocate_or_die(NULL, bytes);
    if (bytes > 0)
        memcpy(counts->lines, lines, bytes);
    sort_lines(counts->lines, counts->line_count);
}

const char *count_launches(struct device *device, const struct trial *trial,
                           const struct launch_log *log, bool by_line, struct launch_counts *counts,
                           const char **why_not)
{
    const unsigned most = (unsigned)log->count;
    *counts = (struct launch_counts){.each = allocate_or_die(NULL, most * sizeof *counts->each)};
    const char *why =
        device->can->count(device, trial, counts->each, most, &counts->launches, why_not);
    if (why != NULL)
        free_launch_counts(counts);
    else if (by_line && device->can->count_lines != NULL)
        count_lines(device, counts);
    return why;
}

/* For a column. Below 0, it is empty. */
static int64_t known(uint64_t count)
{
    return count == UNKNOWN_COUNT ? -1 : (int64_t)count;
}

/* NAN, for an empty column, if either is unknown or nothing is divided. */
static double ratio(uint64_t count, uint64_t of)
{
    return count == UNKNOWN_COUNT || of == UNKNOWN_COUNT || of == 0 ? NAN
                                                                    : (double)count / (double)of;
}

static void fill_accesses(struct row *row, const struct memory_counts *c, uint64_t n)
{
    struct memory_counts both = {.load_bytes = c->load_bytes, .load_sectors = c->load_sectors};
    add_memory_counts(&both, &(struct memory_counts){.load_bytes = c->store_bytes,
                                                     .load_sectors = c->store_sectors});
    row->global_load_requests = known(c->load_requests);
    row->global_load_sectors = known(c->load_sectors);
    row->global_store_requests = known(c->store_requests);
    row->global_store_sectors = known(c->store_sectors);
    row->sector_use_pct = 100 * ratio(both.load_bytes, both.load_sectors) / SECTOR_BYTES;
    row->shared_requests = known(c->shared_requests);
    row->bank_conflicts = known(c->bank_conflicts);
    row->atomics = known(c->atomics);
    row->active_lanes = ratio(c->lanes, c->requests);
    row->read_bytes_per_element = ratio(c->load_bytes, n);
    row->written_bytes_per_element = ratio(c->store_bytes, n);
}

static void fill_counts(struct row *row, const struct memory_counts *c, uint64_t n)
{
    row->barriers_per_block = ratio(c->barriers, c->blocks);
    row->warp_collectives = known(c->warp_collectives);
    row->work_per_element = ratio(c->applications, n);
    row->depth = known(c->depth);
    fill_accesses(row, c, n);
}

void fill_launch_counts(struct row *row, const struct launch_counts *counts, unsigned launch,
                        uint64_t n)
{
    if (launch < counts->launches)
        fill_counts(row, &counts->each[launch], n);
}

void fill_all_counts(struct row *row, const struct launch_counts *counts, uint64_t n)
{
    struct memory_counts sum = {0};
    for (unsigned launch = 0; launch < counts->launches; launch++)
        add_memory_counts(&sum, &counts->each[launch]);
    if (counts->launches > 0)
        fill_counts(row, &sum, n);
}

void fill_line_counts(struct row *row, const struct line_counts *line, uint64_t n)
{
    fill_accesses(row, &line->counts, n);
}

void free_launch_counts(struct launch_counts *counts)
{
    free(counts->each);
    free(counts->lines);
    *counts = (struct launch_counts){0};
}
