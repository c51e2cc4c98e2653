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
#include "../classic/over_scan.cuh"
#include "differing_bits.cuh"

namespace SCANBENCH_BACKEND::sort_over_scan
{

template <class Key> struct bit_is_zero {
    key_order<Key> order;
    unsigned bit;

    __device__ __forceinline__ bool operator()(Key key) const
    {
        return (order(key) >> bit & 1) == 0;
    }
};

/* Waits for what is queued and copies a word of the device's memory to the host. */
static bool read_back(queue *queue, unsigned long long *host, const unsigned long long *device)
{
    return queue->error[0] == '\0' &&
           succeeded(queue, "read-back",
                     cudaMemcpyAsync(host, device, sizeof *host, cudaMemcpyDeviceToHost,
                                     queue->stream)) &&
           succeeded(queue, "read-back", cudaStreamSynchronize(queue->stream));
}

/* The scratch: the other arrays of the ping-pong, the word of bits, and what every pass needs for
 * its scan. */
struct scratch {
    void *keys, *values, *scan;
    unsigned long long *bits;
};

static scratch lay_out(const struct problem *problem, allocator *memory)
{
    scratch scratch = {};
    scratch.keys = memory->get<char>(problem->n * element_bytes(problem->type));
    scratch.values = memory->get<char>(problem->n * value_bytes(problem->values));
    scratch.bits = memory->get<unsigned long long>(1);
    scratch.scan = memory->get<char>(over_scan_scratch_bytes(problem));
    return scratch;
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
    const scratch scratch = scratch_of<lay_out>(call);
    unsigned long long bits = 0;
    if (problem->n > 1) {
        find_differing_bits<Key>(call, block_of(problem), scratch.bits);
        if (!read_back(queue_of(call), &bits, scratch.bits))
            return;
    }
    const three_arrays<Key> keys = keys_of<Key>(call, scratch.keys);
    const three_arrays<Value> values = values_of<Value>(call, scratch.values);
    route route = {0, (unsigned)__builtin_popcountll(bits)};
    if (bits == 0) {
        copy(call, call->output, call->input, sizeof(Key));
        if constexpr (HAS_VALUES_OF<Value>)
            copy(call, call->output_values, call->input_values, sizeof(Value));
    }
    for (unsigned bit = 0; bit < 8 * sizeof(Key); bit++) {
        if ((bits >> bit & 1) == 0)
            continue;
        move_by_scan<REST_AFTER, Value>(call, route.from(keys), route.to(keys), scratch.scan,
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
    prepare_flag_scan(call, scratch_of<lay_out>(call).scan);
}

} // namespace SCANBENCH_BACKEND::sort_over_scan

/* The name, the block size and the source come from the scan. */
ALGORITHM_DESCRIPTOR(sort_over_scan) = {
    .name = "over-scan",
    .op = OP_SORT,
    .family = FAMILY_OWN,
    .traits = TRAIT_SYNCHRONISES | TRAIT_PAIRS | TRAIT_STABLE,
    .summary = "a split by a scan for each bit in use",
    .supports = SCANBENCH_BACKEND::flag_scan_supports,
    .scratch_bytes = SCANBENCH_BACKEND::bytes_laid_out<SCANBENCH_BACKEND::sort_over_scan::lay_out>,
    .prepare = SCANBENCH_BACKEND::sort_over_scan::prepare,
    .run = SCANBENCH_BACKEND::sort_over_scan::run,
};
