/* segment_heads: the kernel that sets a bit for each element that begins a segment at an offset. */
#include "segment_heads.cuh"

namespace SCANBENCH_BACKEND
{

/* Called by all lanes of a warp: sets the bit of each lane's place that `counts`. Places
 * ascend from lane to lane, and of equal places all count or none. Lanes whose bits share a word
 * follow one another, and the last of them sets the bits of all. */
static __device__ __forceinline__ void set_bits(uint64_t place, bool counts, uint32_t *words)
{
    const uint64_t left = shuffle_up(place, 1);
    const bool is_first = lane_index() == 0 || left != place;
    const bool begins_word = lane_index() == 0 || left / 32 != place / 32;
    const unsigned heads = __ballot_sync(ALL_LANES, begins_word);
    const unsigned bits =
        warp_inclusive_sum_from(heads, is_first && counts ? 1u << place % 32 : 0u);
    if (bits != 0 && (lane_index() == WARP - 1 || (heads >> (lane_index() + 1) & 1) != 0))
        atomicOr(&words[place / 32], bits);
}

/* Sets the bit of each offset before n. */
static __global__ void set_offset_bits_kernel(const uint64_t *offsets, uint64_t count, uint64_t n,
                                              uint32_t *words)
{
    const uint64_t s = global_thread();
    const uint64_t offset = s < count ? min(offsets[s], n) : n;
    set_bits(offset, offset < n, words);
}

constexpr unsigned THREADS = 256; /* per block */

bit_heads bits_of_offsets(const struct call *call, void *scratch)
{
    const struct problem *problem = &call->problem;
    auto *words = static_cast<uint32_t *>(scratch);
    const uint64_t count = problem->segment_count;
    queue *queue = queue_of(call);
    if (succeeded(queue, "memset",
                  cudaMemsetAsync(words, 0, head_bits_bytes(problem), queue->stream)))
        launch<set_offset_bits_kernel>(
            queue,
            {ceil_div(count, THREADS), THREADS, {count * (sizeof(uint64_t) + sizeof(uint32_t))}},
            static_cast<const uint64_t *>(call->second), count, problem->n, words);
    return {{}, words};
}

} // namespace SCANBENCH_BACKEND
