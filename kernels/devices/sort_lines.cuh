/* sort_lines.cuh: the keys of a tile's buckets leave it in whole lines of the memory they go to.
 *
 * A link between devices takes a line as one packet, and the two parts of a line at the border of
 * two runs as two. Here a block keeps the keys of a bucket that do not fill a line for its next
 * tile, and claims lines, not keys. The rest after its last tile goes as parts of lines.
 *
 * A bucket's place may begin and end within a line. Lines are claimed upwards from the first line
 * boundary in it, so that all are aligned, and rests downwards from there. Both go on at the
 * place's other end. */
#pragma once

#include "../sort/partition_tile.cuh"
#include "sort_routes.cuh"

namespace SCANBENCH_BACKEND::sort_slices
{

/* Where the keys for each member begin, those of all senders, and then the runs to copy. */
template <class Key> struct destinations {
    Key *of[MOST_MEMBERS + 1];
};

enum { LINE_BYTES = 128 }; /* a line of memory */

template <class Key, unsigned THREADS, unsigned TILE, unsigned BUCKETS> struct line_layout {
    static constexpr unsigned LINE = LINE_BYTES / sizeof(Key);
    /* Each bucket begins at a line of its own in the tile. Where all but one key of a line were
     * kept, two more keys reach a second line, and each LINE keys after these another. */
    static constexpr unsigned MOST_LINES = (TILE - 2 * BUCKETS) / LINE + 2 * BUCKETS;
    static_assert(THREADS % LINE == 0 && TILE % LINE == 0 && TILE >= 2 * BUCKETS);
    static_assert(TILE + 2 * BUCKETS * LINE < 1 << 16, "what is packed has 16 bits");
    /* The keys that a tile writes are numbered, line after line. A run says where those of a
     * bucket come from and go to. It is aligned so that one load takes it. */
    struct alignas(16) run {
        Key *to;       /* where key 0 would go */
        unsigned from; /* where it would lie in the tile */
        unsigned end;  /* keys from this one on go to the other end of the bucket's place */
    };
    /* The keys of a bucket that fill no line: where they begin in the tile, and how many. */
    struct rest {
        uint16_t from, count;
    };
    run runs[BUCKETS];
    rest rests[BUCKETS];
    /* Keys of each bucket, and then where they begin in the tile. The others are the next tile's
     * and begin with those kept, which saves a barrier. */
    unsigned counts[2][BUCKETS];
    uint16_t bucket_of_line[TILE / LINE + BUCKETS]; /* of the lines that are written */
    unsigned lines;
    unsigned warp_totals[WARP];
    alignas(PACK_BYTES) Key tile[MOST_LINES * LINE];
};

/* Sends the keys of a block. Each of its first threads looks after a bucket. */
template <class Order, unsigned THREADS, unsigned TILE, unsigned BUCKETS> struct line_sender {
    using Key = typename Order::key;
    using layout = line_layout<Key, THREADS, TILE, BUCKETS>;
    static_assert(BUCKETS <= THREADS);
    enum : unsigned {
        LINE = layout::LINE,
        WIDTH = PACK_WIDTH<Key>,
        LANES = LINE / WIDTH, /* threads that write a line */
        LINES_AT_ONCE = THREADS / LANES,
        RESTS_AT_ONCE = THREADS / LINE,
        RESTS_EACH = (BUCKETS + RESTS_AT_ONCE - 1) / RESTS_AT_ONCE,
    };
    static_assert(RESTS_EACH <= 32, "a bit for each in kept_keys");
    layout *shared;
    struct routes *routes;
    unsigned buckets;
    Key *begin = nullptr; /* of this thread's bucket */
    unsigned turn = 0;    /* which counts are this tile's */

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
        shared->counts[0][b] = 0;
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
        const kept_keys kept = load_kept();
        unsigned count = 0;
        unsigned long long claimed = 0;
        if (has_bucket()) {
            count = counts[threadIdx.x];
            claimed = claim(routes->line_keys, count / LINE * LINE);
            shared->counts[turn ^ 1][threadIdx.x] = count % LINE;
        }
        /* Lines to write and lines in the tile have 16 bits of a word, so that one scan serves
         * both. */
        const unsigned lines = count / LINE, in_tile = (count + LINE - 1) / LINE;
        const unsigned starts = sum_of_earlier_threads(lines | in_tile << 16, shared->warp_totals);
        const unsigned first_line = starts & 0xFFFF, start = (starts >> 16) * LINE;
        if (has_bucket()) {
            counts[threadIdx.x] = start;
            plan_lines(start, count, first_line);
        }
        __syncthreads();
        store_kept(kept, counts);
        gather_keys(shared->tile, counts, division, keys, places, [](unsigned, unsigned) {});
        if (has_bucket()) /* as late as possible, because it waits for the claim */
            shared->runs[threadIdx.x] = run_at(claimed, first_line * LINE, start);
        load_next();
        __syncthreads();
        write_lines();
        turn ^= 1;
    }

    /* Writes the rests, after the last tile. */
    __device__ __forceinline__ void flush() const
    {
        __syncthreads();
        if (has_bucket()) {
            const auto rest = shared->rests[threadIdx.x];
            const auto before =
                (long long)(routes->whole[threadIdx.x] - claim(routes->rest_keys, rest.count));
            shared->runs[threadIdx.x] = {begin + before - 1, rest.from, (unsigned)max(before, 0ll)};
        }
        __syncthreads();
        const unsigned i = threadIdx.x % LINE;
        for (unsigned b = threadIdx.x / LINE; b < buckets; b += RESTS_AT_ONCE) {
            const auto run = shared->runs[b];
            if (i >= shared->rests[b].count)
                continue;
            Key *to = run.to - i; /* downwards */
            if (i >= run.end)
                to += routes->keys[b];
            *to = Order().inverse(shared->tile[run.from + i]);
        }
    }

  private:
    /* A thread's share of the kept keys: at most one of each of RESTS_EACH buckets. */
    struct kept_keys {
        Key key[RESTS_EACH];
        unsigned is_there;
    };

    /* Claims space for keys of this thread's bucket. */
    __device__ __forceinline__ unsigned long long claim(unsigned long long *claimed,
                                                        unsigned count) const
    {
        return count > 0 ? atomicAdd(&claimed[threadIdx.x], (unsigned long long)count) : 0;
    }

    /* The lines of this thread's bucket, whose keys are numbered from `first` on and begin at
     * `start` in the tile. */
    __device__ __forceinline__ typename layout::run run_at(unsigned long long claimed,
                                                           unsigned first, unsigned start) const
    {
        /* It lies within the bucket's place: claims are whole lines, and `whole` is less. */
        const unsigned long long place = routes->whole[threadIdx.x] + claimed;
        const unsigned long long left = routes->keys[threadIdx.x] - place;
        return {begin + place - first, start - first,
                first + (unsigned)min(left, (unsigned long long)TILE + LINE)};
    }

    /* Says which lines are those of this thread's bucket, and what is left after them. */
    __device__ __forceinline__ void plan_lines(unsigned start, unsigned count,
                                               unsigned first_line) const
    {
        const unsigned lines = count / LINE;
        for (unsigned line = 0; line < lines; line++)
            shared->bucket_of_line[first_line + line] = (uint16_t)threadIdx.x;
        shared->rests[threadIdx.x] = {(uint16_t)(start + lines * LINE), (uint16_t)(count % LINE)};
        if (threadIdx.x + 1 == buckets)
            shared->lines = first_line + lines;
    }

    /* Loads the keys that filled no line in the tile before this one, all of whose lines are
     * written. */
    __device__ __forceinline__ kept_keys load_kept() const
    {
        kept_keys kept = {};
        const unsigned i = threadIdx.x % LINE;
#pragma unroll
        for (unsigned r = 0; r < RESTS_EACH; r++) {
            const unsigned b = threadIdx.x / LINE + r * RESTS_AT_ONCE;
            if (b >= buckets)
                break;
            const auto rest = shared->rests[b];
            if (i < rest.count) {
                kept.key[r] = shared->tile[rest.from + i];
                kept.is_there |= 1u << r;
            }
        }
        return kept;
    }

    /* Stores what load_kept() loaded at the start of each bucket in this tile. */
    __device__ __forceinline__ void store_kept(const kept_keys &kept, const unsigned *starts) const
    {
#pragma unroll
        for (unsigned r = 0; r < RESTS_EACH; r++) {
            const unsigned b = threadIdx.x / LINE + r * RESTS_AT_ONCE;
            if (b >= buckets)
                break;
            if ((kept.is_there >> r & 1) != 0)
                shared->tile[starts[b] + threadIdx.x % LINE] = kept.key[r];
        }
    }

    /* Writes the tile's lines. */
    __device__ __forceinline__ void write_lines() const
    {
        using pack = pack<Key, WIDTH>;
        const unsigned lines = shared->lines, lane = threadIdx.x % LANES * WIDTH;
        for (unsigned line = threadIdx.x / LANES; line < lines; line += LINES_AT_ONCE) {
            const unsigned bucket = shared->bucket_of_line[line], number = line * LINE + lane;
            const auto run = shared->runs[bucket];
            auto keys = *reinterpret_cast<const pack *>(&shared->tile[number + run.from]);
            for (Key &key : keys.at)
                key = Order().inverse(key);
            Key *to = run.to + number;
            if (number + WIDTH <= run.end) {
                *reinterpret_cast<pack *>(to) = keys;
            } else {
                for (unsigned k = 0; k < WIDTH; k++, to++)
                    *(number + k < run.end ? to : to - routes->keys[bucket]) = keys.at[k];
            }
        }
    }
};

} // namespace SCANBENCH_BACKEND::sort_slices
