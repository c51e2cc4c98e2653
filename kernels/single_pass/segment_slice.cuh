/* segment_slice.cuh: slices for scans by segments. */
#pragma once

#include "../segment_heads.cuh"
#include "slice.cuh"

namespace SCANBENCH_BACKEND
{

template <class T, class Heads> struct segmented_arrays : arrays<T> {
    Heads heads;

    __device__ __forceinline__ const T *second() const
    {
        return reinterpret_cast<const T *>(heads.in());
    }
};

/* Where segments begin is one bit for each of a lane's elements, and one for each of its rows. So a
 * slice takes hardly more registers than without segments, and a sum of the warp as many shuffles.
 * PASSING, ANYWHERE: as in scan_slice; the second input is aligned to packs. */
template <class T, class Heads, unsigned ROWS, bool PASSING = false, bool ANYWHERE = false>
struct segment_slice : slice<T, ROWS, ANYWHERE> {
    using base = slice<T, ROWS, ANYWHERE>;
    static constexpr bool STAGES = false, READS_BITS = std::is_same_v<Heads, bit_heads>;
    static constexpr bool FINDS_BY_BLOCK = std::is_same_v<Heads, offset_heads>;
    static constexpr unsigned INPUTS = 1 + Heads::INPUTS, MOST_HELD = Heads::MOST_HELD;
    using element = T;
    using total = flagged<T>;
    using sum = total;
    using stream = segmented_arrays<T, Heads>;
    using base::ROW;
    using base::row;
    using base::SIZE;
    using base::WIDTH;

    __device__ __forceinline__ void load(const stream &from, uint64_t first)
    {
        base::load(from, first);
        if constexpr (!FINDS_BY_BLOCK)
            found = from.heads.template begins<WIDTH, ROWS>(first, from.n, nullptr, 0);
    }

    /* Called by all threads of a block once they have called load(), if FINDS_BY_BLOCK; the slice
     * is that of this warp. shared: as many bytes as tile_bits_bytes() says. NEEDS_SEGMENT: will
     * needs_from() be called? */
    template <bool NEEDS_SEGMENT>
    __device__ __forceinline__ void find(const stream &from, uint64_t first, void *shared)
    {
        auto *here = static_cast<typename Heads::tile_bits *>(shared);
        const unsigned earlier = threadIdx.x / WARP * SIZE;
        from.heads.template find<NEEDS_SEGMENT>(first - earlier, blockDim.x / WARP * SIZE, from.n,
                                                here);
        found = from.heads.template begins<WIDTH, ROWS>(earlier, here);
    }

    __device__ __forceinline__ uint64_t needs_from() const
    {
        return found.segment;
    }

    /* A second input has elements of 4 bytes, as the first has. */
    __device__ __forceinline__ void load_from_tile(const stream &from, uint64_t first,
                                                   const place_in_tile<T> &place)
    {
        base::load(place.elements);
        found = from.heads.template begins<WIDTH, ROWS>(
            first, from.n, reinterpret_cast<const uint32_t *>(place.elements + place.apart),
            place.earlier);
    }

    /* The sum before each of this lane's packs since the last beginning within the slice. */
    __device__ __forceinline__ total prepare(T *)
    {
        const unsigned lanes_before = (1u << lane_index()) - 1;
        total rows_before(0);
        begun = 0;
#pragma unroll
        for (unsigned r = 0; r < ROWS; r++) {
            const total mine = pack_total(row[r], begins_in(r));
            const unsigned heads = __ballot_sync(ALL_LANES, mine.begins != 0);
            const T through = warp_inclusive_sum_from(heads, mine.sum);
            const T up = shuffle_up(through, 1);
            const unsigned heads_before = heads & lanes_before;
            left[r] = lane_index() > 0 ? up : T(0);
            if (heads_before == 0)
                left[r] = rows_before.sum + left[r];
            begun |= (rows_before.begins | (heads_before != 0)) << r;
            rows_before += total(shuffle_from(through, WARP - 1), heads != 0);
        }
        return rows_before;
    }

    /* Only what follows the last beginning counts, so that lanes may be added in any order. */
    __device__ __forceinline__ total total_soon(T *) const
    {
        T mine(0);
        unsigned any = 0;
#pragma unroll
        for (unsigned r = 0; r < ROWS; r++) {
            const total in_pack = pack_total(row[r], begins_in(r));
            const unsigned heads = __ballot_sync(ALL_LANES, in_pack.begins != 0);
            const T in_row = lane_index() >= last_lane(heads) ? in_pack.sum : T(0);
            mine = heads != 0 ? in_row : mine + in_row;
            any |= heads;
        }
        return {warp_sum(mine), any != 0};
    }

    __device__ __forceinline__ void prepare_rest(T *staging)
    {
        prepare(staging);
    }

    __device__ __forceinline__ void finish(const stream &to, uint64_t first, total before,
                                           T *) const
    {
        const auto out = span_of(to.out, first + lane_index() * WIDTH, to.n, SIZE);
#pragma unroll
        for (unsigned r = 0; r < ROWS; r++) {
            T sum = begun >> r & 1 ? left[r] : before.sum + left[r];
            pack<T, WIDTH> sums;
#pragma unroll
            for (unsigned k = 0; k < WIDTH; k++) {
                if (begins_in(r) >> k & 1)
                    sum = T(0);
                const T exclusive = sum;
                sum += row[r].at[k];
                sums.at[k] = to.inclusive ? sum : exclusive;
            }
            store_pack<PASSING, ANYWHERE>(out.data, r * ROW, out.count, sums);
        }
    }

    using parked = never_parked<T>;

  private:
    T left[ROWS];
    beginnings found;
    unsigned begun; /* bit r: one begins in the slice before this lane's pack of row r */

    __device__ __forceinline__ unsigned begins_in(unsigned r) const
    {
        return found.bits >> WIDTH * r & ((1u << WIDTH) - 1);
    }

    static __device__ __forceinline__ total pack_total(const pack<T, WIDTH> &x, unsigned begins)
    {
        T sum = x.at[0];
#pragma unroll
        for (unsigned k = 1; k < WIDTH; k++)
            sum = begins >> k & 1 ? x.at[k] : sum + x.at[k];
        return {sum, begins != 0};
    }
};

/* The slices of segments, by number of rows. */
template <class T, class Heads> struct segments_of {
    using stream = segmented_arrays<T, Heads>;
    template <unsigned ROWS> using slice = segment_slice<T, Heads, ROWS>;
    template <unsigned ROWS> using passing_slice = segment_slice<T, Heads, ROWS, true>;
    template <unsigned ROWS> using slice_anywhere = segment_slice<T, Heads, ROWS, false, true>;
};

} // namespace SCANBENCH_BACKEND
