/* sort_slices: a sort over the slices of several devices.
 * Source:  scanbench: multi-way selection by histograms, most significant digit first, then the
 *          fastest sort of one device.
 * Work:    two reads of all keys to find where the result is cut, and more of the few that agree
 *          with a cut in its first two digits; one read and write of all keys; the local sort.
 * Between: a histogram for each digit of a cut; every key once.
 * Shared:  a histogram per cut; a tile of keys, and counters for each of its warps.
 * Relies:  on an engine whose exchanges follow each other in every queue.
 *
 * The sorted array is cut into slices as long as those of the input. A cut is the key at its
 * place, and how many keys equal to it come before. Its digits are found one after the other, each
 * from a histogram of all keys that agree in the earlier ones. Equal keys are divided in the order
 * of devices, so every slice is full whatever the keys are.
 *
 * A tile of keys is parted in shared memory by the slice that its keys belong to, and written in
 * whole lines: to the members themselves if kernels can store in their memory, else to runs that
 * the engine exchanges. */
#include "key_order.cuh"
#include "pack.cuh"
#include "radix_rank.cuh"
#include "team.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND
{

namespace sort_slices
{

enum {
    /* Of a cut's digits. Where cuts are many, so are the histograms of their later digits. */
    FIRST_BITS = 12,
    LATER_BITS = 10,
    NARROW_BITS = 8,
    FEW_MEMBERS = 16,
    FIRST_BINS = 1 << FIRST_BITS,
    /* Of the kernels that read all keys. */
    THREADS = 512,
    WARPS = THREADS / WARP,
    KEY_BYTES = 64, /* of keys per thread */
    PACKS = 4,      /* loads in flight per thread */
    COUNT_BLOCKS = 3,
    FEW_CUTS = 3, /* which each thread keeps in registers */
    CHOOSE_THREADS = 256,
    LOG2_MEMBERS = 6,
    NO_BIN = FIRST_BINS,
};
static_assert(1 << LOG2_MEMBERS == MOST_MEMBERS);

template <class Key> constexpr unsigned KEYS_A_THREAD = KEY_BYTES / sizeof(Key);
template <class Key> constexpr unsigned TILE = THREADS *KEYS_A_THREAD<Key>;

/* A cut between two slices of the result. */
struct cut {
    uint64_t key;  /* its digits so far */
    uint64_t left; /* of the keys that agree in these, how many come before the cut */
    uint64_t before[MOST_MEMBERS]; /* keys of each slice of the input that come before */
    uint64_t taken[MOST_MEMBERS];  /* those of them that are equal to it */
};

/* How far what a member writes has come: the next place for each receiver, and how many keys equal
 * to each cut were seen. */
struct progress {
    unsigned long long next[MOST_MEMBERS], seen[MOST_MEMBERS];
};

/* ---- digits ---- */

/* The digit of a round: `width` bits from bit `shift` on. */
struct digit {
    unsigned round, shift, width;

    __host__ __device__ unsigned bins() const
    {
        return 1u << width;
    }
};

/* The first digit, and those after it until no bits are left. */
static digit first_digit(const struct problem *problem)
{
    return {0, 8 * (unsigned)element_bytes(problem->type) - FIRST_BITS, FIRST_BITS};
}

static digit next_digit(const struct problem *problem, digit digit)
{
    const unsigned most = problem->device->members <= FEW_MEMBERS ? LATER_BITS : NARROW_BITS;
    const unsigned width = std::min<unsigned>(digit.shift, most);
    return {digit.round + 1, digit.shift - width, width};
}

static unsigned round_count(const struct problem *problem)
{
    digit digit = first_digit(problem);
    while (digit.shift > 0)
        digit = next_digit(problem, digit);
    return digit.round + 1;
}

/* In the first round no digit is known yet, and one histogram serves all cuts. */
static unsigned histogram_count(const struct problem *problem, digit digit)
{
    return digit.round == 0 ? 1 : problem->device->members - 1;
}

static size_t histograms_bytes(const struct problem *problem, digit digit)
{
    return histogram_count(problem, digit) * digit.bins() * sizeof(uint64_t);
}

static size_t most_histograms_bytes(const struct problem *problem)
{
    const digit first = first_digit(problem);
    return std::max(histograms_bytes(problem, first),
                    histograms_bytes(problem, next_digit(problem, first)));
}

/* ---- scratch ---- */

static uint64_t count_blocks(const struct problem *problem)
{
    return (uint64_t)COUNT_BLOCKS * problem->device->multiprocessors;
}

/* Histograms of all members, the member's own; cuts; counts of runs; progress; how many keys each
 * block has kept; the keys as runs to send, and as received; the local sort's. A single device has
 * the last alone. */
struct layout {
    gathered all_histograms;
    size_t histograms, cuts, counts, progress, kept, runs, received, local;

    explicit layout(const struct problem *problem)
        : all_histograms(problem, most_histograms_bytes(problem))
    {
        const unsigned size = problem->device->members;
        const size_t keys =
            next_place(longest_slice(problem->whole_n, size) * element_bytes(problem->type));
        histograms = all_histograms.end();
        cuts = histograms + next_place(most_histograms_bytes(problem));
        counts = cuts + next_place(size * sizeof(struct cut));
        progress = counts + next_place(size * size * sizeof(uint64_t));
        kept = progress + next_place(sizeof(struct progress));
        runs = kept + next_place(count_blocks(problem) * sizeof(uint64_t));
        received = runs + keys;
        local = size > 1 ? received + keys : 0;
    }
};

/* ---- where the result is cut ---- */

__global__ void start_cuts_kernel(cut *cuts, uint64_t whole_n, unsigned size)
{
    cut *mine = &cuts[threadIdx.x];
    mine->key = 0;
    mine->left = slice_start(whole_n, size, threadIdx.x + 1);
    for (unsigned k = 0; k < size; k++)
        mine->before[k] = mine->taken[k] = 0;
}

/* The first of the sorted keys that is not less than this one. */
template <class Key>
__device__ __forceinline__ unsigned lower_bound(const Key *sorted, unsigned count, Key key)
{
    unsigned first = 0;
    while (count > 0) {
        const unsigned half = count / 2;
        const bool is_less = sorted[first + half] < key;
        first = is_less ? first + half + 1 : first;
        count = is_less ? count - half - 1 : half;
    }
    return first;
}

/* The keys that a round counts. Block b reads its share of the slice and keeps those that agree
 * with a cut, in as much room. From the third round on it reads these. */
template <class Key> struct round_keys {
    const Key *in;
    uint64_t n, share;
    Key *kept;
    uint64_t *kept_counts;
};

template <class Key> struct count_layout {
    Key known[MOST_MEMBERS]; /* the digits of each cut */
    unsigned kept;
    unsigned bins[];
};

template <class Order, class Key = typename Order::key> struct digit_counter {
    count_layout<Key> *shared;
    unsigned cut_count;
    struct digit digit;
    Key *kept; /* nullptr: keys are not kept */
    Key few[FEW_CUTS];

    __device__ __forceinline__ void load_few_cuts()
    {
#pragma unroll
        for (unsigned c = 0; c < FEW_CUTS; c++)
            few[c] = shared->known[min(c, cut_count - 1)];
    }

    /* Does a key with these digits agree with no cut, as most do? */
    __device__ __forceinline__ bool surely_unknown(Key digits) const
    {
        bool is_known = cut_count > FEW_CUTS;
#pragma unroll
        for (unsigned c = 0; c < FEW_CUTS; c++)
            is_known |= digits == few[c];
        return !is_known;
    }

    /* In the first round. */
    __device__ __forceinline__ void count_any(Key bits) const
    {
        atomicAdd(&shared->bins[(unsigned)(Order()(bits) >> digit.shift)], 1u);
    }

    /* Counts a key for every cut with which it agrees. */
    __device__ __forceinline__ void count_if_known(Key bits) const
    {
        const Key key = Order()(bits), digits = key >> digit.shift >> digit.width;
        if (surely_unknown(digits))
            return;
        unsigned c = lower_bound(shared->known, cut_count, digits);
        if (c == cut_count || shared->known[c] != digits)
            return;
        const unsigned bin = (unsigned)(key >> digit.shift) & (digit.bins() - 1);
        for (; c < cut_count && shared->known[c] == digits; c++)
            atomicAdd(&shared->bins[c * digit.bins() + bin], 1u);
        if (kept != nullptr)
            kept[atomicAdd(&shared->kept, 1u)] = bits;
    }
};

/* Calls f for each key from `first` to `end`, with several loads in flight. */
template <class Key, class Function>
__device__ __forceinline__ void for_each_key(const Key *keys, uint64_t first, uint64_t end,
                                             Function f)
{
    constexpr unsigned WIDTH = PACK_WIDTH<Key>, ROW = THREADS * WIDTH;
    for (uint64_t i = first + threadIdx.x * WIDTH; i < end; i += PACKS * ROW) {
        pack<Key, WIDTH> packs[PACKS];
#pragma unroll
        for (unsigned p = 0; p < PACKS; p++)
            packs[p] = load_pack<Key, WIDTH>(keys, i + p * ROW, end);
        if (i + (PACKS - 1) * ROW + WIDTH <= end) {
#pragma unroll
            for (unsigned k = 0; k < PACKS * WIDTH; k++)
                f(packs[k / WIDTH].at[k % WIDTH]);
            continue;
        }
#pragma unroll
        for (unsigned k = 0; k < PACKS * WIDTH; k++)
            if (i + k / WIDTH * ROW + k % WIDTH < end)
                f(packs[k / WIDTH].at[k % WIDTH]);
    }
}

template <class Order, class Key = typename Order::key>
__global__ void __launch_bounds__(THREADS, COUNT_BLOCKS)
    count_digits_kernel(round_keys<Key> keys, const cut *cuts, unsigned cut_count, digit digit,
                        unsigned long long *histograms)
{
    auto *shared = shared_memory<count_layout<Key>>();
    const uint64_t first = min(blockIdx.x * keys.share, keys.n);
    const uint64_t end = min(first + keys.share, keys.n);
    const unsigned bins = (digit.round == 0 ? 1 : cut_count) * digit.bins();
    for (unsigned b = threadIdx.x; b < bins; b += THREADS)
        shared->bins[b] = 0;
    if (threadIdx.x < cut_count)
        shared->known[threadIdx.x] = (Key)cuts[threadIdx.x].key;
    if (threadIdx.x == 0)
        shared->kept = 0;
    __syncthreads();
    Key *kept = keys.kept + first;
    digit_counter<Order> counter = {shared, cut_count, digit, digit.round == 1 ? kept : nullptr};
    counter.load_few_cuts();
    if (digit.round == 0)
        for_each_key(keys.in, first, end, [&](Key key) { counter.count_any(key); });
    else if (digit.round == 1)
        for_each_key(keys.in, first, end, [&](Key key) { counter.count_if_known(key); });
    else
        for_each_key(kept, 0, keys.kept_counts[blockIdx.x],
                     [&](Key key) { counter.count_if_known(key); });
    __syncthreads();
    for (unsigned b = threadIdx.x; b < bins; b += THREADS)
        if (shared->bins[b] != 0)
            atomicAdd(&histograms[b], (unsigned long long)shared->bins[b]);
    if (threadIdx.x == 0 && digit.round == 1)
        keys.kept_counts[blockIdx.x] = shared->kept;
}

/* The histograms of all members for one cut. */
struct histograms_of_cut {
    const uint64_t *first;
    size_t stride;

    __device__ __forceinline__ const uint64_t *of(unsigned k) const
    {
        return first + k * stride;
    }

    /* The keys of all members in bins [begin..end). */
    __device__ __forceinline__ uint64_t sum(unsigned size, unsigned begin, unsigned end) const
    {
        uint64_t keys = 0;
        for (unsigned k = 0; k < size; k++)
            for (unsigned b = begin; b < end; b++)
                keys += of(k)[b];
        return keys;
    }
};

struct choose_layout {
    uint64_t warp_totals[CHOOSE_THREADS / WARP];
    unsigned long long below[MOST_MEMBERS];
    unsigned bin;
    uint64_t left;
};

/* Finds the bin in which the cut lies: the last if there are fewer keys than it needs. The keys in
 * bins before are taken off `left`. By all threads, each of which looks at neighbouring bins. */
__device__ __forceinline__ void find_bin(choose_layout *shared, histograms_of_cut histogram,
                                         unsigned size, unsigned bins, uint64_t left)
{
    const unsigned each = (unsigned)ceil_div(bins, CHOOSE_THREADS);
    unsigned bin = min(threadIdx.x * each, bins);
    const unsigned end = min(bin + each, bins);
    const uint64_t mine = histogram.sum(size, bin, end);
    const uint64_t inclusive = warp_inclusive_sum(mine);
    if (lane_index() == WARP - 1)
        shared->warp_totals[threadIdx.x / WARP] = inclusive;
    if (threadIdx.x == 0)
        shared->bin = NO_BIN;
    __syncthreads();
    uint64_t before = sum_of_first(threadIdx.x / WARP, shared->warp_totals) + inclusive - mine;
    if (before <= left && left < before + mine) {
        for (uint64_t here; left >= before + (here = histogram.sum(size, bin, bin + 1)); bin++)
            before += here;
        shared->bin = bin;
        shared->left = left - before;
    }
    __syncthreads();
    if (threadIdx.x == CHOOSE_THREADS - 1 && shared->bin == NO_BIN) {
        shared->bin = bins - 1;
        shared->left = left - (before + mine - histogram.sum(size, bins - 1, bins));
    }
    __syncthreads();
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
__global__ void __launch_bounds__(CHOOSE_THREADS)
    choose_digit_kernel(cut *cuts, const uint64_t *histograms, size_t stride, unsigned size,
                        digit digit)
{
    auto *shared = shared_memory<choose_layout>();
    cut *mine = &cuts[blockIdx.x];
    const unsigned bins = digit.bins();
    const histograms_of_cut histogram = {histograms + (digit.round > 0 ? blockIdx.x * bins : 0),
                                         stride};
    if (threadIdx.x < size)
        shared->below[threadIdx.x] = 0;
    find_bin(shared, histogram, size, bins, mine->left);
    const unsigned bin = shared->bin;
    for (unsigned k = 0; k < size; k++) {
        uint64_t below = 0;
        for (unsigned b = threadIdx.x; b < bin; b += CHOOSE_THREADS)
            below += histogram.of(k)[b];
        below = warp_sum(below);
        if (lane_index() == 0 && below != 0)
            atomicAdd(&shared->below[k], (unsigned long long)below);
    }
    __syncthreads();
    if (threadIdx.x < size)
        mine->before[threadIdx.x] += shared->below[threadIdx.x];
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    mine->key = mine->key << digit.width | bin;
    mine->left = shared->left;
    if (digit.shift == 0)
        divide_equal_keys(mine, histogram, size, bin);
}

/* Thread k counts the runs of member k. Then it says where this member's keys for member k go: with
 * `straight` behind those of earlier members there, else behind those for earlier members here. */
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

/* ---- what goes where ---- */

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
    /* Of the keys for each member: where they start in the tile, how many there are, where they go,
     * and the lines that they touch there, with those for earlier members. */
    unsigned start[MOST_MEMBERS], count[MOST_MEMBERS], lines[MOST_MEMBERS];
    unsigned long long to[MOST_MEMBERS];
    unsigned warp_totals[WARPS];
};

/* A thread's keys of a tile, and for each the member that it goes to. Of equal keys, the cut that
 * this is the first to be equal to decides. */
template <class Order, class Key = typename Order::key> struct tile_keys {
    static constexpr unsigned COUNT = KEYS_A_THREAD<Key>;
    Key key[COUNT];
    unsigned member[COUNT]; /* and in the higher bits a rank */

    static __device__ __forceinline__ unsigned index(unsigned k)
    {
        return threadIdx.x / WARP * WARP * COUNT + k * WARP + lane_index();
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
    const unsigned count = starts_of_digits(&shared->counts, shared->warp_totals);
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
static void count_digits(const struct call *call, const layout &at, digit digit)
{
    const struct problem *problem = &call->problem;
    const uint64_t share =
        ceil_div(ceil_div(problem->n, count_blocks(problem)), TILE<Key>) * TILE<Key>;
    const unsigned cut_count = problem->device->members - 1;
    const unsigned bins = histogram_count(problem, digit) * digit.bins();
    auto *histograms = at_place<unsigned long long>(call, at.histograms);
    succeeded(
        queue_of(call), "memset",
        cudaMemsetAsync(histograms, 0, histograms_bytes(problem, digit), queue_of(call)->stream));
    const round_keys<Key> keys = {static_cast<const Key *>(call->input), problem->n, share,
                                  at_place<Key>(call, at.received),
                                  at_place<uint64_t>(call, at.kept)};
    launch<count_digits_kernel<Order>>(queue_of(call),
                                       {problem->n > 0 ? ceil_div(problem->n, share) : 0,
                                        THREADS,
                                        {digit.round < 2 ? problem->n * sizeof(Key) : 0},
                                        sizeof(count_layout<Key>) + bins * sizeof(unsigned)},
                                       keys, at_place<const cut>(call, at.cuts), cut_count, digit,
                                       histograms);
}

template <class Order>
static void find_cuts(const struct team *team, const layout &at, uint32_t number)
{
    const struct problem *problem = &team->call->problem;
    on_each_member(team, [&](const struct call *call, unsigned) {
        launch<start_cuts_kernel>(queue_of(call), {1, team->size - 1}, at_place<cut>(call, at.cuts),
                                  problem->whole_n, team->size);
    });
    const unsigned rounds = round_count(problem);
    digit digit = first_digit(problem);
    for (unsigned round = 0; round < rounds; round++, number++) {
        const size_t bytes = histograms_bytes(problem, digit);
        on_each_member(
            team, [&](const struct call *call, unsigned) { count_digits<Order>(call, at, digit); });
        team_all_gather(team, number, at.histograms, at.all_histograms.place(number), bytes);
        on_each_member(team, [&](const struct call *call, unsigned) {
            launch<choose_digit_kernel>(
                queue_of(call), {team->size - 1, CHOOSE_THREADS, {}, sizeof(choose_layout)},
                at_place<cut>(call, at.cuts),
                at_place<const uint64_t>(call, at.all_histograms.place(number)),
                bytes / sizeof(uint64_t), team->size, digit);
        });
        digit = next_digit(problem, digit);
    }
}

template <class Order, class Key = typename Order::key>
static void send_keys(const struct team *team, const layout &at)
{
    const bool straight = team->engine->meet != nullptr;
    on_each_member(team, [&](const struct call *call, unsigned member) {
        const struct problem *problem = &call->problem;
        const cut *cuts = at_place<const cut>(call, at.cuts);
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
    const unsigned rounds = round_count(problem);
    const uint32_t number = (team->call->epoch - 1) * (rounds + 1) + 1;
    if (team->size == 1)
        return run_local(team->call, at.local);
    with_order(problem->type, [&](auto order) { find_cuts<decltype(order)>(team, at, number); });
    exchange_keys(team, at, number + rounds);
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
    return layout(problem).local + local_scratch_bytes(problem);
}

} // namespace sort_slices

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(sort_slices) = {
    .op = OP_SORT,
    .family = FAMILY_OWN,
    .traits = TRAIT_HAS_RUNS,
    .summary = "slices cut by histograms of all keys, keys exchanged, slices sorted",
    .source = "scanbench",
    .scratch_bytes = SCANBENCH_BACKEND::sort_slices::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::sort_slices::prepare,
    .run_slices = SCANBENCH_BACKEND::sort_slices::run,
};
