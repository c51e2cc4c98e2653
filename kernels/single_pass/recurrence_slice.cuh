/* recurrence_slice.cuh: slices for linear recurrences, h_i = a_i h_(i-1) + b_i. */
#pragma once

#include "slice.cuh"

namespace SCANBENCH_BACKEND
{

/* The first input has the a, the second the b. */
template <class T> struct recurrence_arrays : arrays<T> {
    const T *b;

    __device__ __forceinline__ const T *second() const
    {
        return b;
    }
};

/* PASSING, ANYWHERE: as in scan_slice. */
template <class T, unsigned ROWS, bool PASSING = false, bool ANYWHERE = false>
struct recurrence_slice {
    static constexpr bool STAGES = false;
    static constexpr unsigned INPUTS = 2, WIDTH = PACK_WIDTH<T>;
    static constexpr unsigned MOST_HELD = MOST_HELD_OF_RECURRENCES;
    static constexpr unsigned ROW = WARP * WIDTH; /* elements */
    static constexpr unsigned SIZE = ROWS * ROW;
    using element = T;
    using total = affine<T>;
    using sum = total;
    using stream = recurrence_arrays<T>;

    __device__ __forceinline__ void load(const stream &from, uint64_t first)
    {
        const auto a = span_of(from.in, first + lane_index() * WIDTH, from.n, SIZE);
        const auto b = span_of(from.b, first + lane_index() * WIDTH, from.n, SIZE);
#pragma unroll
        for (unsigned r = 0; r < ROWS; r++)
            row[r] = {load_pack<T, WIDTH, ANYWHERE>(a.data, r * ROW, a.count),
                      load_pack<T, WIDTH, ANYWHERE>(b.data, r * ROW, b.count)};
    }

    __device__ __forceinline__ void load_from_tile(const stream &, uint64_t,
                                                   const place_in_tile<T> &place)
    {
#pragma unroll
        for (unsigned r = 0; r < ROWS; r++)
            row[r] = maps_at(place, r * ROW + lane_index() * WIDTH);
    }

    /* A lane takes neighbouring packs, so that one sum of the warp keeps the order. If their
     * number is odd, no two lanes read one bank. */
    static __device__ __forceinline__ total total_of_tile(const place_in_tile<T> &place)
    {
        total mine(0);
#pragma unroll
        for (unsigned r = 0; r < ROWS; r++)
            mine += maps_at(place, (lane_index() * ROWS + r) * WIDTH).all();
        return warp_sum(mine);
    }

    /* The map before each of this lane's packs within the slice. */
    __device__ __forceinline__ total prepare(T *)
    {
        total rows_before(0);
#pragma unroll
        for (unsigned r = 0; r < ROWS; r++) {
            const total through = warp_inclusive_sum(row[r].all());
            const total lanes_before = shuffle_up(through, 1);
            left[r] = rows_before + (lane_index() > 0 ? lanes_before : total(0));
            rows_before += shuffle_from(through, WARP - 1);
        }
        return rows_before;
    }

    __device__ __forceinline__ total total_soon(T *staging)
    {
        return prepare(staging);
    }

    __device__ __forceinline__ void prepare_rest(T *) const
    {
    }

    /* The result is what the maps make of 0. */
    __device__ __forceinline__ void finish(const stream &to, uint64_t first, total before,
                                           T *) const
    {
        const auto out = span_of(to.out, first + lane_index() * WIDTH, to.n, SIZE);
#pragma unroll
        for (unsigned r = 0; r < ROWS; r++) {
            total h = before + left[r];
            pack<T, WIDTH> results;
#pragma unroll
            for (unsigned k = 0; k < WIDTH; k++) {
                const T exclusive = h.b;
                h += total(row[r].a.at[k], row[r].b.at[k]);
                results.at[k] = to.inclusive ? h.b : exclusive;
            }
            store_pack<PASSING, ANYWHERE>(out.data, r * ROW, out.count, results);
        }
    }

    using parked = never_parked<T>;

  private:
    struct maps {
        pack<T, WIDTH> a, b;

        /* All of them, one after the other. */
        __device__ __forceinline__ total all() const
        {
            total sum(a.at[0], b.at[0]);
#pragma unroll
            for (unsigned k = 1; k < WIDTH; k++)
                sum += total(a.at[k], b.at[k]);
            return sum;
        }
    };
    maps row[ROWS];
    total left[ROWS];

    static __device__ __forceinline__ maps maps_at(const place_in_tile<T> &place, unsigned offset)
    {
        const T *a = place.elements + offset;
        return {*reinterpret_cast<const pack<T, WIDTH> *>(a),
                *reinterpret_cast<const pack<T, WIDTH> *>(a + place.apart)};
    }
};

/* The slices of recurrences, by number of rows. */
template <class T> struct recurrence_of {
    using stream = recurrence_arrays<T>;
    template <unsigned ROWS> using slice = recurrence_slice<T, ROWS>;
    template <unsigned ROWS> using passing_slice = recurrence_slice<T, ROWS, true>;
    template <unsigned ROWS> using slice_anywhere = recurrence_slice<T, ROWS, false, true>;
};

} // namespace SCANBENCH_BACKEND
