/* segment_heads: the kernel that sets a bit for each element that begins a segment. */
#include "segment_heads.cuh"

namespace SCANBENCH_BACKEND
{

/* Sets the bit of each offset before n. */
static __global__ void set_offset_bits_kernel(const uint64_t *offsets, uint64_t count, uint64_t n,
                                              uint32_t *words)
{
    const uint64_t s = global_thread();
    if (s < count && offsets[s] < n)
        atomicOr(&words[offsets[s] / 32], 1u << offsets[s] % 32);
}

constexpr unsigned THREADS = 256; /* per block */

void set_head_bits(const struct call *call, uint32_t *words)
{
    const struct problem *problem = &call->problem;
    const uint64_t count = problem->segment_count;
    queue *queue = queue_of(call);
    if (succeeded(queue, "memset",
                  cudaMemsetAsync(words, 0, head_bits_bytes(problem), queue->stream)))
        launch<set_offset_bits_kernel>(
            queue,
            {ceil_div(count, THREADS), THREADS, {count * (sizeof(uint64_t) + sizeof(uint32_t))}},
            static_cast<const uint64_t *>(call->second), count, problem->n, words);
}

} // namespace SCANBENCH_BACKEND
