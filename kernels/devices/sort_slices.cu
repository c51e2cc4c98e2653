/* sort_slices: a sort over the slices of several devices.
 * Source:  scanbench: multi-way selection by histograms, most significant digit first
 *          (sort_cuts.cuh), then the fastest sort of one device.
 * Work:    one or two reads of all keys to find where the result is cut, and more of the few that
 *          may agree with a cut; one read and write of all keys, and of those in second batches
 *          another one; then each device sorts what it received. If that sort begins with parts,
 *          the first write was its first partition.
 * Between: a histogram of a sample; one per digit of a cut, gathered by all members, or by the one
 *          that finds the cut if members are many; every key once.
 * Shared:  a histogram per cut; a tile of keys with two lines more for each bucket, and counters.
 * Relies:  on an engine whose exchanges follow each other in every queue, and on copies that wait
 *          for no sort: a sort whose blocks must all be resident may wait for a copy to end.
 *
 * The sorted array is cut into slices as long as those of the input. A tile of keys is partitioned
 * in shared memory by the slice and the part of it that its keys belong to (sort_routes.cuh). They
 * are written, a line at a time (sort_lines.cuh), to the members themselves if kernels can store in
 * their memory, else to runs that the engine exchanges. Only the former have parts.
 *
 * The links take longer for the keys than the partition does. So among two to four members each
 * long slice of the result comes in two batches, with an exact cut between them. Keys of first
 * batches are sent at once, those of second batches to the sender's own memory. These are copied
 * while the first batches are sorted (sort_copies.cuh). */
#include "../sort/policy.cuh"
#include "sort_copies.cuh"

namespace SCANBENCH_BACKEND
{

namespace sort_slices
{

enum {
    /* The fewest parts of all keys, and the fewest bytes per multiprocessor of a slice that has
     * parts. */
    FEW_PARTS = 64,
    LEAST_SHARE = 256 << 10,
    /* The most bytes of a part, until there are the most parts. Smaller parts leave narrower digits
     * to the sort, which saves more than the send loses: two H200 gain at 2^30 keys and lose
     * nothing at 2^28. */
    PART_BYTES = 8 << 20,
};

/* How keys are sent: with the most parts, or with few where shared memory is small. */
template <class Key, unsigned PARTS>
constexpr launch_policy SEND =
    PARTS == key_parts::MOST ? launch_policy{.threads = 1024, .blocks = 1, .keys = 64 / sizeof(Key)}
                             : launch_policy{.threads = 512, .blocks = 1, .keys = 32 / sizeof(Key)};

/* Scratch: what finding the cuts takes; counts of runs; routes; parts of each batch; the keys as
 * runs to send or to copy, and as received; that of the device's own sort of each batch. */
struct layout {
    sort_cuts::cut_layout finding;
    unsigned batches; /* of a slice */
    size_t counts, routes, parts, runs, received, local[2];
    struct device_limits while_copying; /* without the multiprocessors that copy */

    explicit layout(const struct problem *problem)
        : finding(problem), batches(batches_of(problem).per_slice), while_copying(*problem->device)
    {
        const unsigned size = problem->device->members;
        struct problem slice = longest_problem(problem);
        const size_t keys = next_place(slice.n * element_bytes(problem->type));
        counts = finding.end;
        routes = counts + next_place(size * size * sizeof(uint64_t));
        parts = routes + next_place(sizeof(struct routes));
        runs = parts + next_place(batches * sizeof(struct key_parts));
        received = finding.candidates =
            runs + keys + next_place(RUN_LINES * MOST_BUCKETS * LINE_BYTES);
        local[0] = received + keys;
        while_copying.multiprocessors =
            std::max(1, while_copying.multiprocessors - (int)copy_blocks(problem->device));
        if (batches > 1)
            local[1] = end_of_local(problem, 0);
    }

    /* The first key of a batch within its slice. */
    uint64_t start_of(const struct problem *slice, unsigned batch) const
    {
        return sort_cuts::batches{slice->n, 1, batches}.start(batch);
    }
    /* The problem of sorting a batch of a slice. */
    struct problem problem_of(const struct problem *slice, unsigned batch) const
    {
        struct problem problem = *slice;
        problem.n = start_of(slice, batch + 1) - start_of(slice, batch);
        if (batch + 1 < batches)
            problem.device = &while_copying;
        return problem;
    }
    /* Where the scratch of sorting a batch ends, for the longest slice and for shorter ones. */
    size_t end_of_local(const struct problem *problem, unsigned batch) const
    {
        struct problem slice = longest_problem(problem), shorter = slice;
        shorter.n -= slice.n > 0;
        const struct problem of_longest = problem_of(&slice, batch);
        const struct problem of_shorter = problem_of(&shorter, batch);
        return local[batch] + next_place(std::max(local_scratch_bytes(&of_longest),
                                                  local_scratch_bytes(&of_shorter)));
    }
    /* The call that does so. */
    struct call call_of(const struct call *call, unsigned batch) const
    {
        struct call its = local_call(call, local[batch]);
        const size_t first = start_of(&call->problem, batch) * element_bytes(call->problem.type);
        its.problem = problem_of(&call->problem, batch);
        its.input = at_place<char>(call, received) + first;
        its.output = static_cast<char *>(call->output) + first;
        return its;
    }
};

/* ---- what goes where ---- */

template <class Key, unsigned PARTS> struct send_layout {
    static constexpr unsigned THREADS = SEND<Key, PARTS>.threads;
    static constexpr unsigned TILE = SEND<Key, PARTS>.tile();
    uint16_t bucket_of_bin[BINS];
    Key cut_key[MOST_MEMBERS];
    unsigned long long taken[MOST_MEMBERS], first_equal[MOST_MEMBERS];
    unsigned equal[MOST_MEMBERS]; /* keys of the tile; zero before and after it */
    line_layout<Key, THREADS, TILE, PARTS + MOST_MEMBERS> lines;
};

template <unsigned PARTS>
constexpr size_t SEND_BYTES = std::max(sizeof(send_layout<uint32_t, PARTS>),
                                       sizeof(send_layout<uint64_t, PARTS>));
static_assert(SEND_BYTES<FEW_PARTS> <= 64 << 10, "compute capability 7.5 has no more");

static unsigned most_parts(const struct device_limits *device)
{
    return device->shared_bytes_per_block >= SEND_BYTES<key_parts::MOST> ? (unsigned)key_parts::MOST
                                                                         : (unsigned)FEW_PARTS;
}

/* A division of a sender's tiles, as line_sender uses it. Keys equal to a cut are ties. The first
 * `taken` of this sender's, in the order in which they are numbered, go before the cut, the others
 * after it. Within find(), the bucket of such a key has the bit EQUAL, and from bit NUMBER_SHIFT on
 * the key's number among the tile's ties of that cut. */
template <class Order, unsigned PARTS, class Key = typename Order::key> struct send_division {
    enum { EQUAL = HAS_CUT, NUMBER_SHIFT = 16 };
    static constexpr unsigned THREADS = SEND<Key, PARTS>.threads;
    static constexpr unsigned COUNT = SEND<Key, PARTS>.keys;
    static_assert(COUNT * THREADS <= 1 << NUMBER_SHIFT);
    send_layout<Key, PARTS> *shared;
    struct routes *routes;
    unsigned cuts, shift;
    packed_places<COUNT> found;

    __device__ __forceinline__ void start(const cut *from, unsigned member) const
    {
        for (unsigned b = threadIdx.x; b < BINS; b += THREADS)
            shared->bucket_of_bin[b] = routes->bucket_of_bin[b];
        for (unsigned c = threadIdx.x; c < cuts; c += THREADS) {
            shared->cut_key[c] = (Key)from[c].key;
            shared->taken[c] = from[c].taken[member];
            shared->equal[c] = 0;
        }
        __syncthreads();
    }

    __device__ __forceinline__ unsigned cut_of(Key rank) const
    {
        return lower_bound(shared->cut_key, cuts, rank);
    }

    /* Divides keys that are equal to a cut, whose bucket so far is that of the first such cut. They
     * are numbered in the order in which they are seen. */
    template <class Keys>
    __device__ __forceinline__ void divide_equal(const Keys &keys, unsigned *bucket) const
    {
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            if ((bucket[k] & EQUAL) != 0)
                bucket[k] |= atomicAdd(&shared->equal[cut_of(keys.rank[k])], 1u) << NUMBER_SHIFT;
        __syncthreads();
        for (unsigned c = threadIdx.x; c < cuts; c += THREADS)
            if (shared->equal[c] != 0) {
                shared->first_equal[c] =
                    atomicAdd(&routes->seen[c], (unsigned long long)shared->equal[c]);
                shared->equal[c] = 0;
            }
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++) {
            if ((bucket[k] & EQUAL) == 0)
                continue;
            const unsigned first = cut_of(keys.rank[k]);
            const unsigned long long number =
                shared->first_equal[first] + (bucket[k] >> NUMBER_SHIFT);
            unsigned c = first;
            while (c < cuts && shared->cut_key[c] == keys.rank[k] && number >= shared->taken[c])
                c++;
            bucket[k] = bucket[k] % EQUAL + c - first;
        }
    }

    template <class Keys> __device__ __forceinline__ void find(Keys &keys)
    {
        unsigned bucket[COUNT];
        bool has_cut = false, is_equal = false;
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++) {
            keys.rank[k] = Order()(keys.rank[k]);
            bucket[k] = shared->bucket_of_bin[(unsigned)(keys.rank[k] >> shift)];
            has_cut |= bucket[k] >= HAS_CUT;
        }
        if (has_cut) {
#pragma unroll
            for (unsigned k = 0; k < COUNT; k++) {
                if (bucket[k] < HAS_CUT)
                    continue;
                const unsigned c = cut_of(keys.rank[k]);
                bucket[k] += c - HAS_CUT;
                if (keys.has(k) && c < cuts && shared->cut_key[c] == keys.rank[k]) {
                    bucket[k] |= EQUAL;
                    is_equal = true;
                }
            }
        }
        if (__syncthreads_or(is_equal))
            divide_equal(keys, bucket);
#pragma unroll
        for (unsigned k = 0; k < COUNT; k++)
            found.set(k, bucket[k]);
    }
    template <class Keys> __device__ __forceinline__ unsigned of(const Keys &, unsigned k) const
    {
        return found.get(k);
    }
};

/* Sends keys to where they belong, a tile at a time. The next tile is loaded while one is written.
 */
template <class Order, unsigned PARTS, class Key = typename Order::key>
__global__ void LAUNCH_BOUNDS((SEND<Key, PARTS>.threads), (SEND<Key, PARTS>.blocks))
    send_keys_kernel(const Key *keys, uint64_t n, const cut *cuts, unsigned cut_count,
                     unsigned member, unsigned shift, routes *routes,
                     const __grid_constant__ destinations<Key> destinations)
{
    constexpr unsigned THREADS = SEND<Key, PARTS>.threads;
    constexpr unsigned COUNT = SEND<Key, PARTS>.keys;
    constexpr uint64_t TILE = COUNT * THREADS;
    auto *shared = shared_memory<send_layout<Key, PARTS>>();
    send_division<Order, PARTS> division = {shared, routes, cut_count, shift, {}};
    line_sender<Order, THREADS, TILE, PARTS + MOST_MEMBERS> lines = {&shared->lines, routes,
                                                                     routes->buckets};
    tile_keys<Key, THREADS, COUNT, true> full;
    const auto load = [&](uint64_t first) {
        if (first + TILE <= n)
            full.load(keys + first);
    };
    load(blockIdx.x * TILE);
    lines.start(destinations);
    division.start(cuts, member);
    for (uint64_t first = blockIdx.x * TILE; first < n; first += gridDim.x * TILE) {
        if (first + TILE <= n) {
            lines.send(division, full, [&] { load(first + gridDim.x * TILE); });
        } else {
            tile_keys<Key, THREADS, COUNT, false> some;
            some.count = (unsigned)(n - first);
            some.load(keys + first);
            lines.send(division, some, [] {});
        }
    }
    lines.flush();
}

/* ---- host side ---- */

/* All keys are one part without the gathered histograms of the first round, and if the most parts,
 * of MOST_BYTES each, cannot hold them: beyond 16 GiB with key_parts::MOST, 4 GiB with FEW_PARTS,
 * and half of that for floats, of which a level divides half as many into leaves. */
static route_plan plan_for(const struct team *team, const struct call *call, const layout &at)
{
    const struct problem *problem = &call->problem;
    const size_t bytes = element_bytes(problem->type), all_bytes = problem->whole_n * bytes;
    const size_t most = key_parts::MOST_BYTES >> (type_class(problem->type) == TYPE_FLOAT ? 1 : 0);
    route_plan plan = {.cuts = at_place<const cut>(call, at.finding.cuts),
                       .batches = batches_of(problem),
                       .most_of_part = (most + most / 64) / bytes,
                       .size = team->size,
                       .parts = 1,
                       .most_parts = most_parts(problem->device),
                       .shift = sort_cuts::first_digit(problem).shift,
                       .straight = team->engine->meet != nullptr};
    if (plan.straight && !sort_cuts::chooses_one(team) &&
        all_bytes / team->size >= (size_t)LEAST_SHARE * problem->device->multiprocessors) {
        plan.histograms = at_place<const uint64_t>(call, at.finding.first_histograms);
        plan.parts = FEW_PARTS;
        while (plan.parts < plan.most_parts && all_bytes > (size_t)plan.parts * PART_BYTES)
            plan.parts *= 2;
    }
    return plan;
}

/* Where a member sends the keys of each, and those that it copies later. */
template <class Key>
static destinations<Key> destinations_of(const struct team *team, const struct call *call,
                                         const layout &at)
{
    destinations<Key> destinations = {};
    for (unsigned k = 0; k < team->size; k++)
        destinations.of[k] = team->engine->meet != nullptr
                                 ? at_place<Key>(&team->call[k], at.received)
                                 : at_place<Key>(call, at.runs);
    destinations.of[team->size] = at_place<Key>(call, at.runs);
    return destinations;
}

template <class Order, unsigned PARTS, class Key = typename Order::key>
static void send_keys(const struct team *team, const layout &at)
{
    using send = send_layout<Key, PARTS>;
    on_each_member(team, [&](const struct call *call, unsigned member) {
        const struct problem *problem = &call->problem;
        route_plan plan = plan_for(team, call, at);
        plan.member = member;
        plan.line = LINE_BYTES / sizeof(Key);
        auto *routes = at_place<sort_slices::routes>(call, at.routes);
        launch<plan_routes_kernel>(queue_of(call), {1, PLAN_THREADS, {}, plan_bytes(plan)}, plan,
                                   routes, at_place<key_parts>(call, at.parts),
                                   at_place<uint64_t>(call, at.counts));
        launch_resident<send_keys_kernel<Order, PARTS>>(
            call,
            {.blocks = ceil_div(problem->n, send::TILE),
             .threads = send::THREADS,
             .traffic = {2 * problem->n * sizeof(Key)},
             .shared_bytes = sizeof(send)},
            static_cast<const Key *>(call->input), problem->n, plan.cuts, plan.batches.cuts(),
            member, plan.shift, routes, destinations_of<Key>(team, call, at));
    });
}

static void exchange_keys(const struct team *team, const layout &at, uint32_t number)
{
    const bool straight = team->engine->meet != nullptr;
    if (straight)
        mark_exchange(team);
    const struct problem *problem = &team->call->problem;
    with_order(problem->type, [&](auto order) {
        if (most_parts(problem->device) > FEW_PARTS)
            send_keys<decltype(order), key_parts::MOST>(team, at);
        else
            send_keys<decltype(order), FEW_PARTS>(team, at);
    });
    if (!straight)
        return team_exchange_runs(team, number, at.runs, at.received, at.counts);
    team->engine->meet(team, number);
    mark_exchange(team);
}

/* Copies the keys of second batches, beside the sort of the first. */
static void copy_keys(const struct team *team, const layout &at, uint32_t number)
{
    beside(team, [&] {
        on_each_member(team, [&](const struct call *call, unsigned member) {
            const struct problem *problem = &call->problem;
            with_key_width(problem->type, [&]<class Key>() {
                launch<copy_runs_kernel<Key>>(
                    queue_of(call),
                    {.blocks = copy_blocks(problem->device),
                     .threads = COPY_THREADS,
                     .traffic = {problem->n * (team->size - 1) / team->size * sizeof(Key)},
                     .shared_bytes = sizeof(copy_layout)},
                    at_place<const struct routes>(call, at.routes), team->size, member,
                    destinations_of<Key>(team, call, at));
            });
        });
        team->engine->meet(team, number);
    });
}

static void sort_batch(const struct team *team, const layout &at, unsigned batch)
{
    on_each_member(team, [&](const struct call *call, unsigned) {
        struct call its = at.call_of(call, batch);
        if (plan_for(team, call, at).histograms != nullptr)
            its.parts = at_place<key_parts>(call, at.parts) + batch;
        its.problem.local->run(&its);
    });
}

static void run(const struct team *team)
{
    const struct problem *problem = &team->call->problem;
    if (team->size == 1)
        return run_local(team->call, 0);
    const layout at(problem);
    const unsigned exchanges = sort_cuts::exchange_count(team);
    const uint32_t number = (team->call->epoch - 1) * (exchanges + at.batches) + 1;
    with_order(problem->type, [&](auto order) {
        sort_cuts::find_cuts<decltype(order)>(team, at.finding, number);
    });
    exchange_keys(team, at, number + exchanges);
    if (at.batches > 1)
        copy_keys(team, at, number + exchanges + 1);
    sort_batch(team, at, 0);
    if (at.batches == 1)
        return;
    mark_exchange(team);
    rejoin(team);
    mark_exchange(team);
    sort_batch(team, at, 1);
}

static void prepare(const struct call *call)
{
    const struct problem *problem = &call->problem;
    if (problem->device->members == 1)
        return prepare_local(call, 0);
    const layout at(problem);
    for (unsigned b = 0; b < at.batches && problem->local->prepare != nullptr; b++) {
        const struct call its = at.call_of(call, b);
        problem->local->prepare(&its);
    }
}

static size_t scratch_bytes(const struct problem *problem)
{
    if (problem->device->members <= 1)
        return local_scratch_bytes(problem);
    const layout at(problem);
    return at.end_of_local(problem, at.batches - 1);
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
