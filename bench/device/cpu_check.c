/* cpu_check: fills inputs and checks results with all threads. */
#include "cpu_device.h"

#include "../base/errors.h"
#include "../base/thread_pool.h"
#include "chunk_reduction.h"
#include "look.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { PARALLEL_FROM = 1 << 18 }; /* elements; for fewer, threads cost more than they save */

const char *cpu_fill_input(struct device *device, const struct input *input, void *array)
{
#pragma omp parallel for num_threads(cpu_of(device)->threads) if (input->n >= PARALLEL_FROM)
    for (uint64_t i = 0; i < input->n; i++)
        element_store(input->type, array, i, input_element(input, i));
    return NULL;
}

/* Threads check parts of PART chunks each. The place of a part in the result depends on how
 * many elements the parts before it keep, so these are counted first. */
enum { PART = 1024 };

static uint64_t part_count(const struct input *input)
{
    return chunk_count(input) / PART + 1;
}

static uint64_t part_end(const struct input *input, uint64_t part)
{
    const uint64_t end = (part + 1) * PART;
    return end < chunk_count(input) ? end : chunk_count(input);
}

static uint64_t kept_in_part(const struct input *input, uint64_t part)
{
    uint64_t kept = 0;
    for (uint64_t c = part * PART; c < part_end(input, part); c++)
        kept += kept_in_chunk(input, c);
    return kept;
}

static int64_t first_wrong_of_part(const struct check *check, uint64_t part, uint64_t at)
{
    int64_t wrong = NO_INDEX;
    for (uint64_t c = part * PART; c < part_end(&check->input, part) && wrong == NO_INDEX; c++)
        wrong = first_wrong_of_chunk(check, c, &at);
    return wrong;
}

/* The first index where the kept elements and the array differ; n: none. */
static uint64_t first_wrong_kept(const struct check *check, int threads)
{
    const uint64_t parts = part_count(&check->input);
    uint64_t *starts = allocate_or_die(NULL, parts * sizeof *starts);
    uint64_t first = check->input.n, sum = 0;
#pragma omp parallel for num_threads(threads) if (parts > 1)
    for (uint64_t part = 0; part < parts; part++)
        starts[part] = kept_in_part(&check->input, part);
    for (uint64_t part = 0; part < parts; part++) {
        const uint64_t kept = starts[part];
        starts[part] = sum;
        sum += kept;
    }
#pragma omp parallel for num_threads(threads) reduction(min : first) if (parts > 1)
    for (uint64_t part = 0; part < parts; part++) {
        const int64_t wrong = first_wrong_of_part(check, part, starts[part]);
        if (wrong != NO_INDEX && (uint64_t)wrong < first)
            first = (uint64_t)wrong;
    }
    free(starts);
    return first;
}

/* The same for the sums of segments. */
static uint64_t first_wrong_sum(const struct check *check, int threads)
{
    const struct input *input = &check->input;
    const uint64_t chunks = chunk_count(input);
    uint64_t *sums = allocate_or_die(NULL, (chunks + 1) * sizeof *sums);
    uint64_t first = input->n;
    sums[0] = sum_of_none(input);
#pragma omp parallel for num_threads(threads) if (chunks > PART)
    for (uint64_t c = 0; c < chunks; c++)
        sums[c + 1] = chunk_reduction(input, c);
    for (uint64_t c = 0; c < chunks; c++)
        sums[c + 1] = sum_at_end(input, c, sums[c], sums[c + 1]);
#pragma omp parallel for num_threads(threads) reduction(min : first) if (chunks > PART)
    for (uint64_t c = 0; c < chunks; c++) {
        const int64_t wrong = first_wrong_sum_of_chunk(check, c, sums[c]);
        if (wrong != NO_INDEX && (uint64_t)wrong < first)
            first = (uint64_t)wrong;
    }
    free(sums);
    return first;
}

static uint64_t first_wrong_element(const struct check *check, int threads)
{
    const uint64_t n = check->input.n;
    uint64_t first = n;
#pragma omp parallel for num_threads(threads) reduction(min : first) if (n >= PARALLEL_FROM)
    for (uint64_t i = check->from; i < n; i++)
        if (i < first && !check_passes(check, i))
            first = i;
    return first;
}

const char *cpu_first_wrong(struct device *device, const struct check *check, int64_t *index)
{
    const int threads = cpu_of(device)->threads;
    const uint64_t first = check->kind == CHECK_KEPT   ? first_wrong_kept(check, threads)
                           : check->kind == CHECK_SUMS ? first_wrong_sum(check, threads)
                                                       : first_wrong_element(check, threads);
    *index = first < check->input.n ? (int64_t)first : (int64_t)NO_INDEX;
    return NULL;
}

const char *cpu_count_kept(struct device *device, const struct input *input, uint64_t *count)
{
    uint64_t sum = 0;
#pragma omp parallel for num_threads(cpu_of(device)->threads) reduction(+ : sum) if (input->n >= PARALLEL_FROM)
    for (uint64_t part = 0; part < part_count(input); part++)
        sum += kept_in_part(input, part);
    *count = sum;
    return NULL;
}

/* The sums of the parts are added from left to right, whichever threads computed them. */
const char *cpu_reduce_input(struct device *device, const struct input *input, uint64_t *bits)
{
    const uint64_t parts = part_count(input);
    uint64_t *sums = allocate_or_die(NULL, parts * sizeof *sums);
#pragma omp parallel for num_threads(cpu_of(device)->threads) if (parts > 1)
    for (uint64_t part = 0; part < parts; part++) {
        sums[part] = sum_of_none(input);
        for (uint64_t c = part * PART; c < part_end(input, part); c++)
            sums[part] = element_apply(input->binary_operator, sum_type(input->type), sums[part],
                                       chunk_reduction(input, c));
    }
    *bits = sum_of_none(input);
    for (uint64_t part = 0; part < parts; part++)
        *bits = element_apply(input->binary_operator, sum_type(input->type), *bits, sums[part]);
    free(sums);
    return NULL;
}

const char *cpu_digest(struct device *device, const struct input *input, const void *array,
                       struct digest *digest)
{
    uint64_t sum = 0, parity = 0;
#pragma omp parallel for num_threads(cpu_of(device)->threads) reduction(+ : sum) \
    reduction(^ : parity) if (input->n >= PARALLEL_FROM)
    for (uint64_t i = 0; i < input->n; i++) {
        struct digest one = {0};
        digest_element(&one, array != NULL ? element_load(input->type, array, i)
                                           : input_element(input, i));
        sum += one.sum;
        parity ^= one.parity;
    }
    *digest = (struct digest){.sum = sum, .parity = parity};
    return NULL;
}

struct placed_digests {
    const struct view *view;
    _Atomic uint64_t sum;
};

static void digest_part(void *context, unsigned part, unsigned parts)
{
    struct placed_digests *digests = context;
    const uint64_t end = slice_start(digests->view->n, parts, part + 1);
    uint64_t sum = 0;
    for (uint64_t i = slice_start(digests->view->n, parts, part); i < end; i++)
        sum += placed_digest(digests->view, i);
    atomic_fetch_add(&digests->sum, sum);
}

/* Between timed runs threads of OpenMP would spin on processors that the next run needs. The pool's
 * helpers are those that the next run uses. */
uint64_t cpu_placed_digest(struct device *device, const struct view *view)
{
    const struct cpu_device *cpu = cpu_of(device);
    struct placed_digests digests = {.view = view};
    run_parts(view->n < PARALLEL_FROM ? 1 : (unsigned)cpu->threads, &cpu->allowed, digest_part,
              &digests);
    return digests.sum;
}
