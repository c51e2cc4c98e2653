/* cpu_test: cases that the command line cannot request of the CPU's algorithms: all sizes up to
 * 600, every 31st up to 4096 and some larger, in buffers with no more than the alignment of
 * their elements, on every vector path and with several threads; sorts of skewed keys; the
 * scratch of sorts. */
#include "../../bench/device/backend.h"
#include "../../bench/device/input_elements.h"
#include "../../bench/operations.h"
#include "../../bench/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 600011, MOST_RUNS = 2, MARGIN = 32, BEYOND = 0x77 };

static struct device_limits limits = {.multiprocessors = 2, .cache_bytes = 1 << 20};
static char input[(MOST + 2 * MARGIN) * 8], output[(MOST + 2 * MARGIN) * 8];
static char source[(MOST + MOST_RUNS) * 8], wanted[MOST * 8];

/* Opens the CPU only for its limits. */
static int look_at_cpu(void **state)
{
    (void)state;
    struct device_info info;
    struct device *device;
    if (cpu_backend.open(0, 1, &info, &limits, &device) != NULL)
        return 1;
    cpu_backend.close(device);
    limits.pinned_to = NULL; /* they were the device's */
    return 0;
}

/* ---- What is right ---- */

/* The input of n elements is the first n of `source`, and `wanted` is the operation's result
 * for them. Both grow with n. */
static struct {
    enum operation op;
    enum element_type type;
    enum scan_kind kind;
    uint64_t n, count;
    uint64_t sum; /* an element of sum_type() */
} known;

static uint64_t source_element(uint64_t i)
{
    return element_load(known.type, source, i);
}

static void append_wanted(uint64_t element)
{
    element_store(known.type, wanted, known.count++, element);
}

static void append_scanned(uint64_t element)
{
    const uint64_t before = known.sum;
    known.sum = element_add(sum_type(known.type), known.sum, element_widen(known.type, element));
    append_wanted(element_narrow(known.type, known.kind == KIND_EXCLUSIVE ? before : known.sum));
}

static void append_if_kept(uint64_t element)
{
    if (element_is_kept(known.type, element))
        append_wanted(element);
}

static int compare_elements(const void *a, const void *b)
{
    const uint64_t x = element_rank(known.type, element_load(known.type, a, 0));
    const uint64_t y = element_rank(known.type, element_load(known.type, b, 0));
    return (x > y) - (x < y);
}

static void insert_sorted(uint64_t element)
{
    const size_t bytes = element_bytes(known.type);
    const uint64_t rank = element_rank(known.type, element);
    uint64_t first = 0;
    for (uint64_t last = known.count; first < last;) {
        const uint64_t middle = (first + last) / 2;
        if (element_rank(known.type, element_load(known.type, wanted, middle)) <= rank)
            first = middle + 1;
        else
            last = middle;
    }
    memmove(wanted + (first + 1) * bytes, wanted + first * bytes, (known.count - first) * bytes);
    element_store(known.type, wanted, first, element);
    known.count++;
}

/* The result of a reduction is one element, of none as of many. */
static void add_to_sum(uint64_t element)
{
    known.sum = element_add(sum_type(known.type), known.sum, element_widen(known.type, element));
    element_store(known.type, wanted, 0, element_narrow(known.type, known.sum));
}

/* How the result grows with each element. An operation whose results do not grow has none, and is
 * left to the matrix. */
static void (*const append[OPERATION_COUNT])(uint64_t) = {
    [OP_SCAN] = append_scanned,
    [OP_COMPACT] = append_if_kept,
    [OP_SORT] = insert_sorted,
    [OP_REDUCE] = add_to_sum,
};

static void fill_source(void)
{
    for (uint64_t i = 0; i < MOST + MOST_RUNS; i++) {
        uint64_t bits = random_bits(known.type, i);
        if (known.op != OP_SORT)
            bits = bits >> 63 ? value_to_bits(known.type, 1 + bits % 9) : 0;
        /* Negative zero is dropped, and NaN is kept. */
        if (known.op == OP_COMPACT && is_float(known.type)) {
            if (i % 97 == 13)
                bits = (uint64_t)1 << (8 * element_bytes(known.type) - 1);
            if (i % 97 == 31)
                bits = UINT64_MAX;
        }
        element_store(known.type, source, i, bits);
    }
}

/* Extends `wanted` to n elements, which are no fewer than before. */
static void grow_to(uint64_t n)
{
    if (known.op == OP_SORT && n > known.n + 1) {
        memcpy(wanted, source, n * element_bytes(known.type));
        qsort(wanted, n, element_bytes(known.type), compare_elements);
        known.n = known.count = n;
    }
    for (; known.n < n; known.n++)
        append[known.op](source_element(known.n));
}

/* ---- One call ---- */

static void fail_call(const struct algorithm *algorithm, const struct problem *p, uint64_t shift,
                      const char *what, uint64_t at)
{
    fail_msg("%s %s %s %s %s n=%llu threads=%u shift=%llu: %s %llu", operation_name(algorithm->op),
             algorithm->name, type_name(p->type), kind_name(p->kind), simd_path_name(p->simd),
             (unsigned long long)p->n, p->threads, (unsigned long long)shift, what,
             (unsigned long long)at);
}

/* Bytes of the output: a reduction of no elements has one. */
static size_t room_bytes(const struct problem *p)
{
    return (p->n > 0 ? p->n : 1) * element_bytes(p->type);
}

static void compare(const struct algorithm *algorithm, const struct problem *p, uint64_t shift,
                    const char *out, uint64_t count)
{
    const size_t bytes = element_bytes(p->type), end = room_bytes(p) + MARGIN;
    /* Differing bits may be equally right: a NaN, or a zero of the other sign. */
    const bool same = memcmp(out, wanted, count * bytes) == 0;
    for (uint64_t i = 0; !same && i < count; i++) {
        const uint64_t got = element_load(p->type, out, i);
        const uint64_t right = element_load(p->type, wanted, i);
        if (p->op == OP_SORT ? element_rank(p->type, got) != element_rank(p->type, right)
                             : got != right && !element_equal(p->type, got, right))
            fail_call(algorithm, p, shift, "wrong element", i);
    }
    for (size_t i = 0; i < MARGIN; i++)
        if (out[-1 - (ptrdiff_t)i] != BEYOND)
            fail_call(algorithm, p, shift, "written before the output, byte", i);
    for (size_t i = count * bytes; i < end; i++)
        if (out[i] != BEYOND)
            fail_call(algorithm, p, shift, "written after the result, byte", i);
}

/* Runs with input and output `shift` elements off the best alignment, in opposite directions.
 * With several `runs`, those before the last use other data and the same scratch, so that what
 * they leave there is wrong for the last. */
static void run_shifted(const struct algorithm *algorithm, const struct problem *problem,
                        uint64_t shift, unsigned runs)
{
    const size_t bytes = element_bytes(problem->type);
    const size_t scratch_bytes =
        algorithm->scratch_bytes != NULL ? algorithm->scratch_bytes(problem) : 0;
    char *in = input + MARGIN * 8 + shift * bytes, *out = output + MARGIN * 8 - shift * bytes;
    void *scratch = NULL;
    uint64_t count = 0;
    assert_int_equal(posix_memalign(&scratch, 256, scratch_bytes + 1), 0);
    void *kept = NULL;
    struct call call = {.problem = *problem,
                        .input = in,
                        .output = out,
                        .count = &count,
                        .scratch = scratch,
                        .scratch_bytes = scratch_bytes,
                        .kept = &kept};
    if (algorithm->prepare != NULL)
        algorithm->prepare(&call);
    for (call.epoch = 1; call.epoch <= runs; call.epoch++) {
        memcpy(in, source + (runs - call.epoch) * bytes, problem->n * bytes);
        memset(out - MARGIN, BEYOND, room_bytes(problem) + 2 * MARGIN);
        count = operation_has(problem->op, HAS_COUNT) ? BEYOND : known.count;
        algorithm->run(&call);
    }
    if (count != known.count)
        fail_call(algorithm, problem, shift, "wrong count", count);
    compare(algorithm, problem, shift, out, count);
    if (kept != NULL)
        algorithm->release(&call);
    free(scratch);
}

/* ---- Every algorithm, path, type and kind ---- */

/* Runs every algorithm that uses vectors, on every path, at the current n. */
static void run_all(unsigned threads, uint64_t shift, unsigned runs)
{
    for (size_t r = 0; r < table_row_count(); r++) {
        const struct algorithm *algorithm = table_row(r)->on[DEVICE_CPU];
        if (algorithm == NULL || algorithm->op != known.op || table_row(r)->of_team ||
            !(algorithm->traits & TRAIT_HAS_SIMD) ||
            (threads > 1 && !(algorithm->traits & TRAIT_HAS_THREADS)))
            continue;
        for (int path = SIMD_PORTABLE; path <= (int)limits.best_simd; path++) {
            const struct problem problem = {.op = known.op,
                                            .type = known.type,
                                            .kind = known.kind,
                                            .n = known.n,
                                            .threads = threads,
                                            .simd = (enum simd_path)path,
                                            .device = &limits};
            if (why_not_combined(algorithm, &problem) == NULL)
                run_shifted(algorithm, &problem, shift, runs);
        }
    }
}

/* The state for n = 0: what the operation makes of no elements. */
static void forget_elements(enum operation op, enum element_type type, enum scan_kind kind)
{
    memset(&known, 0, sizeof known);
    known.op = op;
    known.type = type;
    known.kind = kind;
    known.count = result_elements(&(struct problem){.op = op});
    element_store(type, wanted, 0, 0);
    fill_source();
}

/* Calls `at_sizes` for every operation of `append`, type that it takes and kind, starting from
 * n = 0. */
static void for_each_problem(void (*at_sizes)(void))
{
    for (int op = 0; op < OPERATION_COUNT; op++)
        for (int type = 0; type < TYPE_COUNT; type++)
            for (int kind = 0; kind < (operation_has(op, HAS_KIND) ? KIND_COUNT : 1); kind++) {
                if (append[op] == NULL)
                    continue;
                forget_elements(op, type, kind);
                at_sizes();
            }
}

static void at_small_sizes(void)
{
    const uint64_t step = getenv("LONG") != NULL ? 1 : 5;
    for (uint64_t n = 0; n <= 4096; n += n < 200 ? 1 : n < 600 ? step : 31 * step) {
        grow_to(n);
        run_all(1, n % 16, 1);
    }
}

/* ---- Sorts of keys that are not random ---- */

/* Skewed keys, and the largest one, which is also what fills a network's last lanes. */
static uint64_t skewed_key(unsigned shape, uint64_t i)
{
    const uint64_t largest = UINT64_MAX >> (64 - 8 * element_bytes(known.type));
    const uint64_t keys[] = {
        largest,     i % 3 == 0 ? i : largest, i,
        largest - i, i % 5 * (largest / 4),    largest >> random_bits(TYPE_U64, i) % 32};
    return keys[shape];
}

enum { SKEWED_SHAPES = 6 };

/* Small sizes for one thread, and then larger ones for several. */
static void sort_skewed(void)
{
    enum { SMALL_SIZES = 40, LARGEST = 81931 };
    static const uint64_t large[] = {4001, 20483, LARGEST};
    const unsigned step = getenv("LONG") != NULL ? 1 : 2;
    for (unsigned shape = known.type % step; known.op == OP_SORT && shape < SKEWED_SHAPES;
         shape += step) {
        for (uint64_t i = 0; i < LARGEST + MOST_RUNS; i++)
            element_store(known.type, source, i, skewed_key(shape, i));
        for (size_t s = 0; s < SMALL_SIZES + sizeof large / sizeof *large; s++) {
            const bool small = s < SMALL_SIZES;
            known.n = known.count = small ? 13 * s + 1 : large[s - SMALL_SIZES];
            memcpy(wanted, source, known.n * element_bytes(known.type));
            qsort(wanted, known.n, element_bytes(known.type), compare_elements);
            run_all(small ? 1 : 1 + s % 3, s % 4, 1);
        }
    }
}

/* On one thread, on two, and on more threads than processors, which then have to yield to each
 * other. */
static void at_large_sizes(void)
{
    /* The first sizes are too small for several threads, and must work too. */
    static const uint64_t sizes[] = {1003, 16381, 65537, MOST};
    static const unsigned threads[] = {1, 2, 5};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        grow_to(sizes[s]);
        for (size_t t = 0; t < sizeof threads / sizeof *threads; t++)
            if (t == (s + 1) % 3 || getenv("LONG") != NULL)
                run_all(threads[t], s % 4, MOST_RUNS);
    }
    limits.rounds_help = !limits.rounds_help; /* as on another processor */
    run_all(1, 1, 1);
    limits.rounds_help = !limits.rounds_help;
}

static void small_sizes(void **state)
{
    (void)state;
    for_each_problem(at_small_sizes);
}

static void large_sizes(void **state)
{
    (void)state;
    for_each_problem(at_large_sizes);
}

static void skewed_sorts(void **state)
{
    (void)state;
    for_each_problem(sort_skewed);
}

/* ---- Scratch ---- */

/* At most another array of keys and 32 MiB, with up to five threads. */
static void sorts_need_little_scratch(void **state)
{
    (void)state;
    enum { MOST_BYTES = 32 << 20, MOST_THREADS = 5 };
    static const enum element_type types[] = {TYPE_U32, TYPE_U64};
    struct problem problem = {.op = OP_SORT, .simd = SIMD_PORTABLE, .device = &limits};
    for (size_t r = 0; r < table_row_count(); r++) {
        const struct algorithm *algorithm = table_row(r)->on[DEVICE_CPU];
        if (algorithm == NULL || algorithm->op != OP_SORT || table_row(r)->of_team ||
            !(algorithm->traits & TRAIT_HAS_SIMD))
            continue;
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            for (problem.n = 5; problem.n < UINT32_MAX; problem.n = problem.n * 13 / 8)
                for (problem.threads = 1; problem.threads <= MOST_THREADS; problem.threads++) {
                    problem.type = types[t];
                    const size_t bytes = algorithm->scratch_bytes(&problem);
                    if (bytes > problem.n * element_bytes(problem.type) + MOST_BYTES)
                        fail_call(algorithm, &problem, 0, "too much scratch, bytes", bytes);
                }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_sizes),
        cmocka_unit_test(large_sizes),
        cmocka_unit_test(skewed_sorts),
        cmocka_unit_test(sorts_need_little_scratch),
    };
    return cmocka_run_group_tests(tests, look_at_cpu, NULL);
}
