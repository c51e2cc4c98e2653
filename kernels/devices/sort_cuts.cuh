/* sort_cuts.cuh: where the sorted array of several devices is cut into slices.
 *
 * A cut is the key at its place, and how many keys equal to it come before. Its digits are found
 * one after the other, each from a histogram of all keys that agree in the earlier ones. The first
 * round reads all keys. The second does, too, and keeps those that agree with a cut, few unless
 * keys are alike; later rounds read these. If slices are long, a sample is counted before. It says
 * between which bins each cut lies, so that the first round can keep the keys of these, and later
 * ones read no others, unless the sample was wrong. Equal keys are divided in the order of
 * devices, so every slice is full whatever the keys are. */
#ifndef SCANBENCH_KERNELS_DEVICES_SORT_CUTS_CUH
#define SCANBENCH_KERNELS_DEVICES_SORT_CUTS_CUH

#include "../key_order.cuh"
#include "../pack.cuh"
#include "team.cuh"
#include "../warp.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND
{

namespace sort_cuts
{

enum {
    /* The bits of a cut's digits. Where cuts are many, so are the histograms of later digits. */
    FIRST_BITS = 12,
    LATER_BITS = 10,
    NARROW_BITS = 8,
    FEW_MEMBERS = 16,
    FIRST_BINS = 1 << FIRST_BITS,
    NO_BIN = FIRST_BINS,
    /* The shape of the kernel that counts. */
    THREADS = 512,
    BLOCKS = 3,              /* per multiprocessor */
    PACKS = 4,               /* loads in flight per thread */
    SHARE_BYTES = 32 << 10,  /* of keys: a block's share is a multiple */
    FEW_CUTS = 3,            /* which each thread keeps in registers */
    SAMPLED = 64,            /* a sample has one of so many keys */
    LEAST_SAMPLED = 1 << 20, /* bytes per multiprocessor of a slice that is sampled */
    LEAST_CHOOSE_THREADS = 256,
    MOST_CHOOSE_THREADS = 1024,
    BINS_EACH = 4, /* of a thread that chooses */
};

/* A cut between two slices of the result. */
struct cut {
    uint64_t key;  /* its digits so far */
    uint64_t left; /* of the keys that agree in these, how many come before the cut */
    uint64_t before[MOST_MEMBERS]; /* keys of each slice of the input that come before */
    uint64_t taken[MOST_MEMBERS];  /* those of them that are equal to it */
};

/* The bins of the first round between which each cut should lie, as a sample says. */
struct guesses {
    unsigned first[FEW_CUTS], count[FEW_CUTS];
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
inline digit first_digit(const struct problem *problem)
{
    return {0, 8 * (unsigned)element_bytes(problem->type) - FIRST_BITS, FIRST_BITS};
}

inline digit next_digit(const struct problem *problem, digit digit)
{
    const unsigned most = problem->device->members <= FEW_MEMBERS ? LATER_BITS : NARROW_BITS;
    const unsigned width = std::min<unsigned>(digit.shift, most);
    return {digit.round + 1, digit.shift - width, width};
}

inline unsigned round_count(const struct problem *problem)
{
    digit digit = first_digit(problem);
    while (digit.shift > 0)
        digit = next_digit(problem, digit);
    return digit.round + 1;
}

/* In the first round no digit is known yet, and one histogram serves all cuts. */
inline unsigned histogram_count(const struct problem *problem, digit digit)
{
    return digit.round == 0 ? 1 : problem->device->members - 1;
}

inline size_t histograms_bytes(const struct problem *problem, digit digit)
{
    return histogram_count(problem, digit) * digit.bins() * sizeof(uint64_t);
}

inline size_t most_histograms_bytes(const struct problem *problem)
{
    const digit first = first_digit(problem);
    return std::max(histograms_bytes(problem, first),
                    histograms_bytes(problem, next_digit(problem, first)));
}

/* The threads of a block that chooses a digit: a power of two. */
inline unsigned choose_threads(digit digit)
{
    return std::clamp<unsigned>(digit.bins() / BINS_EACH, LEAST_CHOOSE_THREADS,
                                MOST_CHOOSE_THREADS);
}

/* ---- scratch ---- */

inline uint64_t count_blocks(const struct problem *problem)
{
    return (uint64_t)BLOCKS * problem->device->multiprocessors;
}

/* Histograms of all members, those of the first round, which stay, and the member's own; cuts, and
 * where they should lie; how many keys each block has kept; and these, in room for all keys, which
 * the caller may use otherwise once the cuts are found. */
struct cut_layout {
    gathered all_histograms;
    size_t first_histograms, histograms, cuts, guesses, kept, end, candidates;

    explicit cut_layout(const struct problem *problem)
        : all_histograms(problem, most_histograms_bytes(problem))
    {
        first_histograms = all_histograms.end();
        histograms =
            first_histograms + next_place(problem->device->members * FIRST_BINS * sizeof(uint64_t));
        cuts = histograms + next_place(most_histograms_bytes(problem));
        guesses = cuts + next_place(problem->device->members * sizeof(struct cut));
        kept = guesses + next_place(sizeof(struct guesses));
        end = kept + next_place(count_blocks(problem) * sizeof(uint64_t));
        candidates = end;
    }
};

/* ---- where the result is cut ---- */

static __global__ void start_cuts_kernel(cut *cuts, uint64_t whole_n, unsigned size)
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
 * with a cut, or may do so, in as much room. Later rounds read these. */
template <class Key> struct round_keys {
    const Key *in;
    uint64_t n, share;
    Key *kept;
    uint64_t *kept_counts;
    const struct guesses *guesses; /* nullptr: none are made yet, or none are wanted */
    bool is_sample;                /* this pass reads the sample alone */
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

    __device__ __forceinline__ void keep(Key bits) const
    {
        kept[atomicAdd(&shared->kept, 1u)] = bits;
    }

    /* In the first round. */
    __device__ __forceinline__ unsigned count_any(Key bits) const
    {
        const auto bin = (unsigned)(Order()(bits) >> digit.shift);
        atomicAdd(&shared->bins[bin], 1u);
        return bin;
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
            keep(bits);
    }
};

/* Guesses in registers. There is none for what is not a cut. */
struct own_guesses {
    unsigned first[FEW_CUTS] = {}, count[FEW_CUTS] = {};

    __device__ __forceinline__ own_guesses(const guesses *guesses, unsigned cut_count)
    {
#pragma unroll
        for (unsigned c = 0; c < FEW_CUTS; c++)
            if (c < cut_count)
                first[c] = guesses->first[c], count[c] = guesses->count[c];
    }
    /* May a key in this bin agree with a cut? */
    __device__ __forceinline__ bool has(unsigned bin) const
    {
        bool has = false;
#pragma unroll
        for (unsigned c = 0; c < FEW_CUTS; c++)
            has |= bin - first[c] < count[c];
        return has;
    }
    /* Does every cut lie where it should? */
    template <class Key>
    __device__ __forceinline__ bool hold(const Key *known, unsigned cut_count) const
    {
        bool hold = true;
        for (unsigned c = 0; c < cut_count; c++)
            hold &= has((unsigned)known[c]);
        return hold;
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
__global__ void __launch_bounds__(THREADS, BLOCKS)
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
    digit_counter<Order> counter = {shared, cut_count, digit, kept};
    counter.load_few_cuts();
    bool keeps = false;
    if (digit.round == 0 && keys.guesses == nullptr) {
        const uint64_t stop = keys.is_sample ? first + (end - first) / SAMPLED : end;
        for_each_key(keys.in, first, stop, [&](Key key) { counter.count_any(key); });
    } else if (digit.round == 0) {
        const own_guesses guesses(keys.guesses, cut_count);
        keeps = true;
        for_each_key(keys.in, first, end, [&](Key key) {
            if (guesses.has(counter.count_any(key)))
                counter.keep(key);
        });
    } else if (digit.round == 1 &&
               (keys.guesses == nullptr ||
                !own_guesses(keys.guesses, cut_count).hold(shared->known, cut_count))) {
        keeps = true;
        for_each_key(keys.in, first, end, [&](Key key) { counter.count_if_known(key); });
    } else {
        counter.kept = nullptr;
        for_each_key(kept, 0, keys.kept_counts[blockIdx.x],
                     [&](Key key) { counter.count_if_known(key); });
    }
    __syncthreads();
    for (unsigned b = threadIdx.x; b < bins; b += THREADS)
        if (shared->bins[b] != 0)
            atomicAdd(&histograms[b], (unsigned long long)shared->bins[b]);
    if (threadIdx.x == 0 && keeps)
        keys.kept_counts[blockIdx.x] = shared->kept;
}

/* The histograms of all members for one cut, from `offset` on in those of each: gathered, so many
 * words apart, or where the members have counted them. */
struct gathered_histograms {
    const uint64_t *first;
    size_t stride, offset;

    __device__ __forceinline__ const uint64_t *of(unsigned k) const
    {
        return first + k * stride + offset;
    }
};

struct remote_histograms {
    const memories &memory;
    size_t place, offset;

    __device__ __forceinline__ const uint64_t *of(unsigned k) const
    {
        return memory.at<const uint64_t>(k, place) + offset;
    }
};

/* The keys of all members in bins [begin..end). */
template <class Histograms>
__device__ __forceinline__ uint64_t sum_bins(Histograms histogram, unsigned size, unsigned begin,
                                             unsigned end)
{
    uint64_t keys = 0;
    for (unsigned k = 0; k < size; k++)
        for (unsigned b = begin; b < end; b++)
            keys += histogram.of(k)[b];
    return keys;
}

struct choose_layout {
    uint64_t warp_totals[MOST_CHOOSE_THREADS / WARP];
    unsigned long long below[MOST_MEMBERS];
    unsigned bin;
    uint64_t left;
};

/* Finds the bin in which the cut lies: the last if there are fewer keys than it needs. The keys in
 * bins before are taken off `left`. By all threads, each of which looks at neighbouring bins. */
template <class Histograms>
__device__ __forceinline__ void find_bin(choose_layout *shared, Histograms histogram, unsigned size,
                                         unsigned bins, uint64_t left)
{
    const unsigned each = (unsigned)ceil_div(bins, blockDim.x);
    unsigned bin = min(threadIdx.x * each, bins);
    const unsigned end = min(bin + each, bins);
    const uint64_t mine = sum_bins(histogram, size, bin, end);
    const uint64_t inclusive = warp_inclusive_sum(mine);
    if (lane_index() == WARP - 1)
        shared->warp_totals[threadIdx.x / WARP] = inclusive;
    if (threadIdx.x == 0)
        shared->bin = NO_BIN;
    __syncthreads();
    uint64_t before = sum_of_first(threadIdx.x / WARP, shared->warp_totals) + inclusive - mine;
    if (before <= left && left < before + mine) {
        for (uint64_t here; left >= before + (here = sum_bins(histogram, size, bin, bin + 1));
             bin++)
            before += here;
        shared->bin = bin;
        shared->left = left - before;
    }
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1 && shared->bin == NO_BIN) {
        shared->bin = bins - 1;
        shared->left = left - (before + mine - sum_bins(histogram, size, bins - 1, bins));
    }
    __syncthreads();
}

/* Counts the keys of each member in the bins before `bin`, by all threads: a power of two of them
 * per member, at least four. */
template <class Histograms>
__device__ __forceinline__ void count_below(choose_layout *shared, Histograms histogram,
                                            unsigned size, unsigned bin)
{
    unsigned span = blockDim.x;
    while (span * size > blockDim.x)
        span /= 2;
    const unsigned k = threadIdx.x / span;
    uint64_t below = 0;
    for (unsigned b = threadIdx.x % span; k < size && b < bin; b += span)
        below += histogram.of(k)[b];
    for (unsigned stride = min(span, (unsigned)WARP) / 2; stride > 0; stride /= 2)
        below += __shfl_xor_sync(ALL_LANES, below, stride);
    if (threadIdx.x % min(span, (unsigned)WARP) == 0 && below != 0)
        atomicAdd(&shared->below[k], (unsigned long long)below);
}
static_assert(4 * MOST_MEMBERS <= LEAST_CHOOSE_THREADS);

/* Divides the keys equal to the cut: as many as are left come before it, earlier slices' first. */
template <class Histograms>
__device__ __forceinline__ void divide_equal_keys(cut *cut, Histograms histogram, unsigned size,
                                                  unsigned bin)
{
    for (unsigned k = 0; k < size; k++) {
        const uint64_t equal = histogram.of(k)[bin];
        cut->taken[k] = equal < cut->left ? equal : cut->left;
        cut->before[k] += cut->taken[k];
        cut->left -= cut->taken[k];
    }
}

/* Takes the next digit of a cut. */
template <class Histograms>
__device__ __forceinline__ void choose_digit(cut *mine, Histograms histogram, unsigned size,
                                             digit digit)
{
    auto *shared = shared_memory<choose_layout>();
    const unsigned bins = digit.bins();
    if (threadIdx.x < size)
        shared->below[threadIdx.x] = 0;
    find_bin(shared, histogram, size, bins, mine->left);
    const unsigned bin = shared->bin;
    count_below(shared, histogram, size, bin);
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

/* Where a cut's histogram begins among those of a member. */
__device__ __forceinline__ size_t offset_of_cut(unsigned cut, digit digit)
{
    return digit.round > 0 ? (size_t)cut * digit.bins() : 0;
}

/* Chooses the digit of cut blockIdx.x from the histograms that were gathered. */
static __global__ void __launch_bounds__(MOST_CHOOSE_THREADS)
    choose_digit_kernel(cut *cuts, const uint64_t *histograms, size_t stride, unsigned size,
                        digit digit)
{
    const size_t offset = offset_of_cut(blockIdx.x, digit);
    choose_digit(&cuts[blockIdx.x], gathered_histograms{histograms, stride, offset}, size, digit);
}

/* Chooses that of the cut after the member's own slice, from all members' memory. `sent` gets a
 * copy. */
static __global__ void __launch_bounds__(MOST_CHOOSE_THREADS)
    choose_own_digit_kernel(const __grid_constant__ memories memory, unsigned member, cut *cuts,
                            cut *sent, size_t histograms, unsigned size, digit digit)
{
    const size_t offset = offset_of_cut(member, digit);
    choose_digit(&cuts[member], remote_histograms{memory, histograms, offset}, size, digit);
    if (threadIdx.x == 0)
        *sent = cuts[member];
}

/* Guesses between which bins cut blockIdx.x lies, from the histograms of the sample. The margin is
 * that of chance for keys in any order, four standard deviations at the median, and 1/1024. */
static __global__ void __launch_bounds__(MOST_CHOOSE_THREADS)
    guess_kernel(const uint64_t *histograms, size_t stride, uint64_t whole_n, unsigned size,
                 digit digit, guesses *guesses)
{
    auto *shared = shared_memory<choose_layout>();
    const gathered_histograms histogram = {histograms, stride, 0};
    const unsigned bins = digit.bins(), each = (unsigned)ceil_div(bins, blockDim.x);
    const unsigned first = min(threadIdx.x * each, bins);
    const uint64_t sum = warp_sum(sum_bins(histogram, size, first, min(first + each, bins)));
    if (lane_index() == 0)
        shared->warp_totals[threadIdx.x / WARP] = sum;
    __syncthreads();
    const uint64_t sampled = sum_of_first(blockDim.x / WARP, shared->warp_totals);
    __syncthreads();
    const unsigned c = blockIdx.x;
    const auto place =
        (uint64_t)((double)slice_start(whole_n, size, c + 1) / (double)whole_n * (double)sampled);
    const uint64_t margin = sampled / 1024 + (uint64_t)(2 * sqrt((double)sampled));
    find_bin(shared, histogram, size, bins, place - min(place, margin));
    const unsigned least = shared->bin;
    __syncthreads();
    find_bin(shared, histogram, size, bins, place + margin);
    if (threadIdx.x == 0) {
        guesses->first[c] = least;
        guesses->count[c] = shared->bin - least + 1;
    }
}

/* ---- host side ---- */

/* With many members, and where kernels can read the memory of all, a member chooses the digit of
 * one cut and tells the others: gathering all histograms of all members would take more than
 * another exchange. */
inline bool chooses_one(const struct team *team)
{
    return team->engine->meet != nullptr && team->size > FEW_MEMBERS;
}

/* Is it worth another exchange to know where the cuts should lie? */
inline bool guesses_cuts(const struct team *team)
{
    const struct problem *problem = &team->call->problem;
    return team->size - 1 <= FEW_CUTS &&
           problem->whole_n / team->size * element_bytes(problem->type) >=
               (size_t)LEAST_SAMPLED * problem->device->multiprocessors;
}

inline unsigned exchange_count(const struct team *team)
{
    return round_count(&team->call->problem) * (chooses_one(team) ? 2 : 1) + guesses_cuts(team);
}

/* The cuts that members tell each other, and the one that a member tells. They lie where histograms
 * would be gathered. */
struct told_cuts {
    gathered all;
    size_t sent;

    told_cuts(const struct problem *problem, const cut_layout &at)
        : all(problem, sizeof(struct cut), at.all_histograms.first), sent(all.end())
    {
        static_assert(3 * sizeof(struct cut) <= 2 * sizeof(uint64_t) << FIRST_BITS);
    }
};

/* What a round counts: with a sample, the sample itself or what it has said. */
enum pass { SAMPLE_ALONE, WITH_GUESSES, WITHOUT_GUESSES };

template <class Order, class Key = typename Order::key>
void count_digits(const struct call *call, const cut_layout &at, digit digit, pass pass)
{
    constexpr unsigned UNIT = SHARE_BYTES / sizeof(Key);
    const struct problem *problem = &call->problem;
    const uint64_t share = ceil_div(ceil_div(problem->n, count_blocks(problem)), UNIT) * UNIT;
    const unsigned cut_count = problem->device->members - 1;
    const unsigned bins = histogram_count(problem, digit) * digit.bins();
    auto *histograms = at_place<unsigned long long>(call, at.histograms);
    succeeded(
        queue_of(call), "memset",
        cudaMemsetAsync(histograms, 0, histograms_bytes(problem, digit), queue_of(call)->stream));
    const round_keys<Key> keys = {static_cast<const Key *>(call->input),
                                  problem->n,
                                  share,
                                  at_place<Key>(call, at.candidates),
                                  at_place<uint64_t>(call, at.kept),
                                  pass == WITH_GUESSES ? at_place<guesses>(call, at.guesses)
                                                       : nullptr,
                                  pass == SAMPLE_ALONE};
    /* As if guesses held. */
    const unsigned reading_rounds = pass == WITHOUT_GUESSES ? 2 : 1;
    const uint64_t read = pass == SAMPLE_ALONE           ? problem->n / SAMPLED
                          : digit.round < reading_rounds ? problem->n
                                                         : 0;
    launch<count_digits_kernel<Order>>(queue_of(call),
                                       {problem->n > 0 ? ceil_div(problem->n, share) : 0,
                                        THREADS,
                                        {read * sizeof(Key)},
                                        sizeof(count_layout<Key>) + bins * sizeof(unsigned)},
                                       keys, at_place<const cut>(call, at.cuts), cut_count, digit,
                                       histograms);
}

/* Takes the next digit of all cuts, from histograms that the engine gathers. */
inline void choose_all(const struct team *team, const cut_layout &at, digit digit, uint32_t number)
{
    const size_t bytes = histograms_bytes(&team->call->problem, digit);
    const size_t place = digit.round == 0 ? at.first_histograms : at.all_histograms.place(number);
    team_all_gather(team, number, at.histograms, place, bytes);
    on_each_member(team, [&](const struct call *call, unsigned) {
        launch<choose_digit_kernel>(
            queue_of(call), {team->size - 1, choose_threads(digit), {}, sizeof(choose_layout)},
            at_place<cut>(call, at.cuts), at_place<const uint64_t>(call, place),
            bytes / sizeof(uint64_t), team->size, digit);
    });
}

/* The same, where each member takes that of one cut. The last slice has no cut after it. */
inline void choose_one_each(const struct team *team, const cut_layout &at, digit digit,
                            uint32_t number)
{
    const told_cuts told(&team->call->problem, at);
    const size_t place = told.all.place(digit.round);
    mark_exchange(team);
    team->engine->meet(team, number);
    mark_exchange(team);
    on_each_member(team, [&](const struct call *call, unsigned member) {
        launch<choose_own_digit_kernel>(
            queue_of(call),
            {member + 1 < team->size, choose_threads(digit), {}, sizeof(choose_layout)},
            memories_of(team), member, at_place<cut>(call, at.cuts), at_place<cut>(call, told.sent),
            at.histograms, team->size, digit);
    });
    team_all_gather(team, number + 1, told.sent, place, sizeof(cut));
    on_each_member(team, [&](const struct call *call, unsigned) {
        succeeded(queue_of(call), "copy",
                  cudaMemcpyAsync(at_place<cut>(call, at.cuts), at_place<cut>(call, place),
                                  (team->size - 1) * sizeof(cut), cudaMemcpyDeviceToDevice,
                                  queue_of(call)->stream));
    });
}

/* Counts a sample, and guesses from it where the cuts lie. */
template <class Order>
void guess_cuts(const struct team *team, const cut_layout &at, digit digit, uint32_t number)
{
    const size_t bytes = histograms_bytes(&team->call->problem, digit);
    const size_t place = at.all_histograms.place(number);
    on_each_member(team, [&](const struct call *call, unsigned) {
        count_digits<Order>(call, at, digit, SAMPLE_ALONE);
    });
    team_all_gather(team, number, at.histograms, place, bytes);
    on_each_member(team, [&](const struct call *call, unsigned) {
        launch<guess_kernel>(
            queue_of(call), {team->size - 1, choose_threads(digit), {}, sizeof(choose_layout)},
            at_place<const uint64_t>(call, place), bytes / sizeof(uint64_t), call->problem.whole_n,
            team->size, digit, at_place<guesses>(call, at.guesses));
    });
}

template <class Order>
void find_cuts(const struct team *team, const cut_layout &at, uint32_t number)
{
    const struct problem *problem = &team->call->problem;
    on_each_member(team, [&](const struct call *call, unsigned) {
        launch<start_cuts_kernel>(queue_of(call), {1, team->size - 1}, at_place<cut>(call, at.cuts),
                                  problem->whole_n, team->size);
    });
    const unsigned rounds = round_count(problem);
    digit digit = first_digit(problem);
    pass pass = WITHOUT_GUESSES;
    if (guesses_cuts(team)) {
        guess_cuts<Order>(team, at, digit, number++);
        pass = WITH_GUESSES;
    }
    for (unsigned round = 0; round < rounds; round++) {
        on_each_member(team, [&](const struct call *call, unsigned) {
            count_digits<Order>(call, at, digit, pass);
        });
        if (chooses_one(team)) {
            choose_one_each(team, at, digit, number);
            number += 2;
        } else {
            choose_all(team, at, digit, number++);
        }
        digit = next_digit(problem, digit);
    }
}

} // namespace sort_cuts

} // namespace SCANBENCH_BACKEND

#endif
