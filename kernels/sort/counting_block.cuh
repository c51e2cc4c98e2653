/* counting_block.cuh: one block sorts some ten thousand keys of 8 or 16 bits by counting them in
 * its shared memory. The time depends little on how they are spread. */
#pragma once

#include "write_values.cuh"

namespace SCANBENCH_BACKEND::counting_sort
{

template <class Key> constexpr unsigned BLOCK_THREADS = sizeof(Key) == 1 ? 512 : 1024;
template <class Key> constexpr unsigned BLOCK_WARPS = BLOCK_THREADS<Key> / WARP;

template <class Key> struct block_layout;

/* ---- 8 bits ---- */

/* For so few keys, lanes that share counters queue for less time than it takes to clear and add up
 * one for each lane. */
template <> struct block_layout<uint8_t> {
    counters_of_8_bits<1> table;
    key_pack<uint8_t> marks[BLOCK_WARPS<uint8_t>][WARP];
    bin_starts starts;

    static size_t bytes(const struct problem *)
    {
        return sizeof(block_layout);
    }
};

__device__ __forceinline__ void sort_in_block(block_layout<uint8_t> *shared,
                                              const packed_array<const uint8_t> &in,
                                              const packed_array<uint8_t> &out,
                                              const key_order<uint8_t> &order)
{
    clear_packs(&shared->table);
    clear_packs(&shared->marks);
    __syncthreads();
    count_keys(in, &shared->table, nullptr);
    __syncthreads();
    const unsigned rank = threadIdx.x;
    find_starts(&shared->starts,
                rank < BINS ? shared->table.of_lane[order.inverse((uint8_t)rank)][0] : 0);
    write_tiles(out, 1, shared->marks[0], &shared->starts, order, 0);
}

/* ---- 16 bits ---- */

/* Fewer keys than a counter can count, so that none wraps. The marks, which have a place for each
 * key, come last. */
template <> struct block_layout<uint16_t> {
    counters<uint16_t> table;
    unsigned totals[BLOCK_WARPS<uint16_t>], highest[BLOCK_WARPS<uint16_t>];
    key_pack<uint16_t> marks[];

    /* Rows of the packs of a warp that writes its part of the output. */
    static __host__ __device__ __forceinline__ unsigned rows(uint64_t packs)
    {
        return (unsigned)ceil_div(packs, BLOCK_THREADS<uint16_t>);
    }
    static size_t bytes(const struct problem *problem)
    {
        constexpr unsigned WIDTH = PACK_WIDTH<uint16_t>;
        const uint64_t skew = problem->unaligned ? WIDTH - 1 : 0;
        return sizeof(block_layout) +
               rows(ceil_div(problem->n + skew, WIDTH)) * BLOCK_THREADS<uint16_t> * PACK_BYTES;
    }
};

/* Marks where each value's keys begin in the output. The two halves of a word are added up as one
 * number: keys with a clear top bit, and those with a set one. These come first if they are signed
 * or floats, and in reverse if they are floats. */
__device__ __forceinline__ void mark_starts(block_layout<uint16_t> *shared, unsigned first,
                                            const key_order<uint16_t> &order)
{
    using words = pack<unsigned, 4>;
    constexpr unsigned ROWS = WORDS_OF_16_BITS / 4 / BLOCK_THREADS<uint16_t>, LOW = 0xFFFF;
    const unsigned warp = threadIdx.x / WARP, place = warp * ROWS * WARP + lane_index();
    const auto *packs = reinterpret_cast<const words *>(shared->table.word);
    const auto sum_of = [](const words &w) { return w.at[0] + w.at[1] + w.at[2] + w.at[3]; };
    unsigned sum = 0;
#pragma unroll
    for (unsigned row = 0; row < ROWS; row++)
        sum += sum_of(packs[place + row * WARP]);
    unsigned all, before = block_exclusive_sum(warp_sum(sum), shared->totals, &all);
    const unsigned clear = all & LOW, set = all >> 16;
    const bool set_come_first = order((uint16_t)TOP_BIT) < order(0);
    const bool reversed = order((uint16_t)TOP_BIT) > order((uint16_t)(TOP_BIT + 1));
    const unsigned first_clear = first + (set_come_first ? set : 0);
    const unsigned first_set = first + (set_come_first ? 0 : clear);
    auto *marks = reinterpret_cast<uint16_t *>(shared->marks);
#pragma unroll 1
    for (unsigned row = 0; row < ROWS; row++) {
        const words counts = packs[place + row * WARP];
        const unsigned own = sum_of(counts), inclusive = warp_inclusive_sum(own);
        unsigned start = before + inclusive - own;
        before += shuffle_from(inclusive, WARP - 1);
#pragma unroll
        for (unsigned k = 0; k < 4; k++) {
            const unsigned bits = 4 * (place + row * WARP) + k, count = counts.at[k];
            if ((count & LOW) != 0)
                marks[first_clear + (start & LOW)] = order((uint16_t)bits);
            if (count >> 16 != 0) {
                const unsigned at = start >> 16;
                marks[first_set + (reversed ? set - at - (count >> 16) : at)] =
                    order((uint16_t)(bits + TOP_BIT));
            }
            start += count;
        }
    }
}

/* Each warp writes some rows of packs. Its first rank is that of the last mark before them, the
 * highest there. */
__device__ __forceinline__ void write_marked(block_layout<uint16_t> *shared,
                                             const packed_array<uint16_t> &out,
                                             const key_order<uint16_t> &order)
{
    const unsigned rows = shared->rows(out.pack_count()), warp = threadIdx.x / WARP,
                   packs = rows * WARP;
    auto *marks = shared->marks + warp * packs;
    const auto *words = reinterpret_cast<const pack<unsigned, 4> *>(marks);
    unsigned low = 0, high = 0; /* of words that have two marks each */
    for (unsigned row = 0; row < rows; row++)
#pragma unroll
        for (const unsigned word : words[row * WARP + lane_index()].at) {
            low = max(low, word & 0xFFFF);
            high = max(high, word >> 16);
        }
    const unsigned highest = warp_max(max(low, high));
    if (lane_index() == 0)
        shared->highest[warp] = highest;
    __syncthreads();
    const unsigned before = warp_max(lane_index() < warp ? shared->highest[lane_index()] : 0u);
    write_rows(out, tile_of(out, warp, packs, marks), rows, order, before);
}

__device__ __forceinline__ void sort_in_block(block_layout<uint16_t> *shared,
                                              const packed_array<const uint16_t> &in,
                                              const packed_array<uint16_t> &out,
                                              const key_order<uint16_t> &order)
{
    clear_packs(&shared->table);
    for (unsigned row = 0; row < shared->rows(out.pack_count()); row++)
        shared->marks[row * blockDim.x + threadIdx.x] = {};
    __syncthreads();
    count_keys(in, &shared->table, nullptr);
    __syncthreads();
    mark_starts(shared, (unsigned)out.first, order);
    __syncthreads();
    write_marked(shared, out, order);
}

/* Sorts keys that may lie where the result goes: all are counted before any is written. */
template <class Key>
__global__ void __launch_bounds__(BLOCK_THREADS<Key>, 1)
    sort_in_block_kernel(const __grid_constant__ packed_array<const Key> in,
                         const __grid_constant__ packed_array<Key> out,
                         const __grid_constant__ key_order<Key> order)
{
    /* Keys are under way while counters are cleared. */
    for (uint64_t p = threadIdx.x; p < in.pack_count(); p += BLOCK_THREADS<Key>)
        prefetch_to_l2(in.packs() + p);
    sort_in_block(shared_memory<block_layout<Key>>(), in, out, order);
}

} // namespace SCANBENCH_BACKEND::counting_sort
