/* sort_slices: a sort over the slices of several devices.
 * Source:  scanbench: multi-way selection by histograms, most significant digit first, then the
 *          fastest sort of one device.
 * Work:    three reads of 32-bit keys to find where slices are cut, six of 64-bit keys; one read
 *          and write into runs; the local sort.
 * Between: a histogram per cut and digit; one exchange of runs.
 * Shared:  a histogram per cut; the counts of a tile's runs.
 * Relies:  on an engine whose exchanges follow each other in every queue.
 *
 * The sorted array is cut into slices as long as those of the input. A cut is the key at its
 * place, and how many keys equal to it come before. Its digits are found one after the other, each
 * from a histogram of all keys that agree in the earlier ones. Equal keys are divided in the order
 * of devices, so every slice is full whatever the keys are. */
#include "key_order.cuh"
#include "pack.cuh"
#include "team.cuh"
#include "warp.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND
{

namespace sort_slices
{

enum {
    DIGIT_BITS = 11,
    BINS = 1 << DIGIT_BITS,
    THREADS = 512,
    KEYS_A_THREAD = 8,
    TILE = THREADS * KEYS_A_THREAD,
    BINS_A_LANE = BINS / WARP,
    PACKS = 4, /* loads in flight per thread */
};

/* A cut between two slices of the result. */
struct cut {
    uint64_t key;  /* its digits so far */
    uint64_t left; /* of the keys that agree in these, how many come before the cut */
    uint64_t before[MOST_MEMBERS]; /* keys of each slice of the input that come before */
    uint64_t taken[MOST_MEMBERS];  /* those of them that are equal to it */
};

/* How far the runs of a member are filled: the next place in each, and how many keys equal to each
 * cut were seen. */
struct progress {
    unsigned long long next[MOST_MEMBERS], seen[MOST_MEMBERS];
};

static size_t histograms_bytes(const struct problem *problem)
{
    return (problem->device->members - 1) * BINS * sizeof(uint64_t);
}

/* Scratch: histograms of all members, the member's own; cuts; counts of runs; progress; the keys as
 * runs to send, and as received; the local sort's. */
struct layout {
    gathered all_histograms;
    size_t histograms, cuts, counts, progress, runs, received, local;

    explicit layout(const struct problem *problem)
        : all_histograms(problem, histograms_bytes(problem))
    {
        const unsigned size = problem->device->members;
        const size_t keys =
            next_place(longest_slice(problem->whole_n, size) * element_bytes(problem->type));
        histograms = all_histograms.end();
        cuts = histograms + next_place(histograms_bytes(problem));
        counts = cuts + next_place(size * sizeof(struct cut));
        progress = counts + next_place(size * size * sizeof(uint64_t));
        runs = progress + next_place(sizeof(struct progress));
        received = runs + keys;
        local = received + keys;
    }
};

/* The digit of a round: `width` bits from bit `shift` on. */
struct digit {
    unsigned shift, width;

    digit(enum element_type type, unsigned round)
    {
        const unsigned above = 8 * (unsigned)element_bytes(type) - round * DIGIT_BITS;
        width = above < DIGIT_BITS ? above : (unsigned)DIGIT_BITS;
        shift = above - width;
    }
};

static unsigned round_count(enum element_type type)
{
    return (8 * (unsigned)element_bytes(type) + DIGIT_BITS - 1) / DIGIT_BITS;
}

/* ---- where the result is cut ---- */

__global__ void start_cuts_kernel(cut *cuts, uint64_t whole_n, unsigned size)
{
    cut *mine = &cuts[threadIdx.x];
    mine->key = 0;
    mine->left = whole_n / size * (threadIdx.x + 1);
    mine->left += threadIdx.x + 1 < whole_n % size ? threadIdx.x + 1 : whole_n % size;
    for (unsigned k = 0; k < size; k++)
        mine->before[k] = mine->taken[k] = 0;
}

/* Counts a key for every cut with which it agrees in the digits so far. */
template <class Order, class Key = typename Order::key>
__device__ __forceinline__ void count_digit(Key bits, const cut *cuts, unsigned cut_count,
                                            digit digit, bool first_round, unsigned *bins)
{
    const uint64_t key = Order()(bits);
    const unsigned bin = (unsigned)(key >> digit.shift) & ((1u << digit.width) - 1);
    for (unsigned c = 0; c < cut_count; c++)
        if (first_round || key >> (digit.shift + digit.width) == cuts[c].key)
            atomicAdd(&bins[c * BINS + bin], 1u);
}

/* In the first round no digit is known yet, and one histogram serves all cuts. */
template <class Order, class Key = typename Order::key>
__global__ void count_digits_kernel(const Key *keys, uint64_t n, const cut *cuts,
                                    unsigned cut_count, digit digit, bool first_round,
                                    unsigned long long *histograms)
{
    auto *bins = shared_memory<unsigned>();
    const unsigned counted = first_round ? 1 : cut_count;
    for (unsigned b = threadIdx.x; b < counted * BINS; b += blockDim.x)
        bins[b] = 0;
    __syncthreads();
    constexpr unsigned WIDTH = PACK_WIDTH<Key>;
    const uint64_t row = (uint64_t)gridDim.x * THREADS * WIDTH;
    for (uint64_t i = global_thread() * WIDTH; i < n; i += PACKS * row) {
        pack<Key, WIDTH> packs[PACKS];
#pragma unroll
        for (unsigned p = 0; p < PACKS; p++)
            packs[p] = load_pack<Key, WIDTH>(keys, i + p * row, n);
#pragma unroll
        for (unsigned k = 0; k < PACKS * WIDTH; k++)
            if (i + k / WIDTH * row + k % WIDTH < n)
                count_digit<Order>(packs[k / WIDTH].at[k % WIDTH], cuts, counted, digit,
                                   first_round, bins);
    }
    __syncthreads();
    for (unsigned b = threadIdx.x; b < cut_count * BINS; b += blockDim.x)
        if (bins[b % (counted * BINS)] != 0)
            atomicAdd(&histograms[b], (unsigned long long)bins[b % (counted * BINS)]);
}

/* The histogram of member k for one cut. */
struct histograms_of_cut {
    const uint64_t *first;
    size_t stride;

    __device__ __forceinline__ const uint64_t *of(unsigned k) const
    {
        return first + k * stride;
    }
};

/* The bin in which the cut lies, by one warp; all lanes get it. The keys in bins before are taken
 * off `left`. With fewer keys than the cut needs, it is the last bin. */
__device__ __forceinline__ unsigned find_bin(histograms_of_cut histogram, unsigned size,
                                             unsigned last_bin, uint64_t *left)
{
    const unsigned first = lane_index() * BINS_A_LANE;
    uint64_t mine = 0;
    for (unsigned k = 0; k < size; k++)
        for (unsigned b = 0; b < BINS_A_LANE; b++)
            mine += histogram.of(k)[first + b];
    const uint64_t through = warp_inclusive_sum(mine);
    const unsigned beyond = __ballot_sync(ALL_LANES, through > *left);
    const unsigned lane = beyond != 0 ? __ffs(beyond) - 1 : WARP - 1;
    uint64_t rest = *left - (through - mine);
    unsigned bin = first;
    for (; bin < first + BINS_A_LANE && bin < last_bin && lane_index() == lane; bin++) {
        uint64_t keys = 0;
        for (unsigned k = 0; k < size; k++)
            keys += histogram.of(k)[bin];
        if (rest < keys)
            break;
        rest -= keys;
    }
    *left = __shfl_sync(ALL_LANES, rest, lane);
    return __shfl_sync(ALL_LANES, bin, lane);
}

/* Of the keys equal to the cut, as many as are left come before it, those of earlier slices first.
 */
__device__ __forceinline__ void divide_equal_keys(cut *cut, histograms_of_cut histogram,
                                                  unsigned size, unsigned bin)
{
    for (unsigned k = 0; k < size; k++) {
        const uint64_t equal = histogram.of(k)[bin];
        cut->taken[k] = equal < cut->left ? equal : cut->left;
        cut->before[k] += cut->taken[k];
        cut->left -= cut->taken[k];
    }
}

/* Takes the next digit of cut blockIdx.x. */
__global__ void choose_digit_kernel(cut *cuts, const uint64_t *histograms, size_t stride,
                                    unsigned size, unsigned width, bool last_round)
{
    cut *mine = &cuts[blockIdx.x];
    const histograms_of_cut histogram = {histograms + blockIdx.x * BINS, stride};
    uint64_t left = mine->left;
    const unsigned bin = find_bin(histogram, size, (1u << width) - 1, &left);
    for (unsigned k = 0; k < size; k++) {
        uint64_t below = 0;
        for (unsigned b = lane_index(); b < bin; b += WARP)
            below += histogram.of(k)[b];
        below = warp_sum(below);
        if (lane_index() == 0)
            mine->before[k] += below;
    }
    if (lane_index() != 0)
        return;
    mine->key = mine->key << width | bin;
    mine->left = left;
    if (last_round)
        divide_equal_keys(mine, histogram, size, bin);
}

/* Thread k counts the runs of member k, and this member's own thread says where they begin. */
__global__ void count_runs_kernel(const cut *cuts, uint64_t whole_n, unsigned member,
                                  uint64_t *counts, progress *progress)
{
    const unsigned size = blockDim.x, k = threadIdx.x;
    const uint64_t n = whole_n / size + (k < whole_n % size);
    uint64_t before = 0;
    for (unsigned j = 0; j < size; j++) {
        const uint64_t up_to = j + 1 < size ? cuts[j].before[k] : n;
        counts[k * size + j] = up_to - before;
        if (k == member) {
            progress->next[j] = before;
            progress->seen[j] = 0;
        }
        before = up_to;
    }
}

/* ---- runs ---- */

struct tile_layout {
    uint64_t cut_key[MOST_MEMBERS], taken[MOST_MEMBERS];
    unsigned long long first_equal[MOST_MEMBERS], first[MOST_MEMBERS];
    unsigned equal[MOST_MEMBERS], count[MOST_MEMBERS];
};

/* Which cut a key comes before or, if it is equal to some, the first of these. */
template <class Key>
__device__ __forceinline__ unsigned cut_above(const tile_layout *shared, Key key, unsigned last)
{
    unsigned j = 0;
    while (j < last && key > shared->cut_key[j])
        j++;
    return j;
}

/* Writes every key to its run. A tile claims room for its keys with one atomic per run, after one
 * per cut for the keys equal to that, whose numbers decide on which side they go. */
template <class Order, class Key = typename Order::key>
__global__ void __launch_bounds__(THREADS)
    make_runs_kernel(const Key *keys, uint64_t n, const cut *cuts, unsigned size, unsigned member,
                     progress *progress, Key *runs)
{
    auto *shared = shared_memory<tile_layout>();
    const unsigned last = size - 1;
    if (threadIdx.x < size) {
        shared->equal[threadIdx.x] = shared->count[threadIdx.x] = 0;
        shared->cut_key[threadIdx.x] = cuts[threadIdx.x].key;
        shared->taken[threadIdx.x] = cuts[threadIdx.x].taken[member];
    }
    __syncthreads();

    Key key[KEYS_A_THREAD];
    unsigned run[KEYS_A_THREAD], rank[KEYS_A_THREAD];
    bool is_equal[KEYS_A_THREAD];
    const uint64_t first = (uint64_t)blockIdx.x * TILE + threadIdx.x;
#pragma unroll
    for (unsigned i = 0; i < KEYS_A_THREAD; i++) {
        if (first + i * THREADS >= n)
            continue;
        key[i] = keys[first + i * THREADS];
        const Key ordered = Order()(key[i]);
        run[i] = cut_above(shared, ordered, last);
        is_equal[i] = run[i] < last && ordered == shared->cut_key[run[i]];
        if (is_equal[i])
            rank[i] = atomicAdd(&shared->equal[run[i]], 1u);
    }
    __syncthreads();
    if (threadIdx.x < size && shared->equal[threadIdx.x] != 0)
        shared->first_equal[threadIdx.x] =
            atomicAdd(&progress->seen[threadIdx.x], (unsigned long long)shared->equal[threadIdx.x]);
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < KEYS_A_THREAD; i++) {
        if (first + i * THREADS >= n)
            continue;
        if (is_equal[i]) {
            const uint64_t number = shared->first_equal[run[i]] + rank[i];
            const uint64_t equal_to = shared->cut_key[run[i]];
            while (run[i] < last && shared->cut_key[run[i]] == equal_to &&
                   number >= shared->taken[run[i]])
                run[i]++;
        }
        rank[i] = atomicAdd(&shared->count[run[i]], 1u);
    }
    __syncthreads();
    if (threadIdx.x < size)
        shared->first[threadIdx.x] =
            atomicAdd(&progress->next[threadIdx.x], (unsigned long long)shared->count[threadIdx.x]);
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < KEYS_A_THREAD; i++)
        if (first + i * THREADS < n)
            runs[shared->first[run[i]] + rank[i]] = key[i];
}

/* ---- host side ---- */

template <class Order, class Key = typename Order::key>
static void count_digits(const struct call *call, const layout &at, unsigned round)
{
    const struct problem *problem = &call->problem;
    const unsigned cut_count = problem->device->members - 1;
    auto *histograms = at_place<unsigned long long>(call, at.histograms);
    succeeded(queue_of(call), "memset",
              cudaMemsetAsync(histograms, 0, histograms_bytes(problem), queue_of(call)->stream));
    const uint64_t blocks =
        std::min<uint64_t>(ceil_div(problem->n, TILE), 4u * problem->device->multiprocessors);
    launch<count_digits_kernel<Order>>(queue_of(call),
                                       {blocks,
                                        THREADS,
                                        {problem->n * sizeof(Key)},
                                        (round == 0 ? 1 : cut_count) * BINS * sizeof(unsigned)},
                                       static_cast<const Key *>(call->input), problem->n,
                                       at_place<const cut>(call, at.cuts), cut_count,
                                       digit(problem->type, round), round == 0, histograms);
}

template <class Order>
static void find_cuts(const struct team *team, const layout &at, uint32_t number)
{
    const struct problem *problem = &team->call->problem;
    const unsigned rounds = round_count(problem->type);
    on_each_member(team, [&](const struct call *call, unsigned) {
        launch<start_cuts_kernel>(queue_of(call), {1, team->size - 1}, at_place<cut>(call, at.cuts),
                                  problem->whole_n, team->size);
    });
    for (unsigned round = 0; round < rounds; round++, number++) {
        on_each_member(
            team, [&](const struct call *call, unsigned) { count_digits<Order>(call, at, round); });
        team_all_gather(team, number, at.histograms, at.all_histograms.place(number),
                        histograms_bytes(problem));
        on_each_member(team, [&](const struct call *call, unsigned) {
            launch<choose_digit_kernel>(
                queue_of(call), {team->size - 1, WARP}, at_place<cut>(call, at.cuts),
                at_place<const uint64_t>(call, at.all_histograms.place(number)),
                histograms_bytes(problem) / sizeof(uint64_t), team->size,
                digit(problem->type, round).width, round + 1 == rounds);
        });
    }
}

template <class Order, class Key = typename Order::key>
static void make_runs(const struct call *call, unsigned member, const layout &at)
{
    const struct problem *problem = &call->problem;
    const unsigned size = problem->device->members;
    const cut *cuts = at_place<const cut>(call, at.cuts);
    progress *progress = at_place<sort_slices::progress>(call, at.progress);
    launch<count_runs_kernel>(queue_of(call), {1, size}, cuts, problem->whole_n, member,
                              at_place<uint64_t>(call, at.counts), progress);
    launch<make_runs_kernel<Order>>(
        queue_of(call),
        {ceil_div(problem->n, TILE), THREADS, {2 * problem->n * sizeof(Key)}, sizeof(tile_layout)},
        static_cast<const Key *>(call->input), problem->n, cuts, size, member, progress,
        at_place<Key>(call, at.runs));
}

static void run(const struct team *team)
{
    const struct problem *problem = &team->call->problem;
    const layout at(problem);
    const unsigned rounds = round_count(problem->type);
    const uint32_t number = (team->call->epoch - 1) * (rounds + 1) + 1;
    with_order(problem->type, [&](auto order) {
        using Order = decltype(order);
        if (team->size > 1)
            find_cuts<Order>(team, at, number);
        on_each_member(team, [&](const struct call *call, unsigned member) {
            make_runs<Order>(call, member, at);
        });
    });
    team_exchange_runs(team, number + rounds, at.runs, at.received, at.counts);
    on_each_member(team, [&](const struct call *call, unsigned) {
        struct call local = local_call(call, at.local);
        local.input = at_place<char>(call, at.received);
        problem->local->run(&local);
    });
}

static void prepare(const struct call *call)
{
    const struct call local = local_call(call, layout(&call->problem).local);
    if (call->problem.local->prepare != nullptr)
        call->problem.local->prepare(&local);
}

static size_t scratch_bytes(const struct problem *problem)
{
    return layout(problem).local + local_scratch_bytes(problem);
}

} // namespace sort_slices

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(sort_slices) = {
    .op = OP_SORT,
    .family = FAMILY_OWN,
    .traits = TRAIT_HAS_RUNS,
    .summary = "slices cut by histograms of all keys, runs exchanged, slices sorted",
    .source = "scanbench",
    .scratch_bytes = SCANBENCH_BACKEND::sort_slices::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::sort_slices::prepare,
    .run_slices = SCANBENCH_BACKEND::sort_slices::run,
};
