/* msd_sample.cuh: the digits of sort_msd's first levels, from a sample.
 *
 * The sample's range is taken for that of all keys, and cut into digits of equal width in rank,
 * which are bits of the rank where that leaves no leaf too large. If it was not the range of all,
 * the level is lost, and the next one knows the range. Where floats are skewed in such digits, but
 * not in digits of equal width in value, the latter are taken. Usually two or three times as many
 * of these are needed as there are leaves. If floats are evenly spread, they need no more than
 * integers. */
#pragma once

#include "bins.cuh"
#include "msd_state.cuh"

namespace SCANBENCH_BACKEND::msd
{

/* Digits of a range outside which keys may lie. The plan finds that out. */
template <class Digits> struct clamped_digits {
    Digits digits;
    unsigned last;

    template <class Key> __device__ __forceinline__ unsigned of(Key relative) const
    {
        return min(digits.of(relative), last);
    }
};

/* The bins of an order: of equal width in value for floats, and in rank for integers. */
template <class Order, class Key = typename Order::key>
using bins_of = std::conditional_t<IS_FLOAT<Order>, value_bins<Key>, even_bins<Key>>;

/* Digits that are bins. A bucket's digits are 2^shift bins each, from bin `first` on. */
template <class Order, class Key = typename Order::key> struct binned_digits {
    bins_of<Order> bins;
    unsigned shift, first;

    __device__ __forceinline__ unsigned of(Key relative) const
    {
        return (bins.of(relative) - first) >> shift;
    }
};

/* The bins for the digits of the first two levels. */
template <class Bins, class Key> __device__ __forceinline__ Bins sampled_bins(const task<Key> &task)
{
    return {(Key)task.control->lowest, (Key)task.control->highest,
            1u << (task.shape.bits + task.shape.next_bits)};
}

/* log2 of the bins of a digit of the first level, if digits are bins. */
__device__ __forceinline__ unsigned bits_below(const bucket &bucket, const shape &shape)
{
    return shape.bits + shape.next_bits - bucket.bits;
}

/* The sizes that the host chooses for the sample. */
struct sampling {
    unsigned part;     /* keys of the array for each key of the sample */
    unsigned together; /* 2^together neighbouring digits are looked at as one */
    unsigned most;     /* the most keys of the sample in these, if leaves can hold their keys */
    bool is_slice;     /* the keys lie between cuts, so that their range ends anywhere */
    bool has_parts;    /* the keys lie in parts, and are not counted at level 0 */
};

template <class Key> struct sampling_layout {
    leaf_sort::agent<Key, SAMPLE, 1> leaf;
    Key ranks[SAMPLE];
    unsigned seen[MAX_DIGITS];
};

/* The digits of the first level. */
struct first_digits {
    uint64_t base;
    unsigned bits, shift;
    digit_kind kind;
};

/* A range of 2^bits ranks, whose base is a multiple of 2^bits or of half of it. */
template <class Key> struct key_range {
    Key base;
    unsigned bits;
};

template <class Key> __device__ __forceinline__ key_range<Key> range_around(Key lowest, Key highest)
{
    const unsigned bits = bit_length(Key(highest - lowest));
    if (bits == 8 * sizeof(Key))
        return {0, bits};
    const Key base = lowest >> bits << bits;
    return {base, bit_length(Key(highest - base))};
}

/* Digits of the sample's range. A sample of one value says nothing about other keys. */
template <class Key>
__device__ __forceinline__ first_digits digits_by_rank(leaf_sort::extent<Key> extent,
                                                       const shape &shape)
{
    key_range<Key> range = {0, 8 * sizeof(Key)};
    if (extent.lowest != extent.highest)
        range = range_around(extent.lowest, extent.highest);
    const unsigned bits = range.bits <= MAX_BITS ? range.bits : shape.bits;
    return {range.base, bits, range.bits - bits, BITS_OF_RANK};
}

/* Are floats evenly spread by value between the extremes of a sample, one key per thread? The range
 * is cut into seven eighths and, at either end, a sixteenth. Each must have its share of the sample
 * to within 3/8, which one even sample of 300 has not, by chance. All threads get the answer. */
template <class Key>
__device__ __forceinline__ bool are_even(sampling_layout<Key> *shared, Key rank,
                                         leaf_sort::extent<Key> extent)
{
    enum { BINS = 9 }; /* the first and the last are half as wide as the others */
    if (threadIdx.x < BINS)
        shared->seen[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&shared->seen[value_bins<Key>(extent.lowest, extent.highest, BINS).of(rank)], 1u);
    __syncthreads();
    bool has_share = true;
    if (threadIdx.x < BINS) {
        const int share = threadIdx.x % (BINS - 1) == 0 ? SAMPLE / 16 : SAMPLE / 8;
        has_share = 8 * abs((int)shared->seen[threadIdx.x] - share) <= 3 * share;
    }
    return __syncthreads_and(has_share);
}

/* The parts into which margins cut the sample's range: the length of the range over that of the
 * margin at either end. */
constexpr unsigned PER_MARGIN = 128, PER_WIDE_MARGIN = 32;

/* Returns a range outside which few keys lie: the sample's, with margins. Unless floats are even,
 * their density falls off towards the ends, so that more than one in a thousand lies outside the
 * sample's range: their margins are wider. */
template <class Order, class Key = typename Order::key>
__device__ __forceinline__ leaf_sort::extent<Key> wider(leaf_sort::extent<Key> extent, bool is_even)
{
    if constexpr (IS_FLOAT<Order>) {
        const auto low = value_of(max(extent.lowest, value_bins<Key>::LEAST));
        const auto high = value_of(min(extent.highest, value_bins<Key>::MOST));
        const auto length = high - low;
        const auto margin = is_even ? length / PER_MARGIN : length / PER_WIDE_MARGIN;
        return {rank_of(low - margin), rank_of(high + margin)};
    } else {
        const Key margin = Key(extent.highest - extent.lowest) / PER_MARGIN;
        return {Key(extent.lowest - min(extent.lowest, margin)),
                Key(extent.highest + min(Key(~extent.highest), margin))};
    }
}

/* The bits of digits that are bins of evenly spread keys. If more than one level is planned, but
 * leaves of one can hold the keys, MAX_BITS; if one is, as few as leave no digit larger than the
 * window, so that two share a leaf; or else the planned bits. */
__device__ __forceinline__ unsigned bits_if_even(const shape &shape)
{
    unsigned bits = shape.bits;
    if (shape.next_bits == 0) {
        while (bits > MIN_BITS && shape.n >> (bits - 1) <= shape.window)
            bits--;
        return bits;
    }
    const unsigned filled = MAX_DIGITS * PER_MARGIN / (PER_MARGIN + 2); /* not the margins */
    const bool is_enough = (uint64_t)filled * (shape.capacity - shape.capacity / 32) >= shape.n;
    return is_enough ? (unsigned)MAX_BITS : shape.bits;
}

/* Are bins of this range better digits than bits of the rank? They are if the sample fills so few
 * of the latter that leaves would be too large; and between cuts if the range of the bits ends
 * within the margin, because all keys but a few then lie within it. */
template <class Key>
__device__ __forceinline__ bool
needs_bins(const first_digits &digits, leaf_sort::extent<Key> extent, leaf_sort::extent<Key> wide,
           const shape &shape, const sampling &sampling)
{
    const unsigned log2_bins = shape.bits + shape.next_bits,
                   range_bits = digits.bits + digits.shift;
    if (digits.shift == 0 || bit_length(Key(wide.highest - wide.lowest)) <= log2_bins + 1)
        return false; /* a digit is one value, or a bin would be one or two */
    const Key last = Key(digits.base + (Key(~Key(0)) >> (8 * sizeof(Key) - range_bits)));
    if (sampling.is_slice && ((Key)digits.base > wide.lowest || last < wide.highest))
        return true;
    const uint64_t filled = (Key(extent.highest - extent.lowest) >> (range_bits - log2_bins)) + 1;
    return filled * (shape.capacity - shape.capacity / 32) < shape.n;
}

/* Returns to all threads how many keys of the sample, one per thread, are in groups of more than
 * `most`. Groups of one value do not count: they are written from their counts. */
template <class Key>
__device__ __forceinline__ unsigned count_skewed(sampling_layout<Key> *shared, Key rank,
                                                 unsigned group, unsigned most)
{
    shared->seen[threadIdx.x] = 0;
    shared->ranks[threadIdx.x] = rank;
    __syncthreads();
    atomicAdd(&shared->seen[group], 1u);
    __syncthreads();
    const bool is_skewed = shared->seen[group] > most;
    __syncthreads();
    if (is_skewed) /* any key can stand for its group */
        atomicExch(&shared->seen[group], threadIdx.x);
    __syncthreads();
    return __syncthreads_count(is_skewed && shared->ranks[shared->seen[group]] != rank);
}

/* Returns the number of keys of the sample that would need one level more than planned, because
 * their digits have more keys than leaves hold. */
template <class Order, class Key = typename Order::key>
__device__ __forceinline__ unsigned
skewed_by(const first_digits &digits, sampling_layout<Key> *shared, Key rank,
          leaf_sort::extent<Key> extent, const shape &shape, const sampling &sampling)
{
    if (digits.shift == 0) /* each digit is one value */
        return 0;
    const unsigned digit_bits = shape.bits + min(digits.shift, shape.next_bits);
    const unsigned together = min(sampling.together, digit_bits);
    const unsigned bits = min(digit_bits - together, (unsigned)MAX_BITS);
    static_assert(SAMPLE == MAX_DIGITS, "a thread clears a counter");
    if (digits.kind != BITS_OF_RANK)
        return count_skewed(shared, rank,
                            bins_of<Order>(extent.lowest, extent.highest, 1u << bits)
                                .of(Key(rank - (Key)digits.base)),
                            sampling.most);
    const unsigned shift = digits.shift + digits.bits - bits;
    return count_skewed(shared, rank, (unsigned)(Key(rank - (Key)digits.base) >> shift),
                        sampling.most);
}

/* The digits of the first level, and how many keys of the sample would need another level. */
struct choice {
    first_digits digits;
    unsigned needing_more;
};

/* Chooses digits of the sample, one key per thread. Of integers, skewed ones are only counted where
 * it matters. Of floats, bins are tried where digits of the rank are skewed, and where even ones
 * save a level. */
template <class Order, class Key = typename Order::key>
__device__ __forceinline__ choice choose_digits(sampling_layout<Key> *shared, Key rank,
                                                leaf_sort::extent<Key> extent,
                                                leaf_sort::extent<Key> wide, bool is_even,
                                                const shape &shape, const sampling &sampling,
                                                bool may_leave)
{
    const unsigned bits = is_even ? bits_if_even(shape) : shape.bits;
    const first_digits bins = {IS_FLOAT<Order> ? 0 : wide.lowest, bits,
                               8 * (unsigned)sizeof(Key) - bits,
                               IS_FLOAT<Order> ? BINS_OF_VALUE : BINS_OF_RANK};
    const auto skewed = [&](const first_digits &digits) {
        return skewed_by<Order>(digits, shared, rank, wide, shape, sampling);
    };
    choice choice = {digits_by_rank(extent, shape), 0};
    if (!IS_FLOAT<Order> && needs_bins(choice.digits, extent, wide, shape, sampling))
        choice.digits = bins;
    if (IS_FLOAT<Order> || may_leave)
        choice.needing_more = skewed(choice.digits);
    const bool saves_level = choice.digits.shift > 0 && bits > shape.bits;
    if (IS_FLOAT<Order> && (choice.needing_more > 0 || saves_level)) {
        const unsigned others = skewed(bins);
        /* If as few need another level, bins are chosen where they save one. */
        if (others < choice.needing_more + saves_level)
            choice = {bins, others};
    }
    return choice;
}

} // namespace SCANBENCH_BACKEND::msd
