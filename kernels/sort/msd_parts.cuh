/* msd_parts.cuh: the parts in which the keys lie already take the place of sort_msd's first level.
 */
#pragma once

#include "key_parts.cuh"
#include "msd_plan.cuh"

namespace SCANBENCH_BACKEND::msd
{

/* The bits of the digit by which a part is divided into leaves, or 0 if add_bucket() should choose.
 * The digit covers a power of two of ranks, of which the part may fill little more than half. So
 * its bits are chosen as if all of them were filled as densely. Leaves may have 1/64 more keys than
 * usual, so that a part that is slightly too large by chance does not get another bit. */
__device__ __forceinline__ unsigned bits_for(uint64_t count, uint64_t span, unsigned range_bits,
                                             unsigned leaf)
{
    const auto filled = (float)(span + 1.) / exp2f((float)range_bits);
    return range_bits > MAX_BITS ? digit_bits((uint64_t)((float)count / filled), leaf + leaf / 64)
                                 : 0;
}

/* Lists the parts: as leaves of level 0, or as buckets of level 1 if they are too large. Level 0
 * has nothing to do then. One block calls it, after the digits of level 0 were chosen: these say
 * whether keys are so skewed that another sort works, which parts alone do not show. */
template <class Key>
__global__ void __launch_bounds__(THREADS)
    take_parts_kernel(const __grid_constant__ task<Key> task, const key_parts *parts, unsigned leaf)
{
    const unsigned count = parts->count;
    if (task.control->disabled || count == 0)
        return;
    lengths *lengths = task.lengths_of(0);
    for (unsigned p = threadIdx.x; p < (count + WARP - 1) / WARP * WARP; p += THREADS) {
        bucket next = {};
        unsigned range_bits = 8 * sizeof(Key), bits = 0;
        if (p < count) {
            next.first = parts->first[p];
            next.count = parts->first[p + 1] - next.first;
        }
        if (next.count > 0) {
            next.place = IN_INPUT;
            next.leaf = (uint16_t)task.shape.leaf; /* if add_bucket() chooses */
            next.base = parts->least[p];
            const uint64_t span = parts->greatest[p] - next.base;
            range_bits = max(1u, bit_length(Key(span)));
            bits = bits_for(next.count, span, range_bits, leaf);
        }
        const bool is_large = next.count > task.shape.capacity;
        const bool is_leaf = next.count > 0 && !is_large;
        const unsigned index = allocate(&lengths->leaves, is_leaf);
        if (is_leaf)
            task.lists[0].leaves[index] = {next.first, (unsigned)next.count, IN_INPUT, 0};
        if (__any_sync(ALL_LANES, is_large))
            add_bucket(is_large, next, range_bits, bits, task, 1);
    }
    if (threadIdx.x == 0)
        lengths->buckets = lengths->tiles = 0;
}

} // namespace SCANBENCH_BACKEND::msd
