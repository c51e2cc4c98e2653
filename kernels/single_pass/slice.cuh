/* slice.cuh: the part of the input that one warp holds in registers, ROWS consecutive
 * rows of one pack per lane, and its processing in single-pass kernels.
 *
 * The steps are the same for every operation:
 *
 *   load(), lane_total()   each lane's part of the slice's total, which other slices need
 *   find()                 after load(), by all threads of the block: only of segments at offsets
 *   prepare()              all the work that does not need the sum before the slice;
 *                          returns the slice's total
 *   finish(before)         the rest of the work, and the stores
 *
 * total_soon() returns the slice's total, which others wait for, as early as it can be known, and
 * prepare_rest() does what remains of prepare().
 *
 * scan_slice and compact_slice define these steps for their operation, segment_slice and
 * recurrence_slice, in headers of their own, for operands that do not commute. `parked` are several
 * slices of a warp that wait in shared memory for the sum before them; slices of these headers
 * never do. */
#pragma once

#include "kept_elements.cuh"
#include "../pack.cuh"
#include "../warp.cuh"

namespace SCANBENCH_BACKEND
{

/* Rows of a linear recurrence that 64 registers hold: each has two packs, and its sum two numbers.
 */
constexpr unsigned MOST_HELD_OF_RECURRENCES = 2;

/* The arrays and parameters of a single-pass kernel. */
template <class T> struct arrays {
    const T *in;
    T *out;
    uint64_t n;
    bool inclusive;  /* scan */
    uint64_t *count; /* compaction */

    /* The second of several inputs. */
    __device__ __forceinline__ const T *second() const
    {
        return nullptr;
    }
};

template <class T> inline arrays<T> arrays_of(const struct call *call)
{
    return {static_cast<const T *>(call->input), static_cast<T *>(call->output), call->problem.n,
            call->problem.kind == KIND_INCLUSIVE, call->count};
}

/* Every element is read once, and the result written once. So is what an element has beside it:
 * that of a second input, or the bit that says whether a segment begins there. */
template <class Slice> inline launch_traffic slice_traffic(const struct problem *problem)
{
    constexpr size_t BYTES = sizeof(typename Slice::element);
    uint64_t beside = second_bytes(problem);
    if constexpr (requires { Slice::READS_BITS; })
        beside = Slice::READS_BITS ? problem->n / 8 : beside;
    return {problem->n * BYTES + beside, BYTES};
}

/* Where a slice of a tile lies in shared memory. */
template <class T> struct place_in_tile {
    T *elements;
    unsigned apart;   /* elements from those of the first input to those of the second */
    unsigned earlier; /* elements of the tile that come before */
};

/* ANYWHERE: the arrays are aligned to their elements only. Row: what a pack is held as. */
template <class T, unsigned ROWS, bool ANYWHERE = false, class Row = pack<T, PACK_WIDTH<T>>>
struct slice {
    static constexpr unsigned WIDTH = PACK_WIDTH<T>;
    static constexpr unsigned ROW = WARP * WIDTH; /* elements */
    static constexpr unsigned SIZE = ROWS * ROW;
    static constexpr unsigned INPUTS = 1;    /* arrays as large as the input */
    static constexpr unsigned MOST_HELD = 8; /* rows that 64 registers hold */
    using stream = arrays<T>;
    Row row[ROWS];

    /* Loads from element `first` on, with zeros past the end. */
    __device__ __forceinline__ void load(const stream &from, uint64_t first)
    {
        const auto in = span_of(from.in, first + lane_index() * WIDTH, from.n, SIZE);
#pragma unroll
        for (unsigned r = 0; r < ROWS; r++)
            load_held<ANYWHERE>(&row[r], in.data, r * ROW, in.count);
    }

    /* Loads from shared memory, which holds the whole slice. */
    __device__ __forceinline__ void load(const T *shared)
    {
#pragma unroll
        for (unsigned r = 0; r < ROWS; r++)
            row[r] = load_held<Row>(shared + r * ROW + lane_index() * WIDTH);
    }

    /* The same for kernels that do not know how many arrays a tile has. */
    __device__ __forceinline__ void load_from_tile(const stream &, uint64_t,
                                                   const place_in_tile<T> &place)
    {
        load(place.elements);
    }
};

/* The total of a slice in shared memory, which begins with element `first`. Slices with a faster
 * way have a function for it. */
template <class Slice>
__device__ __forceinline__ typename Slice::total
total_of_tile(const typename Slice::stream &from, uint64_t first,
              const place_in_tile<typename Slice::element> &place)
{
    if constexpr (requires { Slice::total_of_tile(place); })
        return Slice::total_of_tile(place);
    Slice slice;
    slice.load_from_tile(from, first, place);
    return slice.total_soon(nullptr);
}

/* For slices that are not parked: parked rows lose the order of their elements. */
template <class T> struct never_parked {
    T *elements;
    unsigned count;
};

/* Scan: the total is the sum of the elements. PASSING: the L2 should evict the results before
 * the input; if it holds about one of the two arrays, the next reader of the input gains. */
template <class T, unsigned ROWS, bool PASSING = false, bool ANYWHERE = false>
struct scan_slice : slice<T, ROWS, ANYWHERE, held_pack<T, true>> {
    using base = slice<T, ROWS, ANYWHERE, held_pack<T, true>>;
    static constexpr bool STAGES = false;
    using element = T;
    using sum = register_sum<T>;
    using total = sum; /* of one or several slices */
    using base::ROW;
    using base::row;
    using base::WIDTH;

    __device__ __forceinline__ sum lane_total() const
    {
        sum mine = pack_sum(row[0]);
#pragma unroll
        for (unsigned r = 1; r < ROWS; r++)
            mine += pack_sum(row[r]);
        return mine;
    }

    /* Computes the sum before each of this lane's packs within the slice. `staging` is not
     * used. */
    __device__ __forceinline__ sum prepare(T *)
    {
        sum rows_before = 0;
#pragma unroll
        for (unsigned r = 0; r < ROWS; r++) {
            const sum mine = pack_sum(row[r]);
            const sum through = warp_inclusive_sum(mine);
            left[r] = rows_before + sum_of_earlier_lanes(through, mine);
            rows_before += shuffle_from(through, WARP - 1);
        }
        return rows_before;
    }

    __device__ __forceinline__ total total_soon(T *) const
    {
        return warp_sum(lane_total());
    }

    __device__ __forceinline__ void prepare_rest(T *staging)
    {
        prepare(staging);
    }

    /* Replaces every element by the sum up to it; `before` is the sum of all earlier slices. */
    __device__ __forceinline__ void finish(const arrays<T> &to, uint64_t first, sum before,
                                           T *) const
    {
        const auto out = span_of(to.out, first + lane_index() * WIDTH, to.n, base::SIZE);
#pragma unroll
        for (unsigned r = 0; r < ROWS; r++)
            store_pack<PASSING, ANYWHERE>(out.data, r * ROW, out.count,
                                          pack_scan(row[r], before + left[r], to.inclusive));
    }

    struct parked {
        T *elements;
        unsigned count;

        /* This lane's part of the total. */
        __device__ __forceinline__ sum prepare() const
        {
            sum mine = 0;
            for (unsigned i = 0; i < count; i += base::SIZE) {
                scan_slice slice;
                slice.load(elements + i);
                mine += slice.lane_total();
            }
            return mine;
        }

        /* Returns the total. */
        __device__ __forceinline__ sum finish(const arrays<T> &to, uint64_t first, sum before) const
        {
            sum total = 0;
            for (unsigned i = 0; i < count; i += base::SIZE) {
                scan_slice slice;
                slice.load(elements + i);
                __syncwarp();
                const sum in_slice = slice.prepare(nullptr);
                slice.finish(to, first + i, before + total, nullptr);
                total += in_slice;
                __syncwarp();
            }
            return total;
        }
    };

  private:
    sum left[ROWS];

    /* `through`: the sum up to this lane, whose own is `mine`. To subtract saves a shuffle;
     * integers of other sizes lose by it, since `mine` takes a register longer. */
    static __device__ __forceinline__ sum sum_of_earlier_lanes(sum through, sum mine)
    {
        if constexpr (std::is_integral_v<T> && sizeof(T) == 4)
            return through - mine;
        const sum before = shuffle_up(through, 1);
        return lane_index() > 0 ? before : sum(0);
    }
};

/* Compaction: the total is the number of kept elements. */
template <class T, class Index, unsigned ROWS, bool ANYWHERE = false>
struct compact_slice : slice<T, ROWS, ANYWHERE, held_pack<T, true>> {
    using base = slice<T, ROWS, ANYWHERE, held_pack<T, true>>;
    static constexpr bool STAGES = true;
    using element = T;
    using total = uint32_t;
    using sum = Index;
    using base::row;
    using base::SIZE;
    using base::WIDTH;

    __device__ __forceinline__ unsigned lane_total() const
    {
        unsigned mine = 0;
#pragma unroll
        for (unsigned r = 0; r < ROWS; r++)
            mine += kept_of(r).count();
        return mine;
    }

    /* Moves kept elements to the front of `staging`, SIZE elements of shared memory. */
    __device__ __forceinline__ unsigned prepare(T *staging)
    {
        kept = 0;
        if constexpr (BY_BALLOTS)
            stage_by_ballots(staging);
        else
            stage_by_scans(staging);
        __syncwarp();
        return kept;
    }

    __device__ __forceinline__ total total_soon(T *) const
    {
        return warp_sum(lane_total());
    }

    __device__ __forceinline__ void prepare_rest(T *staging)
    {
        prepare(staging);
    }

    /* Stores the kept elements from `staging` to their places. */
    __device__ __forceinline__ void finish(const arrays<T> &to, uint64_t first, Index before,
                                           const T *staging) const
    {
        store_kept(to, first, before, kept, staging, SIZE);
    }

    /* Its kept elements move to the front while slices for registers are still on their way. */
    struct parked {
        T *elements;
        unsigned count, kept = 0;

        /* Returns this lane's part of the total. */
        __device__ __forceinline__ unsigned prepare()
        {
            for (unsigned i = 0; i < count; i += SIZE) {
                compact_slice slice;
                slice.load(elements + i);
                __syncwarp();
                kept += slice.prepare(elements + kept);
            }
            return lane_index() == 0 ? kept : 0;
        }

        /* Returns the total. */
        __device__ __forceinline__ unsigned finish(const arrays<T> &to, uint64_t first,
                                                   Index before) const
        {
            store_kept(to, first, before, kept, elements, count);
            return kept;
        }
    };

  private:
    /* Where a lane has few elements, ballots are faster than scans. To count floats takes longer,
     * and to count elements in words less long. */
    static constexpr bool BY_BALLOTS =
        sizeof(T) >= sizeof(unsigned) && ROWS * WIDTH < (std::is_floating_point_v<T> ? 24 : 16);
    /* The counts of several rows share a word, so that one scan of the warp serves them all. */
    static constexpr unsigned FIELD = base::ROW < 256 ? 8 : 16; /* bits of a count */
    static constexpr unsigned FIELDS = 32 / FIELD;
    unsigned kept;

    __device__ __forceinline__ kept_elements<held_pack<T, true>> kept_of(unsigned r) const
    {
        return kept_elements<held_pack<T, true>>{row[r]};
    }

    static __device__ __forceinline__ unsigned field(unsigned word, unsigned index)
    {
        return word >> FIELD * index & ((1u << FIELD) - 1);
    }

    /* `rank`: of this lane's first kept element of the row. */
    __device__ __forceinline__ void stage(T *staging, unsigned r, unsigned rank) const
    {
        const auto kept_here = kept_of(r);
        for (unsigned k = 0; k < WIDTH; k++)
            if (kept_here[k])
                staging[rank++] = row[r].element(k);
    }

    __device__ __forceinline__ void stage_by_ballots(T *staging)
    {
        const unsigned lanes_before = (1u << lane_index()) - 1;
#pragma unroll
        for (unsigned r = 0; r < ROWS; r++) {
            const auto kept_here = kept_of(r);
            unsigned rank = kept;
            for (unsigned k = 0; k < WIDTH; k++) {
                const unsigned keeps = __ballot_sync(ALL_LANES, kept_here[k]);
                rank += __popc(keeps & lanes_before);
                kept += __popc(keeps);
            }
            stage(staging, r, rank);
        }
    }

    __device__ __forceinline__ void stage_by_scans(T *staging)
    {
#pragma unroll
        for (unsigned first = 0; first < ROWS; first += FIELDS) {
            unsigned counts = 0;
#pragma unroll
            for (unsigned r = first; r < ROWS && r < first + FIELDS; r++)
                counts |= kept_of(r).count() << FIELD * (r - first);
            const unsigned through = warp_inclusive_sum(counts);
            const unsigned all = shuffle_from(through, WARP - 1);
#pragma unroll
            for (unsigned r = first; r < ROWS && r < first + FIELDS; r++) {
                stage(staging, r, kept + field(through - counts, r - first));
                kept += field(all, r - first);
            }
        }
    }

    /* Stores the `kept` ones of the `count` elements from `first` on. */
    __device__ static __forceinline__ void store_kept(const arrays<T> &to, uint64_t first,
                                                      Index before, unsigned kept, const T *staging,
                                                      unsigned count)
    {
        store_elements(to.out + before, staging, kept);
        if (lane_index() == 0 && first < to.n && to.n - first <= count)
            *to.count = (uint64_t)before + kept;
    }
};

/* Bytes of shared memory that a block of slices needs for staging. */
inline size_t staging_bytes(const struct problem *problem, unsigned rows)
{
    return problem->op == OP_COMPACT ? (size_t)problem->block * rows * PACK_BYTES : 0;
}

/* The slices of an operation, by number of rows. */
template <class T> struct scan_of {
    using stream = arrays<T>;
    template <unsigned ROWS> using slice = scan_slice<T, ROWS>;
    template <unsigned ROWS> using passing_slice = scan_slice<T, ROWS, true>;
    template <unsigned ROWS> using slice_anywhere = scan_slice<T, ROWS, false, true>;
};

template <class T, class Index> struct compact_of {
    using stream = arrays<T>;
    template <unsigned ROWS> using slice = compact_slice<T, Index, ROWS>;
    template <unsigned ROWS> using slice_anywhere = compact_slice<T, Index, ROWS, true>;
};

/* Compacts by run_slices(), which is called with the compact_of of the call's type and n. */
template <class Run> void with_compaction(const struct call *call, Run run_slices)
{
    store_zero_count(call);
    with_stored_type(call->problem.type, [&](auto zero) {
        with_index_type(&call->problem, [&](auto index) {
            run_slices.template operator()<compact_of<decltype(zero), decltype(index)>>(
                arrays_of<decltype(zero)>(call));
        });
    });
}

} // namespace SCANBENCH_BACKEND
