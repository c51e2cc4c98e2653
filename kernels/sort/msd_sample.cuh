/* msd_sample.cuh: the digits of sort_msd's first levels, from a sample.
 *
 * The sample's range is taken for that of all keys, and cut into digits of equal width in rank:
 * bits of the rank, or bins where bits would leave a leaf too large or need more digits. Keys
 * outside are counted with the first digit or the last. Only if the two levels together tell every
 * value apart, or if digits are bits of floats, the count is in vain, and the next level counts
 * again, in the range of all keys. Where floats are skewed in digits of rank, but less in digits of
 * equal width in value, the latter are taken.
 *
 * There are as many digits as evenly spread keys need. If the sample is uneven, as it is of
 * normally distributed keys, they are narrower, or each bucket of the second level chooses its own.
 */
#pragma once

#include "bins.cuh"
#include "msd_state.cuh"

namespace SCANBENCH_BACKEND::msd
{

/* Digits of 2^shift ranks each, counted from `base`. */
template <class Key> struct rank_digits {
    Key base;
    unsigned shift;

    __device__ __forceinline__ unsigned of(Key rank) const
    {
        return (unsigned)(Key(rank - base) >> shift);
    }
};

/* The same where keys may lie outside. They are in the first digit or the last. */
template <class Key> struct clamped_digits {
    Key base;
    unsigned shift, last;

    __device__ __forceinline__ unsigned of(Key rank) const
    {
        return (unsigned)min(Key(Key(max(rank, base) - base) >> shift), Key(last));
    }
};

/* The bins of an order: of equal width in value for floats, and in rank for integers. */
template <class Order, class Key = typename Order::key>
using bins_of = std::conditional_t<IS_FLOAT<Order>, value_bins<Key>, even_bins<Key>>;

/* Digits that are bins. A bucket's digits are 2^shift bins each, from bin `first` on. */
template <class Order, class Key = typename Order::key> struct binned_digits {
    bins_of<Order> bins;
    unsigned shift, first;

    __device__ __forceinline__ unsigned of(Key rank) const
    {
        return (bins.of(rank) - first) >> shift;
    }
};

/* The bins for the digits of the first levels. */
template <class Bins, class Key> __device__ __forceinline__ Bins sampled_bins(const task<Key> &task)
{
    const control *control = task.control;
    return {(Key)control->lowest, (Key)control->highest, 1u << control->log2_bins};
}

/* The sizes that the host chooses for the sample. */
struct sampling {
    unsigned part;     /* keys of the array for each key of the sample */
    unsigned together; /* 2^together neighbouring digits are looked at as one */
    unsigned most;     /* the most keys of the sample in these, if leaves can hold their keys */
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

/* A range of at most 2^bits ranks. */
template <class Key> struct key_range {
    Key base;
    unsigned bits;
};

/* Returns a range that begins at a multiple of 2^bits, or of half of it. */
template <class Key> __device__ __forceinline__ key_range<Key> range_around(Key lowest, Key highest)
{
    const unsigned bits = bit_length(Key(highest - lowest));
    if (bits == 8 * sizeof(Key))
        return {0, bits};
    const Key base = lowest >> bits << bits;
    return {base, bit_length(Key(highest - base))};
}

/* Digits of a range. A sample of one value says nothing about other keys. */
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

/* Are keys evenly spread between the extremes of a sample, one key per thread? The range of values,
 * or the ranks of integers, is cut into eighths; for floats, the first and the last bin are half as
 * wide, and there is one more. Each must have its share of the sample to within 3/8, which one even
 * sample of 300 has not, by chance. All threads get the answer. */
template <class Order, class Key = typename Order::key>
__device__ __forceinline__ bool are_even(sampling_layout<Key> *shared, Key rank,
                                         leaf_sort::extent<Key> extent)
{
    constexpr unsigned BINS = IS_FLOAT<Order> ? 9 : 8;
    if (extent.lowest == extent.highest)
        return true;
    if (!IS_FLOAT<Order> && Key(extent.highest - extent.lowest) < BINS)
        return true; /* each digit is one value */
    if (threadIdx.x < BINS)
        shared->seen[threadIdx.x] = 0;
    __syncthreads();
    const bins_of<Order> bins(extent.lowest, extent.highest, BINS);
    atomicAdd(&shared->seen[bins.of(rank)], 1u);
    __syncthreads();
    bool has_share = true;
    if (threadIdx.x < BINS) {
        const bool is_half = IS_FLOAT<Order> && threadIdx.x % (BINS - 1) == 0;
        const int share = is_half ? SAMPLE / 16 : SAMPLE / 8;
        has_share = 8 * abs((int)shared->seen[threadIdx.x] - share) <= 3 * share;
    }
    return __syncthreads_and(has_share);
}

/* The range that digits divide: that of bits of the rank, or `wide` for bins. */
template <class Key>
__device__ __forceinline__ leaf_sort::extent<Key> range_of_digits(const first_digits &digits,
                                                                  leaf_sort::extent<Key> wide)
{
    if (digits.kind != BITS_OF_RANK)
        return wide;
    const auto base = (Key)digits.base;
    return {base, Key(base + highest_of<Key>(digits.bits + digits.shift))};
}

/* The parts into which margins cut the sample's range: the length of the range over that of the
 * margin at either end. Unless keys are even, their density often falls off towards the ends, so
 * that more than one in a thousand lies outside the sample's range: their margins are wide. Beyond
 * them are more keys than a leaf holds, now and then, where an array is so large that two levels
 * are launched: there they are widest. */
constexpr unsigned PER_MARGIN = 128, PER_WIDE_MARGIN = 32, PER_WIDEST_MARGIN = 6;

__device__ __forceinline__ unsigned parts_per_margin(bool is_even, const shape &shape)
{
    if (is_even)
        return PER_MARGIN;
    return shape.levels > 1 ? PER_WIDEST_MARGIN : PER_WIDE_MARGIN;
}

/* Returns a range outside which few keys lie: the sample's, with margins. */
template <class Order, class Key = typename Order::key>
__device__ __forceinline__ leaf_sort::extent<Key> wider(leaf_sort::extent<Key> extent,
                                                        unsigned per_margin)
{
    if (extent.lowest == extent.highest)
        return extent;
    if constexpr (IS_FLOAT<Order>) {
        const auto low = value_of(max(extent.lowest, value_bins<Key>::LEAST));
        const auto high = value_of(min(extent.highest, value_bins<Key>::MOST));
        const auto margin = (high - low) / (value_of_width<Key>)per_margin;
        return {rank_of(low - margin), rank_of(high + margin)};
    } else {
        const Key margin = Key(extent.highest - extent.lowest) / per_margin;
        return {Key(extent.lowest - min(extent.lowest, margin)),
                Key(extent.highest + min(Key(~extent.highest), margin))};
    }
}

/* Can 2^bits bins divide this range, and each have two ranks or more? */
template <class Key>
__device__ __forceinline__ bool has_room(leaf_sort::extent<Key> range, unsigned bits)
{
    return bit_length(Key(range.highest - range.lowest)) > bits + 1;
}

/* Does the sample fill so few of both levels' digits, if these are bits of the rank, that leaves of
 * evenly spread integers would be too large? The range has more ranks than there are digits. */
template <class Key>
__device__ __forceinline__ bool fills_few(const first_digits &digits, leaf_sort::extent<Key> extent,
                                          const shape &shape)
{
    const unsigned log2_bins = shape.bits + shape.next_bits,
                   range_bits = digits.bits + digits.shift;
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

/* What the first two levels divide keys by, and how many keys of the sample would need another
 * level, because there are more keys of their digits than leaves hold. */
struct choice {
    first_digits digits;
    unsigned next_bits; /* of the digits of the second level, or the most of them */
    unsigned needing_more;
    bool suits; /* no more need another level than may seem so by chance */

    __device__ __forceinline__ unsigned all_bits() const
    {
        return digits.bits + next_bits;
    }
};

/* Chooses how many bits digits of a kind have. */
template <class Order, class Key = typename Order::key> struct chooser {
    sampling_layout<Key> *shared;
    Key rank; /* of the thread's key of the sample */
    leaf_sort::extent<Key> extent;
    bool is_even;
    const struct shape &shape;
    const struct sampling &sampling;

    /* Floats that are evenly spread by value are not by rank, unless the sample has one value. */
    __device__ __forceinline__ bool are_even_in(digit_kind kind) const
    {
        return is_even &&
               (extent.lowest == extent.highest || IS_FLOAT<Order> == (kind == BINS_OF_VALUE));
    }
    /* The bits of the range that digits divide. A bin has at least two ranks. */
    __device__ __forceinline__ unsigned range_bits(const first_digits &digits) const
    {
        return digits.kind == BITS_OF_RANK
                   ? digits.bits + digits.shift
                   : max(bit_length(Key(extent.highest - extent.lowest)), 3u) - 2;
    }
    /* The key's place in the range, in so many bits. */
    __device__ __forceinline__ unsigned group_of(const first_digits &digits, unsigned bits) const
    {
        if (digits.kind == BITS_OF_RANK)
            return (unsigned)(Key(rank - (Key)digits.base) >> (digits.bits + digits.shift - bits));
        return bins_of<Order>(extent.lowest, extent.highest, 1u << bits).of(rank);
    }
    /* Returns the choice of these digits, of all_bits in both levels. */
    __device__ __forceinline__ choice look_at(first_digits digits, unsigned first_bits,
                                              unsigned all_bits) const
    {
        static_assert(SAMPLE == MAX_DIGITS, "a thread clears a counter");
        const unsigned together = min(sampling.together, all_bits);
        const unsigned group = group_of(digits, min(all_bits - together, (unsigned)MAX_BITS));
        digits.shift += digits.bits - first_bits;
        digits.bits = first_bits;
        const unsigned needing_more = count_skewed(shared, rank, group, sampling.most);
        /* Where keys are uneven, it is hardly chance: a group of values near 0, say, takes levels
         * without end. */
        const unsigned by_chance = are_even_in(digits.kind) ? SAMPLE / 16 : 0;
        return {digits, all_bits - first_bits, needing_more, needing_more <= by_chance};
    }
    /* The bits of digits that leaves hold where the range is densest, by its sixteenths. Smaller
     * parts have many more keys by chance. The densest may have some more than the sample says.
     * Where two levels are launched, narrower digits cost little, and leaves have room for that. */
    __device__ __forceinline__ unsigned bits_of_densest(const first_digits &digits) const
    {
        enum { SIXTEENTHS = 16, BITS = 4 };
        if (threadIdx.x < SIXTEENTHS)
            shared->seen[threadIdx.x] = 0;
        __syncthreads();
        atomicAdd(&shared->seen[group_of(digits, BITS)], 1u);
        __syncthreads();
        const unsigned most = warp_max(shared->seen[lane_index() % SIXTEENTHS]);
        __syncthreads();
        const uint64_t leaf = shape.levels > 1 ? shape.leaf : shape.capacity;
        unsigned bits = BITS;
        while (SAMPLE * leaf << (bits - BITS) < most * shape.n)
            bits++;
        return bits;
    }
    /* The bits of digits that evenly spread keys need. Even floats do not fill the margins, and
     * their first and last bins are half as wide as others: if bins are few, others get too many
     * keys. */
    __device__ __forceinline__ unsigned planned_bits(digit_kind kind) const
    {
        const unsigned bits = shape.bits + shape.next_bits;
        const uint64_t held = (uint64_t)(shape.capacity - shape.capacity / 64) * ((1u << bits) - 1);
        const uint64_t with_margins = shape.n + 2 * shape.n / PER_MARGIN;
        return kind == BINS_OF_VALUE && with_margins > held ? bits + 1 : bits;
    }
    /* Returns digits that launches can count at once: of as many bits as evenly spread keys need,
     * or more where keys are not even. If there would be too many, the choice does not suit. */
    __device__ __forceinline__ choice counted_at_once(const first_digits &digits) const
    {
        if (digits.shift == 0) /* each digit is one value */
            return {digits, 0, 0, true};
        const unsigned planned = planned_bits(digits.kind);
        const unsigned wanted =
            are_even_in(digits.kind) ? planned : max(planned, bits_of_densest(digits));
        const unsigned bits = min(wanted, range_bits(digits));
        if (bits > shape.most_bits)
            return {digits, 0, SAMPLE, false};
        return look_at(digits, bits <= MAX_BITS ? bits : (bits + 1) / 2, bits);
    }
    /* Returns digits of which each bucket of the second level chooses its own, as many as its
     * number of keys needs. They are counted one level after the other. Without launches for the
     * second level, that takes as long as another sort. */
    __device__ __forceinline__ choice counted_by_level(const first_digits &digits) const
    {
        enum { FIRST_BITS = 7 }; /* where one level is planned, but the second one launched too */
        const unsigned planned = shape.levels > 1 ? (unsigned)FIRST_BITS : (unsigned)MAX_BITS;
        const unsigned first = shape.next_bits > 0 ? shape.bits : planned;
        const unsigned most = range_bits(digits);
        choice choice = look_at(digits, min(first, most), min(first + MAX_BITS, most));
        choice.suits = choice.suits && shape.levels > 1;
        return choice;
    }
};

/* Returns the choice that suits; if both do, the one with fewer bits; if none does, the one with
 * fewer keys that need more; or the first, if they are equal in that. */
__device__ __forceinline__ choice better(const choice &one, const choice &other)
{
    if (one.suits != other.suits)
        return one.suits ? one : other;
    const bool is_other =
        one.suits ? other.all_bits() < one.all_bits() : other.needing_more < one.needing_more;
    return is_other ? other : one;
}

/* Chooses digits of the sample, one key per thread. Bins are tried for floats, and for integers
 * that are not even, if bits of the rank do not suit, or are more than evenly spread keys need; but
 * not for integers of so few values that each may have a digit. Even integers have bins, without a
 * trial, where bits would leave too many digits empty. */
template <class Order, class Key = typename Order::key>
__device__ __forceinline__ choice choose_digits(sampling_layout<Key> *shared, Key rank,
                                                leaf_sort::extent<Key> extent,
                                                leaf_sort::extent<Key> wide, bool is_even,
                                                const shape &shape, const sampling &sampling)
{
    const chooser<Order> chooser = {shared, rank, wide, is_even, shape, sampling};
    const unsigned planned = shape.bits + shape.next_bits;
    const first_digits bins = {0, shape.bits, 8 * (unsigned)sizeof(Key) - shape.bits,
                               IS_FLOAT<Order> ? BINS_OF_VALUE : BINS_OF_RANK};
    first_digits digits = digits_by_rank(extent, shape);
    if (!IS_FLOAT<Order> && digits.shift > 0) {
        if (!is_even)
            digits = digits_by_rank(wide, shape);
        else if (has_room(wide, planned) && fills_few(digits, extent, shape))
            digits = bins;
    }
    choice choice = chooser.counted_at_once(digits);
    if (digits.shift == 0)
        return choice;
    if (extent.lowest == extent.highest) { /* of other keys nothing is known */
        choice.suits = true;
        return choice;
    }
    const bool tries_bins =
        IS_FLOAT<Order> || (!is_even && has_room(wide, max(planned, shape.most_bits)));
    if (tries_bins && !(choice.suits && choice.all_bits() <= planned)) {
        const auto binned = chooser.counted_at_once(bins);
        /* If both need as many bits, bins of integers are worse: a leaf does not know its range. */
        choice = IS_FLOAT<Order> ? better(binned, choice) : better(choice, binned);
    }
    if (choice.suits)
        return choice;
    choice = better(choice, chooser.counted_by_level(IS_FLOAT<Order> ? bins : digits));
    return IS_FLOAT<Order> ? better(choice, chooser.counted_by_level(digits)) : choice;
}

} // namespace SCANBENCH_BACKEND::msd
