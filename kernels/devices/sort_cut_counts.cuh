/* sort_cut_counts.cuh: what a cut between slices is, and how the keys of a slice are counted to
 * find its next digit (sort_cuts.cuh). */
#pragma once

#include "../key_order.cuh"
#include "../pack.cuh"
#include "../warp.cuh"
#include "team.cuh"

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
    FEW_CUTS = 3,            /* which each thread keeps in registers, */
    SOME_CUTS = 7,           /* or these, in a kernel that takes longer */
    SAMPLED = 64,            /* a sample has one of so many keys */
    LEAST_SAMPLED = 1 << 20, /* bytes per multiprocessor of a slice that is sampled */
    LEAST_DIVIDED = 1 << 20, /* the same of a slice that comes in two batches */
    BATCH_UNIT = 64,         /* keys: the second begins at a multiple, so that it is aligned */
    LEAST_CHOOSE_THREADS = 256,
    MOST_CHOOSE_THREADS = 1024,
    BINS_EACH = 4, /* of a thread that chooses */
};

/* Where the result is cut. The keys of a slice of it come in one batch, or in two: the second is
 * exchanged while the first is sorted. Batches are numbered through all slices, and there is a cut
 * between any two. */
struct batches {
    uint64_t whole_n;
    unsigned members, per_slice;

    __host__ __device__ unsigned cuts() const
    {
        return members * per_slice - 1;
    }
    __host__ __device__ uint64_t start(unsigned batch) const
    {
        const unsigned member = batch / per_slice;
        const uint64_t first = slice_start(whole_n, members, member);
        const uint64_t n = slice_start(whole_n, members, member + 1) - first;
        return batch % per_slice == 0 ? first : first + n / 2 / BATCH_UNIT * BATCH_UNIT;
    }
};

/* Two batches need kernels that store in the other members' memory. */
inline batches batches_of(const struct problem *problem)
{
    const unsigned members = problem->device->members;
    const struct algorithm *slices = problem->algorithm;
    const bool divides = slices != nullptr && slices->engine != nullptr &&
                         slices->engine->meet != nullptr && members > 1 &&
                         2 * members - 1 <= SOME_CUTS &&
                         problem->whole_n / members * element_bytes(problem->type) >=
                             (size_t)LEAST_DIVIDED * problem->device->multiprocessors;
    return {problem->whole_n, members, divides ? 2u : 1u};
}

/* A cut between two batches of the result. */
struct cut {
    uint64_t key;  /* its digits so far */
    uint64_t left; /* of the keys that agree in these, how many come before the cut */
    uint64_t before[MOST_MEMBERS]; /* keys of each slice of the input that come before */
    uint64_t taken[MOST_MEMBERS];  /* those of them that are equal to it */
};

/* The bins of the first round between which each cut should lie, as a sample says. */
struct guesses {
    unsigned first[SOME_CUTS], count[SOME_CUTS];
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
    return digit.round == 0 ? 1 : batches_of(problem).cuts();
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
        guesses = cuts + next_place((batches_of(problem).cuts() + 1) * sizeof(struct cut));
        kept = guesses + next_place(sizeof(struct guesses));
        end = kept + next_place(count_blocks(problem) * sizeof(uint64_t));
        candidates = end;
    }
};

/* ---- counting ---- */

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

template <class Order, unsigned CUTS, class Key = typename Order::key> struct digit_counter {
    count_layout<Key> *shared;
    unsigned cut_count;
    struct digit digit;
    Key *kept; /* nullptr: keys are not kept */
    Key few[CUTS];

    __device__ __forceinline__ void load_few_cuts()
    {
#pragma unroll
        for (unsigned c = 0; c < CUTS; c++)
            few[c] = shared->known[min(c, cut_count - 1)];
    }

    /* Does a key with these digits agree with no cut, as most do? */
    __device__ __forceinline__ bool surely_unknown(Key digits) const
    {
        bool is_known = cut_count > CUTS;
#pragma unroll
        for (unsigned c = 0; c < CUTS; c++)
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

/* Guesses in registers, all of the greatest width. What is not a cut repeats the first. */
template <unsigned CUTS> struct own_guesses {
    unsigned first[CUTS], width = 0;

    __device__ __forceinline__ own_guesses(const guesses *guesses, unsigned cut_count)
    {
#pragma unroll
        for (unsigned c = 0; c < CUTS; c++) {
            const unsigned its = c < cut_count ? c : 0;
            first[c] = guesses->first[its];
            width = max(width, guesses->count[its]);
        }
    }
    /* May a key in this bin agree with a cut? */
    __device__ __forceinline__ bool has(unsigned bin) const
    {
        unsigned past = ~0u; /* the nearest guess; one instruction each on sm_90 */
#pragma unroll
        for (unsigned c = 0; c < CUTS; c++)
            past = min(bin - first[c], past);
        return past < width;
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

template <class Order, unsigned CUTS, class Key = typename Order::key>
__global__ void LAUNCH_BOUNDS(THREADS, BLOCKS)
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
    digit_counter<Order, CUTS> counter = {shared, cut_count, digit, kept};
    counter.load_few_cuts();
    bool keeps = false;
    if (digit.round == 0 && keys.guesses == nullptr) {
        const uint64_t stop = keys.is_sample ? first + (end - first) / SAMPLED : end;
        for_each_key(keys.in, first, stop, [&](Key key) { counter.count_any(key); });
    } else if (digit.round == 0) {
        const own_guesses<CUTS> guesses(keys.guesses, cut_count);
        keeps = true;
        for_each_key(keys.in, first, end, [&](Key key) {
            if (guesses.has(counter.count_any(key)))
                counter.keep(key);
        });
    } else if (digit.round == 1 &&
               (keys.guesses == nullptr ||
                !own_guesses<CUTS>(keys.guesses, cut_count).hold(shared->known, cut_count))) {
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

} // namespace sort_cuts

} // namespace SCANBENCH_BACKEND
