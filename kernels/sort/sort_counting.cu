/* sort_counting: counting sort of keys of 8 and 16 bits. Equal keys cannot be told apart, so none
 * is moved: it counts how often each value occurs, and writes it as often.
 * Source:  Seward 1954, in Knuth, The Art of Computer Programming 3, section 5.2: distribution
 *          counting.
 * Work:    O(n + values).
 * Depth:   O(n / threads + log values).
 * DRAM:    one read, one write. 16 bits: also 128 KiB per block that counts, which stay in the L2.
 * Shared:  the counters of a block: 32 KiB for 8 bits, 128 KiB for 16.
 *
 * Counters belong to the bits of keys as they are stored. From their sums on, values are in the
 * order of their ranks. A bin is what the first byte of a rank selects: one value of 8 bits, or a
 * page of 256 values of 16 bits. */
#include "../key_order.cuh"
#include "../pack.cuh"
#include "../warp.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND
{

namespace counting_sort
{

enum {
    BINS = 256,
    PAGE = 256, /* values of a page */
    VALUES_OF_16_BITS = 1 << 16,
    TOP_BIT = 1 << 15,
    /* Two counters of 16 bits share a word. */
    WORDS_OF_16_BITS = VALUES_OF_16_BITS / 2,
    PAGES_OF_WORDS = WORDS_OF_16_BITS / PAGE,
    WRAPPED = 1 << 16,

    COUNT_THREADS = 1024,
    COUNT_WARPS = COUNT_THREADS / WARP,
    /* Keys of 16 bits that are worth the counters of one more block. */
    KEYS_OF_A_ROW = 1 << 14,

    SUM_THREADS = 2 * PAGE,
    SUM_WARPS = SUM_THREADS / WARP,
    ROWS_IN_FLIGHT = 4, /* of a warp that sums up */

    WRITE_THREADS = 512,
    WRITE_WARPS = WRITE_THREADS / WARP,
    WRITE_BLOCKS = 2, /* per multiprocessor */
    /* The most rows of a warp's tile. A row is one pack per lane. */
    MOST_ROWS = 4,

    /* Lanes with the same key from which atomics would queue for long, and how many keys are then
     * counted for all their lanes at once. */
    ALIKE = 10,
    ALIKE_ROUNDS = 2
};

/* Packs in flight of a thread that counts. */
template <class Key> constexpr unsigned LOADS = sizeof(Key) == 1 ? 4 : 2;

/* An array that is aligned to its elements only, as one of aligned packs: its elements are
 * at[first] to at[end - 1], where `first` lies in pack 0. */
template <class Key> struct packed_array {
    Key *at;
    uint64_t first, end;

    __host__ __device__ __forceinline__ uint64_t packs() const
    {
        return ceil_div(end, PACK_WIDTH<Key>);
    }
    __device__ __forceinline__ bool has_whole(uint64_t p) const
    {
        return p * PACK_WIDTH<Key> >= first && (p + 1) * PACK_WIDTH<Key> <= end;
    }
    __device__ __forceinline__ bool has(uint64_t i) const
    {
        return first <= i && i < end;
    }
};

template <class Key> static packed_array<Key> packed(Key *array, uint64_t n)
{
    const uint64_t first = (uintptr_t)array % PACK_BYTES / sizeof(Key);
    return {array - first, first, first + n};
}

template <class Key> using key_pack = pack<std::remove_const_t<Key>, PACK_WIDTH<Key>>;

/* ---- Counting ---- */

/* The counters of a block, in shared memory. */
template <class Key> struct counters;

/* Each lane has a counter of every value, in a bank of its own: however skewed the keys are, the
 * lanes of a warp never meet. */
template <> struct counters<uint8_t> {
    unsigned of_lane[BINS][WARP];

    __device__ __forceinline__ void add(uint8_t key, unsigned long long * /* carried */)
    {
        atomicAdd(&of_lane[key][lane_index()], 1u);
    }
    __device__ __forceinline__ void add_pack(const key_pack<uint8_t> &keys,
                                             unsigned long long *carried)
    {
#pragma unroll
        for (unsigned k = 0; k < PACK_WIDTH<uint8_t>; k++)
            add(keys.at[k], carried);
    }
};

/* Keys with a clear top bit are counted in the lower half of a word, those with a set one in the
 * upper half. A half that wraps adds to `carried`, which has one counter per value. */
template <> struct counters<uint16_t> {
    unsigned word[WORDS_OF_16_BITS];

    /* The lower half also carries into the upper one, which is taken back. In between, others may
     * see the upper half too large, and pass its limit in either direction: each time it does,
     * whoever passed it says so. Thus the counts are right at the end, whatever the order. */
    __device__ __forceinline__ void carry(unsigned key, unsigned times, unsigned sum,
                                          unsigned long long *carried)
    {
        atomicAdd(&carried[key], (unsigned long long)WRAPPED);
        if (key & TOP_BIT)
            return;
        if (sum < times)
            atomicAdd(&carried[key + TOP_BIT], (unsigned long long)WRAPPED);
        if (atomicSub(&word[key], (unsigned)WRAPPED) < WRAPPED)
            atomicAdd(&carried[key + TOP_BIT], 0 - (unsigned long long)WRAPPED);
    }

    __device__ __forceinline__ void add_times(unsigned key, unsigned times,
                                              unsigned long long *carried)
    {
        const unsigned shift = key & TOP_BIT ? 16 : 0, addend = times << shift;
        const unsigned sum = atomicAdd(&word[key & (TOP_BIT - 1)], addend) + addend;
        if ((sum >> shift & 0xFFFF) < times)
            carry(key, times, sum, carried);
    }

    __device__ __forceinline__ void add(uint16_t key, unsigned long long *carried)
    {
        add_times(key, 1, carried);
    }

    /* The same, if many lanes have the same key: one of them adds for all. */
    __device__ __forceinline__ void add_alike(unsigned key, unsigned long long *carried)
    {
        unsigned rest = ALL_LANES;
        for (unsigned round = 0; round < ALIKE_ROUNDS && rest != 0; round++) {
            const unsigned one = __ffs((int)rest) - 1;
            const unsigned same = rest & __ballot_sync(ALL_LANES, key == shuffle_from(key, one));
            if (lane_index() == one)
                add_times(key, __popc(same), carried);
            rest &= ~same;
        }
        if (rest >> lane_index() & 1)
            add_times(key, 1, carried);
    }

    /* Called by all lanes of a warp. */
    __device__ __forceinline__ void add_pack(const key_pack<uint16_t> &keys,
                                             unsigned long long *carried)
    {
        const unsigned first = keys.at[0];
        const unsigned same = __ballot_sync(ALL_LANES, first == shuffle_from(first, 0));
        if (__popc(same) < ALIKE) {
#pragma unroll
            for (unsigned k = 0; k < PACK_WIDTH<uint16_t>; k++)
                add(keys.at[k], carried);
        } else {
            unsigned word[PACK_BYTES / sizeof(unsigned)];
            memcpy(word, &keys, sizeof keys);
#pragma unroll 1 /* seldom executed, and long */
            for (unsigned k = 0; k < PACK_WIDTH<uint16_t>; k++) {
                add_alike(word[0] & 0xFFFF, carried);
                word[0] = __funnelshift_r(word[0], word[1], 16);
                word[1] = __funnelshift_r(word[1], word[2], 16);
                word[2] = __funnelshift_r(word[2], word[3], 16);
                word[3] >>= 16;
            }
        }
    }
};

/* A multiple of 16 bytes of shared memory, by all threads. */
template <class Layout> __device__ __forceinline__ void clear(Layout *layout)
{
    static_assert(sizeof(Layout) % PACK_BYTES == 0);
    auto *packs = reinterpret_cast<pack<unsigned, 4> *>(layout);
    for (unsigned p = threadIdx.x; p < sizeof(Layout) / PACK_BYTES; p += blockDim.x)
        packs[p] = {};
}

/* Counts those keys of a pack that the array has. */
template <class Key>
__device__ __forceinline__ void count_one_by_one(const packed_array<const Key> &in, uint64_t p,
                                                 counters<Key> *counters,
                                                 unsigned long long *carried)
{
#pragma unroll 1
    for (uint64_t i = p * PACK_WIDTH<Key>; i < (p + 1) * PACK_WIDTH<Key>; i++)
        if (in.has(i))
            counters->add(in.at[i], carried);
}

/* Counts the block's share of the keys: all packs whose turn it is. A warp with the array's first
 * or last pack looks at keys one by one. */
template <class Key>
__device__ __forceinline__ void count_keys(const packed_array<const Key> &in,
                                           counters<Key> *counters, unsigned long long *carried)
{
    const uint64_t packs = in.packs(), stride = (uint64_t)gridDim.x * blockDim.x;
    const auto *whole = reinterpret_cast<const key_pack<Key> *>(in.at);
    for (uint64_t first = global_thread(); first - threadIdx.x < packs;
         first += LOADS<Key> * stride) {
        key_pack<Key> keys[LOADS<Key>];
#pragma unroll
        for (unsigned l = 0; l < LOADS<Key>; l++)
            if (in.has_whole(first + l * stride))
                keys[l] = whole[first + l * stride];
#pragma unroll 1 /* for short code: the packs move up to the first place */
        for (unsigned l = 0; l < LOADS<Key>; l++) {
            const uint64_t p = first + l * stride;
            if (__all_sync(ALL_LANES, in.has_whole(p)))
                counters->add_pack(keys[0], carried);
            else
                count_one_by_one(in, p, counters, carried);
#pragma unroll
            for (unsigned k = 1; k < LOADS<Key>; k++)
                keys[k - 1] = keys[k];
        }
    }
}

/* ---- Writing ---- */

/* Where bins begin in the output. */
struct bin_starts {
    uint64_t at[BINS + 1];
    uint64_t warp_totals[WARP];
};

/* Finds them, given the count of a bin in each of the first threads. All threads call it. */
__device__ __forceinline__ void find_starts(bin_starts *starts, uint64_t count)
{
    const uint64_t sum = warp_inclusive_sum(count);
    uint64_t total;
    const uint64_t before =
        block_exclusive_sum(shuffle_from(sum, WARP - 1), starts->warp_totals, &total);
    if (threadIdx.x == 0)
        starts->at[0] = 0;
    if (threadIdx.x < BINS)
        starts->at[threadIdx.x + 1] = before + sum;
    __syncthreads();
}

/* The bin of the key at this place, found by a warp. It has keys: the next one begins later. */
__device__ __forceinline__ unsigned bin_at(const bin_starts *starts, uint64_t place)
{
    constexpr unsigned STEP = BINS / WARP;
    const auto begun = [=](unsigned bin) {
        return __popc(__ballot_sync(ALL_LANES, starts->at[bin] <= place));
    };
    const unsigned first = (begun(lane_index() * STEP) - 1) * STEP;
    /* Lanes from STEP on repeat the last one's look. */
    const unsigned last = first + min(lane_index(), STEP - 1);
    const unsigned more = __ballot_sync(ALL_LANES, starts->at[last] <= place);
    return first + __popc(more & ((1u << STEP) - 1)) - 1;
}

/* A warp's part of the output: `keys` from `base` on, of which the array has those from `begin` to
 * `end`. Where a value begins, its rank is marked. */
template <class Key> struct tile {
    uint64_t base, begin, end;
    key_pack<Key> *marks; /* rows of WARP packs, with no marks yet */

    /* Marks a value with the keys from `first` to `last`, if it has any in this tile. */
    __device__ __forceinline__ void mark(unsigned rank, uint64_t first, uint64_t last) const
    {
        first = max(first, begin);
        if (first < min(last, end))
            reinterpret_cast<Key *>(marks)[first - base] = (Key)rank;
    }
};

/* Marks the values of 8 bits that begin in a tile, one per lane. */
template <class Pages>
__device__ __forceinline__ void mark_values(const tile<uint8_t> &tile, const bin_starts *starts,
                                            uint64_t shift, const Pages &)
{
    const unsigned last = bin_at(starts, tile.end - 1 - shift);
    for (unsigned bin = bin_at(starts, tile.begin - shift) + lane_index(); bin <= last; bin += WARP)
        tile.mark(bin, starts->at[bin] + shift, starts->at[bin + 1] + shift);
}

/* Marks those of 16 bits, one page that has keys after the other. pages(page, ends) says where the
 * lane's PAGE / WARP values end, counted from the begin of the page. */
template <class Pages>
__device__ __forceinline__ void mark_values(const tile<uint16_t> &tile, const bin_starts *starts,
                                            uint64_t shift, const Pages &pages)
{
    constexpr unsigned MINE = PAGE / WARP;
    const unsigned last = bin_at(starts, tile.end - 1 - shift);
    for (unsigned first = bin_at(starts, tile.begin - shift); first <= last; first += WARP) {
        const unsigned bin = first + lane_index();
        unsigned filled =
            __ballot_sync(ALL_LANES, bin <= last && starts->at[min(bin, BINS - 1u)] <
                                                        starts->at[min(bin + 1, (unsigned)BINS)]);
        for (; filled != 0; filled &= filled - 1) {
            const unsigned page = first + __ffs((int)filled) - 1;
            const uint64_t start = starts->at[page] + shift;
            uint64_t ends[MINE];
            pages(page, ends);
            uint64_t end = shuffle_up(ends[MINE - 1], 1);
            if (lane_index() == 0)
                end = 0;
#pragma unroll
            for (unsigned k = 0; k < MINE; k++) {
                tile.mark(page * PAGE + lane_index() * MINE + k, start + end, start + ends[k]);
                end = ends[k];
            }
        }
    }
}

/* Stores a pack, or what the array has of it. */
template <class Key>
__device__ __forceinline__ void store(const packed_array<Key> &out, uint64_t p,
                                      const key_pack<Key> &keys)
{
    if (out.has_whole(p))
        return store_whole(reinterpret_cast<key_pack<Key> *>(out.at) + p, keys);
#pragma unroll
    for (unsigned k = 0; k < PACK_WIDTH<Key>; k++)
        if (out.has(p * PACK_WIDTH<Key> + k))
            out.at[p * PACK_WIDTH<Key> + k] = keys.at[k];
}

/* The keys of a pack: `rank` up to the first mark, then what was marked last. Returns the rank of
 * the last key. */
template <class Key>
__device__ __forceinline__ unsigned fill(key_pack<Key> *keys, unsigned rank,
                                         const key_order<Key> &order)
{
#pragma unroll
    for (unsigned k = 0; k < PACK_WIDTH<Key>; k++) {
        rank = max(rank, (unsigned)keys->at[k]);
        keys->at[k] = order.inverse((Key)rank);
    }
    return rank;
}

template <class Key> __device__ __forceinline__ key_pack<Key> all_of(Key key)
{
    key_pack<Key> keys;
#pragma unroll
    for (Key &each : keys.at)
        each = key;
    return keys;
}

/* Writes what the marks say, row by row, and removes them. A mark of rank 0 looks like none, and
 * means the same: nothing lower comes before. */
template <class Key>
__device__ __forceinline__ void write_rows(const packed_array<Key> &out, const tile<Key> &tile,
                                           unsigned rows, const key_order<Key> &order)
{
    const uint64_t first = tile.base / PACK_WIDTH<Key> + lane_index();
    unsigned rank = 0; /* of the last key of the row before */
    for (unsigned row = 0; row < rows; row++) {
        key_pack<Key> &marks = tile.marks[row * WARP + lane_index()];
        key_pack<Key> keys = marks;
        unsigned word[PACK_BYTES / sizeof(unsigned)];
        memcpy(word, &keys, sizeof keys);
        const bool marked = (word[0] | word[1] | word[2] | word[3]) != 0;
        const unsigned lanes = __ballot_sync(ALL_LANES, marked);
        if (lanes == 0) {
            store(out, first + row * WARP, all_of(order.inverse((Key)rank)));
            continue;
        }
        marks = {};
        /* The highest rank of a lane is its last mark. */
        unsigned highest = 0;
#pragma unroll
        for (unsigned k = 0; k < PACK_WIDTH<Key>; k++)
            highest = max(highest, (unsigned)keys.at[k]);
        const unsigned earlier = lanes & (lanes_up_to_here() >> 1);
        const unsigned before = shuffle_from(highest, last_lane(earlier));
        const unsigned end = fill(&keys, earlier != 0 ? before : rank, order);
        rank = shuffle_from(end, WARP - 1);
        store(out, first + row * WARP, keys);
    }
}

/* Writes the tiles whose turn it is. `marks` has rows of packs for each warp of the block, with no
 * marks. */
template <class Key, class Pages>
__device__ __forceinline__ void write_tiles(const packed_array<Key> &out, unsigned rows,
                                            key_pack<Key> *marks, const bin_starts *starts,
                                            const key_order<Key> &order, const Pages &pages)
{
    const uint64_t packs = rows * WARP, keys = packs * PACK_WIDTH<Key>;
    const unsigned warps = blockDim.x / WARP, warp = threadIdx.x / WARP;
    for (uint64_t t = (uint64_t)blockIdx.x * warps + warp; t * packs < out.packs();
         t += (uint64_t)gridDim.x * warps) {
        const tile<Key> tile = {t * keys, max(t * keys, out.first), min((t + 1) * keys, out.end),
                                marks + warp * packs};
        mark_values(tile, starts, out.first, pages);
        __syncwarp();
        write_rows(out, tile, rows, order);
        __syncwarp();
    }
}

/* ---- 8 bits: count, write ---- */

/* Calls take turns: one counts in a set of counters, and clears the set of the call before. */
struct state_of_8_bits {
    unsigned long long counts[2][BINS];
};

__global__ void __launch_bounds__(COUNT_THREADS, 1)
    count_8_bits_kernel(const __grid_constant__ packed_array<const uint8_t> in,
                        unsigned long long *counts)
{
    constexpr unsigned MINE = BINS / COUNT_WARPS;
    auto *table = shared_memory<counters<uint8_t>>();
    let_next_launch_begin();
    clear(table);
    __syncthreads();
    count_keys(in, table, nullptr);
    __syncthreads();
    const unsigned first = threadIdx.x / WARP * MINE;
    unsigned mine = 0; /* lane k has the count of the warp's value k; no block has 2^32 keys */
#pragma unroll
    for (unsigned k = 0; k < MINE; k++) {
        const unsigned sum = warp_sum(table->of_lane[first + k][lane_index()]);
        mine = lane_index() == k ? sum : mine;
    }
    if (lane_index() < MINE && mine != 0)
        atomicAdd(&counts[first + lane_index()], (unsigned long long)mine);
}

template <class Key> struct write_layout {
    key_pack<Key> marks[WRITE_WARPS][MOST_ROWS * WARP];
    bin_starts starts;
};

__global__ void __launch_bounds__(WRITE_THREADS, WRITE_BLOCKS)
    write_8_bits_kernel(const __grid_constant__ packed_array<uint8_t> out, unsigned rows,
                        const unsigned long long *counts, unsigned long long *counts_before,
                        const __grid_constant__ key_order<uint8_t> order)
{
    auto *shared = shared_memory<write_layout<uint8_t>>();
    clear(&shared->marks);
    wait_for_launch_before();
    uint64_t count = 0;
    if (threadIdx.x < BINS) {
        count = counts[order.inverse((uint8_t)threadIdx.x)];
        if (blockIdx.x == 0)
            counts_before[threadIdx.x] = 0;
    }
    find_starts(&shared->starts, count);
    write_tiles(out, rows, shared->marks[0], &shared->starts, order, 0);
}

/* ---- 16 bits: count, sum up, write ---- */

/* A row is the counters of one block, which are stored as they are. */
struct state_of_16_bits {
    unsigned long long carried[VALUES_OF_16_BITS]; /* by bits; zero between calls */
    uint64_t ends[VALUES_OF_16_BITS];              /* by rank, counted from the begin of its page */
    uint64_t pages[BINS];                          /* the keys of each, by rank */
};

__global__ void __launch_bounds__(COUNT_THREADS, 1)
    count_16_bits_kernel(const __grid_constant__ packed_array<const uint16_t> in,
                         state_of_16_bits *state, counters<uint16_t> *rows)
{
    auto *table = shared_memory<counters<uint16_t>>();
    let_next_launch_begin();
    clear(table);
    __syncthreads();
    count_keys(in, table, state->carried);
    __syncthreads();
    const auto *from = reinterpret_cast<const pack<unsigned, 4> *>(table);
    auto *to = reinterpret_cast<pack<unsigned, 4> *>(&rows[blockIdx.x]);
    for (unsigned p = threadIdx.x; p < sizeof *table / PACK_BYTES; p += COUNT_THREADS)
        store_whole(&to[p], from[p]);
}

struct sum_layout {
    unsigned counts[2][PAGE]; /* of the lower halves, and of the upper ones; see place_in_page() */
    uint64_t warp_totals[SUM_WARPS];
};

/* Where word i of a page is counted: the lanes of a warp, which have packs of four, use all banks.
 */
__device__ __forceinline__ unsigned place_in_page(unsigned i)
{
    return (i / (4 * WARP) * 4 + i % 4) * WARP + i / 4 % WARP;
}

/* Loads the lane's words of the block's page. */
template <unsigned PACKS>
__device__ __forceinline__ void load_words(const counters<uint16_t> &row,
                                           pack<unsigned, 4> (&words)[PACKS])
{
    const auto *packs = reinterpret_cast<const pack<unsigned, 4> *>(&row.word[blockIdx.x * PAGE]);
#pragma unroll
    for (unsigned p = 0; p < PACKS; p++)
        words[p] = packs[p * WARP + lane_index()];
}

/* Adds up one page of words over all rows. Each warp takes some of them. */
__device__ __forceinline__ void sum_rows(const counters<uint16_t> *rows, unsigned row_count,
                                         sum_layout *shared)
{
    constexpr unsigned PACKS = PAGE / 4 / WARP;
    unsigned lower[PACKS][4] = {}, upper[PACKS][4] = {};
    for (unsigned row = threadIdx.x / WARP; row < row_count; row += ROWS_IN_FLIGHT * SUM_WARPS) {
        pack<unsigned, 4> words[ROWS_IN_FLIGHT][PACKS] = {};
#pragma unroll
        for (unsigned r = 0; r < ROWS_IN_FLIGHT; r++)
            if (row + r * SUM_WARPS < row_count)
                load_words(rows[row + r * SUM_WARPS], words[r]);
#pragma unroll
        for (unsigned r = 0; r < ROWS_IN_FLIGHT; r++)
#pragma unroll
            for (unsigned p = 0; p < PACKS; p++)
#pragma unroll
                for (unsigned k = 0; k < 4; k++) {
                    lower[p][k] += words[r][p].at[k] & 0xFFFF;
                    upper[p][k] += words[r][p].at[k] >> 16;
                }
    }
    if (threadIdx.x / WARP >= row_count)
        return;
#pragma unroll
    for (unsigned p = 0; p < PACKS; p++)
#pragma unroll
        for (unsigned k = 0; k < 4; k++) {
            const unsigned place = place_in_page(4 * (p * WARP + lane_index()) + k);
            atomicAdd(&shared->counts[0][place], lower[p][k]);
            atomicAdd(&shared->counts[1][place], upper[p][k]);
        }
}

/* Each block has two pages, one of the lower halves and one of the upper ones, and half of its
 * threads are for each, one per rank. */
__global__ void __launch_bounds__(SUM_THREADS, 1)
    sum_16_bits_kernel(state_of_16_bits *state, const counters<uint16_t> *rows, unsigned row_count,
                       const __grid_constant__ key_order<uint16_t> order)
{
    auto *shared = shared_memory<sum_layout>();
    let_next_launch_begin();
    const unsigned half = threadIdx.x / PAGE, warp = threadIdx.x / WARP;
    shared->counts[half][threadIdx.x % PAGE] = 0;
    __syncthreads();
    wait_for_launch_before();
    sum_rows(rows, row_count, shared);
    __syncthreads();
    const unsigned page = order((uint16_t)(blockIdx.x * PAGE + half * TOP_BIT)) / PAGE;
    const unsigned rank = page * PAGE + threadIdx.x % PAGE;
    const unsigned bits = order.inverse((uint16_t)rank);
    const uint64_t carried = state->carried[bits];
    if (carried != 0)
        state->carried[bits] = 0;
    const uint64_t sum =
        warp_inclusive_sum(carried + shared->counts[half][place_in_page(bits % PAGE)]);
    if (lane_index() == WARP - 1)
        shared->warp_totals[warp] = sum;
    __syncthreads();
    const unsigned first_warp = half * (SUM_WARPS / 2);
    const uint64_t end = sum + sum_of_first(warp - first_warp, &shared->warp_totals[first_warp]);
    state->ends[rank] = end;
    if (threadIdx.x % PAGE == PAGE - 1)
        state->pages[page] = end;
}

/* Says where the lane's values of a page end, from the sums over all blocks. */
struct pages_of_state {
    const state_of_16_bits *state;

    template <unsigned MINE>
    __device__ __forceinline__ void operator()(unsigned page, uint64_t (&ends)[MINE]) const
    {
        const auto *from = reinterpret_cast<const pack<uint64_t, 2> *>(
            &state->ends[page * PAGE + lane_index() * MINE]);
#pragma unroll
        for (unsigned k = 0; k < MINE; k += 2) {
            const pack<uint64_t, 2> two = from[k / 2];
            ends[k] = two.at[0];
            ends[k + 1] = two.at[1];
        }
    }
};

__global__ void __launch_bounds__(WRITE_THREADS, WRITE_BLOCKS)
    write_16_bits_kernel(const __grid_constant__ packed_array<uint16_t> out, unsigned rows,
                         const state_of_16_bits *state,
                         const __grid_constant__ key_order<uint16_t> order)
{
    auto *shared = shared_memory<write_layout<uint16_t>>();
    clear(&shared->marks);
    wait_for_launch_before();
    find_starts(&shared->starts, threadIdx.x < BINS ? state->pages[threadIdx.x] : 0);
    write_tiles(out, rows, shared->marks[0], &shared->starts, order, pages_of_state{state});
}

/* ---- the host's side ---- */

static bool is_narrow(const struct problem *problem)
{
    return TYPES_OF_NARROW_KEYS >> problem->type & 1;
}

static size_t most_shared_bytes(enum element_type type)
{
    return element_bytes(type) == sizeof(uint8_t)
               ? std::max(sizeof(counters<uint8_t>), sizeof(write_layout<uint8_t>))
               : std::max(sizeof(counters<uint16_t>), sizeof(write_layout<uint16_t>));
}

static const char *supports(const struct problem *problem)
{
    if (!is_narrow(problem))
        return "sorts keys of 8 and 16 bits only";
    if (problem->device->shared_bytes_per_block < most_shared_bytes(problem->type))
        return "needs more shared memory than this device gives a block";
    return nullptr;
}

/* Blocks that count keys of 16 bits, one per multiprocessor at most. */
static unsigned row_count(const struct problem *problem)
{
    return (unsigned)std::min<uint64_t>(ceil_div(problem->n, KEYS_OF_A_ROW),
                                        problem->device->multiprocessors);
}

static size_t scratch_bytes(const struct problem *problem)
{
    if (!is_narrow(problem) || problem->n == 0)
        return 0;
    if (element_bytes(problem->type) == sizeof(uint8_t))
        return sizeof(state_of_8_bits);
    return next_place(sizeof(state_of_16_bits)) + row_count(problem) * sizeof(counters<uint16_t>);
}

static void prepare(const struct call *call)
{
    const size_t cleared = element_bytes(call->problem.type) == sizeof(uint8_t)
                               ? sizeof(state_of_8_bits)
                               : sizeof(state_of_16_bits::carried);
    if (call->scratch_bytes > 0)
        succeeded(queue_of(call), "memset",
                  cudaMemsetAsync(call->scratch, 0, cleared, queue_of(call)->stream));
}

/* What a launch that writes needs to know of the output. */
struct write_shape {
    unsigned rows; /* of a tile */
    uint64_t blocks;
};

template <class Key>
static write_shape shape_of_writing(const struct problem *problem, const packed_array<Key> &out)
{
    const uint64_t rows = ceil_div(out.packs(), WARP);
    const uint64_t most_blocks = (uint64_t)WRITE_BLOCKS * problem->device->multiprocessors;
    const auto each =
        (unsigned)std::clamp<uint64_t>(rows / (most_blocks * WRITE_WARPS), 1, MOST_ROWS);
    return {each, std::min(ceil_div(rows, each * WRITE_WARPS), most_blocks)};
}

static void count_and_write(const struct call *call, const packed_array<const uint8_t> &in,
                            const packed_array<uint8_t> &out)
{
    const struct problem *problem = &call->problem;
    auto *state = static_cast<state_of_8_bits *>(call->scratch);
    auto *counts = state->counts[call->epoch % 2], *before = state->counts[(call->epoch + 1) % 2];
    const write_shape shape = shape_of_writing(problem, out);
    launch<count_8_bits_kernel>(queue_of(call),
                                {.blocks = std::min<uint64_t>(ceil_div(in.packs(), COUNT_THREADS),
                                                              problem->device->multiprocessors),
                                 .threads = COUNT_THREADS,
                                 .traffic = {problem->n},
                                 .shared_bytes = sizeof(counters<uint8_t>)},
                                in, counts);
    launch<write_8_bits_kernel>(queue_of(call),
                                {.blocks = shape.blocks,
                                 .threads = WRITE_THREADS,
                                 .traffic = {problem->n},
                                 .shared_bytes = sizeof(write_layout<uint8_t>),
                                 .overlaps = has_sm_90(problem->device)},
                                out, shape.rows, counts, before, order_of<uint8_t>(problem->type));
}

static void count_and_write(const struct call *call, const packed_array<const uint16_t> &in,
                            const packed_array<uint16_t> &out)
{
    const struct problem *problem = &call->problem;
    const bool overlaps = has_sm_90(problem->device);
    const auto order = order_of<uint16_t>(problem->type);
    auto *state = static_cast<state_of_16_bits *>(call->scratch);
    auto *rows = reinterpret_cast<counters<uint16_t> *>(static_cast<char *>(call->scratch) +
                                                        next_place(sizeof *state));
    const unsigned count = row_count(problem);
    const uint64_t bytes = problem->n * sizeof(uint16_t), row_bytes = count * sizeof *rows;
    const write_shape shape = shape_of_writing(problem, out);
    launch<count_16_bits_kernel>(queue_of(call),
                                 {.blocks = count,
                                  .threads = COUNT_THREADS,
                                  .traffic = {bytes + row_bytes},
                                  .shared_bytes = sizeof *rows},
                                 in, state, rows);
    launch<sum_16_bits_kernel>(queue_of(call),
                               {.blocks = PAGES_OF_WORDS,
                                .threads = SUM_THREADS,
                                .traffic = {row_bytes},
                                .shared_bytes = sizeof(sum_layout),
                                .overlaps = overlaps},
                               state, rows, count, order);
    launch<write_16_bits_kernel>(queue_of(call),
                                 {.blocks = shape.blocks,
                                  .threads = WRITE_THREADS,
                                  .traffic = {bytes},
                                  .shared_bytes = sizeof(write_layout<uint16_t>),
                                  .overlaps = overlaps},
                                 out, shape.rows, state, order);
}

template <class Key> static void sort(const struct call *call)
{
    const uint64_t n = call->problem.n;
    if (n > 0)
        count_and_write(call, packed(static_cast<const Key *>(call->input), n),
                        packed(static_cast<Key *>(call->output), n));
}

static void run(const struct call *call)
{
    if (element_bytes(call->problem.type) == sizeof(uint8_t))
        sort<uint8_t>(call);
    else
        sort<uint16_t>(call);
}

} // namespace counting_sort

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(sort_counting) = {
    .name = "counting",
    .op = OP_SORT,
    .family = FAMILY_OWN,
    .traits = TRAIT_UNALIGNED | TRAIT_IN_PLACE,
    .narrow_key_types = TYPES_OF_NARROW_KEYS,
    .summary = "keys of 8 and 16 bits: counts values, and writes each as often",
    .source = "Seward 1954",
    .supports = SCANBENCH_BACKEND::counting_sort::supports,
    .scratch_bytes = SCANBENCH_BACKEND::counting_sort::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::counting_sort::prepare,
    .run = SCANBENCH_BACKEND::counting_sort::run,
};
