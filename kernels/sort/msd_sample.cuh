/* msd_sample.cuh: the digits of sort_msd's first levels, from a sample.
 *
 * The sample's range is taken for that of all keys, and cut into digits of equal width in rank. If
 * it was not the range of all, the level is lost, and the next one knows the range. Where floats
 * crowd in such digits, but not in digits of equal width in value, those are taken. */
#ifndef SCANBENCH_KERNELS_SORT_MSD_SAMPLE_CUH
#define SCANBENCH_KERNELS_SORT_MSD_SAMPLE_CUH

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

/* The same of a range that may have left out a key: that it did is seen later. */
struct clamped_digits {
    unsigned shift, last;

    template <class Key> __device__ __forceinline__ unsigned of(Key relative) const
    {
        return (unsigned)min(Key(relative >> shift), Key(last));
    }
};

/* Those of values: a bucket's are 2^shift bins each, from one of them on. */
template <class Key> struct value_digits {
    value_bins<Key> bins;
    unsigned shift, first;

    __device__ __forceinline__ unsigned of(Key rank) const
    {
        return (bins.of(rank) - first) >> shift;
    }
};

/* Bins for the digits of the first two levels. */
template <class Key>
__device__ __forceinline__ value_bins<Key> value_bins_of(const control *control, const shape &shape)
{
    return {(Key)control->lowest, (Key)control->highest, 1u << (shape.bits + shape.next_bits)};
}

/* What the host decides about the sample. */
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

/* The place of key `i` of a sample: anywhere in its part of the array, so that a pattern in the
 * keys cannot match the sample's. */
__device__ __forceinline__ uint64_t sampled_place(unsigned i, unsigned part)
{
    return (uint64_t)i * part + __umulhi((i + 1) * 0x9E3779B9u, part);
}

/* A range that begins at a multiple of its length, a power of two, or of half of it. */
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

/* The digits of the first level. */
struct first_digits {
    uint64_t base;
    unsigned bits, shift;
    bool by_value;
};

/* Digits of the sample's range. Where it is of one value, nothing is known of other keys. */
template <class Key>
__device__ __forceinline__ first_digits digits_by_rank(leaf_sort::extent<Key> extent,
                                                       const shape &shape)
{
    key_range<Key> range = {0, 8 * sizeof(Key)};
    if (extent.lowest != extent.highest)
        range = range_around(extent.lowest, extent.highest);
    const unsigned bits = range.bits <= MAX_BITS ? range.bits : shape.bits;
    return {range.base, bits, range.bits - bits, false};
}

template <class Key> __device__ __forceinline__ first_digits digits_by_value(const shape &shape)
{
    return {0, shape.bits, 8 * (unsigned)sizeof(Key) - shape.bits, true};
}

/* A range of values that leaves few keys outside: of values whose density falls off towards the
 * ends, more than one in a thousand are outside of the sample's. */
template <class Key>
__device__ __forceinline__ leaf_sort::extent<Key> wider_extent(leaf_sort::extent<Key> extent)
{
    using bins = value_bins<Key>;
    const auto low = value_of(max(extent.lowest, bins::LEAST));
    const auto high = value_of(min(extent.highest, bins::MOST));
    const auto margin = (high - low) / 32;
    return {rank_of(low - margin), rank_of(high + margin)};
}

/* How many keys of the sample, one per thread, are in groups of more than `most`, but for groups of
 * one value, whose counts are enough. The same number for all threads. */
template <class Key>
__device__ __forceinline__ unsigned count_crowded(sampling_layout<Key> *shared, Key rank,
                                                  unsigned group, unsigned most)
{
    shared->seen[threadIdx.x] = 0;
    shared->ranks[threadIdx.x] = rank;
    __syncthreads();
    atomicAdd(&shared->seen[group], 1u);
    __syncthreads();
    const bool is_crowded = shared->seen[group] > most;
    __syncthreads();
    if (is_crowded) /* any of them stands for the group */
        atomicExch(&shared->seen[group], threadIdx.x);
    __syncthreads();
    return __syncthreads_count(is_crowded && shared->ranks[shared->seen[group]] != rank);
}

/* Keys of the sample that would need another level: in digits that have more than leaves hold. */
template <class Key>
__device__ __forceinline__ unsigned
crowded_by(const first_digits &digits, sampling_layout<Key> *shared, Key rank,
           leaf_sort::extent<Key> extent, const shape &shape, const sampling &sampling)
{
    if (digits.shift == 0) /* digits are values */
        return 0;
    const unsigned digit_bits = digits.bits + min(digits.shift, shape.next_bits);
    const unsigned together = min(sampling.together, digit_bits);
    const unsigned bits = min(digit_bits - together, (unsigned)MAX_BITS);
    static_assert(SAMPLE == MAX_DIGITS, "a thread clears a counter");
    if (digits.by_value)
        return count_crowded(shared, rank,
                             value_bins<Key>(extent.lowest, extent.highest, 1u << bits).of(rank),
                             sampling.most);
    const unsigned shift = digits.shift + digits.bits - bits;
    return count_crowded(shared, rank, (unsigned)(Key(rank - (Key)digits.base) >> shift),
                         sampling.most);
}

} // namespace msd

} // namespace SCANBENCH_BACKEND

#endif
