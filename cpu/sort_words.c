/* sort_words: the radix sort of keys, or of pairs as words that hold both. */
#include "sort_kernels.h"

#include "threads.h"

enum { HALF = 32 };

/* The words before and after they are sorted, in scratch. */
struct words {
    const struct call *call;
    struct key_order order;
    uint64_t *unsorted, *sorted;
};

static struct words words_of(const struct call *call)
{
    return (struct words){.call = call,
                          .order = key_order(call->problem.type),
                          .unsorted = call->scratch,
                          .sorted = (uint64_t *)call->scratch + call->problem.n};
}

static void make_words(void *context, unsigned part, unsigned parts)
{
    const struct words *words = context;
    const uint64_t n = words->call->problem.n, end = slice_start(n, parts, part + 1);
    const uint32_t *keys = words->call->input, *values = words->call->input_values;
    const uint32_t positive = (uint32_t)words->order.positive;
    const uint32_t negative = (uint32_t)words->order.negative;
    for (uint64_t i = slice_start(n, parts, part); i < end; i++) {
        const uint32_t rank = keys[i] ^ (keys[i] >> (HALF - 1) ? negative : positive);
        words->unsorted[i] = (uint64_t)rank << HALF | values[i];
    }
}

static void take_words_apart(void *context, unsigned part, unsigned parts)
{
    const struct words *words = context;
    const uint64_t n = words->call->problem.n, end = slice_start(n, parts, part + 1);
    uint32_t *keys = words->call->output, *values = words->call->output_values;
    const uint32_t positive = (uint32_t)words->order.positive;
    const uint32_t negative = (uint32_t)words->order.negative;
    for (uint64_t i = slice_start(n, parts, part); i < end; i++) {
        const uint32_t rank = (uint32_t)(words->sorted[i] >> HALF);
        keys[i] = rank ^ (rank >> (HALF - 1) ? positive : negative);
        values[i] = (uint32_t)words->sorted[i];
    }
}

/* The sort of the words. */
static struct problem problem_of_words(struct problem pairs)
{
    pairs.type = TYPE_U64;
    pairs.values = VALUES_NONE;
    return pairs;
}

/* The same, in the scratch after them. */
static struct call call_of_words(const struct call *call)
{
    const struct words words = words_of(call);
    struct call inner = *call;
    inner.problem = problem_of_words(call->problem);
    inner.input = words.unsorted;
    inner.output = words.sorted;
    inner.scratch = words.sorted + call->problem.n;
    return inner;
}

void radix_sort(const struct call *call, unsigned threads)
{
    if (call->problem.values == VALUES_NONE) {
        radix_sort_keys(call, threads);
        return;
    }
    struct words words = words_of(call);
    const struct call inner = call_of_words(call);
    run_on_threads(call->problem.device, threads, make_words, &words);
    radix_sort_keys(&inner, threads);
    run_on_threads(call->problem.device, threads, take_words_apart, &words);
}

size_t radix_sort_scratch_bytes(const struct problem *problem, unsigned threads)
{
    if (problem->values == VALUES_NONE)
        return radix_sort_keys_scratch_bytes(problem, threads);
    const struct problem words = problem_of_words(*problem);
    return 2 * problem->n * sizeof(uint64_t) + radix_sort_keys_scratch_bytes(&words, threads);
}
