/* msd_sample.cuh: the digits of sort_msd's first levels, from a sample.
 *
 * The sample's range is taken for that of all keys, and cut into digits of equal width in rank. If
 * it was not the range of all, the level is lost, and the next one knows the range. Where floats
 * are skewed in such digits, but not in digits of equal width in value, the latter are taken. */
#pragma once

#include "msd_state.cuh"

namespace SCANBENCH_BACKEND::msd
{

/* Digits of equal width in rank. Ranks are counted from where the bucket's range begins. */
struct even_digits {
    unsigned shift;

    template <class Key> __device__ __forceinline__ unsigned of(Key relative) const
    {
        return (unsigned)(relative >> shift);
    }
};

/* Digits of equal width of a range outside which keys may lie. The plan finds that out. */
struct clamped_digits {
    unsigned shift, last;

    template <class Key> __device__ __forceinline__ unsigned of(Key relative) const
    {
        return (unsigned)min(Key(relative >> shift), Key(last));
    }
};

/* Digits of equal width in value. A bucket's digits are 2^shift bins each, from bin `first` on. */
template <class Key> struct value_digits {
    value_bins<Key> bins;
    unsigned shift, first;

    __device__ __forceinline__ unsigned of(Key rank) const
    {
        return (bins.of(rank) - first) >> shift;
    }
};

/* The bins for the digits of the first two levels. */
template <class Key> __device__ __forceinline__ value_bins<Key> value_bins_of(const task<Key> &task)
{
    return {(Key)task.control->lowest, (Key)task.control->highest,
            1u << (task.shape.bits + task.shape.next_bits)};
}

/* The sizes that the host chooses for the sample. */
struct sampling {
    unsigned part;     /* keys of the array for each key of the sample */
    unsigned together; /* 2^together neighbouring digits are looked at as one */
    unsigned most;     /* the most keys of the sample in these, if leaves can hold their keys */
};

template <class Key> struct sampling_layout {
    leaf_sort::agent<Key, SAMPLE, 1> leaf;
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

/* Digits of the sample's range. A sample of one value says nothing about other keys. */
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

/* Returns a range of values that leaves few keys outside. Where density falls off towards the ends,
 * more than one key in a thousand lies outside the sample's range. */
template <class Key>
__device__ __forceinline__ leaf_sort::extent<Key> wider_extent(leaf_sort::extent<Key> extent)
{
    using bins = value_bins<Key>;
    const auto low = value_of(max(extent.lowest, bins::LEAST));
    const auto high = value_of(min(extent.highest, bins::MOST));
    const auto margin = (high - low) / 32;
    return {rank_of(low - margin), rank_of(high + margin)};
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

/* Returns the number of keys of the sample that would need another level, because their digits have
 * more keys than leaves hold. */
template <class Key>
__device__ __forceinline__ unsigned
skewed_by(const first_digits &digits, sampling_layout<Key> *shared, Key rank,
          leaf_sort::extent<Key> extent, const shape &shape, const sampling &sampling)
{
    if (digits.shift == 0) /* each digit is one value */
        return 0;
    const unsigned digit_bits = digits.bits + min(digits.shift, shape.next_bits);
    const unsigned together = min(sampling.together, digit_bits);
    const unsigned bits = min(digit_bits - together, (unsigned)MAX_BITS);
    static_assert(SAMPLE == MAX_DIGITS, "a thread clears a counter");
    if (digits.by_value)
        return count_skewed(shared, rank,
                            value_bins<Key>(extent.lowest, extent.highest, 1u << bits).of(rank),
                            sampling.most);
    const unsigned shift = digits.shift + digits.bits - bits;
    return count_skewed(shared, rank, (unsigned)(Key(rank - (Key)digits.base) >> shift),
                        sampling.most);
}

} // namespace SCANBENCH_BACKEND::msd
