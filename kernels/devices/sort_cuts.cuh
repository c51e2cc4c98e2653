/* sort_cuts.cuh: where the sorted array of several devices is cut into slices, or into batches of
 * slices.
 *
 * A cut is the key at its place, and how many keys equal to it come before. Its digits are found
 * one after the other, each from a histogram of all keys that agree in the earlier ones. The first
 * round reads all keys. The second does, too, and keeps those that agree with a cut, few unless
 * keys are alike; later rounds read these. If slices are long, a sample is counted before. It says
 * between which bins each cut lies, so that the first round can keep the keys of these, and later
 * ones read no others, unless the sample was wrong. Equal keys are divided in the order of
 * devices, so every slice is full whatever the keys are. */
#pragma once

#include "sort_cut_counts.cuh"

namespace SCANBENCH_BACKEND
{

namespace sort_cuts
{

/* ---- where the result is cut ---- */

static __global__ void start_cuts_kernel(cut *cuts, batches batches)
{
    cut *mine = &cuts[threadIdx.x];
    mine->key = 0;
    mine->left = batches.start(threadIdx.x + 1);
    for (unsigned k = 0; k < batches.members; k++)
        mine->before[k] = mine->taken[k] = 0;
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
    if (threadIdx.x == 0)
        shared->bin = NO_BIN;
    uint64_t before = sum_of_earlier_threads(mine, shared->warp_totals);
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
    guess_kernel(const uint64_t *histograms, size_t stride, batches batches, digit digit,
                 guesses *guesses)
{
    auto *shared = shared_memory<choose_layout>();
    const gathered_histograms histogram = {histograms, stride, 0};
    const unsigned bins = digit.bins(), each = (unsigned)ceil_div(bins, blockDim.x);
    const unsigned first = min(threadIdx.x * each, bins);
    const unsigned size = batches.members;
    const uint64_t sum = warp_sum(sum_bins(histogram, size, first, min(first + each, bins)));
    const uint64_t sampled = sum_of_warps(sum, shared->warp_totals);
    __syncthreads();
    const unsigned c = blockIdx.x;
    const auto place =
        (uint64_t)((double)batches.start(c + 1) / (double)batches.whole_n * (double)sampled);
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
    return batches_of(problem).cuts() <= SOME_CUTS &&
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
    const unsigned cut_count = batches_of(problem).cuts();
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
    const launch_shape shape = {problem->n > 0 ? ceil_div(problem->n, share) : 0,
                                THREADS,
                                {read * sizeof(Key)},
                                sizeof(count_layout<Key>) + bins * sizeof(unsigned)};
    const auto *cuts = at_place<const cut>(call, at.cuts);
    if (cut_count <= FEW_CUTS)
        launch<count_digits_kernel<Order, FEW_CUTS>>(queue_of(call), shape, keys, cuts, cut_count,
                                                     digit, histograms);
    else
        launch<count_digits_kernel<Order, SOME_CUTS>>(queue_of(call), shape, keys, cuts, cut_count,
                                                      digit, histograms);
}

/* Takes the next digit of all cuts, from histograms that the engine gathers. */
inline void choose_all(const struct team *team, const cut_layout &at, digit digit, uint32_t number)
{
    const size_t bytes = histograms_bytes(&team->call->problem, digit);
    const size_t place = digit.round == 0 ? at.first_histograms : at.all_histograms.place(number);
    team_all_gather(team, number, at.histograms, place, bytes);
    on_each_member(team, [&](const struct call *call, unsigned) {
        launch<choose_digit_kernel>(
            queue_of(call),
            {batches_of(&call->problem).cuts(), choose_threads(digit), {}, sizeof(choose_layout)},
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
        const batches batches = batches_of(&call->problem);
        launch<guess_kernel>(queue_of(call),
                             {batches.cuts(), choose_threads(digit), {}, sizeof(choose_layout)},
                             at_place<const uint64_t>(call, place), bytes / sizeof(uint64_t),
                             batches, digit, at_place<guesses>(call, at.guesses));
    });
}

template <class Order>
void find_cuts(const struct team *team, const cut_layout &at, uint32_t number)
{
    const struct problem *problem = &team->call->problem;
    on_each_member(team, [&](const struct call *call, unsigned) {
        const batches batches = batches_of(problem);
        launch<start_cuts_kernel>(queue_of(call), {1, batches.cuts()}, at_place<cut>(call, at.cuts),
                                  batches);
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
