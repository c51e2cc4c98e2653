/* sort_lines.cuh: the keys of a tile's buckets leave it in whole lines of the memory they go to.
 *
 * A link between devices takes a line as one packet, and the two parts of a line at the border of
 * two runs as two. Here a block keeps the keys of a bucket that do not fill a line for its next
 * tile, and claims lines, not keys. What it has kept after its last tile goes as parts of lines.
 *
 * The first key for a bucket may lie within a line. So claims begin at the first whole line, and
 * the last to claim gets, after the bucket's end, the keys before that line. */
#pragma once

#include "../sort/partition_tile.cuh"
#include "sort_routes.cuh"

namespace SCANBENCH_BACKEND::sort_slices
{

/* Where the keys for each member begin, those of all senders, and then the runs to copy. */
template <class Key> struct destinations {
    Key *of[MOST_MEMBERS + 1];
};

template <class Key, unsigned THREADS, unsigned TILE, unsigned LINE_BYTES> struct line_layout {
    static constexpr unsigned LINE = LINE_BYTES / sizeof(Key);
    static constexpr unsigned MOST_LINES = TILE / LINE + MOST_BUCKETS;
    static_assert(THREADS % LINE == 0 && TILE % LINE == 0);
    static_assert((MOST_LINES + 1) * LINE + TILE < 1 << 16, "what a run has in 16 bits");
    static_assert(LINE <= 1 << 8, "what a rest has in 8 bits");
    /* The keys that a tile writes are numbered, line after line. A run says where those of a
     * bucket come from and go to. It is aligned so that one load takes it. */
    struct alignas(16) run {
        Key *to;          /* where key 0 would go */
        int from;         /* where it would lie in the tile, perhaps before it */
        uint16_t kept_to; /* the bucket's keys before this one are those kept */
        uint16_t end;     /* its keys from this one on go to the bucket's start */
    };
    /* The keys of a bucket that fill no line: from a place in the tile to one among the kept. */
    struct rest {
        unsigned from : 16, to : 8, count : 8;
    };
    run runs[MOST_BUCKETS];
    rest rests[MOST_BUCKETS];
    /* Keys of the tile, and then where they begin in it. The others become zero meanwhile, for the
     * next tile, which saves a barrier. */
    unsigned counts[2][MOST_BUCKETS];
    uint16_t bucket_of_line[MOST_LINES];
    unsigned lines;
    unsigned warp_totals[WARP];
    Key kept[MOST_BUCKETS][LINE];
    Key tile[TILE];
};

/* Sends the keys of a block. Each of its first threads looks after a bucket. */
template <class Order, unsigned THREADS, unsigned TILE, unsigned LINE_BYTES> struct line_sender {
    using Key = typename Order::key;
    using layout = line_layout<Key, THREADS, TILE, LINE_BYTES>;
    static_assert(MOST_BUCKETS <= THREADS);
    enum : unsigned {
        LINE = layout::LINE,
        LINES_AT_ONCE = THREADS / LINE,
        AHEAD = 4 /* lines that a thread has under way */
    };
    layout *shared;
    struct routes *routes;
    unsigned buckets;
    Key *begin = nullptr;    /* of this thread's bucket */
    unsigned kept_count = 0; /* how many of its keys are kept */
    unsigned turn = 0;       /* which counts are this tile's */

    __device__ __forceinline__ bool has_bucket() const
    {
        return threadIdx.x < buckets;
    }

    /* division.start(), which is called next, has the barrier that the first tile needs. */
    __device__ __forceinline__ void start(const destinations<Key> &to)
    {
        const unsigned b = threadIdx.x;
        if (!has_bucket())
            return;
        begin = to.of[routes->destination_of[b]] + routes->first[b];
        shared->counts[0][b] = shared->counts[1][b] = 0;
        shared->rests[b] = {};
    }

    /* Sends a tile whose keys are loaded. load_next() may load the next tile's keys, which are on
     * their way while this tile is written. */
    template <class Division, unsigned COUNT, bool FULL, class LoadNext>
    __device__ __forceinline__ void
    send(Division &division, tile_keys<Key, THREADS, COUNT, FULL> &keys, LoadNext load_next)
    {
        unsigned *counts = shared->counts[turn];
        packed_places<COUNT> places;
        division.find(keys);
        claim_places(counts, division, keys, places);
        __syncthreads();
        keep_rests();
        unsigned count = 0, lines = 0;
        unsigned long long claimed = 0;
        if (has_bucket()) {
            count = counts[threadIdx.x];
            lines = (kept_count + count) / LINE;
            claimed = claim(lines * LINE);
            shared->counts[turn ^ 1][threadIdx.x] = 0;
        }
        /* Both counts have 16 bits of a word, so that one scan serves both. */
        const unsigned starts = sum_of_earlier_threads(count | lines << 16, shared->warp_totals);
        const unsigned start = starts & 0xFFFF, first_line = starts >> 16;
        if (has_bucket()) {
            counts[threadIdx.x] = start;
            plan_lines(start, count, first_line, lines);
        }
        __syncthreads();
        gather_keys(shared->tile, counts, division, keys, places, [](unsigned, unsigned) {});
        if (has_bucket()) { /* as late as possible, because it waits for the claim */
            const unsigned first = first_line * LINE;
            shared->runs[threadIdx.x] = run_at(claimed, first, (int)(start - kept_count - first));
            kept_count = (kept_count + count) % LINE;
        }
        load_next();
        __syncthreads();
        write_lines();
        turn ^= 1;
    }

    /* Writes what is kept after the last tile. */
    __device__ __forceinline__ void flush() const
    {
        __syncthreads();
        keep_rests();
        if (has_bucket())
            shared->runs[threadIdx.x] = run_at(claim(kept_count), 0, 0);
        __syncthreads();
        const unsigned i = threadIdx.x % LINE;
        for (unsigned b = threadIdx.x / LINE; b < buckets; b += LINES_AT_ONCE) {
            const auto run = shared->runs[b];
            if (i < run.kept_to)
                write(run, b, i, shared->kept[b][i]);
        }
    }

  private:
    /* Claims space for keys of this thread's bucket. */
    __device__ __forceinline__ unsigned long long claim(unsigned count) const
    {
        return count > 0 ? atomicAdd(&routes->next[threadIdx.x], (unsigned long long)count) : 0;
    }

    /* The run of this thread's bucket: its kept keys and then those of the tile, numbered from
     * `first` on. */
    __device__ __forceinline__ typename layout::run run_at(unsigned long long claimed,
                                                           unsigned first, int from) const
    {
        const unsigned long long all = routes->keys[threadIdx.x];
        const bool is_past = claimed >= all; /* then there is no end */
        const unsigned end =
            is_past ? 0xFFFF
                    : first + (unsigned)min(all - claimed, (unsigned long long)TILE + LINE);
        return {begin + (claimed - (is_past ? all : 0)) - first, from,
                (uint16_t)(first + kept_count), (uint16_t)end};
    }

    /* Says which lines of the tile are those of this thread's bucket, and what is left after them.
     */
    __device__ __forceinline__ void plan_lines(unsigned start, unsigned count, unsigned first_line,
                                               unsigned lines) const
    {
        for (unsigned line = 0; line < lines; line++)
            shared->bucket_of_line[first_line + line] = (uint16_t)threadIdx.x;
        const unsigned written = lines * LINE;
        typename layout::rest rest = {start, kept_count, count};
        if (lines > 0)
            rest = {start + written - kept_count, 0, kept_count + count - written};
        shared->rests[threadIdx.x] = rest;
        if (threadIdx.x + 1 == buckets)
            shared->lines = first_line + lines;
    }

    /* Keeps what filled no line in the tile before this one. Not earlier: until all have written
     * that tile's lines, they need what was kept. */
    __device__ __forceinline__ void keep_rests() const
    {
        const unsigned i = threadIdx.x % LINE;
        for (unsigned b = threadIdx.x / LINE; b < buckets; b += LINES_AT_ONCE) {
            const auto rest = shared->rests[b];
            if (i < rest.count)
                shared->kept[b][rest.to + i] = shared->tile[rest.from + i];
        }
    }

    __device__ __forceinline__ void write(const typename layout::run &run, unsigned bucket,
                                          unsigned i, Key rank) const
    {
        Key *to = run.to + i;
        if (i >= run.end)
            to -= routes->keys[bucket];
        *to = Order().inverse(rank);
    }

    /* Writes the tile's lines, a few per thread at a time. */
    __device__ __forceinline__ void write_lines() const
    {
        const unsigned lines = shared->lines, lane = threadIdx.x % LINE;
        for (unsigned first = threadIdx.x / LINE; first < lines; first += AHEAD * LINES_AT_ONCE) {
            unsigned bucket[AHEAD];
            typename layout::run run[AHEAD];
            Key rank[AHEAD];
            const auto line = [&](unsigned j) { return first + j * LINES_AT_ONCE; };
            const auto number = [&](unsigned j) { return line(j) * LINE + lane; };
#pragma unroll
            for (unsigned j = 0; j < AHEAD; j++)
                bucket[j] = line(j) < lines ? shared->bucket_of_line[line(j)] : 0;
#pragma unroll
            for (unsigned j = 0; j < AHEAD; j++)
                run[j] = shared->runs[bucket[j]];
#pragma unroll
            for (unsigned j = 0; j < AHEAD; j++)
                if (line(j) < lines)
                    rank[j] = number(j) < run[j].kept_to
                                  ? shared->kept[bucket[j]][lane]
                                  : shared->tile[(int)number(j) + run[j].from];
#pragma unroll
            for (unsigned j = 0; j < AHEAD; j++)
                if (line(j) < lines)
                    write(run[j], bucket[j], number(j), rank[j]);
        }
    }
};

} // namespace SCANBENCH_BACKEND::sort_slices
