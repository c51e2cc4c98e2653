/* sort_onesweep: stable radix sort, 8 bits a pass, each pass one read and one write.
 * Source:  Adinets and Merrill, "Onesweep: a faster least significant digit radix sort
 *          for GPUs", arXiv:2206.01784, 2022.
 * Work:    O(n) per pass, a pass for each byte in which any two keys differ.
 * Depth:   per pass, the look-back over the tiles.
 * DRAM:    n read once for the histograms; 2n per pass, and 2 KiB of status per tile.
 * Shared:  counters for each warp; then the tile's keys in the order of their digits.
 * Relies:  on every earlier tile being under way: tickets, not blockIdx; on passes being
 *          stable: ranks come from ballots, never from the order of atomics.
 *
 *   1. One launch counts all digits of all keys. Its last block finds out which passes have
 *      work, and between which arrays they move the keys so that the last one ends in the
 *      output. A pass without work ends at once.
 *   2. In a pass, a block ranks the keys of a tile by digit, publishes the counts of its
 *      digits, and finds by look-back how many keys of each digit lie in the tiles before.
 *   3. It sorts its keys by digit in shared memory, and writes a run for each digit.
 *
 * A launch sorts a portion of at most 2^27 keys, so that statuses need little memory and
 * counts of 32 bits. Its last tile says where the digits of the next portion go. */
#include "key_order.cuh"
#include "radix_rank.cuh"
#include "tile_status.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND
{

namespace onesweep
{

enum {
    BITS = 8,
    DIGITS = 1 << BITS,
    THREADS = 512, /* per block */
    WARPS = THREADS / WARP,
    BLOCKS = 2,           /* per multiprocessor */
    KEY_BYTES = 80,       /* of keys per thread */
    PORTION_TILES = 8192, /* and of the status of each, 2 KiB */
    HISTOGRAM_KEYS = 4    /* a thread has so many loads in flight */
};

template <class Key> constexpr unsigned PASSES = 8 * sizeof(Key) / BITS;
template <class Key> constexpr unsigned KEYS = KEY_BYTES / sizeof(Key); /* per thread */
template <class Key> constexpr unsigned TILE = THREADS *KEYS<Key>;

template <class Key> __device__ __forceinline__ unsigned digit_of(Key rank, unsigned pass)
{
    return (unsigned)(rank >> (BITS * pass)) % DIGITS;
}

/* What the first launch finds out for the passes, in scratch. Zero before the first call;
 * each call leaves zero what it adds to. */
struct plan {
    enum { MOST_PASSES = 8, IDLE = 0xFF };
    unsigned long long counts[MOST_PASSES][DIGITS];
    /* Where the keys of a digit go, for portions of even and of odd number. */
    unsigned long long starts[MOST_PASSES][2][DIGITS];
    unsigned tickets[MOST_PASSES];
    unsigned position[MOST_PASSES]; /* among the passes with work, or IDLE */
    unsigned working;               /* passes with work */
    unsigned blocks_done;
};

/* The arrays: the input is read by the first pass with work, and never written. */
template <class Key> struct arrays {
    const Key *in;
    Key *out, *other;
    uint64_t n;
    key_order<Key> order;
};

/* ---- 1. Counting ---- */

/* Adds one to the counter of each lane's digit. Lanes that all agree add once. */
__device__ __forceinline__ void count_digit(unsigned *counts, unsigned digit)
{
    const unsigned first = __shfl_sync(ALL_LANES, digit, 0);
    if (!__all_sync(ALL_LANES, digit == first))
        atomicAdd(&counts[digit], 1u);
    else if (lane_index() == 0)
        atomicAdd(&counts[digit], (unsigned)WARP);
}

/* The last block's work: thread d < DIGITS turns the counts of digit d into starts. */
template <class Key> __device__ void make_plan(plan *plan, uint64_t n, unsigned *shared)
{
    auto *totals = reinterpret_cast<unsigned long long *>(shared);
    unsigned working = 0;
    for (unsigned pass = 0; pass < PASSES<Key>; pass++) {
        const unsigned digit = threadIdx.x;
        unsigned long long count = 0;
        if (digit < DIGITS) {
            count = __ldcg(&plan->counts[pass][digit]);
            plan->counts[pass][digit] = 0;
        }
        const bool idle = __syncthreads_or(count == n);
        const unsigned long long inclusive = warp_inclusive_sum(count);
        if (lane_index() == WARP - 1)
            totals[threadIdx.x / WARP] = inclusive;
        __syncthreads();
        if (digit < DIGITS)
            plan->starts[pass][0][digit] =
                sum_of_first(threadIdx.x / WARP, totals) + inclusive - count;
        if (threadIdx.x == 0) {
            plan->position[pass] = idle ? (unsigned)plan::IDLE : working;
            plan->tickets[pass] = 0;
        }
        working += !idle;
    }
    if (threadIdx.x == 0) {
        plan->working = working;
        plan->blocks_done = 0;
    }
}

template <class Key>
__global__ void __launch_bounds__(THREADS)
    digit_histogram_kernel(const Key *in, uint64_t n, key_order<Key> order, plan *plan)
{
    unsigned *counts = shared_memory<unsigned>();
    for (unsigned d = threadIdx.x; d < PASSES<Key> * DIGITS; d += THREADS)
        counts[d] = 0;
    __syncthreads();
    /* Fewer than 2^32 keys per block: a block's counters have 32 bits. */
    constexpr uint64_t STEP = HISTOGRAM_KEYS * THREADS;
    for (uint64_t i = blockIdx.x * STEP; i < n; i += gridDim.x * STEP) {
        Key rank[HISTOGRAM_KEYS];
#pragma unroll
        for (unsigned k = 0; k < HISTOGRAM_KEYS; k++) {
            const uint64_t at = i + k * THREADS + threadIdx.x;
            rank[k] = at < n ? order(in[at]) : 0;
        }
        if (i + STEP <= n) {
#pragma unroll
            for (unsigned k = 0; k < HISTOGRAM_KEYS; k++)
                for (unsigned pass = 0; pass < PASSES<Key>; pass++)
                    count_digit(counts + pass * DIGITS, digit_of(rank[k], pass));
        } else {
            for (unsigned k = 0; k < HISTOGRAM_KEYS; k++)
                for (unsigned pass = 0; pass < PASSES<Key>; pass++)
                    if (i + k * THREADS + threadIdx.x < n)
                        atomicAdd(&counts[pass * DIGITS + digit_of(rank[k], pass)], 1u);
        }
    }
    __syncthreads();
    for (unsigned d = threadIdx.x; d < PASSES<Key> * DIGITS; d += THREADS)
        if (counts[d] != 0)
            atomicAdd(&plan->counts[d / DIGITS][d % DIGITS], (unsigned long long)counts[d]);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        counts[0] = atomicAdd(&plan->blocks_done, 1u);
    __syncthreads();
    const bool last = counts[0] == gridDim.x - 1;
    __syncthreads();
    if (last) {
        __threadfence();
        make_plan<Key>(plan, n, counts);
    }
}

/* ---- 2. and 3. A pass ---- */

template <class Key> struct shared_layout {
    union {
        warp_counts<WARPS, DIGITS> counts;
        Key keys[TILE<Key>];
    };
    uint64_t destination[DIGITS]; /* of key 0 of the sorted tile, were it of that digit */
    unsigned warp_totals[WARPS];
    unsigned tile;
};

/* The number of keys of a digit in all tiles before, by one thread for each digit. */
__device__ __forceinline__ uint32_t look_back(const tile_status<uint32_t> *status, unsigned tile,
                                              uint32_t generation)
{
    uint32_t before = 0;
    while (tile-- > 0) {
        observation<uint32_t> seen = look_at(&status[tile * DIGITS]);
        while (seen.tag / 2 != generation) {
            spin_wait();
            seen = look_at(&status[tile * DIGITS]);
        }
        before += seen.value;
        if (seen.tag % 2 == 1)
            break;
    }
    return before;
}

/* What a block knows of its portion. */
struct portion {
    unsigned number;
    unsigned first_tile; /* of the portion */
    uint32_t generation; /* tells its statuses from all others */
};

/* Thread d < DIGITS publishes the tile's count of digit d, and finds where its keys go. */
__device__ __forceinline__ void place_digit(unsigned count, unsigned start, plan *plan,
                                            unsigned pass, portion portion, unsigned tile,
                                            tile_status<uint32_t> *statuses, uint64_t *destination)
{
    const unsigned digit = threadIdx.x;
    tile_status<uint32_t> *status = statuses + digit;
    const uint32_t tag = 2 * portion.generation;
    if (tile > 0)
        publish(&status[tile * DIGITS], (uint32_t)count, tag);
    const uint32_t before = look_back(status, tile, portion.generation);
    publish(&status[tile * DIGITS], (uint32_t)(before + count), tag + 1);
    const unsigned long long first = plan->starts[pass][portion.number % 2][digit] + before;
    destination[digit] = first - start;
    if (tile == PORTION_TILES - 1)
        plan->starts[pass][(portion.number + 1) % 2][digit] = first + count;
}

/* Two ranks in one register. */
template <unsigned COUNT> struct packed_ranks {
    unsigned pair[(COUNT + 1) / 2];

    __device__ __forceinline__ void set(unsigned k, unsigned rank)
    {
        pair[k / 2] = k % 2 == 0 ? rank : pair[k / 2] | rank << 16;
    }
    __device__ __forceinline__ unsigned get(unsigned k) const
    {
        return pair[k / 2] >> (16 * (k % 2)) & 0xFFFF;
    }
};

/* Sorts a tile's keys, which the warps hold in rows of 32, by digit into shared->keys. */
template <class Key>
__device__ __forceinline__ void
sort_tile(shared_layout<Key> *shared, const Key *key, plan *plan, unsigned pass, portion portion,
          tile_status<uint32_t> *statuses, const key_order<Key> &order)
{
    const unsigned warp = threadIdx.x / WARP, tile = shared->tile - portion.first_tile;
    unsigned *own = shared->counts.of_warp[warp];
    for (unsigned d = lane_index(); d < DIGITS; d += WARP)
        own[d] = 0;
    __syncwarp();
    packed_ranks<KEYS<Key>> ranks;
#pragma unroll
    for (unsigned k = 0; k < KEYS<Key>; k++)
        ranks.set(k, rank_in_warp<BITS>(digit_of(order(key[k]), pass), own));
    __syncthreads();
    const unsigned count = starts_of_digits(&shared->counts, shared->warp_totals);
    const unsigned start = threadIdx.x < DIGITS ? shared->counts.of_warp[0][threadIdx.x] : 0;
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < KEYS<Key>; k++) {
        const unsigned rank = ranks.get(k) + own[digit_of(order(key[k]), pass)];
        ranks.pair[k / 2] = k % 2 == 0 ? (ranks.pair[k / 2] & 0xFFFF0000) | rank
                                       : (ranks.pair[k / 2] & 0xFFFF) | rank << 16;
    }
    __syncthreads(); /* the keys take the counters' place */
#pragma unroll
    for (unsigned k = 0; k < KEYS<Key>; k++)
        shared->keys[ranks.get(k)] = key[k];
    if (threadIdx.x < DIGITS)
        place_digit(count, start, plan, pass, portion, tile, statuses, shared->destination);
    __syncthreads();
}

/* A tile whose keys have one digit is in order already. */
template <class Key>
__device__ __forceinline__ void copy_tile(shared_layout<Key> *shared, const Key *key, plan *plan,
                                          unsigned pass, portion portion,
                                          tile_status<uint32_t> *statuses, unsigned digit,
                                          uint64_t first, const arrays<Key> &arrays, Key *to)
{
    const unsigned tile = shared->tile - portion.first_tile;
    if (threadIdx.x < DIGITS)
        place_digit(threadIdx.x == digit ? TILE<Key> : 0, 0, plan, pass, portion, tile, statuses,
                    shared->destination);
    __syncthreads();
    const unsigned i = threadIdx.x / WARP * WARP * KEYS<Key> + lane_index();
    const uint64_t destination = shared->destination[digit];
#pragma unroll
    for (unsigned k = 0; k < KEYS<Key>; k++)
        if (first + i + k * WARP < arrays.n)
            to[destination + i + k * WARP] = key[k];
}

template <class Key>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    onesweep_kernel(arrays<Key> arrays, plan *plan, unsigned pass, portion portion,
                    tile_status<uint32_t> *statuses)
{
    auto *shared = shared_memory<shared_layout<Key>>();
    const unsigned position = plan->position[pass], working = plan->working;
    if (position == plan::IDLE && !(working == 0 && pass == 0))
        return;
    if (threadIdx.x == 0)
        shared->tile = atomicAdd(&plan->tickets[pass], 1u);
    __syncthreads();
    const uint64_t first = (uint64_t)shared->tile * TILE<Key>;
    const unsigned in_warp = threadIdx.x / WARP * WARP * KEYS<Key> + lane_index();
    const Key *from = position == 0 || working == 0   ? arrays.in
                      : (working - position) % 2 == 0 ? arrays.out
                                                      : arrays.other;
    Key *to = (working - position) % 2 == 1 || working == 0 ? arrays.out : arrays.other;
    Key key[KEYS<Key>];
    /* What lies past the end is of the highest rank, and comes last. */
#pragma unroll
    for (unsigned k = 0; k < KEYS<Key>; k++) {
        const uint64_t i = first + in_warp + k * WARP;
        key[k] = i < arrays.n ? from[i] : arrays.order.inverse(Key(~Key(0)));
    }
    const unsigned digit = digit_of(arrays.order(from[first]), pass);
    bool agree = true;
#pragma unroll
    for (unsigned k = 0; k < KEYS<Key>; k++)
        agree &= digit_of(arrays.order(key[k]), pass) == digit;
    if (__syncthreads_and(agree))
        return copy_tile(shared, key, plan, pass, portion, statuses, digit, first, arrays, to);
    sort_tile(shared, key, plan, pass, portion, statuses, arrays.order);
    const uint64_t left = arrays.n - first;
    const unsigned count = left < TILE<Key> ? (unsigned)left : TILE<Key>;
    for (unsigned i = threadIdx.x; i < count; i += THREADS) {
        const Key moved = shared->keys[i];
        to[shared->destination[digit_of(arrays.order(moved), pass)] + i] = moved;
    }
}

/* ---- the host's side ---- */

constexpr size_t align(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

inline uint64_t tile_count(const struct problem *problem)
{
    return ceil_div(problem->n, THREADS * KEY_BYTES / element_bytes(problem->type));
}

static size_t keys_bytes(const struct problem *problem)
{
    return align(problem->n * element_bytes(problem->type));
}

/* Scratch: the other array, the plan, and the statuses of a portion. */
static size_t scratch_bytes(const struct problem *problem)
{
    return keys_bytes(problem) + align(sizeof(plan)) +
           std::min<uint64_t>(tile_count(problem), PORTION_TILES) * DIGITS *
               sizeof(tile_status<uint32_t>);
}

static void prepare(const struct call *call)
{
    const size_t keys = keys_bytes(&call->problem);
    succeeded(queue_of(call), "memset",
              cudaMemsetAsync(static_cast<char *>(call->scratch) + keys, 0,
                              scratch_bytes(&call->problem) - keys, queue_of(call)->stream));
}

template <class Key> void sort_keys(const struct call *call)
{
    const struct problem *problem = &call->problem;
    const arrays<Key> arrays = {static_cast<const Key *>(call->input),
                                static_cast<Key *>(call->output), static_cast<Key *>(call->scratch),
                                problem->n, order_of<Key>(problem->type)};
    char *rest = static_cast<char *>(call->scratch) + keys_bytes(problem);
    auto *its_plan = reinterpret_cast<plan *>(rest);
    auto *statuses = reinterpret_cast<tile_status<uint32_t> *>(rest + align(sizeof(plan)));
    const uint64_t key_bytes = problem->n * sizeof(Key);
    const uint64_t blocks = ceil_div(problem->n, HISTOGRAM_KEYS * THREADS);
    const uint64_t resident = 4 * (uint64_t)problem->device->multiprocessors;
    launch<digit_histogram_kernel<Key>>(
        queue_of(call),
        {std::min(blocks, resident), THREADS, {key_bytes}, PASSES<Key> * DIGITS * sizeof(unsigned)},
        arrays.in, problem->n, arrays.order, its_plan);
    const uint64_t tiles = tile_count(problem), portions = ceil_div(tiles, PORTION_TILES);
    for (unsigned pass = 0; pass < PASSES<Key>; pass++)
        for (unsigned p = 0; p < portions; p++) {
            const uint64_t first = (uint64_t)p * PORTION_TILES;
            const auto generation =
                (uint32_t)(((uint64_t)call->epoch * PASSES<Key> + pass) * portions + p);
            const uint64_t in_portion = std::min<uint64_t>(tiles - first, PORTION_TILES);
            launch<onesweep_kernel<Key>>(
                queue_of(call),
                {in_portion, THREADS, {2 * key_bytes / portions}, sizeof(shared_layout<Key>)},
                arrays, its_plan, pass, portion{p, (unsigned)first, generation % 0x80000000u},
                statuses);
        }
}

static void run(const struct call *call)
{
    if (element_bytes(call->problem.type) == 8)
        sort_keys<uint64_t>(call);
    else
        sort_keys<uint32_t>(call);
}

} // namespace onesweep

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(sort_onesweep) = {
    .name = "onesweep",
    .op = OP_SORT,
    .family = FAMILY_OWN,
    .traits = TRAIT_UNALIGNED,
    .summary = "least significant digit first, 8 bits a pass, one read and one write each",
    .source = "Adinets and Merrill 2022, arXiv:2206.01784",
    .scratch_bytes = SCANBENCH_BACKEND::onesweep::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::onesweep::prepare,
    .run = SCANBENCH_BACKEND::onesweep::run,
};
