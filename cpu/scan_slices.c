/* scan_slices: a scan over the slices of several processes, each with several threads.
 * Source:  Dotsenko et al., "Fast scan algorithms on graphics processors", ICS 2008, whose blocks
 *          are here the threads' parts of the slices.
 * Work:    O(n), each element added twice.
 * DRAM:    two reads, one write: a slice cannot be written before all earlier ones are read.
 * Between: one total per process. */
#include "scan_kernels.h"
#include "slices.h"
#include "threads.h"

#include "prefetch.h"

#include <string.h>

/* Scratch: the totals of all slices, that of this one, and those of its parts. */
struct layout {
    size_t total, parts;
};

static struct layout layout_of(const struct problem *p)
{
    const size_t total = 2 * gathered_bytes(p, element_bytes(p->type));
    return (struct layout){.total = total, .parts = next_place(total + sizeof(uint64_t))};
}

/* There is a part for each thread that is worth waking. */
static uint64_t part_start(const struct problem *p, unsigned part)
{
    return slice_start(p->n, threads_for(p), part);
}

static void sum_part(void *context, unsigned part, unsigned parts)
{
    (void)parts;
    const struct call *call = context;
    const struct problem *p = &call->problem;
    uint64_t *sums = at_place(call, layout_of(p).parts);
    const uint64_t start = part_start(p, part);
    sums[part] = sum_on_one_thread(p, (const char *)call->input + start * element_bytes(p->type),
                                   part_start(p, part + 1) - start);
}

/* Here the sum of a part is that of all before it. */
static void scan_one_part(void *context, unsigned part, unsigned parts)
{
    (void)parts;
    const struct call *call = context;
    const struct problem *p = &call->problem;
    const uint64_t *before = at_place(call, layout_of(p).parts);
    const uint64_t start = part_start(p, part), place = start * element_bytes(p->type);
    const struct scan_rest rest = {(const char *)call->input + place, (char *)call->output + place,
                                   part_start(p, part + 1) - start, before[part]};
    scan_part(p, rest, p->n * element_bytes(p->type) >= STREAM_BYTES);
}

/* Replaces each part's sum by that of all before it, from `sum` on; returns the sum of all. */
static uint64_t scan_sums(const struct call *call, uint64_t sum)
{
    const struct problem *p = &call->problem;
    uint64_t *sums = at_place(call, layout_of(p).parts);
    for (unsigned part = 0; part < threads_for(p); part++) {
        const uint64_t before = sum;
        sum = add_sums(p, sum, sums[part]);
        sums[part] = before;
    }
    return sum;
}

/* The sum of all earlier slices. */
static uint64_t sum_before(const struct team *team, size_t gathered)
{
    const struct problem *p = &team->call->problem;
    const char *totals = at_place(team->call, gathered);
    uint64_t sum = identity_sum(p);
    for (unsigned k = 0; k < team->first; k++) {
        uint64_t total = 0;
        memcpy(&total, totals + k * element_bytes(p->type), element_bytes(p->type));
        sum = add_sums(p, sum, total);
    }
    return sum;
}

static void run(const struct team *team)
{
    const struct call *call = team->call;
    const struct problem *p = &call->problem;
    const struct layout at = layout_of(p);
    const size_t bytes = element_bytes(p->type);
    const size_t gathered = gathered_place(p, bytes, call->epoch);
    uint64_t *parts = at_place(call, at.parts);
    run_on_threads(p->device, threads_for(p), sum_part, (void *)call);
    const uint64_t total = scan_sums(call, identity_sum(p));
    memcpy(at_place(call, at.total), &total, bytes);
    team_all_gather(team, call->epoch, at.total, gathered, bytes);
    const uint64_t before = sum_before(team, gathered);
    for (unsigned part = 0; part < threads_for(p); part++)
        parts[part] = add_sums(p, before, parts[part]);
    run_on_threads(p->device, threads_for(p), scan_one_part, (void *)call);
}

static size_t scratch_bytes(const struct problem *p)
{
    return layout_of(p).parts + (threads_for(p) + 1) * sizeof(uint64_t);
}

const struct algorithm cpu_scan_slices = {
    .name = "slices",
    .op = OP_SCAN,
    .traits = TRAIT_HAS_THREADS | TRAIT_HAS_SIMD,
    .summary = "slices reduced, totals exchanged, slices scanned",
    .source = "Dotsenko et al. 2008",
    .scratch_bytes = scratch_bytes,
    .run_slices = run,
};
