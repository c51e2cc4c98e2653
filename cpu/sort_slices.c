/* sort_slices: a sort over the slices of several processes.
 * Source:  a radix sort's histogram, most significant digit first, as in multi-way selection.
 * Work:    three reads of 32-bit keys to find where slices are cut, six of 64-bit keys; the local
 *          sort.
 * Between: a histogram per cut and digit; one exchange of runs.
 *
 * The sorted array is cut into slices as long as those of the input. A cut is the key at its
 * place, and how many keys equal to it come before. Its digits are found one after the other, each
 * from a histogram of all keys that agree in the earlier ones. Equal keys are divided in the order
 * of processes, so every slice is full whatever the keys are. */
#include "key_order.h"
#include "slices.h"
#include "threads.h"

#include <string.h>

enum { DIGIT_BITS = 11, BINS = 1 << DIGIT_BITS };

/* A cut between two slices of the result. */
struct cut {
    uint64_t key;  /* its digits so far */
    uint64_t left; /* of the keys that agree in these, how many come before the cut */
    uint64_t before[MOST_MEMBERS]; /* keys of each slice of the input that come before */
    uint64_t taken[MOST_MEMBERS];  /* those of them that are equal to it */
};

/* Scratch: histograms of all processes, and those of this one; cuts; counts of runs; the keys as
 * runs to send, and as received; the scratch of the sort within a slice. */
struct layout {
    size_t gathered_bytes, histograms, cuts, counts, runs, received, local;
};

static size_t histograms_bytes(const struct problem *p)
{
    return (p->device->members - 1) * BINS * sizeof(uint64_t);
}

static struct layout layout_of(const struct problem *p)
{
    const unsigned size = p->device->members;
    const size_t keys = next_place(longest_slice(p->whole_n, size) * element_bytes(p->type));
    struct layout at = {.gathered_bytes = gathered_bytes(p, histograms_bytes(p))};
    at.histograms = 2 * at.gathered_bytes;
    at.cuts = at.histograms + next_place(histograms_bytes(p));
    at.counts = at.cuts + next_place(size * sizeof(struct cut));
    at.runs = at.counts + next_place(size * size * sizeof(uint64_t));
    at.received = at.runs + keys;
    at.local = at.received + keys;
    return at;
}

/* ---- keys ---- */

/* Key i as an unsigned number in the order of keys. */
static uint64_t key_at(const struct call *call, struct key_order order, uint64_t i)
{
    if (element_bytes(call->problem.type) == sizeof(uint32_t)) {
        const uint32_t bits = ((const uint32_t *)call->input)[i];
        return (uint32_t)(bits ^ (bits >> 31 ? order.negative : order.positive));
    }
    const uint64_t bits = ((const uint64_t *)call->input)[i];
    return bits ^ (bits >> 63 ? order.negative : order.positive);
}

/* The digit of a round: `width` bits from bit `shift` on. */
struct digit {
    unsigned shift, width;
};

static unsigned round_count(enum element_type type)
{
    return (8 * (unsigned)element_bytes(type) + DIGIT_BITS - 1) / DIGIT_BITS;
}

static struct digit digit_of(enum element_type type, unsigned round)
{
    const unsigned above = 8 * (unsigned)element_bytes(type) - round * DIGIT_BITS;
    const unsigned width = above < DIGIT_BITS ? above : DIGIT_BITS;
    return (struct digit){.shift = above - width, .width = width};
}

/* ---- where the result is cut ---- */

static void count_digits(const struct call *call, const struct cut *cuts, unsigned round,
                         uint64_t *histograms)
{
    const struct problem *p = &call->problem;
    const struct key_order order = key_order(p->type);
    const struct digit digit = digit_of(p->type, round);
    const unsigned above = digit.shift + digit.width;
    memset(histograms, 0, histograms_bytes(p));
    for (uint64_t i = 0; i < p->n; i++) {
        const uint64_t key = key_at(call, order, i);
        for (unsigned c = 0; c + 1 < p->device->members; c++)
            if (round == 0 || key >> above == cuts[c].key)
                histograms[c * BINS + (key >> digit.shift) % BINS % (1u << digit.width)]++;
    }
}

/* Takes the cut's next digit: the one in whose bin it lies. With fewer keys than the cut needs, it
 * is the last. */
static void choose_digit(struct cut *cut, const uint64_t *histograms, size_t stride, unsigned size,
                         unsigned width)
{
    const unsigned last = (1u << width) - 1;
    for (unsigned bin = 0;; bin++) {
        uint64_t keys = 0;
        for (unsigned k = 0; k < size; k++)
            keys += histograms[k * stride + bin];
        if (cut->left < keys || bin == last) {
            cut->key = cut->key << width | bin;
            return;
        }
        cut->left -= keys;
        for (unsigned k = 0; k < size; k++)
            cut->before[k] += histograms[k * stride + bin];
    }
}

/* Divides the keys equal to the cut: as many as are left come before it, earlier slices' first. */
static void divide_equal_keys(struct cut *cut, const uint64_t *equal, size_t stride, unsigned size)
{
    for (unsigned k = 0; k < size; k++) {
        const uint64_t taken = equal[k * stride] < cut->left ? equal[k * stride] : cut->left;
        cut->taken[k] = taken;
        cut->before[k] += taken;
        cut->left -= taken;
    }
}

static void find_cuts(const struct team *team, const struct layout *at, uint64_t whole_n)
{
    const struct call *call = team->call;
    const struct problem *p = &call->problem;
    const size_t stride = histograms_bytes(p) / sizeof(uint64_t);
    const unsigned rounds = round_count(p->type);
    struct cut *cuts = at_place(call, at->cuts);
    memset(cuts, 0, team->size * sizeof *cuts);
    for (unsigned c = 0; c + 1 < team->size; c++)
        cuts[c].left = slice_start(whole_n, team->size, c + 1);
    for (unsigned round = 0; round < rounds; round++) {
        const uint32_t number = (call->epoch - 1) * (rounds + 1) + round + 1;
        const size_t gathered = number % 2 * at->gathered_bytes;
        const uint64_t *histograms = at_place(call, gathered);
        const struct digit digit = digit_of(p->type, round);
        count_digits(call, cuts, round, at_place(call, at->histograms));
        team_all_gather(team, number, at->histograms, gathered, histograms_bytes(p));
        for (unsigned c = 0; c + 1 < team->size; c++) {
            choose_digit(&cuts[c], histograms + c * BINS, stride, team->size, digit.width);
            if (round + 1 == rounds)
                divide_equal_keys(&cuts[c],
                                  histograms + c * BINS + cuts[c].key % (1u << digit.width), stride,
                                  team->size);
        }
    }
}

/* The number of keys that go from each slice to each other. */
static void count_runs(const struct team *team, const struct layout *at, uint64_t whole_n)
{
    const struct cut *cuts = at_place(team->call, at->cuts);
    uint64_t *counts = at_place(team->call, at->counts);
    for (unsigned k = 0; k < team->size; k++) {
        const uint64_t n =
            slice_start(whole_n, team->size, k + 1) - slice_start(whole_n, team->size, k);
        uint64_t before = 0;
        for (unsigned j = 0; j < team->size; j++) {
            const uint64_t up_to = j + 1 < team->size ? cuts[j].before[k] : n;
            counts[k * team->size + j] = up_to - before;
            before = up_to;
        }
    }
}

/* ---- runs ---- */

/* The slice that a key goes to. Of those equal to a cut, the first `taken` come before it; `seen`
 * counts them at the first cut with that key. */
static unsigned receiver_of(const struct team *team, const struct cut *cuts, uint64_t key,
                            uint64_t *seen)
{
    const unsigned last = team->size - 1;
    unsigned j = 0;
    while (j < last && key > cuts[j].key)
        j++;
    if (j == last || key < cuts[j].key)
        return j;
    const uint64_t before = seen[j]++;
    while (j < last && key == cuts[j].key && before >= cuts[j].taken[team->first])
        j++;
    return j;
}

static void make_runs(const struct team *team, const struct layout *at)
{
    const struct call *call = team->call;
    const struct key_order order = key_order(call->problem.type);
    const uint64_t *counts = at_place(call, at->counts);
    const size_t bytes = element_bytes(call->problem.type);
    uint64_t seen[MOST_MEMBERS] = {0};
    char *next[MOST_MEMBERS], *run = at_place(call, at->runs);
    for (unsigned j = 0; j < MOST_MEMBERS; j++) {
        next[j] = run;
        run += j < team->size ? counts[team->first * team->size + j] * bytes : 0;
    }
    for (uint64_t i = 0; i < call->problem.n; i++) {
        const unsigned j =
            receiver_of(team, at_place(call, at->cuts), key_at(call, order, i), seen);
        memcpy(next[j], (const char *)call->input + i * bytes, bytes);
        next[j] += bytes;
    }
}

static void run(const struct team *team)
{
    const struct call *call = team->call;
    const struct layout at = layout_of(&call->problem);
    const uint32_t number = call->epoch * (round_count(call->problem.type) + 1);
    find_cuts(team, &at, call->problem.whole_n);
    count_runs(team, &at, call->problem.whole_n);
    make_runs(team, &at);
    team_exchange_runs(team, number, at.runs, at.received, at.counts);
    struct call local = local_call(call, at.local);
    local.input = at_place(call, at.received);
    call->problem.local->run(&local);
}

static void prepare(const struct call *call)
{
    const struct call local = local_call(call, layout_of(&call->problem).local);
    if (call->problem.local->prepare != NULL)
        call->problem.local->prepare(&local);
}

static size_t scratch_bytes(const struct problem *p)
{
    return layout_of(p).local + local_scratch_bytes(p);
}

const struct algorithm cpu_sort_slices = {
    .name = "slices",
    .op = OP_SORT,
    .traits = TRAIT_HAS_THREADS | TRAIT_HAS_SIMD | TRAIT_HAS_RUNS,
    .summary = "slices cut by histograms of all keys, runs exchanged, slices sorted",
    .source = "scanbench",
    .scratch_bytes = scratch_bytes,
    .prepare = prepare,
    .run_slices = run,
};
