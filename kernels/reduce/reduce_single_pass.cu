/* reduce_single_pass: one launch; the block that finishes last adds up all totals.
 * Source:  the threadFenceReduction sample of the CUDA toolkit for the last block;
 *          Luitjens, "Faster parallel reductions on Kepler", 2014, for the warps.
 * Work:    O(n). Depth: O(n / threads + log threads).
 * DRAM:    one read, 16 bytes per access; one total per block.
 * Shared:  warp_totals[32], last.
 * Order of additions: fixed by n, the block size and the number of multiprocessors.
 * Relies:  on a fence between a block's total and its ticket: the block with the
 *          last ticket sees all totals. No block waits for another. */
#include "../pack.cuh"
#include "../warp.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND
{

/* Loads in flight per thread. */
constexpr unsigned PACKS = 4;

template <class T> struct shared_layout {
    T warp_totals[1024 / WARP];
    bool last; /* this block is the last of the call to store its total */
};

/* Counts finished blocks over all calls since prepare(); never reset. */
using ticket_counter = unsigned;

/* Sums PACKS rows, one pack per row for this thread, from `first` on; all loads are issued before
 * the first is used. FULL: the array has them all. Otherwise packs that it cuts off are left out,
 * and the array's first pack is loaded in their place; it must have one. */
template <bool FULL, class T>
__device__ __forceinline__ sum_of<T> sum_of_rows(const T *in, uint64_t first, uint64_t row,
                                                 uint64_t n)
{
    constexpr unsigned WIDTH = PACK_WIDTH<T>;
    const auto there = [&](unsigned p) { return FULL || first + p * row + WIDTH <= n; };
    pack<T, WIDTH> x[PACKS];
#pragma unroll
    for (unsigned p = 0; p < PACKS; p++)
        x[p] = *reinterpret_cast<const pack<T, WIDTH> *>(in + (there(p) ? first + p * row : 0));
    sum_of<T> sum(0);
#pragma unroll
    for (unsigned p = 0; p < PACKS; p++)
        sum += there(p) ? pack_sum(x[p]) : sum_of<T>(0);
    return sum;
}

/* The thread's sum over the tiles of its block. */
template <class T> __device__ __forceinline__ sum_of<T> thread_sum(const T *in, uint64_t n)
{
    constexpr unsigned WIDTH = PACK_WIDTH<T>;
    const uint64_t row = (uint64_t)blockDim.x * WIDTH; /* elements: one pack per thread */
    const uint64_t tile = PACKS * row, stride = gridDim.x * tile;
    uint64_t first = blockIdx.x * tile;
    sum_of<T> sum(0);
    for (; first + tile <= n; first += stride)
        sum += sum_of_rows<true>(in, first + threadIdx.x * WIDTH, row, n);
    /* One block has the last tile, if that is partial, and the elements of the pack cut off. */
    if (first < n) {
        const unsigned cut_off = n % WIDTH;
        const T last = threadIdx.x < cut_off ? in[n - cut_off + threadIdx.x] : T(0);
        if (n >= WIDTH)
            sum += sum_of_rows<false>(in, first + threadIdx.x * WIDTH, row, n);
        sum += widen(last);
    }
    return sum;
}

/* Every thread gets the sum over the block. One barrier. */
template <class T> __device__ __forceinline__ T block_sum(T sum, T *warp_totals)
{
    T total;
    block_exclusive_sum<T>(warp_sum(sum), warp_totals, &total);
    return total;
}

/* A total's bits, for accesses that are to bypass the L1. */
template <class T>
using bits_of = std::conditional_t<
    sizeof(T) == 8, unsigned long long,
    std::conditional_t<sizeof(T) == 4, unsigned,
                       std::conditional_t<sizeof(T) == 2, unsigned short, unsigned char>>>;

template <class T> __device__ __forceinline__ void store_to_l2(T *place, T total)
{
    bits_of<T> bits;
    memcpy(&bits, &total, sizeof bits);
    __stcg(reinterpret_cast<bits_of<T> *>(place), bits);
}

template <class T> __device__ __forceinline__ T load_from_l2(const T *place)
{
    const bits_of<T> bits = __ldcg(reinterpret_cast<const bits_of<T> *>(place));
    T total;
    memcpy(&total, &bits, sizeof total);
    return total;
}

/* Stores the block's total. Returns true in the last block of the call to do so. */
template <class T>
__device__ __forceinline__ bool publish_total(T total, T *totals, ticket_counter *tickets,
                                              unsigned last_ticket, bool *last)
{
    if (threadIdx.x == 0) {
        store_to_l2(&totals[blockIdx.x], total);
        __threadfence();
        *last = atomicAdd(tickets, 1u) == last_ticket;
        __threadfence();
    }
    __syncthreads();
    return *last;
}

template <class T>
__global__ void __launch_bounds__(1024)
    reduce_kernel(const T *in, uint64_t n, sum_of<T> *totals, ticket_counter *tickets,
                  unsigned last_ticket, T *result)
{
    auto *shared = shared_memory<shared_layout<sum_of<T>>>();
    sum_of<T> total = block_sum(thread_sum(in, n), shared->warp_totals);
    if (gridDim.x > 1) {
        if (!publish_total(total, totals, tickets, last_ticket, &shared->last))
            return;
        sum_of<T> sum(0);
        for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x)
            sum += load_from_l2(&totals[b]);
        total = block_sum(sum, shared->warp_totals);
    }
    if (threadIdx.x == 0)
        *result = narrow<T>(total);
}

/* As many blocks as are resident together or have work; at least one, since the sum of no
 * elements is 0. */
static unsigned blocks_for(const struct problem *problem)
{
    const struct device_limits *device = problem->device;
    const unsigned resident =
        (unsigned)device->multiprocessors *
        std::min((unsigned)device->blocks_per_multiprocessor,
                 (unsigned)device->threads_per_multiprocessor / problem->block);
    const uint64_t tile =
        (uint64_t)problem->block * PACKS * PACK_BYTES / element_bytes(problem->type);
    return (unsigned)std::clamp<uint64_t>(ceil_div(problem->n, tile), 1, std::max(resident, 1u));
}

/* The counter and one total per block. */
static size_t scratch_bytes(const struct problem *problem)
{
    return PACK_BYTES + blocks_for(problem) * sizeof(uint64_t);
}

static void prepare(const struct call *call)
{
    succeeded(queue_of(call), "memset",
              cudaMemsetAsync(call->scratch, 0, sizeof(ticket_counter), queue_of(call)->stream));
}

template <class T> static void reduce(const struct call *call)
{
    const struct problem *problem = &call->problem;
    const unsigned blocks = blocks_for(problem);
    using Sum = sum_of<T>;
    launch<reduce_kernel<T>>(
        queue_of(call),
        {blocks,
         problem->block,
         {problem->n * sizeof(T) + blocks * sizeof(Sum), sizeof(T)},
         sizeof(shared_layout<Sum>)},
        static_cast<const T *>(call->input), problem->n,
        reinterpret_cast<Sum *>(static_cast<char *>(call->scratch) + PACK_BYTES),
        static_cast<ticket_counter *>(call->scratch), call->epoch * blocks - 1,
        static_cast<T *>(call->output));
}

static void run(const struct call *call)
{
    with_stored_operand<true, OP_REDUCE>(&call->problem,
                                         [&](auto zero) { reduce<decltype(zero)>(call); });
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(reduce_single_pass) = {
    .name = "single-pass",
    .op = OP_REDUCE,
    .traits = TRAIT_HAS_BLOCK,
    .wide_sum_types = TYPES_OF_WIDE_SUMS,
    .operator_types = TYPES_OF_4_AND_8_BYTES,
    .default_block = 512,
    .summary = "one launch over resident blocks; the last to finish adds up the totals",
    .source = "CUDA toolkit samples; Luitjens 2014",
    .scratch_bytes = SCANBENCH_BACKEND::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::prepare,
    .run = SCANBENCH_BACKEND::run,
};
