/* msd_guess.cuh: the digits of sort_msd's first level, from a sample.
 *
 * The sample's range is taken for that of all keys; if it was not, the level is lost, and the next
 * one knows the range. Where the sample fills its range evenly, so do digits. Where it crowds, as
 * floats do below powers of two, a table gives each of the range's ENTRIES parts as many digits as
 * its share of the sample asks for.
 *
 * Each block guesses the same from one key per thread. Unsigned keys of small arrays are taken to
 * fill their type, which saves them 2 to 5 us; signed keys rarely do, and floats never. Of large
 * arrays of integers, a launch of its own samples more, which also tells whether keys crowd. */
#ifndef SCANBENCH_KERNELS_MSD_GUESS_CUH
#define SCANBENCH_KERNELS_MSD_GUESS_CUH

#include "msd_state.cuh"

namespace SCANBENCH_BACKEND
{

namespace msd
{

/* Digits of ranks that are counted from where the bucket's range begins. */
struct even_digits {
    unsigned shift;

    template <class Key> __device__ __forceinline__ unsigned of(Key relative) const
    {
        return (unsigned)(relative >> shift);
    }
};

/* The same of a guess, which may have left out a key: that it did is seen later. */
struct guessed_digits {
    unsigned shift, last;

    template <class Key> __device__ __forceinline__ unsigned of(Key relative) const
    {
        return (unsigned)min(Key(relative >> shift), Key(last));
    }
};

struct table_digits {
    const unsigned *entry;
    unsigned shift;

    template <class Key> __device__ __forceinline__ unsigned of(Key relative) const
    {
        const unsigned own = entry[(unsigned)min(Key(relative >> shift), Key(ENTRIES - 1))];
        const Key rest = relative & Key((Key(1) << shift) - 1);
        return (own >> 8) + (unsigned)(rest >> (own & 0xFF));
    }
};

/* The lowest rank of a digit, and the bits of its range. */
struct digit_range {
    uint64_t base;
    unsigned bits;
};

__device__ __forceinline__ digit_range range_of(const bucket &bucket, const digit_table &table,
                                                unsigned digit)
{
    if (!table.is_used)
        return {bucket.base + ((uint64_t)digit << bucket.shift), bucket.shift};
    unsigned part = 0; /* the last that begins with this digit or before */
    for (unsigned step = ENTRIES / 2; step > 0; step /= 2)
        if (table.entry[part + step] >> 8 <= digit)
            part += step;
    const unsigned bits = table.entry[part] & 0xFF;
    return {bucket.base + ((uint64_t)part << bucket.shift) +
                ((uint64_t)(digit - (table.entry[part] >> 8)) << bits),
            bits};
}

/* Fills the table: a part with `seen` keys of the sample, of 2^shift values, gets 2^k digits, twice
 * as many as leaves, and no more than MAX_DIGITS in all. */
template <class Key>
__device__ __forceinline__ void fill_table(shared_layout<Key> *shared, unsigned seen,
                                           unsigned shift, const shape &shape)
{
    constexpr unsigned MOST = (MAX_DIGITS - ENTRIES) / 2;
    const auto wanted = (unsigned)min((uint64_t)MOST, 2 * shape.n / shape.leaf);
    const unsigned own = (seen * wanted + blockDim.x - 1) / blockDim.x;
    const unsigned log2_digits = own <= 1 ? 0 : min(shift, leaf_sort::bit_length(own - 1));
    const unsigned digits = threadIdx.x < ENTRIES ? 1u << log2_digits : 0;
    const unsigned warp = threadIdx.x / WARP, inclusive = warp_inclusive_sum(digits);
    if (lane_index() == WARP - 1)
        shared->warp_totals[warp] = inclusive;
    __syncthreads();
    const unsigned end = sum_of_first(warp, shared->warp_totals) + inclusive;
    if (threadIdx.x < ENTRIES)
        shared->table.entry[threadIdx.x] = (end - digits) << 8 | (shift - log2_digits);
    if (threadIdx.x == ENTRIES - 1)
        shared->guess.bits = leaf_sort::bit_length(end - 1);
}

template <class Order>
constexpr bool IS_FLOAT = std::is_same_v<Order, float_order<typename Order::key>>;
template <class Order>
constexpr bool GUESSES = !std::is_same_v<Order, unsigned_order<typename Order::key>>;

/* A range that begins at a multiple of its length, a power of two, or of half of it. */
template <class Key> struct key_range {
    Key base;
    unsigned bits;
};

template <class Key> __device__ __forceinline__ key_range<Key> range_around(Key lowest, Key highest)
{
    const unsigned bits = leaf_sort::bit_length(Key(highest - lowest));
    if (bits == 8 * sizeof(Key))
        return {0, bits};
    const Key base = lowest >> bits << bits;
    return {base, leaf_sort::bit_length(Key(highest - base))};
}

/* Chooses digits for all keys. By all threads of a block; each block chooses the same. */
template <class Order, class Key>
__device__ __noinline__ void guess_digits(const Key *in, const shape &shape)
{
    enum { CROWD = 12 }; /* keys of the sample in a part, of 2 that are expected */
    auto *shared = shared_memory<shared_layout<Key>>();
    leaf_sort::held<Key, THREADS, 1> sample;
    sample.count = THREADS;
    sample.rank[0] = Order()(in[shape.n * threadIdx.x / THREADS]);
    if (threadIdx.x < ENTRIES)
        shared->table.entry[threadIdx.x] = 0;
    const auto extent = leaf_sort::extent_of(&shared->leaf, sample);
    /* Floats may be as small as you like. */
    const Key zero = IS_FLOAT<Order> ? Order()(Key(0)) : extent.lowest;
    const auto range = range_around(min(extent.lowest, zero), max(extent.highest, zero));
    const Key base = range.base;
    const unsigned bits = range.bits;
    const unsigned shift = bits > LOG2_ENTRIES ? bits - LOG2_ENTRIES : 0;
    unsigned *seen = shared->table.entry;
    __syncthreads();
    atomicAdd(&seen[(unsigned)(Key(sample.rank[0] - base) >> shift)], 1u);
    __syncthreads();
    const unsigned own = threadIdx.x < ENTRIES ? seen[threadIdx.x] : 0;
    const bool crowds = __syncthreads_or(own > CROWD) && bits > MAX_BITS;
    const unsigned even_bits = bits <= MAX_BITS ? bits : shape.bits;
    if (threadIdx.x == 0) {
        shared->table.is_used = crowds;
        shared->guess = {base, even_bits, crowds ? shift : bits - even_bits};
    }
    __syncthreads();
    if (crowds)
        fill_table(shared, own, shift, shape);
    __syncthreads();
}

/* What the host decides about the sample of a large array. */
struct sampling {
    unsigned part;     /* keys of the array for each of the sample */
    unsigned together; /* bits of digits that are neighbours, and looked at together, */
    unsigned most;     /* and keys of the sample that they have if their leaves hold their keys */
};

template <class Key> struct sampling_layout {
    leaf_sort::shared_layout<Key, SAMPLE, 1> leaf;
    Key ranks[SAMPLE];
    unsigned seen[MAX_DIGITS];
};

/* A key of each part of the array, anywhere in it, so that a pattern in the keys cannot match the
 * sample's. */
template <class Order, class Key>
__device__ __forceinline__ Key sampled_rank(const Key *in, unsigned part)
{
    const unsigned i = threadIdx.x;
    return Order()(in[(uint64_t)i * part + __umulhi((i + 1) * 0x9E3779B9u, part)]);
}

/* Even digits of the sample's range. Where it is of one value, nothing is known of other keys. */
template <class Key>
__device__ __forceinline__ guess digits_of_range(leaf_sort::extent<Key> extent, const shape &shape)
{
    key_range<Key> range = {0, 8 * sizeof(Key)};
    if (extent.lowest != extent.highest)
        range = range_around(extent.lowest, extent.highest);
    const unsigned bits = range.bits <= MAX_BITS ? range.bits : shape.bits;
    return {range.base, bits, range.bits - bits};
}

/* Would too many keys need another level? Those of digits that have more keys of the sample than
 * leaves hold: but where they are all one value, counts are enough. The same answer for all
 * threads, one for each rank of the sample. */
template <class Key>
__device__ __forceinline__ bool do_crowd(sampling_layout<Key> *shared, Key rank, const guess &guess,
                                         unsigned fine_bits, const sampling &sampling)
{
    enum { TOO_MANY = SAMPLE / 8 };
    if (guess.shift == 0) /* digits are values */
        return false;
    const unsigned digit_bits = guess.bits + min(guess.shift, fine_bits);
    const unsigned together = min(sampling.together, digit_bits);
    const unsigned bits = min(digit_bits - together, (unsigned)MAX_BITS);
    const auto group = (unsigned)(Key(rank - (Key)guess.base) >> (guess.shift + guess.bits - bits));
    if (threadIdx.x < 1u << bits)
        shared->seen[threadIdx.x] = 0;
    shared->ranks[threadIdx.x] = rank;
    __syncthreads();
    atomicAdd(&shared->seen[group], 1u);
    __syncthreads();
    const bool is_crowded = shared->seen[group] > sampling.most;
    __syncthreads();
    if (is_crowded) /* any of them stands for the group */
        atomicExch(&shared->seen[group], threadIdx.x);
    __syncthreads();
    return __syncthreads_count(is_crowded && shared->ranks[shared->seen[group]] != rank) > TOO_MANY;
}

/* The bucket that the block works on is all keys. */
template <class Key> __device__ __forceinline__ void use_guess(shared_layout<Key> *shared)
{
    if (threadIdx.x == 0) {
        shared->current.base = shared->guess.base;
        shared->current.bits = shared->guess.bits;
        shared->current.shift = shared->guess.shift;
    }
    __syncthreads();
}

} // namespace msd

} // namespace SCANBENCH_BACKEND

#endif
