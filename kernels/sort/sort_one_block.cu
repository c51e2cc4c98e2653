/* sort_one_block: stable radix sort of what one block holds, of keys or of keys with values.
 * Source:  Merrill and Grimshaw, "High performance and scalable radix sorting", Parallel
 *          Processing Letters 21(2), 2011: the sort within a block.
 * Work:    O(n) per pass of 8 bits, a pass for each byte in which any two keys differ.
 * Depth:   per pass, one row of 32 keys after the other in each warp, and a scan of the counts.
 * DRAM:    n read and n written, once.
 * Shared:  counters for each warp, and the keys and values in the order of the last pass.
 *
 * Nothing leaves the block between two passes, so that a pass takes about a microsecond, where a
 * launch alone takes longer. One multiprocessor of many is at work, though: more keys are sorted
 * faster by several blocks. */
#include "../key_order.cuh"
#include "../ping_pong.cuh"
#include "radix_rank.cuh"

namespace SCANBENCH_BACKEND::one_block
{

enum { BITS = 8, DIGITS = 1 << BITS, THREADS = 1024, WARPS = THREADS / WARP };

/* The most elements of a thread: as many as 64 registers hold beside their places. */
template <class Key, class Value>
constexpr unsigned MOST = HAS_VALUES_OF<Value> || sizeof(Key) == 8 ? 8 : 16;

template <class Key, class Value> struct arrays {
    const Key *keys;
    Key *sorted_keys;
    const Value *values;
    Value *sorted_values;
    unsigned n, rows; /* rows: elements of a thread that are in use */
};

/* The beginning of the dynamic shared memory. The keys follow it, and then the values. */
struct shared_layout {
    warp_counts<WARPS, DIGITS> counts;
    unsigned warp_totals[WARPS];
};

/* Bytes of shared memory for rows of THREADS elements. */
template <class Key, class Value> constexpr size_t shared_bytes(unsigned rows)
{
    const size_t value = HAS_VALUES_OF<Value> ? sizeof(Value) : 0;
    return sizeof(shared_layout) + (size_t)rows * THREADS * (sizeof(Key) + value);
}

/* The block's elements: each thread has one of each row in use. */
template <class Key, class Value> struct held {
    static constexpr unsigned ROWS = MOST<Key, Value>;
    Key rank[ROWS];
    [[no_unique_address]] std::conditional_t<HAS_VALUES_OF<Value>, Value[ROWS], no_value> value;

    /* The place of an element. A warp has neighbours, row by row, and ranks them in this order. */
    static __device__ __forceinline__ unsigned index(unsigned row, unsigned rows)
    {
        return (threadIdx.x / WARP * rows + row) * WARP + lane_index();
    }

    /* Loads keys and values. Keys past the end have the highest rank and come last. Returns the
     * bits in which keys differ from the first. */
    __device__ __forceinline__ Key load(const arrays<Key, Value> &of, const key_order<Key> &order)
    {
        Key varying = 0;
        const Key first = order(of.keys[0]);
#pragma unroll
        for (unsigned k = 0; k < ROWS; k++) {
            const unsigned i = index(k, of.rows);
            const bool is_there = k < of.rows && i < of.n;
            rank[k] = is_there ? order(of.keys[i]) : Key(~Key(0));
            varying |= is_there ? rank[k] ^ first : 0;
            if constexpr (HAS_VALUES_OF<Value>)
                value[k] = is_there ? of.values[i] : Value(0);
        }
        return varying;
    }

    __device__ __forceinline__ void store(const arrays<Key, Value> &of,
                                          const key_order<Key> &order) const
    {
#pragma unroll
        for (unsigned k = 0; k < ROWS; k++) {
            const unsigned i = index(k, of.rows);
            if (k < of.rows && i < of.n) {
                of.sorted_keys[i] = order.inverse(rank[k]);
                if constexpr (HAS_VALUES_OF<Value>)
                    of.sorted_values[i] = value[k];
            }
        }
    }
};

/* Sorts by one digit. A warp's counters begin with zero, so its ranks are among its own keys. The
 * counts of all warps then say where these keys start. */
template <class Key, class Value>
__device__ __forceinline__ void sort_by_digit(held<Key, Value> *mine, unsigned rows, unsigned pass,
                                              shared_layout *shared, Key *keys, Value *values)
{
    constexpr unsigned ROWS = held<Key, Value>::ROWS;
    unsigned *own = shared->counts.of_warp[threadIdx.x / WARP];
    clear_counters<DIGITS>(own);
    __syncwarp();
    unsigned place[ROWS];
#pragma unroll
    for (unsigned k = 0; k < ROWS; k++)
        if (k < rows)
            place[k] = rank_in_warp<BITS>(digit_of<BITS>(mine->rank[k], pass), own);
    __syncthreads();
    starts_of_digits(&shared->counts, shared->warp_totals, [](unsigned) {});
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < ROWS; k++)
        if (k < rows) {
            const unsigned to = place[k] + own[digit_of<BITS>(mine->rank[k], pass)];
            keys[to] = mine->rank[k];
            if constexpr (HAS_VALUES_OF<Value>)
                values[to] = mine->value[k];
        }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < ROWS; k++)
        if (k < rows) {
            mine->rank[k] = keys[mine->index(k, rows)];
            if constexpr (HAS_VALUES_OF<Value>)
                mine->value[k] = values[mine->index(k, rows)];
        }
}

template <class Key, class Value>
__global__ void __launch_bounds__(THREADS)
    one_block_kernel(const __grid_constant__ arrays<Key, Value> arrays,
                     const __grid_constant__ key_order<Key> order)
{
    auto *shared = shared_memory<shared_layout>();
    auto *keys = reinterpret_cast<Key *>(shared + 1);
    auto *values = reinterpret_cast<Value *>(keys + arrays.rows * THREADS);
    held<Key, Value> mine;
    const Key varying = mine.load(arrays, order);
    for (unsigned pass = 0; pass < sizeof(Key); pass++)
        if (__syncthreads_or(digit_of<BITS>(varying, pass) != 0))
            sort_by_digit(&mine, arrays.rows, pass, shared, keys, values);
    mine.store(arrays, order);
}

/* ---- the host's side ---- */

static unsigned rows_for(const struct problem *problem)
{
    return (unsigned)ceil_div(problem->n, THREADS);
}

static const char *supports(const struct problem *problem)
{
    return with_all_types_of(problem, [&]<class Key, class Value>() -> const char * {
        if (problem->n > MOST<Key, Value> * THREADS)
            return "sorts no more keys than one block holds: others do";
        if (shared_bytes<Key, Value>(rows_for(problem)) > problem->device->shared_bytes_per_block)
            return "needs more shared memory than this device gives a block";
        return nullptr;
    });
}

template <class Key, class Value> static void sort(const struct call *call)
{
    const uint64_t n = call->problem.n;
    const unsigned rows = rows_for(&call->problem);
    const arrays<Key, Value> arrays = {.keys = static_cast<const Key *>(call->input),
                                       .sorted_keys = static_cast<Key *>(call->output),
                                       .values = static_cast<const Value *>(call->input_values),
                                       .sorted_values = static_cast<Value *>(call->output_values),
                                       .n = (unsigned)n,
                                       .rows = rows};
    launch<one_block_kernel<Key, Value>>(
        queue_of(call),
        {.blocks = rows > 0,
         .threads = THREADS,
         .traffic = {2 * n * (sizeof(Key) + value_bytes(call->problem.values))},
         .shared_bytes = shared_bytes<Key, Value>(rows)},
        arrays, order_of<Key>(call->problem.type));
}

static void run(const struct call *call)
{
    with_all_types_of(&call->problem, [&]<class Key, class Value>() { sort<Key, Value>(call); });
}

} // namespace SCANBENCH_BACKEND::one_block

ALGORITHM_DESCRIPTOR(sort_one_block) = {
    .name = "one-block",
    .op = OP_SORT,
    .family = FAMILY_OWN,
    .traits = TRAIT_PAIRS | TRAIT_STABLE | TRAIT_UNALIGNED | TRAIT_IN_PLACE,
    .narrow_key_types = TYPES_OF_NARROW_KEYS,
    .summary = "least significant digit first, 8 bits per pass, all within one block",
    .source = "after Merrill and Grimshaw 2011",
    .supports = SCANBENCH_BACKEND::one_block::supports,
    .run = SCANBENCH_BACKEND::one_block::run,
};
