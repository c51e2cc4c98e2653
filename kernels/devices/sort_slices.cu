/* sort_slices: a sort over the slices of several devices.
 * Source:  scanbench: multi-way selection by histograms, most significant digit first
 *          (sort_cuts.cuh), then the fastest sort of one device.
 * Work:    two reads of all keys to find where the result is cut, and more of the few that agree
 *          with a cut in its first two digits; one read and write of all keys; the local sort.
 * Between: a histogram for each digit of a cut, to all members, or of many to the one that takes
 * the digit; every key once. Shared:  a histogram per cut; a tile of keys, and counters for each of
 * its warps. Relies:  on an engine whose exchanges follow each other in every queue.
 *
 * The sorted array is cut into slices as long as those of the input. A tile of keys is parted in
 * shared memory by the slice that its keys belong to, and written in whole lines: to the members
 * themselves if kernels can store in their memory, else to runs that the engine exchanges. */
#include "../sort/radix_rank.cuh"
#include "sort_cuts.cuh"

namespace SCANBENCH_BACKEND
{

namespace sort_slices
{

using sort_cuts::cut;
using sort_cuts::lower_bound;

enum {
    THREADS = 512,
    WARPS = THREADS / WARP,
    KEY_BYTES = 64, /* of keys per thread */
    LOG2_MEMBERS = 6,
};
static_assert(1 << LOG2_MEMBERS == MOST_MEMBERS);

template <class Key> constexpr unsigned KEYS_PER_THREAD = KEY_BYTES / sizeof(Key);
template <class Key> constexpr unsigned TILE = THREADS *KEYS_PER_THREAD<Key>;

/* How far a member's blocks are together: the next place to write to for each receiver, and how
 * many keys equal to each cut they have seen. */
struct progress {
    unsigned long long next[MOST_MEMBERS], seen[MOST_MEMBERS];
};

/* Scratch: what finding the cuts takes; counts of runs; progress; the keys as runs to send, and as
 * received; the local sort's. A single device has the last alone. */
struct layout {
    sort_cuts::cut_layout finding;
    size_t counts, progress, runs, received, local;

    explicit layout(const struct problem *problem) : finding(problem)
    {
        const unsigned size = problem->device->members;
        const size_t keys =
            next_place(longest_slice(problem->whole_n, size) * element_bytes(problem->type));
        counts = finding.end;
        progress = counts + next_place(size * size * sizeof(uint64_t));
        runs = progress + next_place(sizeof(struct progress));
        received = finding.candidates = runs + keys;
        local = size > 1 ? received + keys : 0;
    }
};

/* ---- what goes where ---- */

/* Thread k counts the runs of member k. Then it says where this member's keys for member k go: with
 * `straight` after those of earlier members there, else after those for earlier members here. */
__global__ void count_runs_kernel(const cut *cuts, uint64_t whole_n, unsigned member, bool straight,
                                  uint64_t *counts, progress *progress)
{
    const unsigned size = blockDim.x, k = threadIdx.x;
    const uint64_t n = slice_start(whole_n, size, k + 1) - slice_start(whole_n, size, k);
    uint64_t before = 0;
    for (unsigned j = 0; j < size; j++) {
        const uint64_t up_to = j + 1 < size ? cuts[j].before[k] : n;
        counts[k * size + j] = up_to - before;
        before = up_to;
    }
    __syncthreads();
    uint64_t next = 0;
    for (unsigned i = 0; i < (straight ? member : k); i++)
        next += counts[straight ? i * size + k : member * size + i];
    progress->next[k] = next;
    progress->seen[k] = 0;
}

/* Where the keys for each member begin, those of all senders. */
template <class Key> struct destinations {
    Key *of[MOST_MEMBERS];
};

template <class Key> struct tile_layout {
    warp_counts<WARPS, MOST_MEMBERS> counts;
    alignas(16) Key keys[TILE<Key>];
    Key cut_key[MOST_MEMBERS];
    unsigned long long taken[MOST_MEMBERS], first_equal[MOST_MEMBERS];
    unsigned equal[MOST_MEMBERS];
    /* The keys for each member: where they start in the tile, how many there are, where they go,
     * and how many lines they touch there. */
    unsigned start[MOST_MEMBERS], count[MOST_MEMBERS], lines[MOST_MEMBERS];
    unsigned long long to[MOST_MEMBERS];
    unsigned warp_totals[WARPS];
};

/* A thread's keys of a tile, and for each the member that it goes to. Of equal keys, the cut that
 * this is the first to be equal to decides. */
template <class Order, class Key = typename Order::key> struct tile_keys {
    static constexpr unsigned COUNT = KEYS_PER_THREAD<Key>;
    Key key[COUNT];
    unsigned member[COUNT]; /* and in the higher bits a rank */

    static __device__ __forceinline__ unsigned index(unsigned k)
    {
        return index_in_tile<COUNT>(k);
    }

    /* What is not there goes where nobody reads it: past the keys of the last member. */
    __device__ __forceinline__ void load(const Key *from, unsigned there)
    {
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            key[k] = index(k) < there ? from[index(k)] : Order().inverse(Key(~Key(0)));
    }

    __device__ __forceinline__ bool is_equal(const tile_layout<Key> *shared, unsigned k,
                                             unsigned last, unsigned there) const
    {
        const unsigned cut = member[k] % MOST_MEMBERS;
        return cut < last && index(k) < there && Order()(key[k]) == shared->cut_key[cut];
    }

    /* Returns whether a key is equal to a cut. */
    __device__ __forceinline__ bool find_members(const tile_layout<Key> *shared, unsigned last,
                                                 unsigned there)
    {
        bool any = false;
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++) {
            member[k] =
                index(k) < there ? lower_bound(shared->cut_key, last, Order()(key[k])) : last;
            any |= is_equal(shared, k, last, there);
        }
        return any;
    }

    /* Numbers the keys of this slice that are equal to a cut: those from `taken` on come after it.
     */
    __device__ __forceinline__ void divide_equal(tile_layout<Key> *shared, progress *progress,
                                                 unsigned last, unsigned there)
    {
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            if (is_equal(shared, k, last, there))
                member[k] |= atomicAdd(&shared->equal[member[k]], 1u) * MOST_MEMBERS;
        __syncthreads();
        if (threadIdx.x < last && shared->equal[threadIdx.x] != 0)
            shared->first_equal[threadIdx.x] = atomicAdd(
                &progress->seen[threadIdx.x], (unsigned long long)shared->equal[threadIdx.x]);
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++) {
            const bool divides = is_equal(shared, k, last, there);
            const unsigned first = member[k] % MOST_MEMBERS;
            const unsigned long long number =
                divides ? shared->first_equal[first] + member[k] / MOST_MEMBERS : 0;
            member[k] = first;
            while (divides && member[k] < last &&
                   shared->cut_key[member[k]] == shared->cut_key[first] &&
                   number >= shared->taken[member[k]])
                member[k]++;
        }
    }
};

template <class Key>
__device__ __forceinline__ void load_cuts(tile_layout<Key> *shared, const cut *cuts, unsigned last,
                                          unsigned sender)
{
    for (unsigned c = threadIdx.x; c < last; c += THREADS) {
        shared->cut_key[c] = (Key)cuts[c].key;
        shared->taken[c] = cuts[c].taken[sender];
        shared->equal[c] = 0;
    }
    for (unsigned d = threadIdx.x; d < WARPS << LOG2_MEMBERS; d += THREADS)
        shared->counts.of_warp[d / MOST_MEMBERS][d % MOST_MEMBERS] = 0;
}

/* Thread d claims room for the `count` keys for member d. */
template <class Key>
__device__ __forceinline__ void claim_room(tile_layout<Key> *shared, progress *progress,
                                           unsigned count)
{
    const unsigned d = threadIdx.x;
    const unsigned long long to = atomicAdd(&progress->next[d], (unsigned long long)count);
    shared->start[d] = shared->counts.of_warp[0][d];
    shared->count[d] = count;
    shared->to[d] = to;
    shared->lines[d] = count > 0 ? (unsigned)ceil_div(to % WARP + count, WARP) : 0;
}

/* Writes the parted tile, a line of a key per lane at a time. */
template <class Key>
__device__ __forceinline__ void write_tile(const tile_layout<Key> *shared, unsigned size,
                                           const destinations<Key> &destinations)
{
    unsigned d = 0, first_line = 0;
    for (unsigned line = threadIdx.x / WARP;; line += WARPS) {
        while (d < size && line >= first_line + shared->lines[d])
            first_line += shared->lines[d++];
        if (d == size)
            break;
        const unsigned from_line = (unsigned)(shared->to[d] % WARP);
        const unsigned i = (line - first_line) * WARP + lane_index() - from_line;
        if (i < shared->count[d])
            destinations.of[d][shared->to[d] + i] = shared->keys[shared->start[d] + i];
    }
}

/* Sends a tile of keys to where they belong. */
template <class Order, class Key = typename Order::key>
__global__ void __launch_bounds__(THREADS, 2)
    send_keys_kernel(const Key *keys, uint64_t n, const cut *cuts, unsigned size, unsigned sender,
                     progress *progress, const __grid_constant__ destinations<Key> destinations)
{
    auto *shared = shared_memory<tile_layout<Key>>();
    const uint64_t first = (uint64_t)blockIdx.x * TILE<Key>;
    const auto there = (unsigned)min(n - first, (uint64_t)TILE<Key>);
    tile_keys<Order> tile;
    tile.load(keys + first, there);
    load_cuts(shared, cuts, size - 1, sender);
    __syncthreads();
    if (__syncthreads_or(tile.find_members(shared, size - 1, there)))
        tile.divide_equal(shared, progress, size - 1, there);

    unsigned *own = shared->counts.of_warp[threadIdx.x / WARP];
#pragma unroll
    for (unsigned k = 0; k < tile.COUNT; k++)
        tile.member[k] |= rank_in_warp<LOG2_MEMBERS>(tile.member[k], own) * MOST_MEMBERS;
    __syncthreads();
    const unsigned count =
        starts_of_digits(&shared->counts, shared->warp_totals, [](unsigned) {}).count;
    __syncthreads();
    if (threadIdx.x < size)
        claim_room(shared, progress, threadIdx.x + 1 < size ? count : count - (TILE<Key> - there));
#pragma unroll
    for (unsigned k = 0; k < tile.COUNT; k++)
        shared->keys[own[tile.member[k] % MOST_MEMBERS] + tile.member[k] / MOST_MEMBERS] =
            tile.key[k];
    __syncthreads();
    write_tile(shared, size, destinations);
}

/* ---- host side ---- */

template <class Order, class Key = typename Order::key>
static void send_keys(const struct team *team, const layout &at)
{
    const bool straight = team->engine->meet != nullptr;
    on_each_member(team, [&](const struct call *call, unsigned member) {
        const struct problem *problem = &call->problem;
        const cut *cuts = at_place<const cut>(call, at.finding.cuts);
        progress *progress = at_place<sort_slices::progress>(call, at.progress);
        destinations<Key> destinations = {};
        for (unsigned k = 0; k < team->size; k++)
            destinations.of[k] = straight ? at_place<Key>(&team->call[k], at.received)
                                          : at_place<Key>(call, at.runs);
        launch<count_runs_kernel>(queue_of(call), {1, team->size}, cuts, problem->whole_n, member,
                                  straight, at_place<uint64_t>(call, at.counts), progress);
        launch<send_keys_kernel<Order>>(queue_of(call),
                                        {ceil_div(problem->n, TILE<Key>),
                                         THREADS,
                                         {2 * problem->n * sizeof(Key)},
                                         sizeof(tile_layout<Key>)},
                                        static_cast<const Key *>(call->input), problem->n, cuts,
                                        team->size, member, progress, destinations);
    });
}

static void exchange_keys(const struct team *team, const layout &at, uint32_t number)
{
    const bool straight = team->engine->meet != nullptr;
    if (straight)
        mark_exchange(team);
    with_order(team->call->problem.type, [&](auto order) { send_keys<decltype(order)>(team, at); });
    if (!straight)
        return team_exchange_runs(team, number, at.runs, at.received, at.counts);
    team->engine->meet(team, number);
    mark_exchange(team);
}

static void run(const struct team *team)
{
    const struct problem *problem = &team->call->problem;
    const layout at(problem);
    const unsigned exchanges = sort_cuts::exchange_count(team);
    const uint32_t number = (team->call->epoch - 1) * (exchanges + 1) + 1;
    if (team->size == 1)
        return run_local(team->call, at.local);
    with_order(problem->type, [&](auto order) {
        sort_cuts::find_cuts<decltype(order)>(team, at.finding, number);
    });
    exchange_keys(team, at, number + exchanges);
    on_each_member(team, [&](const struct call *call, unsigned) {
        struct call local = local_call(call, at.local);
        local.input = at_place<char>(call, at.received);
        problem->local->run(&local);
    });
}

static void prepare(const struct call *call)
{
    prepare_local(call, layout(&call->problem).local);
}

static size_t scratch_bytes(const struct problem *problem)
{
    const size_t own = problem->device->members > 1 ? layout(problem).local : 0;
    return own + local_scratch_bytes(problem);
}

} // namespace sort_slices

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(sort_slices) = {
    .name = "slices",
    .op = OP_SORT,
    .family = FAMILY_OWN,
    .traits = TRAIT_HAS_RUNS,
    .summary = "slices cut by histograms of all keys, keys exchanged, slices sorted",
    .source = "scanbench",
    .scratch_bytes = SCANBENCH_BACKEND::sort_slices::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::sort_slices::prepare,
    .run_slices = SCANBENCH_BACKEND::sort_slices::run,
};
