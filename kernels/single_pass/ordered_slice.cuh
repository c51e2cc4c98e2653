/* ordered_slice.cuh: slices for scans whose operands do not commute: segments and recurrences.
 *
 * An operand is made of an element and something else, which a Source knows: the b of a recurrence,
 * or whether a segment begins there. It has
 *
 *   element, operand             types in memory and in registers
 *   INPUTS                       arrays as large as the input
 *   MOST_HELD                    rows that 64 registers hold
 *   lane_pack                    a pack of a lane, with what makes operands of it
 *   begin(first)                 what packs of a slice share, computed once per slice
 *   load(), load_from_tile()     a pack, from arrays in global memory or in a tile
 *   at(lane_pack, k)             operand k
 *   result(lane_pack, k, before, through, inclusive)    what is stored */
#pragma once

#include "../segment_heads.cuh"
#include "slice.cuh"

namespace SCANBENCH_BACKEND
{

/* The operands of a linear recurrence. */
template <class T> struct affine_source {
    static constexpr unsigned INPUTS = 2, WIDTH = PACK_WIDTH<T>, MOST_HELD = 2;
    using element = T;
    using operand = affine<T>;
    const T *b;

    struct lane_pack {
        pack<T, WIDTH> a, b;
    };

    __device__ __forceinline__ uint64_t begin(uint64_t) const
    {
        return 0;
    }
    template <bool ANYWHERE>
    __device__ __forceinline__ lane_pack load(const T *in, uint64_t, uint64_t first,
                                              unsigned offset, uint64_t n) const
    {
        return {load_pack<T, WIDTH, ANYWHERE>(in, first + offset, n),
                load_pack<T, WIDTH, ANYWHERE>(b, first + offset, n)};
    }
    /* The second array of a tile is `apart` elements after the first. */
    __device__ __forceinline__ lane_pack load_from_tile(const T *shared, unsigned apart, uint64_t,
                                                        uint64_t, unsigned offset) const
    {
        return {*reinterpret_cast<const pack<T, WIDTH> *>(shared + offset),
                *reinterpret_cast<const pack<T, WIDTH> *>(shared + apart + offset)};
    }
    static __device__ __forceinline__ operand at(const lane_pack &x, unsigned k)
    {
        return {x.a.at[k], x.b.at[k]};
    }
    static __device__ __forceinline__ T result(const lane_pack &, unsigned, operand before,
                                               operand through, bool inclusive)
    {
        return inclusive ? through.b : before.b;
    }
};

/* The operands of a scan by segments. */
template <class T, class Heads> struct segment_source {
    static constexpr unsigned INPUTS = 1, WIDTH = PACK_WIDTH<T>, MOST_HELD = 4;
    using element = T;
    using operand = flagged<T>;
    Heads heads;

    struct lane_pack {
        pack<T, WIDTH> x;
        unsigned begins; /* bit k: a segment begins with element k */
    };

    __device__ __forceinline__ uint64_t begin(uint64_t first) const
    {
        return heads.place(first);
    }
    template <bool ANYWHERE>
    __device__ __forceinline__ lane_pack load(const T *in, uint64_t place, uint64_t first,
                                              unsigned offset, uint64_t n) const
    {
        return {load_pack<T, WIDTH, ANYWHERE>(in, first + offset, n),
                heads.template bits<WIDTH>(place, first, offset)};
    }
    __device__ __forceinline__ lane_pack load_from_tile(const T *shared, unsigned, uint64_t place,
                                                        uint64_t first, unsigned offset) const
    {
        return {*reinterpret_cast<const pack<T, WIDTH> *>(shared + offset),
                heads.template bits<WIDTH>(place, first, offset)};
    }
    static __device__ __forceinline__ operand at(const lane_pack &x, unsigned k)
    {
        return {x.x.at[k], x.begins >> k & 1};
    }
    static __device__ __forceinline__ T result(const lane_pack &x, unsigned k, operand before,
                                               operand through, bool inclusive)
    {
        return inclusive ? through.sum : x.begins >> k & 1 ? T(0) : before.sum;
    }
};

template <class Source> struct ordered_arrays : arrays<typename Source::element> {
    Source source;

    __device__ __forceinline__ const typename Source::element *second() const
    {
        if constexpr (Source::INPUTS == 2)
            return source.b;
        else
            return nullptr;
    }
};

/* PASSING, ANYWHERE: as in scan_slice. */
template <class Source, unsigned ROWS, bool PASSING = false, bool ANYWHERE = false>
struct ordered_slice {
    static constexpr bool STAGES = false;
    static constexpr unsigned INPUTS = Source::INPUTS, WIDTH = Source::WIDTH;
    static constexpr unsigned MOST_HELD = Source::MOST_HELD; /* rows that 64 registers hold */
    static constexpr unsigned ROW = WARP * WIDTH;            /* elements */
    static constexpr unsigned SIZE = ROWS * ROW;
    using element = typename Source::element;
    using total = typename Source::operand;
    using sum = total;
    using stream = ordered_arrays<Source>;
    using lane_pack = typename Source::lane_pack;
    lane_pack row[ROWS];

    __device__ __forceinline__ void load(const stream &from, uint64_t first)
    {
        const uint64_t place = from.source.begin(first);
#pragma unroll
        for (unsigned r = 0; r < ROWS; r++)
            row[r] = from.source.template load<ANYWHERE>(from.in, place, first,
                                                         r * ROW + lane_index() * WIDTH, from.n);
    }

    __device__ __forceinline__ void load_from_tile(const stream &from, uint64_t first,
                                                   const element *shared, unsigned apart)
    {
        const uint64_t place = from.source.begin(first);
#pragma unroll
        for (unsigned r = 0; r < ROWS; r++)
            row[r] = from.source.load_from_tile(shared, apart, place, first,
                                                r * ROW + lane_index() * WIDTH);
    }

    static __device__ __forceinline__ total pack_total(const lane_pack &x)
    {
        total sum = Source::at(x, 0);
#pragma unroll
        for (unsigned k = 1; k < WIDTH; k++)
            sum += Source::at(x, k);
        return sum;
    }

    /* A lane takes neighbouring packs, so that one scan of the warp keeps the order. If their
     * number is odd, no two lanes read one bank. */
    static __device__ __forceinline__ total total_of_tile(const stream &from, uint64_t first,
                                                          const element *shared, unsigned apart)
    {
        const uint64_t place = from.source.begin(first);
        total mine(0);
#pragma unroll
        for (unsigned r = 0; r < ROWS; r++)
            mine += pack_total(from.source.load_from_tile(shared, apart, place, first,
                                                          (lane_index() * ROWS + r) * WIDTH));
        return warp_sum(mine);
    }

    /* The sum before each of this lane's packs within the slice. */
    __device__ __forceinline__ total prepare(element *)
    {
        total rows_before(0);
#pragma unroll
        for (unsigned r = 0; r < ROWS; r++) {
            const total through = warp_inclusive_sum(pack_total(row[r]));
            const total lanes_before = shuffle_up(through, 1);
            left[r] = rows_before + (lane_index() > 0 ? lanes_before : total(0));
            rows_before += shuffle_from(through, WARP - 1);
        }
        return rows_before;
    }

    __device__ __forceinline__ total total_soon(element *staging)
    {
        return prepare(staging);
    }

    __device__ __forceinline__ void prepare_rest(element *) const
    {
    }

    __device__ __forceinline__ void finish(const stream &to, uint64_t first, total before,
                                           element *) const
    {
#pragma unroll
        for (unsigned r = 0; r < ROWS; r++) {
            total sum = before + left[r];
            pack<element, WIDTH> results;
#pragma unroll
            for (unsigned k = 0; k < WIDTH; k++) {
                const total through = sum + Source::at(row[r], k);
                results.at[k] = Source::result(row[r], k, sum, through, to.inclusive);
                sum = through;
            }
            store_pack<PASSING, ANYWHERE>(to.out, first + r * ROW + lane_index() * WIDTH, to.n,
                                          results);
        }
    }

    /* Never used: order is lost in rows that are parked. */
    struct parked {
        element *elements;
        unsigned count;
    };

  private:
    total left[ROWS];
};

/* The slices of a source, by number of rows. */
template <class Source> struct ordered_scan_of {
    using stream = ordered_arrays<Source>;
    template <unsigned ROWS> using slice = ordered_slice<Source, ROWS>;
    template <unsigned ROWS> using passing_slice = ordered_slice<Source, ROWS, true>;
    template <unsigned ROWS> using slice_anywhere = ordered_slice<Source, ROWS, false, true>;
};

/* Calls run.operator()<ordered_scan_of<Source>>(stream) with the source of the call's operands,
 * which have 4 bytes. The bits of segments are kept in scratch, after the first bytes. */
template <class Run> void with_ordered_scan(const struct call *call, size_t board_bytes, Run run)
{
    const auto run_source = [&]<class Source>(const Source &source) {
        run.template operator()<ordered_scan_of<Source>>(
            ordered_arrays<Source>{arrays_of<typename Source::element>(call), source});
    };
    with_sum_type(call->problem.type, [&]<class T>(T) {
        if constexpr (sizeof(T) == 4) {
            if (call->problem.binary_operator == OPERATOR_RECURRENCE)
                return run_source(affine_source<T>{static_cast<const T *>(call->second)});
            with_heads(call, static_cast<char *>(call->scratch) + next_place(board_bytes),
                       [&]<class Heads>(const Heads &heads) {
                           run_source(segment_source<T, Heads>{heads});
                       });
        }
    });
}

/* Scratch for a board and the bits of segments. */
inline size_t with_head_bits(const struct problem *problem, size_t board_bytes)
{
    const size_t bits = head_bits_bytes(problem);
    return bits > 0 ? next_place(board_bytes) + bits : board_bytes;
}

} // namespace SCANBENCH_BACKEND
