/* sort_stable_msd: a stable sort of pairs from the most significant digit, then in shared memory.
 * Source:  scanbench; partitions as onesweep's passes, leaves as msd's.
 * Work:    O(n): two levels and the leaves, for evenly spread keys of any width. For others, that
 *          of onesweep, and a count.
 * Depth:   per level, the look-back over the tiles.
 * DRAM:    the keys once for the counts; keys and values three times read and written; 2 KiB of
 *          status per tile and level.
 * Shared:  counters; a tile in the order of its digits; a leaf and its values.
 * Relies:  as onesweep does.
 *
 *   1. One launch takes a sample, which says which bits of the keys differ first, and counts the
 *      keys by both digits, all at once (stable_msd_plan.cuh). If the sample is skewed, a key lies
 *      outside of its range, or a leaf would get more pairs than it or its numbers hold, the pairs
 *      are left to onesweep, and the launches of 2 and 3 do nothing.
 *   2. Two launches partition the pairs, by the first digit and then each bucket by the second one
 *      (stable_tile.cuh). The tiles of a bucket are a chain.
 *   3. A block sorts each leaf by the bits that are left (pair_leaf.cuh).
 *   4. A launch of onesweep follows (onesweep_one_launch.cuh), and ends at once if it has no pairs.
 *
 * Up to 8192 pairs of 4-byte keys are one leaf, in one launch. Where onesweep moves a pair of
 * 4-byte keys four times, and of 8-byte keys eight times, this does so three times. */
#include "pair_leaf.cuh"
#include "stable_msd_plan.cuh"

namespace SCANBENCH_BACKEND::stable_msd
{

using stable_tile::VALUE_BYTES;

/* The launch that sorts leaves. */
constexpr launch_policy LEAVES = {.threads = 256, .blocks = 4, .keys = 20};

/* Pairs per thread of a tile. */
constexpr unsigned tile_pairs(size_t bytes) /* of a pair */
{
    return bytes <= 8 ? 20 : 16;
}
template <class Key, class Value>
using tile_shape = stable_tile::shape<384, tile_pairs(sizeof(Key) + VALUE_BYTES<Value>), 2>;

/* What the steps of a call get. */
template <class Key, class Value> struct task {
    three_arrays<Key> keys;
    three_arrays<Value> values;
    uint64_t n;
    key_order<Key> order;
    stable_msd::plan *plan;
    tile_status<uint32_t> *statuses;
    uint32_t epoch;
    unsigned ahead; /* leaves from one that is sorted to one that is prefetched */
};

/* A digit of the first level or the second. */
struct digit_at {
    unsigned shift, mask;

    template <class Key> __device__ __forceinline__ unsigned of(Key rank) const
    {
        return (unsigned)(rank >> shift) & mask;
    }
};

/* A tile of a level, for stable_tile.cuh. */
struct tile_of_level {
    /* With it, 2^28 uniform pairs take 1 % longer. */
    static constexpr bool PREFETCHES_VALUES = false;

    tile_status<uint32_t> *all_statuses;
    uint64_t begins, ends;
    const unsigned long long *starts; /* of its chain's digits */
    unsigned number_in_chain, first_of_chain, digit_count;
    uint32_t count_tag;
    unsigned level;

    __device__ __forceinline__ uint64_t first() const
    {
        return begins;
    }
    __device__ __forceinline__ uint64_t end() const
    {
        return ends;
    }
    __device__ __forceinline__ unsigned number() const
    {
        return number_in_chain;
    }
    __device__ __forceinline__ tile_status<uint32_t> *statuses() const
    {
        return all_statuses + (uint64_t)first_of_chain * DIGITS;
    }
    __device__ __forceinline__ uint32_t tag() const
    {
        return count_tag;
    }
    __device__ __forceinline__ unsigned tiles_before(unsigned digit) const
    {
        return digit < digit_count ? number_in_chain : 0;
    }
    __device__ __forceinline__ uint64_t start_of(unsigned digit) const
    {
        return starts[digit];
    }
    __device__ __forceinline__ void tell_end(unsigned, uint64_t) const
    {
    }
    __device__ __forceinline__ bool are_ranks() const
    {
        return level > 0;
    }
    __device__ __forceinline__ bool as_ranks() const
    {
        return true;
    }
    /* Tiles of pairs that are prefetched would drive each other out of the L2. */
    __device__ __forceinline__ uint64_t later() const
    {
        return stable_tile::NO_TILE;
    }
};

template <class Key, class Value, class Shape = tile_shape<Key, Value>>
__global__ void LAUNCH_BOUNDS(Shape::THREADS, Shape::BLOCKS)
    partition_kernel(const __grid_constant__ task<Key, Value> task, unsigned level)
{
    auto *shared = shared_memory<stable_tile::shared_layout<Key, Value, Shape>>();
    auto *plan = task.plan;
    clear_counters<DIGITS>(shared->counts.of_warp[threadIdx.x / WARP]);
    wait_for_launch_before();
    if (!plan->is_chosen)
        return;
    if (threadIdx.x == 0)
        shared->ticket = atomicAdd(&plan->tickets[level], 1u);
    __syncthreads();
    const unsigned ticket = shared->ticket, next_bits = plan->next_bits;
    tile_of_level tile = {.all_statuses = task.statuses,
                          .ends = task.n,
                          .starts = plan->first_starts,
                          .number_in_chain = ticket,
                          .digit_count = 1u << plan->first_bits(),
                          .count_tag = 2 * (2 * task.epoch + level),
                          .level = level};
    digit_at digit = {plan->shift + next_bits};
    if (level > 0) {
        if (ticket >= plan->first_tile[DIGITS])
            return;
        /* The tile's bucket is its chain. */
        if (threadIdx.x < DIGITS && plan->first_tile[threadIdx.x] <= ticket &&
            ticket < plan->first_tile[threadIdx.x + 1])
            shared->chain = threadIdx.x;
        __syncthreads();
        tile.first_of_chain = plan->first_tile[shared->chain];
        tile.number_in_chain -= tile.first_of_chain;
        tile.starts = plan->starts + (shared->chain << next_bits);
        tile.begins = tile.starts[0];
        tile.ends = tile.starts[1 << next_bits];
        tile.digit_count = 1u << next_bits;
        digit.shift = plan->shift;
    }
    tile.begins += (uint64_t)tile.number_in_chain * Shape::TILE;
    digit.mask = tile.digit_count - 1;
    const route route = {level > 0, 2};
    stable_tile::sort_tile<Shape>(tile, digit, route(task.keys), route(task.values), task.order);
}

template <class Key, class Value>
using leaf_agent = leaf_sort::pair_agent<Key, Value, LEAVES.threads, LEAVES.keys>;

template <class Key, class Value>
__global__ void LAUNCH_BOUNDS(LEAVES.threads, LEAVES.blocks)
    leaves_kernel(const __grid_constant__ task<Key, Value> task)
{
    auto *agent = shared_memory<leaf_agent<Key, Value>>();
    const auto *plan = task.plan;
    wait_for_launch_before();
    if (!plan->is_chosen)
        return;
    const unsigned leaves = 1u << plan->bits, shift = plan->shift;
    const auto leaf_at = [&](unsigned l) -> leaf_sort::pair_leaf<Key, Value> {
        const uint64_t first = plan->starts[l];
        Key *keys = task.keys.out + first;
        Value *values = task.values.out + first;
        return {keys, values, keys, values, (unsigned)(plan->starts[l + 1] - first), shift, {}};
    };
#pragma unroll 1
    for (unsigned l = blockIdx.x; l < leaves; l += gridDim.x) {
        const auto leaf = leaf_at(l), later = leaf_at(min(l + task.ahead, leaves - 1));
        stable_tile::prefetch_range(later.keys, later.count);
        stable_tile::prefetch_range(later.values, later.count);
        if (leaf.count > 0)
            agent->sort(leaf, task.order);
    }
}

/* The launch that sorts all pairs in one block, of keys of 4 bytes. A number has room for all of a
 * key and an index. */
constexpr launch_policy ONE_LEAF = {.threads = 1024, .blocks = 1, .keys = 8};
template <class Value>
using one_leaf_agent =
    leaf_sort::pair_agent<uint32_t, Value, ONE_LEAF.threads, ONE_LEAF.keys, uint64_t>;

template <class Value>
__global__ void __launch_bounds__(ONE_LEAF.threads)
    one_leaf_kernel(const __grid_constant__ leaf_sort::pair_leaf<uint32_t, Value> leaf)
{
    shared_memory<one_leaf_agent<Value>>()->sort(leaf, leaf.order, /* looks: */ true);
}

/* ---- the host's side ---- */

static bool is_one_leaf(const struct problem *problem)
{
    return element_bytes(problem->type) == sizeof(uint32_t) && problem->n <= ONE_LEAF.tile();
}

/* The pairs that a leaf should have if two digits have so many bits: a few less than it can have,
 * and than an index can tell apart that shares a word with what the digits leave of a key. */
constexpr unsigned leaf_for(unsigned bits)
{
    return std::min(LEAVES.tile() / 10 * 9, (1u << bits) / 4 * 3);
}

/* Two digits would make leaves of more pairs too large. */
constexpr uint64_t MOST_PAIRS = (uint64_t)leaf_for(MOST_BITS) << MOST_BITS;

/* Both digits have as few bits as leaves allow. */
static limits limits_of(const struct problem *problem)
{
    unsigned bits = LEAST_BITS;
    while (bits < MOST_BITS && problem->n >> bits >= leaf_for(bits))
        bits++;
    return {.bits = bits,
            .most = std::min(bits + 1, (unsigned)MOST_BITS),
            .leaf = leaf_for(bits),
            .capacity = LEAVES.tile()};
}

struct scratch {
    stable_msd::plan *plan;
    tile_status<uint32_t> *statuses;
    void *of_onesweep; /* with the other arrays */
};

static scratch lay_out(const struct problem *problem, allocator *memory)
{
    if (is_one_leaf(problem))
        return {};
    const uint64_t tiles = with_types_of(problem, [&]<class Key, class Value>() {
        return ceil_div(problem->n, tile_shape<Key, Value>::TILE) + DIGITS;
    });
    scratch scratch = {memory->get<plan>(1), memory->get<tile_status<uint32_t>>(tiles * DIGITS)};
    scratch.of_onesweep = memory->get<char>(bytes_laid_out<onesweep::lay_out>(problem));
    return scratch;
}

static struct call onesweep_call(const struct call *call)
{
    struct call part = *call;
    part.scratch = scratch_of<lay_out>(call).of_onesweep;
    return part;
}

static void prepare(const struct call *call)
{
    if (is_one_leaf(&call->problem))
        return;
    const scratch scratch = scratch_of<lay_out>(call);
    clear(call, scratch.plan, (char *)scratch.of_onesweep - (char *)scratch.plan);
    const struct call part = onesweep_call(call);
    onesweep::prepare(&part);
}

template <class Key, class Value> static void sort(const struct call *call)
{
    using tile_shape = tile_shape<Key, Value>;
    const struct problem *problem = &call->problem;
    const scratch scratch = scratch_of<lay_out>(call);
    const struct call part = onesweep_call(call);
    const onesweep::scratch other = scratch_of<onesweep::lay_out>(&part);
    const uint64_t n = problem->n, bytes = n * (sizeof(Key) + sizeof(Value));
    const limits limits = limits_of(problem);
    const bool overlaps = has_sm_90(problem->device);
    const task<Key, Value> task = {.keys = keys_of<Key>(call, other.keys),
                                   .values = values_of<Value>(call, other.values),
                                   .n = n,
                                   .order = order_of<Key>(problem->type),
                                   .plan = scratch.plan,
                                   .statuses = scratch.statuses,
                                   .epoch = call->epoch,
                                   .ahead = (unsigned)problem->device->multiprocessors / 4};
    launch_resident<count_kernel<Key>>(
        call,
        {.blocks = ceil_div(n, COUNT_THREADS * LOADS * PACK_WIDTH<Key>),
         .threads = COUNT_THREADS,
         .traffic = {n * sizeof(Key)},
         .shared_bytes =
             offsetof(count_layout<Key>, words) + sizeof(unsigned) * counter_words(limits.most),
         .overlaps = overlaps},
        task.keys.in, n, task.order, limits, tile_shape::TILE, task.plan, other.plan);
    for (unsigned level = 0; level < 2; level++)
        launch<partition_kernel<Key, Value>>(
            queue_of(call),
            {.blocks = ceil_div(n, tile_shape::TILE) + (level > 0 ? DIGITS : 0),
             .threads = tile_shape::THREADS,
             .traffic = {2 * bytes},
             .shared_bytes = sizeof(stable_tile::shared_layout<Key, Value, tile_shape>),
             .overlaps = overlaps},
            task, level);
    launch<leaves_kernel<Key, Value>>(
        queue_of(call),
        {.blocks = std::min((uint64_t)1 << limits.bits, ceil_div(n, LEAVES.threads)),
         .threads = LEAVES.threads,
         .traffic = {2 * bytes},
         .shared_bytes = sizeof(leaf_agent<Key, Value>),
         .overlaps = overlaps},
        task);
    onesweep::sort_pairs_unless_disabled(&part);
}

template <class Value> static void sort_one_leaf(const struct call *call)
{
    const struct problem *problem = &call->problem;
    const leaf_sort::pair_leaf<uint32_t, Value> leaf = {
        .keys = static_cast<const uint32_t *>(call->input),
        .values = static_cast<const Value *>(call->input_values),
        .sorted_keys = static_cast<uint32_t *>(call->output),
        .sorted_values = static_cast<Value *>(call->output_values),
        .count = (unsigned)problem->n,
        .range_bits = 8 * sizeof(uint32_t),
        .order = order_of<uint32_t>(problem->type)};
    launch<one_leaf_kernel<Value>>(
        queue_of(call),
        {.blocks = problem->n > 0,
         .threads = ONE_LEAF.threads,
         .traffic = {2 * problem->n * (sizeof(uint32_t) + sizeof(Value))},
         .shared_bytes = sizeof(one_leaf_agent<Value>)},
        leaf);
}

static void run(const struct call *call)
{
    if (is_one_leaf(&call->problem)) {
        with_pair_types_of(&call->problem, [&]<class Key, class Value>() {
            if constexpr (sizeof(Key) == sizeof(uint32_t))
                sort_one_leaf<Value>(call);
        });
        return;
    }
    if (call->problem.n < COUNT_THREADS) { /* too few for a sample */
        const struct call part = onesweep_call(call);
        return onesweep::sort_pairs(&part);
    }
    with_pair_types_of(&call->problem, [&]<class Key, class Value>() { sort<Key, Value>(call); });
}

/* The most that a block of any of its launches takes. */
static size_t shared_bytes(const struct problem *problem)
{
    return with_types_of(problem, [&]<class Key, class Value>() -> size_t {
        if constexpr (!HAS_VALUES_OF<Value>)
            return 0;
        else if (is_one_leaf(problem))
            return sizeof(one_leaf_agent<Value>);
        else
            return std::max({sizeof(count_layout<Key>) +
                                 sizeof(unsigned) * counter_words(limits_of(problem).most),
                             sizeof(stable_tile::shared_layout<Key, Value, tile_shape<Key, Value>>),
                             sizeof(leaf_agent<Key, Value>)});
    });
}

static const char *supports(const struct problem *problem)
{
    static_assert(MOST_PAIRS == 301989888, "the text below says so");
    if (problem->n > MOST_PAIRS)
        return "sorts at most 301989888 pairs: onesweep sorts more";
    return problem->device->shared_bytes_per_block < shared_bytes(problem)
               ? "needs more shared memory than this device gives a block"
               : nullptr;
}

} // namespace SCANBENCH_BACKEND::stable_msd

ALGORITHM_DESCRIPTOR(sort_stable_msd) = {
    .name = "stable-msd",
    .op = OP_SORT,
    .family = FAMILY_OWN,
    .traits = TRAIT_PAIRS | TRAIT_PAIRS_ONLY | TRAIT_STABLE | TRAIT_UNALIGNED | TRAIT_IN_PLACE,
    .summary = "pairs: two stable partitions from the most significant digit, then leaves in "
               "shared memory",
    .supports = SCANBENCH_BACKEND::stable_msd::supports,
    .scratch_bytes = SCANBENCH_BACKEND::bytes_laid_out<SCANBENCH_BACKEND::stable_msd::lay_out>,
    .prepare = SCANBENCH_BACKEND::stable_msd::prepare,
    .run = SCANBENCH_BACKEND::stable_msd::run,
};
