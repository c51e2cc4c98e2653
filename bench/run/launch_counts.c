/* launch_counts: counts what launches do to memory, and fills their columns. */
#include "launch_counts.h"

#include "../base/errors.h"

#include <stdlib.h>

const char *count_launches(struct device *device, const struct trial *trial,
                           const struct launch_log *log, struct launch_counts *counts)
{
    const unsigned most = (unsigned)log->count;
    *counts = (struct launch_counts){.each = allocate_or_die(NULL, most * sizeof *counts->each)};
    const char *why = device->can->count(device, trial, counts->each, most, &counts->launches);
    if (why != NULL)
        free_launch_counts(counts);
    return why;
}

static void fill_counts(struct row *row, const struct memory_counts *c, uint64_t n)
{
    const uint64_t sectors = c->load_sectors + c->store_sectors;
    if (c->blocks > 0)
        row->barriers_per_block = (double)c->barriers / (double)c->blocks;
    row->warp_collectives = (int64_t)c->warp_collectives;
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

void fill_launch_counts(struct row *row, const struct launch_counts *counts, unsigned launch,
                        uint64_t n)
{
    if (launch < counts->launches)
        fill_counts(row, &counts->each[launch], n);
}

static void add_counts(struct memory_counts *sum, const struct memory_counts *c)
{
#define ADD(member) sum->member += c->member
    ADD(blocks);
    ADD(barriers);
    ADD(warp_collectives);
    ADD(load_requests);
    ADD(load_sectors);
    ADD(load_bytes);
    ADD(store_requests);
    ADD(store_sectors);
    ADD(store_bytes);
    ADD(shared_requests);
    ADD(bank_conflicts);
    ADD(atomics);
    ADD(requests);
    ADD(lanes);
#undef ADD
}

void fill_all_counts(struct row *row, const struct launch_counts *counts, uint64_t n)
{
    struct memory_counts sum = {0};
    for (unsigned launch = 0; launch < counts->launches; launch++)
        add_counts(&sum, &counts->each[launch]);
    if (counts->launches > 0)
        fill_counts(row, &sum, n);
}

void free_launch_counts(struct launch_counts *counts)
{
    free(counts->each);
    *counts = (struct launch_counts){0};
}
