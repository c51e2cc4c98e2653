/* sort_routes.cuh: where each key of a slice goes, once it is known where the sorted array of
 * several devices is cut.
 *
 * Keys are sent as they are partitioned. What a member gets from all others lies there in parts, so
 * that its own sort begins with these and not with the whole slice. A part is a range of bins of
 * the first histogram; each part has about the same number of keys. A bucket of a tile has the keys
 * of one part for one batch of a member. Parts and batches are both in the order of keys, so the
 * number of a bucket is the sum of the two.
 *
 * Keys of a second batch for another member go to this one's own memory first, and are copied from
 * there later (sort_copies.cuh). Their runs lie there as they will in the other's memory, relative
 * to lines. */
#pragma once

#include "../sort/key_parts.cuh"
#include "sort_cuts.cuh"

namespace SCANBENCH_BACKEND::sort_slices
{

using sort_cuts::batches;
using sort_cuts::batches_of;
using sort_cuts::cut;
using sort_cuts::lower_bound;

enum {
    PLAN_THREADS = 1024,
    BINS = sort_cuts::FIRST_BINS,
    OWN_BINS = BINS / PLAN_THREADS,
    MOST_BUCKETS = (unsigned)key_parts::MOST + (unsigned)MOST_MEMBERS,
    /* Added in bucket_of_bin where a cut lies in the bin. The entry has only the part then, and the
     * batch is found for each key by comparing it with the cuts. */
    HAS_CUT = 1 << 15,
    NOBODY = MOST_MEMBERS, /* in routes::copied_to */
    /* Lines between the runs of two buckets that will be copied, with those in which they end. */
    RUN_LINES = 2,
};

/* How the keys of a member find their places. */
struct routes {
    uint16_t bucket_of_bin[BINS];
    uint8_t destination_of[MOST_BUCKETS]; /* its number */
    uint8_t copied_to[MOST_BUCKETS];      /* the member to which keys go from there */
    unsigned buckets;
    /* A bucket's keys go to `first` and what follows. The first whole line begins `whole` keys
     * after that; 0 if none begins among them. */
    unsigned long long first[MOST_BUCKETS], keys[MOST_BUCKETS], whole[MOST_BUCKETS];
    /* Keys claimed so far, in lines and in rests (sort_lines.cuh). */
    unsigned long long line_keys[MOST_BUCKETS], rest_keys[MOST_BUCKETS];
    unsigned long long copy[MOST_BUCKETS]; /* where the first key is copied */
    unsigned long long seen[MOST_MEMBERS]; /* keys so far that are equal to a cut */
};

/* What routes are made from. `straight`: a key is stored in the memory of the member that
 * gets it, after those of earlier senders in its part, or is copied there later if it is of a
 * second batch; otherwise in a run for that member in this one's own memory, which the engine
 * exchanges. histograms: of the first
 * round, of all members, each with BINS; null where all keys are one part.
 * Destinations have the numbers of the members; that of runs to copy comes after these. */
struct route_plan {
    const cut *cuts;
    const uint64_t *histograms;
    sort_cuts::batches batches;
    uint64_t most_of_part;
    unsigned size, member;
    unsigned parts;      /* as few as there should be; more if a part would be too large */
    unsigned most_parts; /* for which the kernel that sends has shared memory */
    unsigned shift;      /* of the bins */
    unsigned line;       /* its keys */
    bool straight;
};

/* before[k * (parts + 1) + p]: how many keys of member k lie in parts before p. */
struct plan_layout {
    uint64_t warp_totals[PLAN_THREADS / WARP];
    uint64_t cut_key[MOST_MEMBERS];
    unsigned first_bin[key_parts::MOST], end_bin[key_parts::MOST]; /* with keys, of each part */
    unsigned long long before[];
};

inline size_t plan_bytes(const route_plan &plan)
{
    const unsigned most = plan.histograms != nullptr ? (unsigned)key_parts::MOST : 1;
    return sizeof(plan_layout) + plan.size * (most + 1) * sizeof(unsigned long long);
}

/* How many keys two ranges of a sorted slice share. */
__device__ __forceinline__ uint64_t overlap(uint64_t first, uint64_t end, uint64_t other_first,
                                            uint64_t other_end)
{
    first = max(first, other_first);
    end = min(end, other_end);
    return first < end ? end - first : 0;
}

/* The steps of the block that plans. */
struct route_planner {
    const route_plan &plan;
    plan_layout *shared;
    unsigned parts;

    /* Where the slice of member m begins in the array. */
    __device__ __forceinline__ uint64_t slice_of(unsigned m) const
    {
        return plan.batches.start(m * plan.batches.per_slice);
    }
    /* The keys of member k that belong to batches before b. */
    __device__ __forceinline__ uint64_t before_batch(unsigned k, unsigned b) const
    {
        return b == 0                    ? 0
               : b > plan.batches.cuts() ? slice_of(k + 1) - slice_of(k)
                                         : plan.cuts[b - 1].before[k];
    }
    __device__ __forceinline__ unsigned long long &before_part(unsigned k, unsigned p) const
    {
        return shared->before[k * (parts + 1) + p];
    }
    __device__ __forceinline__ uint64_t sum_over_members(unsigned p) const
    {
        uint64_t sum = 0;
        for (unsigned k = 0; k < plan.size; k++)
            sum += before_part(k, p);
        return sum;
    }
    /* Where part p begins in the whole result, and not outside batch b. */
    __device__ __forceinline__ uint64_t start_in_batch(unsigned p, unsigned b) const
    {
        return min(max(sum_over_members(p), plan.batches.start(b)), plan.batches.start(b + 1));
    }

    /* Finds the part of each bin, and counts each member's keys per part. sum_parts() makes sums of
     * these counts, where they are. */
    __device__ __forceinline__ void count_parts(unsigned *part_of_bin) const
    {
        const unsigned own = threadIdx.x * OWN_BINS;
        const auto count = [&](unsigned k, unsigned b) {
            return plan.histograms[(size_t)k * BINS + own + b];
        };
        uint64_t in_bin[OWN_BINS] = {}, sum = 0;
#pragma unroll
        for (unsigned b = 0; b < OWN_BINS; b++) {
            for (unsigned k = 0; k < plan.size; k++)
                in_bin[b] += count(k, b);
            sum += in_bin[b];
        }
        for (unsigned p = threadIdx.x; p < parts; p += PLAN_THREADS)
            shared->first_bin[p] = BINS, shared->end_bin[p] = 0;
        for (unsigned i = threadIdx.x; i < plan.size * (parts + 1); i += PLAN_THREADS)
            shared->before[i] = 0;
        uint64_t start = sum_of_earlier_threads(sum, shared->warp_totals);
#pragma unroll
        for (unsigned b = 0; b < OWN_BINS; b++) {
            /* That of the bin's middle: chance moves its start to both sides of a border. */
            part_of_bin[b] =
                min((unsigned)((start + in_bin[b] / 2) * parts / plan.batches.whole_n), parts - 1);
            start += in_bin[b];
            if (in_bin[b] == 0)
                continue;
            atomicMin(&shared->first_bin[part_of_bin[b]], own + b);
            atomicMax(&shared->end_bin[part_of_bin[b]], own + b + 1);
            for (unsigned k = 0; k < plan.size; k++)
                atomicAdd(&before_part(k, part_of_bin[b]), (unsigned long long)count(k, b));
        }
        __syncthreads();
    }
    /* Is each part small enough to be divided into leaves at once? The digits of msd cover a power
     * of two of bins, of which the part has more than half, so its count is scaled to all of them.
     */
    __device__ __forceinline__ bool are_small() const
    {
        bool is_small = true;
        for (unsigned p = threadIdx.x; p < parts; p += PLAN_THREADS) {
            const unsigned first = shared->first_bin[p],
                           bins = max(shared->end_bin[p], first + 1) - first;
            const unsigned range = bins > 1 ? 2u << (31 - __clz((int)(bins - 1))) : 1;
            is_small &= sum_over_members(p) * range / bins <= plan.most_of_part;
        }
        return __syncthreads_and(is_small);
    }
    /* Finds parts that are small, and returns whether there are such. */
    __device__ __forceinline__ bool find_parts(unsigned *part_of_bin)
    {
        for (; parts <= plan.most_parts; parts *= 2) {
            count_parts(part_of_bin);
            if (are_small())
                return true;
        }
        return false;
    }
    /* Turns the counts of parts into sums, a warp for each member. */
    __device__ __forceinline__ void sum_parts() const
    {
        for (unsigned k = threadIdx.x / WARP; k < plan.size; k += PLAN_THREADS / WARP) {
            uint64_t before = 0;
            for (unsigned first = 0; first <= parts; first += WARP) {
                const unsigned p = first + lane_index();
                const uint64_t count = p < parts ? before_part(k, p) : 0;
                const uint64_t inclusive = warp_inclusive_sum(count);
                if (p <= parts)
                    before_part(k, p) = before + inclusive - count;
                before += __shfl_sync(ALL_LANES, inclusive, WARP - 1);
            }
        }
        __syncthreads();
    }
    /* All keys are one part. */
    __device__ __forceinline__ void take_one_part(unsigned *part_of_bin)
    {
        parts = 1;
        for (unsigned b = 0; b < OWN_BINS; b++)
            part_of_bin[b] = 0;
        __syncthreads();
        for (unsigned k = threadIdx.x; k < plan.size; k += PLAN_THREADS) {
            before_part(k, 0) = 0;
            before_part(k, 1) = slice_of(k + 1) - slice_of(k);
        }
        __syncthreads();
    }

    /* Says where this member's keys of part p for batch b go: after those of earlier senders, or
     * in runs after those for earlier members. */
    __device__ __forceinline__ void route(routes *routes, unsigned p, unsigned b) const
    {
        uint64_t earlier = 0;
        const auto keys_of = [&](unsigned k) {
            return overlap(before_part(k, p), before_part(k, p + 1), before_batch(k, b),
                           before_batch(k, b + 1));
        };
        for (unsigned k = 0; k < plan.member; k++)
            earlier += keys_of(k);
        const uint64_t keys = keys_of(plan.member);
        if (keys == 0)
            return;
        const unsigned m = b / plan.batches.per_slice, bucket = p + b;
        const uint64_t there = start_in_batch(p, b) - slice_of(m) + earlier;
        const uint64_t before = before_batch(plan.member, b);
        const bool is_copied = b % plan.batches.per_slice > 0 && m != plan.member;
        uint64_t first = plan.straight ? there : before;
        if (is_copied)
            first = (max(before, (uint64_t)before_part(plan.member, p)) / plan.line +
                     RUN_LINES * bucket) *
                        plan.line +
                    there % plan.line;
        const uint64_t to_line = (plan.line - first % plan.line) % plan.line;
        routes->destination_of[bucket] = (uint8_t)(is_copied ? plan.size : m);
        routes->copied_to[bucket] = (uint8_t)(is_copied ? m : (unsigned)NOBODY);
        routes->first[bucket] = first;
        routes->copy[bucket] = there;
        routes->keys[bucket] = keys;
        routes->whole[bucket] = to_line < keys ? to_line : 0;
    }
    __device__ __forceinline__ void route_bins(routes *routes, const unsigned *part_of_bin) const
    {
#pragma unroll
        for (unsigned b = 0; b < OWN_BINS; b++) {
            const unsigned bin = threadIdx.x * OWN_BINS + b;
            const uint64_t least = (uint64_t)bin << plan.shift;
            const uint64_t greatest = least + ((1ull << plan.shift) - 1);
            const unsigned cuts = plan.batches.cuts();
            const unsigned first = lower_bound(shared->cut_key, cuts, least);
            const bool has_cut = first < cuts && shared->cut_key[first] <= greatest;
            routes->bucket_of_bin[bin] =
                (uint16_t)(part_of_bin[b] + (has_cut ? (unsigned)HAS_CUT : first));
        }
    }
    /* Says how the keys of a batch that this member gets will lie. */
    __device__ __forceinline__ void tell_parts(key_parts *told, unsigned b) const
    {
        const unsigned cuts = plan.batches.cuts();
        for (unsigned p = threadIdx.x; p <= parts; p += PLAN_THREADS) {
            told->first[p] = start_in_batch(p, b) - plan.batches.start(b);
            if (p == parts)
                continue;
            const uint64_t least = (uint64_t)shared->first_bin[p] << plan.shift;
            const uint64_t greatest = ((uint64_t)shared->end_bin[p] << plan.shift) - 1;
            told->least[p] = b > 0 ? max(least, shared->cut_key[b - 1]) : least;
            told->greatest[p] = b < cuts ? min(greatest, shared->cut_key[b]) : greatest;
        }
        if (threadIdx.x == 0)
            told->count = parts > 1 ? parts : 0;
    }
};

/* Plans where this member's keys go. If there are histograms, it tells its own sort how the keys
 * will lie that it gets, those of each batch.
 * counts: how many keys each member has for each, for an engine that exchanges runs. */
static __global__ void __launch_bounds__(PLAN_THREADS)
    plan_routes_kernel(const __grid_constant__ route_plan plan, routes *routes, key_parts *told,
                       uint64_t *counts)
{
    route_planner planner = {plan, shared_memory<plan_layout>(), plan.parts};
    unsigned part_of_bin[OWN_BINS];
    for (unsigned b = threadIdx.x; b < MOST_BUCKETS; b += PLAN_THREADS) {
        routes->destination_of[b] = 0;
        routes->copied_to[b] = NOBODY;
        routes->first[b] = routes->keys[b] = routes->whole[b] = 0;
        routes->line_keys[b] = routes->rest_keys[b] = 0;
    }
    const unsigned batches = plan.batches.cuts() + 1, per_slice = plan.batches.per_slice;
    for (unsigned c = threadIdx.x; c + 1 < batches; c += PLAN_THREADS) {
        planner.shared->cut_key[c] = plan.cuts[c].key;
        routes->seen[c] = 0;
    }
    if (plan.histograms != nullptr && planner.find_parts(part_of_bin))
        planner.sum_parts();
    else
        planner.take_one_part(part_of_bin);
    for (unsigned i = threadIdx.x; i < planner.parts * batches; i += PLAN_THREADS)
        planner.route(routes, i / batches, i % batches);
    planner.route_bins(routes, part_of_bin);
    if (threadIdx.x == 0)
        routes->buckets = planner.parts + batches - 1;
    for (unsigned b = 0; b < per_slice && plan.histograms != nullptr; b++)
        planner.tell_parts(&told[b], plan.member * per_slice + b);
    for (unsigned i = threadIdx.x; i < plan.size * plan.size; i += PLAN_THREADS) {
        const unsigned k = i / plan.size, m = i % plan.size;
        counts[i] =
            planner.before_batch(k, (m + 1) * per_slice) - planner.before_batch(k, m * per_slice);
    }
}

} // namespace SCANBENCH_BACKEND::sort_slices
