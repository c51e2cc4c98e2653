/* onesweep_plan.cuh: what precedes the passes of onesweep.cuh: the count of all digits, and the
 * plan of which passes have work, and from which array to which they move the keys. */
#pragma once

#include "../key_order.cuh"
#include "../ping_pong.cuh"
#include "policy.cuh"
#include "stable_tile.cuh"

namespace SCANBENCH_BACKEND::onesweep
{

using stable_tile::BITS, stable_tile::DIGITS;

/* The launch that counts digits. Its keys per thread are loads in flight. */
constexpr launch_policy HISTOGRAM = {.threads = 512, .blocks = 4, .keys = 4};

template <class Key> constexpr unsigned PASSES = 8 * sizeof(Key) / BITS;

/* What the count of all digits finds out for the passes, in scratch. It is zero before the first
 * call. The last block that counts clears `tickets` for the passes, and for the next call whatever
 * is added to. */
struct plan {
    enum { MOST_PASSES = 8, IDLE = 0xFF };
    unsigned long long counts[MOST_PASSES][DIGITS];
    /* Where the keys of a digit go, for portions of even and of odd number. */
    unsigned long long starts[MOST_PASSES][2][DIGITS];
    unsigned tickets[MOST_PASSES];
    unsigned position[MOST_PASSES]; /* among the passes with work, or IDLE */
    unsigned working;               /* passes with work */
    unsigned blocks_done;
    /* For sort_in_one_launch_kernel: */
    unsigned disabled;          /* the kernel does nothing: another sort does the work */
    unsigned long long arrived; /* blocks at barriers, of all calls; it is never set back */
};

/* Returns a bit for each pass that has work. A pass whose digit is the same in all keys has none.
 * In place, the number of passes with work is made even by one of these: an odd number would have a
 * first pass that overwrites the input, which is the output, while it reads it. */
template <class Key>
__device__ __forceinline__ unsigned working_passes(const unsigned long long (&counts)[PASSES<Key>],
                                                   uint64_t n, bool in_place)
{
    unsigned working = 0;
#pragma unroll
    for (unsigned pass = 0; pass < PASSES<Key>; pass++)
        if (!__syncthreads_or(counts[pass] == n))
            working |= 1u << pass;
    if (in_place && __popc(working) % 2 == 1)
        working |= ~working & (working + 1);
    return working;
}

/* Makes the plan. The last block, of WARPS warps, calls it. Thread d < DIGITS turns the counts of
 * digit d into starts. */
template <class Key, unsigned WARPS>
__device__ void make_plan(plan *plan, uint64_t n, bool in_place, unsigned *shared)
{
    auto *totals = reinterpret_cast<unsigned long long *>(shared);
    const unsigned digit = threadIdx.x, warp = threadIdx.x / WARP;
    unsigned long long counts[PASSES<Key>] = {}, inclusive[PASSES<Key>];
    if (digit < DIGITS)
#pragma unroll
        for (unsigned pass = 0; pass < PASSES<Key>; pass++)
            counts[pass] = __ldcg(&plan->counts[pass][digit]);
#pragma unroll
    for (unsigned pass = 0; pass < PASSES<Key>; pass++) {
        inclusive[pass] = warp_inclusive_sum(counts[pass]);
        if (lane_index() == WARP - 1)
            totals[pass * WARPS + warp] = inclusive[pass];
    }
    const unsigned working = working_passes<Key>(counts, n, in_place);
    if (digit < DIGITS)
#pragma unroll
        for (unsigned pass = 0; pass < PASSES<Key>; pass++) {
            plan->starts[pass][0][digit] =
                sum_of_first(warp, totals + pass * WARPS) + inclusive[pass] - counts[pass];
            plan->counts[pass][digit] = 0;
        }
    if (threadIdx.x < PASSES<Key>) {
        const unsigned pass = threadIdx.x, before = working & ((1u << pass) - 1);
        plan->position[pass] = (working >> pass & 1) != 0 ? __popc(before) : (unsigned)plan::IDLE;
        plan->tickets[pass] = 0;
    }
    if (threadIdx.x == 0) {
        plan->working = __popc(working);
        plan->blocks_done = 0;
    }
}

/* A thread's KEYS keys of a step in which a block counts keys. */
template <unsigned THREADS, unsigned KEYS, class Key> struct counted_keys {
    Key key[KEYS];

    static __device__ __forceinline__ uint64_t place(uint64_t first, unsigned k)
    {
        return first + k * THREADS + threadIdx.x;
    }
    /* Loads those of the step that begins at `first`, but none from place n on. */
    __device__ __forceinline__ void load(const Key *in, uint64_t first, uint64_t n)
    {
        if (first + THREADS * KEYS <= n)
#pragma unroll
            for (unsigned k = 0; k < KEYS; k++)
                key[k] = in[place(first, k)];
        else
#pragma unroll
            for (unsigned k = 0; k < KEYS; k++)
                key[k] = place(first, k) < n ? in[place(first, k)] : 0;
    }
    /* Counts them by all digits. */
    __device__ __forceinline__ void count(uint64_t first, uint64_t n, const key_order<Key> &order,
                                          unsigned *counts) const
    {
        const bool is_full = first + THREADS * KEYS <= n;
#pragma unroll
        for (unsigned k = 0; k < KEYS; k++)
            if (is_full || place(first, k) < n)
                for (unsigned pass = 0; pass < PASSES<Key>; pass++)
                    atomicAdd(&counts[pass * DIGITS + digit_of<BITS>(order(key[k]), pass)], 1u);
    }
};

template <class Key> __device__ __forceinline__ void clear_counts(unsigned *counts)
{
    for (unsigned d = threadIdx.x; d < PASSES<Key> * DIGITS; d += blockDim.x)
        counts[d] = 0;
}

/* Adds a block's counts to those of all. Returns whether the block is the last to do so. */
template <class Key> __device__ __forceinline__ bool add_counts(unsigned *counts, plan *plan)
{
    for (unsigned d = threadIdx.x; d < PASSES<Key> * DIGITS; d += blockDim.x)
        if (counts[d] != 0)
            atomicAdd(&plan->counts[d / DIGITS][d % DIGITS], (unsigned long long)counts[d]);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        counts[0] = atomicAdd(&plan->blocks_done, 1u);
    __syncthreads();
    return counts[0] == gridDim.x - 1;
}

/* Counts the digits of all keys in `counts`, which is clear, and makes the plan. All blocks call
 * it. */
template <unsigned THREADS, unsigned KEYS, class Key>
__device__ __forceinline__ void plan_passes(const Key *in, uint64_t n, const key_order<Key> &order,
                                            bool in_place, plan *plan, unsigned *counts)
{
    __syncthreads();
    /* A block counts fewer than 2^32 keys, because its counters have 32 bits. The next keys are
     * loaded while these are counted: resident threads may be too few to hide the loads. */
    constexpr uint64_t STEP = THREADS * KEYS;
    counted_keys<THREADS, KEYS, Key> next;
    uint64_t first = blockIdx.x * STEP;
    next.load(in, first, n);
    while (first < n) {
        const auto keys = next;
        const uint64_t here = first;
        first += gridDim.x * STEP;
        next.load(in, first, n);
        keys.count(here, n, order, counts);
    }
    __syncthreads();
    const bool is_last = add_counts<Key>(counts, plan);
    __syncthreads();
    if (is_last) {
        __threadfence();
        make_plan<Key, THREADS / WARP>(plan, n, in_place, counts);
    }
}

template <class Key>
__global__ void __launch_bounds__(HISTOGRAM.threads)
    digit_histogram_kernel(const Key *in, uint64_t n, key_order<Key> order, bool in_place,
                           plan *plan)
{
    unsigned *counts = shared_memory<unsigned>();
    let_next_launch_begin();
    clear_counts<Key>(counts);
    wait_for_launch_before();
    plan_passes<HISTOGRAM.threads, HISTOGRAM.keys>(in, n, order, in_place, plan, counts);
}

} // namespace SCANBENCH_BACKEND::onesweep
