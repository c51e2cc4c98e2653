/* segment_heads: the kernels that set a bit for each element that begins a segment. */
#include "segment_heads.cuh"
#include "warp.cuh"

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

/* Rows of packs that a warp of write_key_bits_kernel() takes: all loads are issued before the first
 * is used. */
constexpr unsigned KEY_ROWS = 4;
constexpr unsigned KEYS_PER_THREAD = KEY_ROWS * PACK_WIDTH<uint32_t>;

/* Writes the bits of all keys that differ from the one before. */
static __global__ void write_key_bits_kernel(const uint32_t *keys, uint64_t n, uint32_t *words)
{
    constexpr unsigned WIDTH = PACK_WIDTH<uint32_t>, ROW = WARP * WIDTH, IN_WORD = 32 / WIDTH;
    const uint64_t first = global_thread() / WARP * (KEY_ROWS * ROW);
    const unsigned lane = lane_index();
    pack<uint32_t, WIDTH> row[KEY_ROWS];
    uint32_t last = first > 0 && first < n ? keys[first - 1] : 0; /* of the row before */
#pragma unroll
    for (unsigned r = 0; r < KEY_ROWS; r++)
        row[r] = load_pack<uint32_t, WIDTH>(keys, first + r * ROW + lane * WIDTH, n);
#pragma unroll
    for (unsigned r = 0; r < KEY_ROWS; r++) {
        const uint64_t i = first + r * ROW + lane * WIDTH;
        const uint32_t left = shuffle_up(row[r].at[WIDTH - 1], 1);
        uint32_t before = lane > 0 ? left : last;
        last = shuffle_from(row[r].at[WIDTH - 1], WARP - 1);
        unsigned word = 0;
        for (unsigned k = 0; k < WIDTH; k++) {
            const bool begins = i + k < n && (i + k == 0 || row[r].at[k] != before);
            word |= (unsigned)begins << (k + lane % IN_WORD * WIDTH);
            before = row[r].at[k];
        }
        for (unsigned stride = 1; stride < IN_WORD; stride *= 2)
            word |= shuffle_xor(word, stride);
        if (lane % IN_WORD == 0 && i < n)
            words[i / 32] = word;
    }
}

constexpr unsigned THREADS = 256; /* per block */

static void set_offset_bits(const struct call *call, uint32_t *words)
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

static void write_key_bits(const struct call *call, uint32_t *words)
{
    const uint64_t n = call->problem.n;
    launch<write_key_bits_kernel>(
        queue_of(call),
        {ceil_div(n, THREADS * KEYS_PER_THREAD), THREADS, {n * sizeof(uint32_t) + n / 8}},
        static_cast<const uint32_t *>(call->second), n, words);
}

void set_head_bits(const struct call *call, uint32_t *words)
{
    if (call->problem.segments == SEGMENTS_OFFSETS)
        set_offset_bits(call, words);
    else
        write_key_bits(call, words);
}

} // namespace SCANBENCH_BACKEND
