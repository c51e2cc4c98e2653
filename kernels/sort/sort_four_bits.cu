/* sort_four_bits: radix sort, four bits per pass, written in runs.
 * Source:  Satish, Harris and Garland, "Designing efficient sorting algorithms for
 *          manycore GPUs", IPDPS 2009.
 * Work:    O(n) per pass, a pass for each four bits in which any two keys differ.
 * Depth:   per pass, four splits of a tile, the scan of the counts, and a scatter.
 * DRAM:    n read once to find the bits; then 4n per pass, and 16 counts per tile.
 * Shared:  a tile of keys and one of values.
 * Relies:  on passes being stable: a split keeps the order of keys with the same bit.
 *
 *   1. A block sorts its tile by the digit in shared memory, one bit after the other, writes it,
 *      and counts its digits.
 *   2. The counts are scanned: first those of digit 0 in all tiles, then those of digit 1, and so
 *      on. The result says where each tile's keys of each digit go.
 *   3. The sorted tiles are read again, and each run of keys with one digit goes there.
 *
 * Neighbours go to neighbouring places because the tile is sorted first. If all keys share a digit,
 * tiles are not sorted and runs are not written in its pass, and the scan is one of zeros. */
#include "../classic/reduce_then_scan.cuh"
#include "../ping_pong.cuh"
#include "differing_bits.cuh"

namespace SCANBENCH_BACKEND::four_bits
{

enum {
    BITS = 4,
    DIGITS = 1 << BITS,
    THREADS = 256, /* per block */
    KEYS = 4,      /* per thread; they are neighbours */
    TILE = THREADS * KEYS,
    SCAN_BLOCK = 256
};

/* A pass reads the input or, after the first, the output; it leaves sorted tiles in `other`, and
 * the keys in the output. */
template <class Key, class Value> struct arrays {
    three_arrays<Key> keys;
    three_arrays<Value> values;
    uint64_t n;
    key_order<Key> order;
    const unsigned long long *differing; /* the bits of ranks in which any two keys differ */
};

template <class Key> __device__ __forceinline__ unsigned digit_of(Key rank, unsigned shift)
{
    return (unsigned)(rank >> shift) % DIGITS;
}

/* Has the pass work? If no bit differs, the first pass copies. */
__device__ __forceinline__ bool has_work(unsigned long long differing, unsigned shift)
{
    return digit_of(differing, shift) != 0 || (differing == 0 && shift == 0);
}

__device__ __forceinline__ bool is_first(unsigned long long differing, unsigned shift)
{
    return (differing & ((1ull << shift) - 1)) == 0;
}

/* ---- 1. Tiles ---- */

template <class Key, class Value> struct shared_layout {
    Key keys[TILE];
    Value values[HAS_VALUES_OF<Value> ? TILE : 1];
    unsigned warp_totals[THREADS / WARP];
    unsigned starts[DIGITS + 1];
};

/* Sorts a tile by one bit. Keys with a zero come first: their place is the number of zeros before
 * them. */
template <class Key, class Value>
__device__ __forceinline__ void split(shared_layout<Key, Value> *shared, unsigned bit)
{
    Key rank[KEYS];
    Value value[HAS_VALUES_OF<Value> ? KEYS : 1];
    unsigned zeros = 0, all;
    for (unsigned k = 0; k < KEYS; k++) {
        rank[k] = shared->keys[threadIdx.x * KEYS + k];
        if constexpr (HAS_VALUES_OF<Value>)
            value[k] = shared->values[threadIdx.x * KEYS + k];
    }
    for (unsigned k = 0; k < KEYS; k++)
        zeros += (rank[k] >> bit & 1) == 0;
    const unsigned inclusive = warp_inclusive_sum(zeros);
    const unsigned in_warp = __shfl_sync(ALL_LANES, inclusive, WARP - 1);
    unsigned before = block_exclusive_sum(in_warp, shared->warp_totals, &all) + inclusive - zeros;
    __syncthreads(); /* everyone has loaded */
    for (unsigned k = 0; k < KEYS; k++) {
        const bool is_zero = (rank[k] >> bit & 1) == 0;
        const unsigned place = is_zero ? before : all + threadIdx.x * KEYS + k - before;
        before += is_zero;
        shared->keys[place] = rank[k];
        if constexpr (HAS_VALUES_OF<Value>)
            shared->values[place] = value[k];
    }
    __syncthreads();
}

/* Finds where each digit begins in the sorted tile. */
template <class Key, class Value>
__device__ __forceinline__ void find_starts(shared_layout<Key, Value> *shared, unsigned count,
                                            unsigned shift)
{
    for (unsigned i = threadIdx.x; i <= count; i += THREADS) {
        const unsigned begin = i == 0 ? 0 : digit_of(shared->keys[i - 1], shift) + 1;
        const unsigned end = i == count ? (unsigned)DIGITS : digit_of(shared->keys[i], shift);
        for (unsigned d = begin; d <= end; d++)
            shared->starts[d] = i;
    }
    __syncthreads();
}

/* Loads a tile. Keys past the end have the highest rank, and stay last. */
template <class Key, class Value>
__device__ __forceinline__ void load_tile(shared_layout<Key, Value> *shared,
                                          const arrays<Key, Value> &arrays, bool is_first,
                                          uint64_t first, unsigned count)
{
    const Key *from = is_first ? arrays.keys.in : arrays.keys.out;
    for (unsigned i = threadIdx.x; i < TILE; i += THREADS)
        shared->keys[i] = i < count ? arrays.order(from[first + i]) : Key(~Key(0));
    if constexpr (HAS_VALUES_OF<Value>) {
        const Value *values = is_first ? arrays.values.in : arrays.values.out;
        for (unsigned i = threadIdx.x; i < count; i += THREADS)
            shared->values[i] = values[first + i];
    }
    __syncthreads();
}

template <class Key, class Value>
__global__ void __launch_bounds__(THREADS)
    sort_tile_kernel(arrays<Key, Value> arrays, unsigned shift, uint64_t *counts)
{
    auto *shared = shared_memory<shared_layout<Key, Value>>();
    const unsigned long long differing = *arrays.differing;
    uint64_t *its_counts = counts + (uint64_t)threadIdx.x * gridDim.x + blockIdx.x;
    if (!has_work(differing, shift)) {
        if (threadIdx.x < DIGITS) /* the counts are scanned nevertheless */
            *its_counts = 0;
        return;
    }
    const uint64_t first = (uint64_t)blockIdx.x * TILE;
    const auto count = (unsigned)min(arrays.n - first, (uint64_t)TILE);
    load_tile(shared, arrays, is_first(differing, shift), first, count);
    for (unsigned bit = shift; bit < shift + BITS; bit++)
        split(shared, bit);
    find_starts(shared, count, shift);
    for (unsigned i = threadIdx.x; i < count; i += THREADS) {
        arrays.keys.other[first + i] = shared->keys[i];
        if constexpr (HAS_VALUES_OF<Value>)
            arrays.values.other[first + i] = shared->values[i];
    }
    if (threadIdx.x < DIGITS)
        *its_counts = shared->starts[threadIdx.x + 1] - shared->starts[threadIdx.x];
}

/* ---- 3. Runs ---- */

template <class Key, class Value>
__global__ void __launch_bounds__(THREADS)
    scatter_runs_kernel(arrays<Key, Value> arrays, unsigned shift, const uint64_t *places)
{
    if (!has_work(*arrays.differing, shift))
        return;
    auto *shared = shared_memory<shared_layout<Key, Value>>();
    const uint64_t first = (uint64_t)blockIdx.x * TILE;
    const auto count = (unsigned)min(arrays.n - first, (uint64_t)TILE);
    for (unsigned i = threadIdx.x; i < count; i += THREADS)
        shared->keys[i] = arrays.keys.other[first + i];
    __syncthreads();
    find_starts(shared, count, shift);
    for (unsigned i = threadIdx.x; i < count; i += THREADS) {
        const Key rank = shared->keys[i];
        const unsigned digit = digit_of(rank, shift);
        const uint64_t place =
            places[(uint64_t)digit * gridDim.x + blockIdx.x] + i - shared->starts[digit];
        arrays.keys.out[place] = arrays.order.inverse(rank);
        if constexpr (HAS_VALUES_OF<Value>)
            arrays.values.out[place] = arrays.values.other[first + i];
    }
}

/* ---- the host's side ---- */

struct scratch {
    void *keys, *values; /* the other arrays */
    unsigned long long *differing;
    uint64_t *counts, *totals; /* digits of tiles, and what their scan needs */
    uint64_t tiles;
};

static scratch lay_out(const struct problem *problem, allocator *memory)
{
    scratch scratch = {.tiles = ceil_div(problem->n, TILE)};
    struct problem counts = {};
    counts.type = TYPE_U64;
    counts.n = DIGITS * scratch.tiles;
    scratch.keys = memory->get<char>(problem->n * element_bytes(problem->type));
    scratch.values = memory->get<char>(problem->n * value_bytes(problem->values));
    scratch.differing = memory->get<unsigned long long>(1);
    scratch.counts = memory->get<uint64_t>(counts.n);
    scratch.totals =
        (uint64_t *)memory->get<char>(reduce_then_scan::level_bytes(&counts, SCAN_BLOCK));
    return scratch;
}

static void scan_counts(const struct call *call, const scratch &scratch)
{
    const uint64_t n = DIGITS * scratch.tiles;
    reduce_then_scan::reduce_levels<uint64_t, SCAN_BLOCK>(queue_of(call), scratch.counts,
                                                          scratch.totals, n);
    reduce_then_scan::scan_levels<uint64_t, SCAN_BLOCK>(
        queue_of(call), scratch.counts, scratch.counts, scratch.totals, n, KIND_EXCLUSIVE);
}

template <class Key, class Value> static void sort(const struct call *call)
{
    const struct problem *problem = &call->problem;
    const scratch scratch = scratch_of<lay_out>(call);
    const arrays<Key, Value> arrays = {keys_of<Key>(call, scratch.keys),
                                       values_of<Value>(call, scratch.values), problem->n,
                                       order_of<Key>(problem->type), scratch.differing};
    const launch_shape each_tile = {
        .blocks = scratch.tiles,
        .threads = THREADS,
        .traffic = {2 * problem->n * (sizeof(Key) + value_bytes(problem->values))},
        .shared_bytes = sizeof(shared_layout<Key, Value>)};
    find_differing_bits<Key>(call, THREADS, scratch.differing);
    for (unsigned shift = 0; shift < 8 * sizeof(Key); shift += BITS) {
        launch<sort_tile_kernel<Key, Value>>(queue_of(call), each_tile, arrays, shift,
                                             scratch.counts);
        scan_counts(call, scratch);
        launch<scatter_runs_kernel<Key, Value>>(queue_of(call), each_tile, arrays, shift,
                                                scratch.counts);
    }
}

static void run(const struct call *call)
{
    if (call->problem.n == 0)
        return;
    with_types_of(&call->problem, [=]<class Key, class Value>() { sort<Key, Value>(call); });
}

} // namespace SCANBENCH_BACKEND::four_bits

ALGORITHM_DESCRIPTOR(sort_four_bits) = {
    .name = "four-bits",
    .op = OP_SORT,
    .family = FAMILY_OWN,
    .traits = TRAIT_PAIRS | TRAIT_STABLE,
    .summary = "four bits per pass: tiles are sorted, then written in runs",
    .source = "Satish, Harris and Garland 2009",
    .scratch_bytes = SCANBENCH_BACKEND::bytes_laid_out<SCANBENCH_BACKEND::four_bits::lay_out>,
    .run = SCANBENCH_BACKEND::four_bits::run,
};
