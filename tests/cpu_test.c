/* cpu_test: what the command line cannot ask of the CPU's algorithms: all sizes up
 * to 4096 and some above, in buffers aligned as their elements are and no better,
 * on every vector path and with several threads. */
#include "../bench/backend.h"
#include "../bench/elements.h"
#include "../bench/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 1200007, MARGIN = 32, BEYOND = 0x77 };

static struct device_limits limits = {.multiprocessors = 2, .cache_bytes = 1 << 20};
static char input[(MOST + 2 * MARGIN) * 8], output[(MOST + 2 * MARGIN) * 8];
static char wanted[(MOST + 2 * MARGIN) * 8];

static int open_cpu(void **state)
{
    (void)state;
    struct device_info info;
    return cpu_backend.open(0, 1, &info, &limits) != NULL;
}

/* ---- What is right ---- */

/* Writes what the operation makes of the input; returns how many elements. */
static uint64_t scan_elements(const struct problem *p, const void *in)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < p->n; i++) {
        const uint64_t before = sum;
        sum = element_add(p->type, sum, element_load(p->type, in, i));
        element_store(p->type, wanted, i, p->kind == KIND_EXCLUSIVE ? before : sum);
    }
    return p->n;
}

static uint64_t compact_elements(const struct problem *p, const void *in)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < p->n; i++)
        if (element_is_kept(p->type, element_load(p->type, in, i)))
            element_store(p->type, wanted, kept++, element_load(p->type, in, i));
    return kept;
}

static enum element_type sorted_type;

static int compare_elements(const void *a, const void *b)
{
    const uint64_t x = element_rank(sorted_type, element_load(sorted_type, a, 0));
    const uint64_t y = element_rank(sorted_type, element_load(sorted_type, b, 0));
    return (x > y) - (x < y);
}

static uint64_t sort_elements(const struct problem *p, const void *in)
{
    sorted_type = p->type;
    memcpy(wanted, in, p->n * element_bytes(p->type));
    qsort(wanted, p->n, element_bytes(p->type), compare_elements);
    return p->n;
}

/* ---- One call ---- */

static void fill(const struct problem *p, void *in, unsigned seed)
{
    for (uint64_t i = 0; i < p->n; i++) {
        uint64_t bits = random_bits(seed, i);
        if (p->op != OP_SORT)
            bits = bits >> 63 ? value_to_bits(p->type, 1 + bits % 9) : 0;
        element_store(p->type, in, i, bits);
    }
    /* Negative zero is no element to be kept, and NaN is one. */
    if (p->op == OP_COMPACT && (p->type == TYPE_F32 || p->type == TYPE_F64) && p->n > 2) {
        element_store(p->type, in, p->n / 2, (uint64_t)1 << (8 * element_bytes(p->type) - 1));
        element_store(p->type, in, p->n - 1, UINT64_MAX);
    }
}

static void fail_call(const struct algorithm *algorithm, const struct problem *p, uint64_t shift,
                      const char *what, uint64_t at)
{
    fail_msg("%s %s %s %s %s n=%llu threads=%u shift=%llu: %s %llu", operation_name(algorithm->op),
             algorithm->name, type_name(p->type), kind_name(p->kind), simd_path_name(p->simd),
             (unsigned long long)p->n, p->threads, (unsigned long long)shift, what,
             (unsigned long long)at);
}

static void compare(const struct algorithm *algorithm, const struct problem *p, uint64_t shift,
                    const char *out, uint64_t count)
{
    const size_t bytes = element_bytes(p->type);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t got = element_load(p->type, out, i);
        const uint64_t right = element_load(p->type, wanted, i);
        if (p->op == OP_SORT ? element_rank(p->type, got) != element_rank(p->type, right)
                             : got != right && !element_equal(p->type, got, right))
            fail_call(algorithm, p, shift, "wrong element", i);
    }
    for (size_t i = 0; i < MARGIN; i++)
        if (out[count * bytes + i] != BEYOND || out[-1 - (ptrdiff_t)i] != BEYOND)
            fail_call(algorithm, p, shift, "written beside the output, byte", i);
}

/* Runs with input and output `shift` elements off the best alignment, the one to
 * this side, the other to that. */
static void run_shifted(const struct algorithm *algorithm, const struct problem *problem,
                        uint64_t shift)
{
    static uint64_t (*const right[OPERATION_COUNT])(const struct problem *, const void *) = {
        scan_elements, compact_elements, sort_elements};
    const size_t bytes = element_bytes(problem->type);
    const size_t scratch_bytes =
        algorithm->scratch_bytes != NULL ? algorithm->scratch_bytes(problem) : 0;
    char *in = input + MARGIN * 8 + shift * bytes, *out = output + MARGIN * 8 - shift * bytes;
    void *scratch = NULL;
    uint64_t count = problem->n;
    assert_int_equal(posix_memalign(&scratch, 256, scratch_bytes + 1), 0);
    fill(problem, in, (unsigned)problem->n);
    memset(out - MARGIN, BEYOND, problem->n * bytes + 2 * MARGIN);
    struct call call = {
        .problem = *problem, .input = in, .output = out, .count = &count, .scratch = scratch};
    if (algorithm->prepare != NULL)
        algorithm->prepare(&call);
    for (call.epoch = 1; call.epoch <= 2; call.epoch++)
        algorithm->run(&call);
    const uint64_t kept = right[problem->op](problem, in);
    if (count != kept)
        fail_call(algorithm, problem, shift, "wrong count", count);
    compare(algorithm, problem, shift, out, count);
    free(scratch);
}

/* ---- Every algorithm, path, type and kind ---- */

typedef void on_problem(const struct algorithm *algorithm, struct problem problem);

static void for_each_problem(unsigned threads, on_problem *take)
{
    for (size_t r = 0; r < registry_row_count(); r++) {
        const struct algorithm *algorithm = registry_row(r)->on[DEVICE_CPU];
        if (algorithm == NULL || !(algorithm->traits & TRAIT_HAS_SIMD) ||
            (threads > 1 && !(algorithm->traits & TRAIT_HAS_THREADS)))
            continue;
        for (int path = SIMD_PORTABLE; path <= (int)limits.best_simd; path++)
            for (int type = 0; type < TYPE_COUNT; type++)
                for (int kind = 0; kind < (algorithm->op == OP_SCAN ? KIND_COUNT : 1); kind++)
                    take(algorithm, (struct problem){.op = algorithm->op,
                                                     .type = (enum element_type)type,
                                                     .kind = (enum scan_kind)kind,
                                                     .threads = threads,
                                                     .simd = (enum simd_path)path,
                                                     .device = &limits});
    }
}

static void at_small_sizes(const struct algorithm *algorithm, struct problem problem)
{
    for (problem.n = 0; problem.n <= 300; problem.n++)
        run_shifted(algorithm, &problem, problem.n % 16);
    /* Strides without a common factor: every size is met by some type and path. */
    const uint64_t start = 301 + (uint64_t)problem.type + 6 * (uint64_t)problem.simd;
    for (problem.n = start; problem.n <= 4096; problem.n += 7)
        run_shifted(algorithm, &problem, problem.n % 16);
}

static void at_large_sizes(const struct algorithm *algorithm, struct problem problem)
{
    static const uint64_t sizes[] = {65537, 300001, MOST};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        problem.n = sizes[s];
        run_shifted(algorithm, &problem, s % 4);
    }
}

static void all_small_sizes(void **state)
{
    (void)state;
    for_each_problem(1, at_small_sizes);
}

static void large_sizes(void **state)
{
    (void)state;
    for_each_problem(1, at_large_sizes);
}

static void large_sizes_on_two_threads(void **state)
{
    (void)state;
    for_each_problem(2, at_large_sizes);
}

/* More threads than processors, which have to give way to each other. */
static void large_sizes_on_five_threads(void **state)
{
    (void)state;
    for_each_problem(5, at_large_sizes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_small_sizes),
        cmocka_unit_test(large_sizes),
        cmocka_unit_test(large_sizes_on_two_threads),
        cmocka_unit_test(large_sizes_on_five_threads),
    };
    return cmocka_run_group_tests(tests, open_cpu, NULL);
}
