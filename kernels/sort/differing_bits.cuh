/* differing_bits.cuh: the bits in which any two keys differ, for sorts that pass over others. */
#pragma once

#include "../key_order.cuh"
#include "../pack.cuh"
#include "../warp.cuh"
#include "policy.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND
{

/* Adds to `*bits` those in which any key differs from the first. */
template <class Key>
__global__ void differing_bits_kernel(const Key *in, uint64_t n, key_order<Key> order,
                                      unsigned long long *bits)
{
    constexpr unsigned WIDTH = PACK_WIDTH<Key>;
    const uint64_t stride = (uint64_t)WIDTH * gridDim.x * blockDim.x;
    const Key first = order(in[0]);
    Key differing = 0;
    for (uint64_t i = WIDTH * global_thread(); i < n; i += stride) {
        const pack<Key, WIDTH> keys = load_pack<Key, WIDTH>(in, i, n);
        for (unsigned k = 0; k < WIDTH; k++)
            if (i + k < n)
                differing |= order(keys.at[k]) ^ first;
    }
    differing = warp_or(differing);
    if (lane_index() == 0)
        atomicOr(bits, (unsigned long long)differing);
}

/* Finds the bits of a call's keys, which are at least one, by blocks that fill the device. */
template <class Key>
void find_differing_bits(const struct call *call, unsigned threads, unsigned long long *bits)
{
    const struct problem *problem = &call->problem;
    const uint64_t full = ceil_div((uint64_t)problem->device->multiprocessors *
                                       problem->device->threads_per_multiprocessor,
                                   threads);
    const uint64_t useful = ceil_div(ceil_div(problem->n, PACK_WIDTH<Key>), threads);
    clear(call, bits, sizeof *bits);
    launch<differing_bits_kernel<Key>>(queue_of(call),
                                       {.blocks = std::min(useful, full),
                                        .threads = threads,
                                        .traffic = {problem->n * sizeof(Key)}},
                                       static_cast<const Key *>(call->input), problem->n,
                                       order_of<Key>(problem->type), bits);
}

} // namespace SCANBENCH_BACKEND
