/* msd_plan.cuh: what becomes of a bucket of sort_msd once its keys are counted, planned by one
 * block. */
#pragma once

#include "msd_values.cuh"

namespace SCANBENCH_BACKEND::msd
{

/* The bits of a digit that divides `count` keys into leaves, alone or with later digits. */
__host__ __device__ __forceinline__ unsigned digit_bits(uint64_t count, unsigned leaf)
{
    unsigned bits = MIN_BITS;
    while (count >> bits > leaf)
        bits++;
    if (bits <= MAX_BITS)
        return bits;
    const unsigned levels = (bits + USUAL_BITS - 1) / USUAL_BITS;
    return (bits + levels - 1) / levels;
}

/* Gives each lane `wanted` entries of a list, one lane after the other. All lanes call it. */
__device__ __forceinline__ unsigned allocate(unsigned *length, unsigned wanted)
{
    const unsigned inclusive = warp_inclusive_sum(wanted);
    unsigned first = 0;
    if (lane_index() == WARP - 1 && inclusive > 0)
        first = atomicAdd(length, inclusive);
    return __shfl_sync(ALL_LANES, first, WARP - 1) + inclusive - wanted;
}

/* Adds a bucket to a level, where `is_one`. All lanes of a warp call it. The bucket's range begins
 * at base and has range_bits. known_bits: the bits of its digits, or 0 to choose them here. */
template <class Key>
__device__ __forceinline__ void add_bucket(bool is_one, bucket next, unsigned range_bits,
                                           unsigned known_bits, const task<Key> &task,
                                           unsigned level)
{
    const auto &shape = task.shape;
    const level_lists &lists = task.lists_of(level);
    lengths *lengths = task.lengths_of(level);
    if (known_bits > 0)
        next.bits = known_bits;
    else if (range_bits <= MAX_BITS && next.count >> range_bits >= shape.counted)
        next.bits = range_bits; /* a digit is one value: the result is written from the counts */
    else
        next.bits = min(digit_bits(next.count, next.leaf), range_bits);
    next.shift = range_bits - next.bits;
    next.tiles = (unsigned)ceil_div(next.count, shape.next_tile);
    next.tiles_done = 0, next.action = UNPLANNED;
    next.lowest = ~0ull, next.highest = 0;
    const unsigned index = allocate(&lengths->buckets, is_one);
    next.first_tile = allocate(&lengths->tiles, is_one ? next.tiles : 0);
    next.counts = allocate(&lengths->counts, is_one ? 1u << next.bits : 0);
    if (is_one)
        lists.buckets[index] = next;
    /* The lists of tiles and counts are long: the whole warp writes those of each lane. */
    for (unsigned ones = __ballot_sync(ALL_LANES, is_one); ones != 0; ones &= ones - 1) {
        const int lane = __ffs((int)ones) - 1;
        const unsigned its_index = __shfl_sync(ALL_LANES, index, lane);
        const unsigned its_first = __shfl_sync(ALL_LANES, next.first_tile, lane);
        const unsigned its_tiles = __shfl_sync(ALL_LANES, next.tiles, lane);
        const unsigned its_counts = __shfl_sync(ALL_LANES, next.counts, lane);
        const unsigned its_digits = 1u << __shfl_sync(ALL_LANES, next.bits, lane);
        for (unsigned t = lane_index(); t < its_tiles; t += WARP)
            lists.bucket_of_tile[its_first + t] = its_index;
        for (unsigned d = lane_index(); d < its_digits; d += WARP)
            lists.counts[its_counts + d] = 0;
    }
}

/* Turns the counts of digits into starts within the bucket, in shared memory and, plus `offset`, in
 * `counts`. */
template <class Key>
__device__ __forceinline__ void scan_counts(shared_layout<Key> *shared, unsigned digits,
                                            unsigned long long *counts, uint64_t offset)
{
    own_buckets<THREADS, MAX_DIGITS>(digits).counts_to_starts(
        shared->totals, [&](unsigned, unsigned digit) { return __ldcg(&counts[digit]); },
        [&](unsigned, unsigned digit, unsigned long long start) {
            shared->plan.starts[digit] = start;
            counts[digit] = start + offset;
        });
    if (threadIdx.x == 0)
        shared->plan.starts[digits] = shared->current.count;
    __syncthreads();
}

/* Does the digit share a leaf with its neighbour? An even digit and the next one do if both are
 * small: neither has more keys than the window. */
__device__ __forceinline__ bool is_paired(const unsigned long long *starts, unsigned digit,
                                          unsigned window)
{
    const unsigned even = digit & ~1u;
    return starts[even + 1] - starts[even] <= window &&
           starts[even + 2] - starts[even + 1] <= window;
}

/* Does a leaf begin with this digit? Single digits and pairs that are no larger than the window
 * share a leaf if they start in the same window. */
__device__ __forceinline__ bool begins_leaf(const unsigned long long *starts, unsigned digit,
                                            unsigned window)
{
    if (digit == 0)
        return true;
    const bool pairs = is_paired(starts, digit, window);
    if (pairs && digit % 2 == 1)
        return false;
    const unsigned end = digit + (pairs ? 2 : 1);
    const unsigned before = digit - (is_paired(starts, digit - 1, window) ? 2 : 1);
    return starts[end] - starts[digit] > window || starts[digit] - starts[before] > window ||
           starts[digit] / window != starts[before] / window;
}

/* The digit after the leaf that begins with this one. */
__device__ __forceinline__ unsigned end_of_leaf(const unsigned *begins, unsigned digit,
                                                unsigned digits)
{
    for (unsigned word = (digit + 1) / WARP; word * WARP < digits; word++) {
        const unsigned after = word == (digit + 1) / WARP ? ~0u << (digit + 1) % WARP : ~0u;
        if ((begins[word] & after) != 0)
            return min(digits, word * WARP + __ffs((int)(begins[word] & after)) - 1);
    }
    return digits;
}

/* The first bin of a digit. */
__device__ __forceinline__ unsigned first_bin(const bucket &bucket, unsigned digit)
{
    return bucket.fine + (digit << bucket.bin_bits);
}

/* The range of some bins. The first also takes all ranks below, and the last that is filled all
 * ranks above: the range ends at the extremes there. */
template <class Bins, class Key>
__device__ __forceinline__ key_range<Key> range_of_bins(const Bins &bins, unsigned first,
                                                        unsigned last, const task<Key> &task)
{
    const control *control = task.control;
    const Key base = first == 0 ? (Key)__ldcg(&control->least) : bins.first_of(first);
    const Key highest =
        last >= bins.of(bins.highest) ? (Key)__ldcg(&control->greatest) : bins.last_of(last);
    return {base, bit_length(Key(highest - base))};
}

/* The range of a digit. */
template <class Key>
__device__ __forceinline__ key_range<Key> range_of(const bucket &bucket, unsigned digit,
                                                   const task<Key> &task)
{
    if (bucket.kind == BITS_OF_RANK)
        return {Key(bucket.base + ((uint64_t)digit << bucket.shift)), bucket.shift};
    const unsigned first = first_bin(bucket, digit), last = first_bin(bucket, digit + 1) - 1;
    return bucket.kind == BINS_OF_RANK
               ? range_of_bins(sampled_bins<even_bins<Key>>(task), first, last, task)
               : range_of_bins(sampled_bins<value_bins<Key>>(task), first, last, task);
}

/* Returns the bits of a leaf's range, or 0 if they are not known. They are known if the range is
 * that of one digit or of two and begins at a multiple of its length. Its digits have to be bits of
 * the rank, or bins that are such bits, except the first and the last, which may have keys outside.
 */
__device__ __forceinline__ uint16_t known_bits(const bucket &bucket, unsigned digit,
                                               unsigned digits, const control &control)
{
    if (digits > 2)
        return 0;
    uint64_t base = bucket.base + ((uint64_t)digit << bucket.shift);
    unsigned bits = bucket.shift + digits - 1;
    if (bucket.kind != BITS_OF_RANK) {
        const unsigned first = first_bin(bucket, digit), end = first_bin(bucket, digit + digits);
        if (control.bin_shift == 0 || first == 0 || end >> control.log2_bins > 0)
            return 0;
        base = control.lowest + ((uint64_t)first << control.bin_shift);
        bits = control.bin_shift + bucket.bin_bits + digits - 1;
    }
    return (base & ((1ull << bits) - 1)) == 0 ? (uint16_t)bits : 0;
}

/* Lists the leaves and the buckets into which the bucket will be partitioned. Where digits are
 * bins, those of the buckets are narrower bins, as many as their keys need; or all, counted
 * already. */
template <class Key>
__device__ void plan_parts(shared_layout<Key> *shared, const task<Key> &task, unsigned level)
{
    const auto &shape = task.shape;
    const bucket &bucket = shared->current;
    const unsigned digits = 1u << bucket.bits;
    const unsigned long long *starts = shared->plan.starts;
    const unsigned place = bucket.place == IN_OTHER ? IN_OUTPUT : IN_OTHER;
    const unsigned rounded = (digits + WARP - 1) / WARP * WARP;
    const bool are_binned = bucket.kind != BITS_OF_RANK && bucket.bin_bits > 0;
    for (unsigned d = threadIdx.x; d < rounded; d += blockDim.x) {
        const unsigned begins =
            __ballot_sync(ALL_LANES, d < digits && begins_leaf(starts, d, shape.window));
        if (lane_index() == 0)
            shared->plan.leaf_begins[d / WARP] = begins;
    }
    __syncthreads();
    for (unsigned d = threadIdx.x; d < rounded; d += blockDim.x) {
        const bool begins = shared->plan.leaf_begins[d / WARP] >> lane_index() & 1;
        const unsigned end = begins ? end_of_leaf(shared->plan.leaf_begins, d, digits) : 0;
        const uint64_t first = d < digits ? starts[d] : 0, count = begins ? starts[end] - first : 0;
        const bool is_leaf = count > 0 && count <= shape.capacity;
        const bool is_large = count > shape.capacity;
        const unsigned index = allocate(&task.lengths_of(level)->leaves, is_leaf);
        if (is_leaf)
            task.lists_of(level).leaves[index] = {bucket.first + first, (unsigned)count,
                                                  (uint16_t)place,
                                                  known_bits(bucket, d, end - d, *task.control)};
        if (__any_sync(ALL_LANES, is_large)) {
            struct bucket next = {};
            next.first = bucket.first + first;
            next.count = count;
            next.place = place;
            next.leaf = bucket.leaf;
            next.fine = d << bucket.fine_bits;
            unsigned bits = bucket.fine_bits;
            key_range<Key> range = {(Key)bucket.base, 8 * sizeof(Key)};
            if (are_binned) {
                next.kind = bucket.kind;
                next.fine = first_bin(bucket, d);
                bits = bits > 0 ? bits : min(digit_bits(count, bucket.leaf), bucket.bin_bits);
                next.bin_bits = bucket.bin_bits - bits;
            } else {
                next.kind = BITS_OF_RANK;
                range = range_of(bucket, d, task);
            }
            next.base = range.base;
            add_bucket(is_large, next, range.bits, bits, task, level + 1);
        }
    }
}

/* Lists the pieces in which the bucket will be written from its counts. */
template <class Key>
__device__ void plan_pieces(shared_layout<Key> *shared, unsigned index, const task<Key> &task,
                            unsigned level)
{
    const auto pieces = (unsigned)ceil_div(shared->current.count, task.shape.piece);
    if (threadIdx.x == 0)
        shared->last = atomicAdd(&task.lengths_of(level)->pieces, pieces);
    __syncthreads();
    for (unsigned p = threadIdx.x; p < pieces; p += blockDim.x)
        task.lists_of(level).pieces[shared->last + p] = {p, index, 0, 0};
}

/* Do keys lie outside the range of a bucket's digits? Bins take any rank, and a list of
 * values has no range. */
template <class Key>
__device__ __forceinline__ bool goes_beyond_digits(const bucket &bucket, Key lowest, Key highest)
{
    return bucket.kind == BITS_OF_RANK &&
           (lowest < (Key)bucket.base ||
            Key(highest - (Key)bucket.base) > highest_of<Key>(bucket.shift + bucket.bits));
}

/* Returns what becomes of a bucket with these extremes. If digits are bits, keys in a small part
 * of the range get a range that fits. At level 0 that is an eighth: a sample of several values
 * fills more, and digits are as narrow as it needs. */
template <class Key>
__device__ __forceinline__ unsigned action_for(const bucket &bucket, Key lowest, Key highest,
                                               unsigned level)
{
    const Key parts = level == 0 ? 8 : 2;
    if (goes_beyond_digits(bucket, lowest, highest))
        return NO_MORE;
    if (lowest == highest || bucket.shift == 0)
        return WRITE_COUNTS;
    const Key spanned = Key(Key(highest - bucket.base) >> bucket.shift) -
                        Key(Key(lowest - bucket.base) >> bucket.shift) + 1;
    return bucket.kind == BITS_OF_RANK && parts * spanned <= Key(1) << bucket.bits ? NO_MORE
                                                                                   : PARTITION;
}

/* Notes the extremes of all keys. If integers lie outside the range of level 0's digits, they were
 * counted with the first digit or the last. So the digits are called bins from here on, because
 * bins take any rank; but if both levels together tell every value apart, there are no bins, and
 * the level is lost. its: the bucket in global memory; current: its copy in shared memory. */
template <class Key>
__device__ __forceinline__ void take_extremes(bucket *current, bucket *its, Key lowest, Key highest,
                                              control *control)
{
    if (threadIdx.x == 0) {
        control->least = lowest;
        control->greatest = highest;
        if (control->log2_bins > 0 && goes_beyond_digits(*current, lowest, highest)) {
            current->kind = its->kind = BINS_OF_RANK;
            current->base = its->base = 0;
        }
    }
    __syncthreads();
}

/* Adds up the counts of finer digits to those of a level's digits, a warp for each digit. */
__device__ __forceinline__ void add_up(const unsigned *fine, unsigned fine_bits, unsigned digits,
                                       unsigned long long *counts)
{
    for (unsigned d = threadIdx.x / WARP; d < digits; d += blockDim.x / WARP) {
        unsigned sum = 0;
        for (unsigned f = lane_index(); f < 1u << fine_bits; f += WARP)
            sum += __ldcg(&fine[(d << fine_bits) + f]);
        sum = warp_sum(sum);
        if (lane_index() == 0)
            counts[d] = sum;
    }
    __syncthreads();
}

/* Plans a bucket, by one block. */
template <class Key>
__device__ __noinline__ void plan_bucket(unsigned index, const task<Key> &task, unsigned level)
{
    auto *shared = shared_memory<shared_layout<Key>>();
    const level_lists &lists = task.lists_of(level);
    fetch_bucket(&shared->current, &lists.buckets[index]);
    bucket &bucket = shared->current;
    const auto lowest = (Key)bucket.lowest, highest = (Key)bucket.highest;
    const unsigned digits = 1u << bucket.bits;
    unsigned long long *counts = lists.counts + bucket.counts;
    if (level == 0)
        take_extremes(&bucket, &lists.buckets[index], lowest, highest, task.control);
    const unsigned action = bucket.kind == LISTED_VALUES
                                ? action_for_values(bucket, counts)
                                : action_for(bucket, lowest, highest, level);
    if (action == NO_MORE) {
        if (bucket.kind == LISTED_VALUES && task.control->other_disabled != nullptr) {
            if (threadIdx.x == 0)
                *task.control->other_disabled = false;
        } else if (threadIdx.x / WARP == 0) {
            struct bucket next = bucket;
            next.base = lowest;
            next.kind = BITS_OF_RANK;
            next.fine_bits = next.bin_bits = 0;
            add_bucket(lane_index() == 0, next, bit_length(Key(highest - lowest)), 0, task,
                       level + 1);
        }
    } else {
        if (bucket.fine_bits > 0)
            add_up(task.control->fine, bucket.fine_bits, digits, counts);
        scan_counts(shared, digits, counts, action == PARTITION ? bucket.first : 0);
        if (action == PARTITION)
            plan_parts(shared, task, level);
        else
            plan_pieces(shared, index, task, level);
    }
    if (threadIdx.x == 0) {
        lists.buckets[index].action = action;
        if (action == PARTITION) {
            atomicAdd(&task.lengths_of(level)->partitions, 1u);
            if (bucket.fine_bits > 0)
                task.control->has_fine = true;
        }
    }
    __syncthreads();
}

} // namespace SCANBENCH_BACKEND::msd
