/* sort_lines.cuh: the keys of a tile's buckets leave it in whole lines of the memory they go to.
 *
 * A link between devices takes a line as one packet, and the two parts of a line at the border of
 * two runs as two. Here a block keeps the keys of a bucket that do not fill a line
 * for its next tile, and claims lines, not keys. What it has kept after its last tile goes as parts
 * of lines.
 *
 * The first key for a bucket may lie within a line. So claims begin at the first whole line, and
 * the last to claim gets, after the bucket's end, the keys before that line. */
#pragma once

#include "sort_routes.cuh"

namespace SCANBENCH_BACKEND::sort_slices
{

/* Where the keys for each member begin, those of all senders, and then the runs to copy. */
template <class Key> struct destinations {
    Key *of[MOST_MEMBERS + 1];
};

template <class Key, unsigned THREADS, unsigned TILE, unsigned LINE_BYTES> struct line_layout {
    static constexpr unsigned LINE = LINE_BYTES / sizeof(Key);
    static_assert(THREADS % LINE == 0 && TILE % LINE == 0);
    uint8_t destination_of[MOST_BUCKETS];
    uint16_t bucket_of_line[TILE / LINE + MOST_BUCKETS], first_line[MOST_BUCKETS];
    uint16_t count[MOST_BUCKETS];  /* keys of the tile */
    uint16_t kept[MOST_BUCKETS];   /* keys of earlier tiles; they go before those of the tile */
    unsigned to_end[MOST_BUCKETS]; /* keys of the run before it goes on at the bucket's start */
    Key *run[MOST_BUCKETS];        /* where the claimed run goes */
    unsigned lines;
    unsigned warp_totals[WARP];
    Key kept_keys[MOST_BUCKETS][LINE];
};

/* A destination as gather_runs() uses it, and the writing of what was gathered. */
template <class Order, unsigned THREADS, unsigned TILE, unsigned LINE_BYTES> struct line_writer {
    using Key = typename Order::key;
    using layout = line_layout<Key, THREADS, TILE, LINE_BYTES>;
    enum : unsigned { IS_BOUNDED = false, LINE = layout::LINE };
    layout *shared;
    struct routes *routes;
    const destinations<Key> &to;
    unsigned buckets;

    __device__ __forceinline__ void start() const
    {
        for (unsigned b = threadIdx.x; b < buckets; b += THREADS) {
            shared->destination_of[b] = routes->destination_of[b];
            shared->kept[b] = 0;
        }
    }

    __device__ __forceinline__ unsigned long long claim(unsigned bucket, unsigned count) const
    {
        const unsigned whole = (shared->kept[bucket] + count) / LINE * LINE;
        return whole > 0 ? atomicAdd(&routes->next[bucket], (unsigned long long)whole) : 0;
    }
    /* Slices may have 2^32 keys and more, so the address of the run is kept, and not its place. */
    __device__ __forceinline__ unsigned place(unsigned bucket, unsigned long long claimed,
                                              unsigned count) const
    {
        const unsigned long long keys = routes->keys[bucket];
        const bool is_past = claimed >= keys;
        shared->run[bucket] = to.of[shared->destination_of[bucket]] + routes->first[bucket] +
                              claimed - (is_past ? keys : 0);
        shared->to_end[bucket] =
            is_past ? ~0u : (unsigned)min(keys - claimed, (unsigned long long)TILE + LINE);
        shared->count[bucket] = (uint16_t)count;
        return 0;
    }

    /* Writes the lines of each bucket: of the keys kept, and of the tile's, whose first is
     * keys[-before[bucket]]. */
    __device__ __forceinline__ void write_lines(const Key *keys, const unsigned *before,
                                                unsigned filled = LINE) const
    {
        const auto lines_of = [&](unsigned bucket) {
            return (shared->kept[bucket] + shared->count[bucket] + LINE - filled) / LINE;
        };
        own_buckets<THREADS, MOST_BUCKETS>(buckets).counts_to_starts(
            shared->warp_totals, [&](unsigned, unsigned bucket) { return lines_of(bucket); },
            [&](unsigned, unsigned bucket, unsigned first) {
                shared->first_line[bucket] = (uint16_t)first;
                if (bucket + 1 == buckets)
                    shared->lines = first + lines_of(bucket);
            });
        __syncthreads();
        for (unsigned bucket = threadIdx.x / WARP; bucket < buckets; bucket += THREADS / WARP)
            for (unsigned line = lane_index(); line < lines_of(bucket); line += WARP)
                shared->bucket_of_line[shared->first_line[bucket] + line] = (uint16_t)bucket;
        __syncthreads();
        for (unsigned line = threadIdx.x / LINE; line < shared->lines; line += THREADS / LINE) {
            const unsigned bucket = shared->bucket_of_line[line];
            const unsigned kept = shared->kept[bucket];
            const unsigned i = (line - shared->first_line[bucket]) * LINE + threadIdx.x % LINE;
            if (i >= kept + shared->count[bucket])
                continue;
            const Key rank = i < kept ? shared->kept_keys[bucket][i]
                                      : keys[(int)(i - kept) - (int)before[bucket]];
            Key *key = shared->run[bucket] + i;
            if (i >= shared->to_end[bucket])
                key -= routes->keys[bucket];
            *key = Order().inverse(rank);
        }
        __syncthreads();
    }
    /* Keeps what did not fill a line. A barrier is needed before kept keys are counted. */
    __device__ __forceinline__ void keep_rest(const Key *keys, const unsigned *before) const
    {
        const unsigned i = threadIdx.x % LINE;
        for (unsigned bucket = threadIdx.x / LINE; bucket < buckets; bucket += THREADS / LINE) {
            const unsigned kept = shared->kept[bucket], all = kept + shared->count[bucket];
            const unsigned written = all / LINE * LINE;
            const unsigned from = written > 0 ? written : kept;
            if (from + i < all)
                shared->kept_keys[bucket][from - written + i] =
                    keys[(int)(from + i - kept) - (int)before[bucket]];
        }
        __syncthreads();
        for (unsigned b = threadIdx.x; b < buckets; b += THREADS)
            shared->kept[b] = (uint16_t)((shared->kept[b] + shared->count[b]) % LINE);
    }

    /* Writes what is kept. */
    __device__ __forceinline__ void flush() const
    {
        for (unsigned b = threadIdx.x; b < buckets; b += THREADS)
            if (shared->kept[b] > 0)
                place(b, atomicAdd(&routes->next[b], (unsigned long long)shared->kept[b]), 0);
            else
                shared->count[b] = 0;
        __syncthreads();
        write_lines(nullptr, nullptr, 1);
    }
};

} // namespace SCANBENCH_BACKEND::sort_slices
