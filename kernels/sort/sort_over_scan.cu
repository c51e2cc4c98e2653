/* sort_over_scan: radix sort, one bit per pass, over any scan.
 * Source:  Blelloch 1990, the split radix sort; GPU Gems 3, chapter 39,
 *          section 39.3.3.
 * Work:    O(n) per pass, a pass for each bit in which any two keys differ.
 * Depth:   per pass, that of the scan and two launches.
 * DRAM:    n read once to find the bits; then 6n per pass (keys and flags of the
 *          same size), 2n more of values if there are any, and the scan's.
 * Shared:  the scan's.
 * Relies:  on the split being stable: what earlier passes have sorted stays in
 *          order among keys of one bit. A bit that all keys share moves nothing,
 *          and its pass is left out.
 *
 * Keys are stored unchanged and mapped to unsigned order when read. */
#include "../key_order.cuh"
#include "../classic/over_scan.cuh"
#include "../warp.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND
{

template <class Key> struct bit_is_zero {
    key_order<Key> order;
    unsigned bit;

    __device__ __forceinline__ bool operator()(Key key) const
    {
        return (order(key) >> bit & 1) == 0;
    }
};

/* Adds to `*bits` those in which any key differs from the first. */
template <class Key>
__global__ void bits_in_use_kernel(const Key *in, uint64_t n, key_order<Key> order,
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

/* Waits for what is queued and copies a word of the device's memory to the host. */
static bool read_back(queue *queue, unsigned long long *host, const unsigned long long *device)
{
    return queue->error[0] == '\0' &&
           succeeded(queue, "read-back",
                     cudaMemcpyAsync(host, device, sizeof *host, cudaMemcpyDeviceToHost,
                                     queue->stream)) &&
           succeeded(queue, "read-back", cudaStreamSynchronize(queue->stream));
}

/* The scratch has the other arrays of the ping-pong, the word of bits, and what
 * every pass needs for its scan. */
static size_t keys_bytes(const struct problem *problem)
{
    return next_place(problem->n * element_bytes(problem->type));
}

static size_t arrays_bytes(const struct problem *problem)
{
    return keys_bytes(problem) + next_place(problem->n * value_bytes(problem->values));
}

static size_t scan_place(const struct problem *problem)
{
    return arrays_bytes(problem) + next_place(sizeof(unsigned long long));
}

static void *scan_scratch(const struct call *call)
{
    return static_cast<char *>(call->scratch) + scan_place(&call->problem);
}

/* Finds the bits in which keys differ, by one read-back per sort. Returns false after an error. */
template <class Key>
static bool find_bits_in_use(const struct call *call, key_order<Key> order,
                             unsigned long long *bits)
{
    const struct problem *problem = &call->problem;
    auto *d_bits = reinterpret_cast<unsigned long long *>(static_cast<char *>(call->scratch) +
                                                          arrays_bytes(problem));
    const unsigned block = block_of(problem);
    const uint64_t full = ceil_div((uint64_t)problem->device->multiprocessors *
                                       problem->device->threads_per_multiprocessor,
                                   block);
    const uint64_t blocks = ceil_div(ceil_div(problem->n, PACK_WIDTH<Key>), block);
    succeeded(queue_of(call), "memset",
              cudaMemsetAsync(d_bits, 0, sizeof *d_bits, queue_of(call)->stream));
    launch<bits_in_use_kernel<Key>>(
        queue_of(call), {std::min(blocks, full), block, {problem->n * sizeof(Key)}},
        static_cast<const Key *>(call->input), problem->n, order, d_bits);
    return read_back(queue_of(call), bits, d_bits);
}

static void copy(const struct call *call, void *to, const void *from, size_t bytes)
{
    succeeded(queue_of(call), "copy",
              cudaMemcpyAsync(to, from, call->problem.n * bytes, cudaMemcpyDeviceToDevice,
                              queue_of(call)->stream));
}

template <class Key, class Value> static void sort(const struct call *call)
{
    const struct problem *problem = &call->problem;
    const key_order<Key> order = order_of<Key>(problem->type);
    unsigned long long bits = 0;
    if (problem->n > 1 && !find_bits_in_use(call, order, &bits))
        return;

    char *scratch = static_cast<char *>(call->scratch);
    const three_arrays<Key> keys = keys_of<Key>(call, scratch);
    const three_arrays<Value> values = values_of<Value>(call, scratch + keys_bytes(problem));
    route route = {0, (unsigned)__builtin_popcountll(bits)};
    if (bits == 0) {
        copy(call, call->output, call->input, sizeof(Key));
        if constexpr (HAS_VALUES_OF<Value>)
            copy(call, call->output_values, call->input_values, sizeof(Value));
    }
    for (unsigned bit = 0; bit < 8 * sizeof(Key); bit++) {
        if ((bits >> bit & 1) == 0)
            continue;
        move_by_scan<REST_BEHIND, Value>(call, route.from(keys), route.to(keys), scan_scratch(call),
                                         bit_is_zero<Key>{order, bit}, nullptr, route(values));
        route.position++;
    }
}

static void run(const struct call *call)
{
    with_types_of(&call->problem, [=]<class Key, class Value>() { sort<Key, Value>(call); });
}

static void prepare(const struct call *call)
{
    prepare_flag_scan(call, scan_scratch(call));
}

static size_t scratch_bytes(const struct problem *problem)
{
    return scan_place(problem) + over_scan_scratch_bytes(problem);
}

} // namespace SCANBENCH_BACKEND

/* The name, the block size and the source come from the scan. */
ALGORITHM_DESCRIPTOR(sort_over_scan) = {
    .name = "over-scan",
    .op = OP_SORT,
    .family = FAMILY_OWN,
    .traits = TRAIT_SYNCHRONISES | TRAIT_PAIRS | TRAIT_STABLE,
    .summary = "a split by a scan for each bit in use",
    .supports = SCANBENCH_BACKEND::flag_scan_supports,
    .scratch_bytes = SCANBENCH_BACKEND::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::prepare,
    .run = SCANBENCH_BACKEND::run,
};
