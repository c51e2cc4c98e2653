/* sort_counting: counting sort of keys of 8 and 16 bits. Equal keys cannot be told apart, so none
 * is moved: it counts how often each value occurs, and writes it as often. One block does so for
 * few keys (counting_block.cuh), except for up to 2^13 of 16 bits, which it sorts
 * (narrow_leaf.cuh).
 * Source:  Seward 1954, in Knuth, The Art of Computer Programming 3, section 5.2: distribution
 *          counting.
 * Work:    O(n + values). Depth: O(n / threads + log values).
 * DRAM:    one read, one write. 16 bits: also 128 KiB per block that counts, which stay in the L2.
 * Shared:  the counters of a block: 32 KiB for 8 bits, 128 KiB for 16.
 *
 * Counters belong to the bits of keys as they are stored. From their sums on, values are in the
 * order of their ranks. A bin is what the first byte of a rank selects: one value of 8 bits, or a
 * page of 256 values of 16 bits. */
#include "counting_block.cuh"
#include "narrow_leaf.cuh"
#include "policy.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND::counting_sort
{

enum {
    PAGES_OF_WORDS = WORDS_OF_16_BITS / PAGE,

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
    MOST_ROWS = 4
};

/* ---- 8 bits: count, write ---- */

/* Calls take turns: one counts in a set of counters, and clears the set of the call before. */
struct state_of_8_bits {
    unsigned long long counts[2][BINS];
};

__global__ void __launch_bounds__(COUNT_THREADS, 1)
    count_8_bits_kernel(const __grid_constant__ packed_array<const uint8_t> in,
                        unsigned long long *counts)
{
    auto *table = shared_memory<counters<uint8_t>>();
    let_next_launch_begin();
    clear_packs(table);
    __syncthreads();
    count_keys(in, table, nullptr);
    __syncthreads();
    constexpr unsigned MINE = BINS / COUNT_WARPS;
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

__global__ void LAUNCH_BOUNDS(WRITE_THREADS, WRITE_BLOCKS)
    write_8_bits_kernel(const __grid_constant__ packed_array<uint8_t> out, unsigned rows,
                        const unsigned long long *counts, unsigned long long *counts_before,
                        const __grid_constant__ key_order<uint8_t> order)
{
    auto *shared = shared_memory<write_layout<uint8_t>>();
    clear_packs(&shared->marks);
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

/* ---- few keys: in one block ---- */

/* Still fewer keys of 16 bits are sorted sooner by bins of some values each than by counting. */
constexpr launch_policy LEAF = {.threads = 1024, .blocks = 1, .keys = 8};
using leaf_agent = leaf_sort::narrow_agent<LEAF.threads, LEAF.keys>;

__global__ void __launch_bounds__(LEAF.threads)
    sort_leaf_kernel(const uint16_t *in, uint16_t *out, unsigned n,
                     const __grid_constant__ key_order<uint16_t> order)
{
    shared_memory<leaf_agent>()->sort(in, n, out, order);
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
    clear_packs(table);
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

__global__ void LAUNCH_BOUNDS(WRITE_THREADS, WRITE_BLOCKS)
    write_16_bits_kernel(const __grid_constant__ packed_array<uint16_t> out, unsigned rows,
                         const state_of_16_bits *state,
                         const __grid_constant__ key_order<uint16_t> order)
{
    auto *shared = shared_memory<write_layout<uint16_t>>();
    clear_packs(&shared->marks);
    wait_for_launch_before();
    find_starts(&shared->starts, threadIdx.x < BINS ? state->pages[threadIdx.x] : 0);
    write_tiles(out, rows, shared->marks[0], &shared->starts, order, pages_of_state{state});
}

/* ---- the host's side ---- */

static bool is_narrow(const struct problem *problem)
{
    return TYPES_OF_NARROW_KEYS >> problem->type & 1;
}

/* Calls f with the unsigned integer that is as wide as the narrow keys. */
template <class Function> static auto with_narrow_key(const struct problem *problem, Function f)
{
    return element_bytes(problem->type) == sizeof(uint8_t) ? f.template operator()<uint8_t>()
                                                           : f.template operator()<uint16_t>();
}

/* The most keys that one block sorts soonest by counting them. Those of 16 bits must not wrap a
 * counter. */
template <class Key> constexpr uint64_t FEW = sizeof(Key) == 1 ? 1 << 14 : 1 << 15;

enum way { BY_BINS, BY_BLOCK, BY_BLOCKS };

/* How the keys are sorted. Where one block cannot have the shared memory, several count them. */
template <class Key> static way way_of(const struct problem *problem)
{
    if (sizeof(Key) == sizeof(uint16_t) && problem->n <= LEAF.tile())
        return BY_BINS;
    const bool fit = block_layout<Key>::bytes(problem) <= problem->device->shared_bytes_per_block;
    return problem->n <= FEW<Key> && fit ? BY_BLOCK : BY_BLOCKS;
}

template <class Key> static size_t shared_bytes(const struct problem *problem)
{
    switch (way_of<Key>(problem)) {
    case BY_BINS:
        return sizeof(leaf_agent);
    case BY_BLOCK:
        return block_layout<Key>::bytes(problem);
    default:
        return std::max(sizeof(counters<Key>), sizeof(write_layout<Key>));
    }
}

static const char *supports(const struct problem *problem)
{
    return with_narrow_key(problem, [&]<class Key>() -> const char * {
        return problem->device->shared_bytes_per_block < shared_bytes<Key>(problem)
                   ? "needs more shared memory than this device gives a block"
                   : nullptr;
    });
}

/* Blocks that count keys of 16 bits, one per multiprocessor at most. */
static unsigned row_count(const struct problem *problem)
{
    return (unsigned)std::min<uint64_t>(ceil_div(problem->n, KEYS_OF_A_ROW),
                                        problem->device->multiprocessors);
}

template <class Key> static size_t scratch_of_blocks(const struct problem *problem)
{
    if (way_of<Key>(problem) != BY_BLOCKS)
        return 0;
    if (sizeof(Key) == sizeof(uint8_t))
        return sizeof(state_of_8_bits);
    return next_place(sizeof(state_of_16_bits)) + row_count(problem) * sizeof(counters<uint16_t>);
}

static size_t scratch_bytes(const struct problem *problem)
{
    return is_narrow(problem)
               ? with_narrow_key(problem,
                                 [&]<class Key>() { return scratch_of_blocks<Key>(problem); })
               : 0;
}

static void prepare(const struct call *call)
{
    const size_t cleared = element_bytes(call->problem.type) == sizeof(uint8_t)
                               ? sizeof(state_of_8_bits)
                               : sizeof(state_of_16_bits::carried);
    if (call->scratch_bytes > 0)
        clear(call, call->scratch, cleared);
}

/* Launches the kernel that writes. Each warp has as many rows as keep all blocks busy. */
template <auto Kernel, class Key, class... Arguments>
static void write(const struct call *call, const packed_array<Key> &out, Arguments... arguments)
{
    const struct device_limits *device = call->problem.device;
    const uint64_t rows = ceil_div(out.pack_count(), WARP);
    const uint64_t most_blocks = (uint64_t)WRITE_BLOCKS * device->multiprocessors;
    const auto each =
        (unsigned)std::clamp<uint64_t>(rows / (most_blocks * WRITE_WARPS), 1, MOST_ROWS);
    launch<Kernel>(queue_of(call),
                   {.blocks = std::min(ceil_div(rows, each * WRITE_WARPS), most_blocks),
                    .threads = WRITE_THREADS,
                    .traffic = {call->problem.n * sizeof(Key)},
                    .shared_bytes = sizeof(write_layout<Key>),
                    .overlaps = has_sm_90(device)},
                   out, each, arguments..., order_of<Key>(call->problem.type));
}

static void count_and_write(const struct call *call, const packed_array<const uint8_t> &in,
                            const packed_array<uint8_t> &out)
{
    const struct problem *problem = &call->problem;
    auto *state = static_cast<state_of_8_bits *>(call->scratch);
    auto *counts = state->counts[call->epoch % 2], *before = state->counts[(call->epoch + 1) % 2];
    launch<count_8_bits_kernel>(
        queue_of(call),
        {.blocks = std::min<uint64_t>(ceil_div(in.pack_count(), COUNT_THREADS),
                                      problem->device->multiprocessors),
         .threads = COUNT_THREADS,
         .traffic = {problem->n},
         .shared_bytes = sizeof(counters<uint8_t>)},
        in, counts);
    write<write_8_bits_kernel>(call, out, counts, before);
}

static void count_and_write(const struct call *call, const packed_array<const uint16_t> &in,
                            const packed_array<uint16_t> &out)
{
    const struct problem *problem = &call->problem;
    auto *state = static_cast<state_of_16_bits *>(call->scratch);
    auto *rows = reinterpret_cast<counters<uint16_t> *>(static_cast<char *>(call->scratch) +
                                                        next_place(sizeof *state));
    const unsigned count = row_count(problem);
    const uint64_t bytes = problem->n * sizeof(uint16_t), row_bytes = count * sizeof *rows;
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
                                .overlaps = has_sm_90(problem->device)},
                               state, rows, count, order_of<uint16_t>(problem->type));
    write<write_16_bits_kernel>(call, out, state);
}

/* Sorts few keys, by one block. */
template <auto Kernel, class Key, class... Arguments>
static void sort_few(const struct call *call, unsigned threads, Arguments... arguments)
{
    const uint64_t n = call->problem.n;
    launch<Kernel>(queue_of(call),
                   {.blocks = n > 0,
                    .threads = threads,
                    .traffic = {2 * n * sizeof(Key)},
                    .shared_bytes = shared_bytes<Key>(&call->problem)},
                   arguments..., order_of<Key>(call->problem.type));
}

template <class Key> static void sort(const struct call *call)
{
    const uint64_t n = call->problem.n;
    const auto *from = static_cast<const Key *>(call->input);
    auto *to = static_cast<Key *>(call->output);
    const packed_array in(from, 0, n);
    const packed_array out(to, 0, n);
    const way way = way_of<Key>(&call->problem);
    if constexpr (sizeof(Key) == sizeof(uint16_t))
        if (way == BY_BINS)
            return sort_few<sort_leaf_kernel, Key>(call, LEAF.threads, from, to, (unsigned)n);
    if (way == BY_BLOCK)
        sort_few<sort_in_block_kernel<Key>, Key>(call, BLOCK_THREADS<Key>, in, out);
    else
        count_and_write(call, in, out);
}

static void run(const struct call *call)
{
    with_narrow_key(&call->problem, [&]<class Key>() { sort<Key>(call); });
}

} // namespace SCANBENCH_BACKEND::counting_sort

ALGORITHM_DESCRIPTOR(sort_counting) = {
    .name = "counting",
    .op = OP_SORT,
    .family = FAMILY_OWN,
    .traits = TRAIT_NARROW_KEYS_ONLY | TRAIT_UNALIGNED | TRAIT_IN_PLACE,
    .narrow_key_types = TYPES_OF_NARROW_KEYS,
    .summary = "keys of 8 and 16 bits: counts values, and writes each as often",
    .source = "Seward 1954",
    .supports = SCANBENCH_BACKEND::counting_sort::supports,
    .scratch_bytes = SCANBENCH_BACKEND::counting_sort::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::counting_sort::prepare,
    .run = SCANBENCH_BACKEND::counting_sort::run,
};
