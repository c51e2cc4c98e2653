/* launch_counts: counts what launches and lines do to memory, and fills their columns. */
#include "launch_counts.h"

#include "../base/errors.h"

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
                           const struct launch_log *log, bool by_line, struct launch_counts *counts)
{
    const unsigned most = (unsigned)log->count;
    *counts = (struct launch_counts){.each = allocate_or_die(NULL, most * sizeof *counts->each)};
    const char *why = device->can->count(device, trial, counts->each, most, &counts->launches);
    if (why != NULL)
        free_launch_counts(counts);
    else if (by_line && device->can->count_lines != NULL)
        count_lines(device, counts);
    return why;
}

static void fill_accesses(struct row *row, const struct memory_counts *c, uint64_t n)
{
    const uint64_t sectors = c->load_sectors + c->store_sectors;
    row->global_load_requests = (int64_t)c->load_requests;
    row->global_load_sectors = (int64_t)c->load_sectors;
    row->global_store_requests = (int64_t)c->store_requests;
    row->global_store_sectors = (int64_t)c->store_sectors;
    if (sectors > 0)
        row->sector_use_pct =
            100.0 * (double)(c->load_bytes + c->store_bytes) / (SECTOR_BYTES * (double)sectors);
    row->shared_requests = (int64_t)c->shared_requests;
    row->bank_conflicts = (int64_t)c->bank_conflicts;
    row->atomics = (int64_t)c->atomics;
    if (c->requests > 0)
        row->active_lanes = (double)c->lanes / (double)c->requests;
    if (n > 0) {
        row->read_bytes_per_element = (double)c->load_bytes / (double)n;
        row->written_bytes_per_element = (double)c->store_bytes / (double)n;
    }
}

static void fill_counts(struct row *row, const struct memory_counts *c, uint64_t n)
{
    if (c->blocks > 0)
        row->barriers_per_block = (double)c->barriers / (double)c->blocks;
    row->warp_collectives = (int64_t)c->warp_collectives;
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
