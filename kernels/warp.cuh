/* warp.cuh: barriers, reductions and scans across the lanes of a warp and the warps of a block. */
#pragma once

#include "launch.cuh"

namespace SCANBENCH_BACKEND
{

constexpr unsigned WARP = 32; /* threads */

/* A barrier among the first THREADS threads of the block, called by every thread. If those are
 * one warp, each warp synchronises only its own lanes. */
template <unsigned THREADS> __device__ __forceinline__ void sync_threads()
{
    if constexpr (THREADS > WARP)
        __syncthreads();
    else
        __syncwarp();
}

constexpr unsigned ALL_LANES = 0xFFFFFFFFu;

__device__ __forceinline__ unsigned lane_index()
{
    return threadIdx.x % WARP;
}

/* ---- Shuffles of numbers and operands ---- */

/* Shuffles each 32-bit word of a value that is no number. */
template <class T, class Shuffle>
__device__ __forceinline__ T shuffle_words(T value, Shuffle shuffle)
{
    constexpr unsigned WORDS = sizeof(T) / sizeof(unsigned);
    static_assert(sizeof(T) % sizeof(unsigned) == 0);
    unsigned word[WORDS];
    memcpy(word, &value, sizeof value);
    for (unsigned w = 0; w < WORDS; w++)
        word[w] = shuffle(word[w]);
    memcpy(&value, word, sizeof value);
    return value;
}

/* The value of the lane so many below; the lowest lanes keep their own. */
template <class T> __device__ __forceinline__ T shuffle_up(T value, unsigned lanes)
{
    if constexpr (std::is_arithmetic_v<T>)
        return __shfl_up_sync(ALL_LANES, value, lanes);
    else
        return shuffle_words(value, [=](auto w) { return __shfl_up_sync(ALL_LANES, w, lanes); });
}

/* The value of the lane whose index differs in the bits of `mask`. */
template <class T> __device__ __forceinline__ T shuffle_xor(T value, unsigned mask)
{
    if constexpr (std::is_arithmetic_v<T>)
        return __shfl_xor_sync(ALL_LANES, value, mask);
    else
        return shuffle_words(value, [=](auto w) { return __shfl_xor_sync(ALL_LANES, w, mask); });
}

/* The value of one lane. */
template <class T> __device__ __forceinline__ T shuffle_from(T value, unsigned lane)
{
    if constexpr (std::is_arithmetic_v<T>)
        return __shfl_sync(ALL_LANES, value, lane);
    else
        return shuffle_words(value, [=](auto w) { return __shfl_sync(ALL_LANES, w, lane); });
}

/* ---- Sums: of numbers, or of operands by their + (operators.cuh) ---- */

/* Lane l gets the sum of lanes 0..l: Hillis-Steele in registers. */
template <class T> __device__ __forceinline__ T warp_inclusive_sum(T sum)
{
#pragma unroll
    for (unsigned stride = 1; stride < WARP; stride *= 2) {
        const T before = shuffle_up(sum, stride);
        if (lane_index() >= stride)
            sum = before + sum;
    }
    return sum;
}

/* The last lane of a set; 0 if there is none. */
__device__ __forceinline__ unsigned last_lane(unsigned lanes)
{
    return WARP - 1 - __clz((int)(lanes | 1));
}

/* The lanes up to this one. */
__device__ __forceinline__ unsigned lanes_up_to_here()
{
    return ALL_LANES >> (WARP - 1 - lane_index());
}

/* Lane l gets the sum of the lanes from the last one of `heads` that is not after l, or from lane 0
 * if there is none, to l. */
template <class T> __device__ __forceinline__ T warp_inclusive_sum_from(unsigned heads, T sum)
{
    const unsigned reach = lane_index() - last_lane(heads & lanes_up_to_here());
#pragma unroll
    for (unsigned stride = 1; stride < WARP; stride *= 2) {
        const T before = shuffle_up(sum, stride);
        if (reach >= stride)
            sum = before + sum;
    }
    return sum;
}

template <class T> __device__ __forceinline__ flagged<T> warp_inclusive_sum(flagged<T> x)
{
    const unsigned heads = __ballot_sync(ALL_LANES, x.begins != 0);
    return {warp_inclusive_sum_from(heads, x.sum), (heads & lanes_up_to_here()) != 0};
}

/* Every lane gets the sum of all, by instructions. */
template <class T> __device__ __forceinline__ T warp_instruction(T sum)
{
    if constexpr (sizeof(T) == sizeof(unsigned))
        return __reduce_add_sync(ALL_LANES, sum);
    else {
        /* In three parts, whose sums have 32 bits: three instructions, where shuffles take ten. */
        constexpr unsigned BITS = 27;
        constexpr T PART = ((T)1 << BITS) - 1;
        const T low = __reduce_add_sync(ALL_LANES, (unsigned)(sum & PART));
        const T middle = __reduce_add_sync(ALL_LANES, (unsigned)(sum >> BITS & PART));
        const T high = __reduce_add_sync(ALL_LANES, (unsigned)(sum >> 2 * BITS));
        return low + (middle << BITS) + (high << 2 * BITS);
    }
}

template <class T, binary_operator ID>
__device__ __forceinline__ operand<T, ID> warp_instruction(operand<T, ID> x)
{
    if constexpr (ID == OPERATOR_MAX)
        x.number = __reduce_max_sync(ALL_LANES, x.number);
    else if constexpr (ID == OPERATOR_MIN)
        x.number = __reduce_min_sync(ALL_LANES, x.number);
    else
        x.number = __reduce_xor_sync(ALL_LANES, x.number);
    return x;
}

/* The least that combines WARP values: WARP - 1 applications, as a tree. */
template <size_t BYTES>
__device__ __forceinline__ counting<BYTES> warp_instruction(counting<BYTES> x)
{
    constexpr unsigned LEVELS = 5;
    static_assert(1u << LEVELS == WARP);
    x.depth = __reduce_max_sync(ALL_LANES, (unsigned)x.depth) + LEVELS;
    if (lane_index() == 0)
        note_applications(WARP - 1, x.depth);
    return x;
}

/* Every lane gets the sum of all, by shuffles. */
template <class T> __device__ __forceinline__ T warp_shuffled_sum(T sum)
{
    if constexpr (COMMUTES<T>) {
#pragma unroll
        for (unsigned stride = WARP / 2; stride > 0; stride /= 2)
            sum += shuffle_xor(sum, stride);
    } else {
        /* The lower of two groups of lanes comes first, whichever of them a lane is in. */
#pragma unroll
        for (unsigned stride = 1; stride < WARP; stride *= 2) {
            const T other = shuffle_xor(sum, stride);
            sum = (lane_index() & stride) != 0 ? other + sum : sum + other;
        }
    }
    return sum;
}

/* Every lane gets the sum of all. */
template <class T> __device__ __forceinline__ T warp_sum(T sum)
{
    if constexpr (HAS_WARP_INSTRUCTION<T>)
        return warp_instruction(sum);
    else
        return warp_shuffled_sum(sum);
}

template <size_t BYTES> __device__ __forceinline__ counting<BYTES> warp_sum(counting<BYTES> x)
{
    return counts_instructions ? warp_instruction(x) : warp_shuffled_sum(x);
}

template <class T> __device__ __forceinline__ flagged<T> warp_sum(flagged<T> x)
{
    const unsigned heads = __ballot_sync(ALL_LANES, x.begins != 0);
    return {warp_sum(lane_index() >= last_lane(heads) ? x.sum : T(0)), heads != 0};
}

/* Every lane gets the smallest, or the largest, of all lanes. */
template <class T> __device__ __forceinline__ T warp_min(T x)
{
    if constexpr (std::is_same_v<T, uint32_t> && COMPILED_FOR >= 80)
        return __reduce_min_sync(ALL_LANES, x);
    else
#pragma unroll
        for (unsigned stride = WARP / 2; stride > 0; stride /= 2)
            x = min(x, __shfl_xor_sync(ALL_LANES, x, stride));
    return x;
}

template <class T> __device__ __forceinline__ T warp_max(T x)
{
    return T(~warp_min(T(~x)));
}

/* Every lane gets the OR of all lanes' bits. */
template <class T> __device__ __forceinline__ T warp_or(T bits)
{
#pragma unroll
    for (unsigned stride = WARP / 2; stride > 0; stride /= 2)
        bits |= __shfl_xor_sync(ALL_LANES, bits, stride);
    return bits;
}

/* Every lane gets the sum of the first `count` elements, loaded one per lane. */
template <class T> __device__ __forceinline__ T sum_of_first(unsigned count, const T *elements)
{
    return warp_sum(lane_index() < count ? elements[lane_index()] : T(0));
}

/* The same of totals, one per warp. To shuffle a double takes two instructions, so each lane adds
 * up four of them before: three rounds of shuffles instead of five. Floats, which take one, lose by
 * it, and integers need no shuffles. */
template <class T> __device__ __forceinline__ T sum_of_totals(unsigned count, const T *totals)
{
    if constexpr (!std::is_same_v<T, double>) {
        return sum_of_first(count, totals);
    } else {
        constexpr unsigned EACH = 4, LANES = WARP / EACH;
        const unsigned first = lane_index() % LANES * EACH;
        T own[EACH];
#pragma unroll
        for (unsigned k = 0; k < EACH; k++)
            own[k] = first + k < count ? totals[first + k] : 0;
        T sum = (own[0] + own[1]) + (own[2] + own[3]);
#pragma unroll
        for (unsigned stride = 1; stride < LANES; stride *= 2)
            sum += shuffle_xor(sum, stride);
        return sum;
    }
}

/* Each warp stores its total, which all its lanes have, and waits for those of the others.
 * `totals`, one per warp, may be overwritten only after another barrier. */
template <class T> __device__ __forceinline__ void share_total(T warp_total, T *totals)
{
    if (lane_index() == 0)
        totals[threadIdx.x / WARP] = warp_total;
    __syncthreads();
}

/* Shares the totals, and returns the sum of all. Every warp does its own addition, which saves a
 * second barrier. */
template <class T> __device__ __forceinline__ T sum_of_warps(T warp_total, T *totals)
{
    share_total(warp_total, totals);
    return sum_of_totals(blockDim.x / WARP, totals);
}

/* Shares the totals, and returns the sum of those of the earlier warps. */
template <class T> __device__ __forceinline__ T sum_of_earlier_warps(T warp_total, T *totals)
{
    share_total(warp_total, totals);
    return sum_of_totals(threadIdx.x / WARP, totals);
}

/* The same. The first warp, which has no earlier ones, gets the sum of all at `*total`, so each
 * warp adds up once; in the others `*total` is of no use. */
template <class T>
__device__ __forceinline__ T sum_of_earlier_warps(T warp_total, T *totals, T *total)
{
    const unsigned warp = threadIdx.x / WARP;
    share_total(warp_total, totals);
    *total = sum_of_totals(warp == 0 ? blockDim.x / WARP : warp, totals);
    return warp == 0 ? T(0) : *total;
}

/* The same, but every thread gets the sum of all at `*total`. */
template <class T>
__device__ __forceinline__ T block_exclusive_sum(T warp_total, T *totals, T *total)
{
    *total = sum_of_warps(warp_total, totals);
    return sum_of_totals(threadIdx.x / WARP, totals);
}

/* The sum of the values of the earlier threads of the block, by one barrier. `totals`, one
 * per warp, may be overwritten only after another. */
template <class T> __device__ __forceinline__ T sum_of_earlier_threads(T own, T *totals)
{
    const T inclusive = warp_inclusive_sum(own);
    if (lane_index() == WARP - 1)
        totals[threadIdx.x / WARP] = inclusive;
    __syncthreads();
    return sum_of_first(threadIdx.x / WARP, totals) + inclusive - own;
}

} // namespace SCANBENCH_BACKEND
