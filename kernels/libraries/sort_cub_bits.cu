/* sort_cub_bits: CUB's DeviceRadixSort, told the highest bit in which any two keys differ, as a
 * careful user would call it: a reduction finds it, and one word is read back. CUB sorts whole
 * digits below end_bit, so that fewer bits are fewer passes. */
#include "cub_calls.cuh"
#include "../key_order.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>

#include <algorithm>

namespace SCANBENCH_BACKEND
{

namespace cub_bits
{

/* The bits in which a key's rank differs from the first one's. */
template <class Key> struct difference {
    const Key *first;
    key_order<Key> order;

    __device__ __forceinline__ Key operator()(Key key) const
    {
        return order(key) ^ order(*first);
    }
};

struct bit_or {
    template <class Key> __device__ __forceinline__ Key operator()(Key a, Key b) const
    {
        return a | b;
    }
};

/* A question for the size of scratch has no queue. */
static cudaStream_t stream_of(const struct call *call)
{
    return call->queue != nullptr ? queue_of(call)->stream : nullptr;
}

constexpr size_t WORD_BYTES = 256; /* in front of CUB's temporary memory */

/* Both of CUB's functions, one after the other, use the same memory. */
template <class Key>
static cudaError_t find_bits(const struct call *call, void *temporary, size_t *bytes, Key *bits)
{
    const auto *in = static_cast<const Key *>(call->input);
    const difference<Key> from_first = {in, order_of<Key>(call->problem.type)};
    return cub::DeviceReduce::TransformReduce(temporary, *bytes, in, bits, call->problem.n,
                                              bit_or(), from_first, Key(0), stream_of(call));
}

template <class T>
static cudaError_t sort(const struct call *call, void *temporary, size_t *bytes, int end_bit)
{
    if (call->problem.values != VALUES_NONE)
        return cub_sort_pairs(call, temporary, bytes, end_bit, stream_of(call));
    return cub::DeviceRadixSort::SortKeys(temporary, *bytes, static_cast<const T *>(call->input),
                                          static_cast<T *>(call->output), call->problem.n, 0,
                                          end_bit, stream_of(call));
}

template <class Key> static size_t temporary_bytes(const struct problem *problem)
{
    const struct call query = {.problem = *problem};
    size_t reduce = 0, most = 0;
    if (find_bits<Key>(&query, nullptr, &reduce, nullptr) != cudaSuccess)
        return 0;
    with_element_type(problem->type, [&](auto zero) {
        /* With an even number of passes CUB needs a second array, with an odd one not. */
        for (int bits = 8; bits <= (int)(8 * sizeof(Key)); bits += 8) {
            size_t bytes = 0;
            if (sort<decltype(zero)>(&query, nullptr, &bytes, bits) == cudaSuccess)
                most = std::max(most, bytes);
        }
    });
    return WORD_BYTES + std::max(reduce, most);
}

static size_t scratch_bytes(const struct problem *problem)
{
    return element_bytes(problem->type) == 8 ? temporary_bytes<uint64_t>(problem)
                                             : temporary_bytes<uint32_t>(problem);
}

template <class Key> static void run_keys(const struct call *call)
{
    queue *queue = queue_of(call);
    void *temporary = static_cast<char *>(call->scratch) + WORD_BYTES;
    auto *word = static_cast<Key *>(call->scratch);
    size_t bytes = call->scratch_bytes - WORD_BYTES;
    Key differing = 0;
    if (!succeeded(queue, "cub", find_bits<Key>(call, temporary, &bytes, word)) ||
        !succeeded(queue, "read-back",
                   cudaMemcpyAsync(&differing, word, sizeof differing, cudaMemcpyDeviceToHost,
                                   queue->stream)) ||
        !succeeded(queue, "read-back", cudaStreamSynchronize(queue->stream)))
        return;
    int end_bit = 1;
    while (end_bit < (int)(8 * sizeof(Key)) && differing >> end_bit != 0)
        end_bit++;
    with_element_type(call->problem.type, [&](auto zero) {
        using T = decltype(zero);
        bytes = call->scratch_bytes - WORD_BYTES;
        succeeded(queue, "cub", sort<T>(call, temporary, &bytes, end_bit));
    });
}

static void run(const struct call *call)
{
    if (call->problem.n == 0)
        return;
    if (element_bytes(call->problem.type) == 8)
        run_keys<uint64_t>(call);
    else
        run_keys<uint32_t>(call);
}

} // namespace cub_bits

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(sort_cub_bits) = {
    .name = "cub-bits",
    .op = OP_SORT,
    .family = FAMILY_LIBRARY,
    .result = RESULT_ZEROS_EQUAL,
    .traits = TRAIT_SYNCHRONISES | TRAIT_PAIRS | TRAIT_STABLE,
    .summary = "cub::DeviceRadixSort up to the highest bit in use, which is found first",
    .source = "NVIDIA CUB",
    .library_version = SCANBENCH_BACKEND::library_version,
    .scratch_bytes = SCANBENCH_BACKEND::cub_bits::scratch_bytes,
    .run = SCANBENCH_BACKEND::cub_bits::run,
};
