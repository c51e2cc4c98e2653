/* choice_test: `auto` stands for the algorithm that bench/choices.def names. */
#include "../../bench/choice.h"
#include "../../bench/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct line {
    enum device_kind kind;
    const char *device;
    enum operation op;
    unsigned bytes;
    uint64_t up_to;
    const char *algo;
    unsigned block;
};

static const struct line lines[] = {
#define CHOICE(...) {__VA_ARGS__},
#define SCALED_CHOICE CHOICE
#define ROWS_CHOICE(...)
#include "../../bench/choices.def"
#undef ROWS_CHOICE
#undef SCALED_CHOICE
#undef CHOICE
};

enum { LINE_COUNT = sizeof lines / sizeof *lines };
static const uint64_t LARGE_N = (uint64_t)1 << 33;

/* A GPU as large as an H200. */
static struct device_limits large_gpu(const char *name, int compute_capability)
{
    return (struct device_limits){.kind = DEVICE_EMULATOR,
                                  .name = name,
                                  .compute_capability = compute_capability,
                                  .multiprocessors = 132,
                                  .threads_per_multiprocessor = 2048,
                                  .blocks_per_multiprocessor = 32,
                                  .shared_bytes_per_block = 227 * 1024,
                                  .shared_bytes_per_multiprocessor = 228 * 1024,
                                  .cluster_blocks = compute_capability < 90 ? 0 : 16};
}

/* The resolved algorithm is the table's own, so its run() and other functions are the ones
 * called. Block 0: the algorithm's default. */
static void expect_resolved(const struct problem *problem, const char *algo, unsigned block)
{
    const struct resolved resolved = resolve_choice(problem, table_algorithm);
    const struct algorithm *own = table_row_named(problem->op, algo)->on[problem->device->kind];
    if (resolved.algorithm != own)
        fail_msg("%s at n = %llu: %s instead of %s", operation_name(problem->op),
                 (unsigned long long)problem->n,
                 resolved.algorithm != NULL ? resolved.algorithm->name : "nothing", algo);
    assert_non_null(resolved.algorithm->run);
    assert_ptr_equal(resolved.algorithm->run, own->run);
    assert_int_equal(resolved.block, block > 0 ? block : own->default_block);
}

static bool same_elements(const struct line *a, const struct line *b)
{
    return a->kind == b->kind && a->op == b->op && a->bytes == b->bytes;
}

/* Does the other line hold for devices of this one, too? Lines of one device may lie between those
 * for all. */
static bool holds_too(const struct line *other, const struct line *line)
{
    return strncmp(line->device, other->device, strlen(other->device)) == 0;
}

/* The line before for the same; NULL if there is none. */
static const struct line *line_before(size_t i)
{
    for (size_t before = i; before > 0 && same_elements(&lines[i], &lines[before - 1]); before--)
        if (holds_too(&lines[before - 1], &lines[i]))
            return &lines[before - 1];
    return NULL;
}

/* Is there a line for the same before, and others between them? Then it is for pairs, which the
 * algorithms before do not sort. */
static bool is_for_pairs(size_t i)
{
    const struct line *line = &lines[i];
    while (i > 0 && same_elements(line, &lines[i - 1]))
        i--;
    for (size_t before = 0; before < i; before++)
        if (same_elements(line, &lines[before]))
            return true;
    return false;
}

/* The largest n of the lines before for the same; 0 if there are none. */
static uint64_t largest_before(size_t i)
{
    uint64_t largest = 0;
    for (size_t before = i; before > 0 && same_elements(&lines[i], &lines[before - 1]); before--)
        if (holds_too(&lines[before - 1], &lines[i]) && lines[before - 1].up_to > largest)
            largest = lines[before - 1].up_to;
    return largest;
}

/* Each line for an operation, a device and a width of elements holds from its first n to its last,
 * on as many multiprocessors as it was measured on, or on fewer if a line before goes as far. */
static void lines_hold_for_their_sizes(void **state)
{
    (void)state;
    unsigned seen = 0;
    bool instead = false;
    for (size_t i = 0; i < LINE_COUNT; i++) {
        const struct line *line = &lines[i];
        if (line->bytes == 0 || is_for_pairs(i))
            continue;
        const struct line *last = line_before(i);
        const uint64_t before = largest_before(i);
        struct device_limits device =
            large_gpu(line->device[0] != '\0' ? line->device : "some other", 90);
        /* What follows a line for every size is for devices that cannot run that line's algorithm,
         * as those of compute capability 7.5 or 8.6 cannot for lack of shared memory. They may run
         * it for fewer elements. */
        instead = last != NULL && (instead || last->up_to == UINT64_MAX);
        if (instead)
            device.shared_bytes_per_block = 99 * 1024;
        for (int type = 0; type < TYPE_COUNT; type++) {
            if (element_bytes(type) != line->bytes)
                continue;
            struct problem problem = {.op = line->op, .type = type, .device = &device};
            if (!instead && before < line->up_to) {
                problem.n = before + 1;
                expect_resolved(&problem, line->algo, line->block);
            }
            if (line->up_to <= before)
                device.multiprocessors = 32;
            problem.n = line->up_to < LARGE_N ? line->up_to : LARGE_N;
            expect_resolved(&problem, line->algo, line->block);
            seen++;
        }
    }
    assert_true(seen > 0);
}

static const struct line *first_line_for_pairs(const struct problem *problem)
{
    for (size_t i = 0; i < LINE_COUNT; i++) {
        const struct line *line = &lines[i];
        if (line->op == OP_SORT && line->device[0] == '\0' && problem->n <= line->up_to &&
            (line->bytes == 0 || line->bytes == element_bytes(problem->type)) &&
            table_row_named(OP_SORT, line->algo)->on[DEVICE_EMULATOR]->traits & TRAIT_PAIRS)
            return line;
    }
    return NULL;
}

/* For pairs, the first line holds whose algorithm sorts them, up to its last n. */
static void pairs_have_lines_of_their_own(void **state)
{
    (void)state;
    static const enum element_type types[] = {TYPE_I32, TYPE_F64};
    const struct device_limits device = large_gpu("some other", 90);
    unsigned other_than_keys = 0;
    for (size_t i = 0; i < LINE_COUNT; i++)
        for (int type = 0; type < 2; type++)
            for (uint64_t n = lines[i].up_to; n <= lines[i].up_to + 1 && n < LARGE_N; n++) {
                struct problem problem = {.op = OP_SORT,
                                          .type = types[type],
                                          .values = VALUES_U64,
                                          .n = n,
                                          .device = &device};
                const struct line *line = first_line_for_pairs(&problem);
                assert_non_null(line);
                expect_resolved(&problem, line->algo, line->block);
                problem.values = VALUES_NONE;
                other_than_keys += resolve_choice(&problem, table_algorithm).algorithm !=
                                   table_row_named(OP_SORT, line->algo)->on[DEVICE_EMULATOR];
            }
    assert_true(other_than_keys > 0);
}

/* Half the multiprocessors: half the elements. The limits of a block's sort stay. */
static void lines_scale_with_the_device(void **state)
{
    (void)state;
    struct device_limits device = large_gpu("some other", 90);
    struct problem problem = {.op = OP_SCAN, .type = TYPE_I32, .device = &device};
    problem.n = 8388608;
    expect_resolved(&problem, "one-wave", 512);
    device.multiprocessors = 66;
    expect_resolved(&problem, "lookahead", 0);
    problem.n = 4194304;
    expect_resolved(&problem, "one-wave", 512);
    problem = (struct problem){.op = OP_SORT, .type = TYPE_I32, .n = 5120, .device = &device};
    expect_resolved(&problem, "enumeration", 0);
    problem.in_place = true;
    expect_resolved(&problem, "msd", 0);
    problem.in_place = false;
    problem.n = 8192;
    expect_resolved(&problem, "msd", 0);
}

static void short_rows_have_a_line_of_their_own(void **state)
{
    (void)state;
    const struct device_limits device = large_gpu("some other", 90);
    struct problem problem = {.op = OP_SCAN,
                              .type = TYPE_F32,
                              .n = 16384,
                              .segments = SEGMENTS_ROWS,
                              .segment_length = 1024,
                              .device = &device};
    expect_resolved(&problem, "one-wave", 256);
    problem.in_place = true;
    expect_resolved(&problem, "cluster", 256);
    problem.in_place = false;
    problem.segment_length = 1025;
    expect_resolved(&problem, "cluster", 256);
    problem.segments = SEGMENTS_OFFSETS;
    problem.segment_length = 0;
    expect_resolved(&problem, "cluster", 256);
}

/* Devices of compute capability 8.6 have the shared memory for some of what is sorted in one block.
 */
static void less_is_sorted_in_one_block(void **state)
{
    (void)state;
    struct device_limits device = large_gpu("some other", 86);
    device.shared_bytes_per_block = 99 * 1024;
    device.multiprocessors = 20;
    struct problem problem = {
        .op = OP_SORT, .type = TYPE_I32, .values = VALUES_U32, .n = 4096, .device = &device};
    expect_resolved(&problem, "one-block", 0);
    problem.n = 4097;
    expect_resolved(&problem, "onesweep", 0);
    problem = (struct problem){.op = OP_SORT, .type = TYPE_I16, .n = 8192, .device = &device};
    expect_resolved(&problem, "counting", 0);
    problem.n = 8193;
    expect_resolved(&problem, "one-block", 0);
}

/* A line is skipped if the device cannot run its algorithm. */
static void what_a_device_cannot_run_is_skipped(void **state)
{
    (void)state;
    for (int op = 0; op < OPERATION_COUNT; op++) {
        const struct device_limits newer = large_gpu("some other", 90);
        const struct device_limits older = large_gpu("some other", 80);
        /* The last line is for what supports the least. */
        struct device_limits least = large_gpu("some other", 70);
        least.shared_bytes_per_block = 48 * 1024;
        const struct line *last = &lines[LINE_COUNT - 1];
        while ((int)last->op != op)
            last--;
        const struct problem large = {.op = op, .n = LARGE_N, .device = &least};
        expect_resolved(&large, last->algo, last->block);
        struct problem small = {.op = op, .n = 1000, .device = &older};
        const struct resolved resolved = resolve_choice(&small, table_algorithm);
        small.device = &newer;
        small.block = 32; /* has no effect */
        assert_ptr_equal(resolve_choice(&small, table_algorithm).algorithm, resolved.algorithm);
        assert_int_equal(resolve_choice(&small, table_algorithm).block, resolved.block);
    }
}

/* Such as GPUs that are newer than all that were measured, but smaller. */
static void clusters_are_as_large_as_the_device_allows(void **state)
{
    (void)state;
    struct device_limits device = large_gpu("some other", 120);
    struct problem problem = {.op = OP_COMPACT, .n = 60000, .block = 512, .device = &device};
    const struct algorithm *cluster = table_row_named(OP_COMPACT, "cluster")->on[DEVICE_EMULATOR];
    assert_null(cluster->supports(&problem));
    device.cluster_blocks = 4; /* of 512 threads with 32 elements each */
    assert_null(cluster->supports(&problem));
    problem.n = 4 * 512 * 32 + 1;
    assert_string_equal(cluster->supports(&problem),
                        "more elements than one cluster of blocks holds");
    device.cluster_blocks = 8;
    assert_null(cluster->supports(&problem));
    problem.n = 8 * 512 * 32;
    device.shared_bytes_per_block = 64 * 1024; /* and no room for what else a block needs */
    assert_string_equal(cluster->supports(&problem), "more shared memory than a block can have");
    problem.op = OP_SCAN;
    assert_null(table_row_named(OP_SCAN, "cluster")->on[DEVICE_EMULATOR]->supports(&problem));
    device.cluster_blocks = 0;
    problem.n = 2;
    assert_string_equal(cluster->supports(&problem),
                        "needs clusters of blocks, which came with sm_90");
}

static void the_cpu_has_nothing_to_choose_from(void **state)
{
    (void)state;
    const struct device_limits cpu = {.kind = DEVICE_CPU, .name = "NVIDIA H200"};
    const struct problem problem = {.op = OP_SCAN, .n = 1000, .device = &cpu};
    assert_null(resolve_choice(&problem, table_algorithm).algorithm);
    assert_false(has_choice(OP_SCAN, DEVICE_CPU));
    assert_false(choice_in_build(OP_SCAN, DEVICE_CPU, table_algorithm));
}

/* `auto` is a name without code of its own. */
static void the_rows_of_auto(void **state)
{
    (void)state;
    unsigned seen = 0;
    for (size_t i = 0; i < table_row_count(); i++) {
        const struct table_row *row = table_row(i);
        assert_int_equal(row->is_choice, strcmp(row->name, "auto") == 0);
        if (!row->is_choice)
            continue;
        assert_true(row->listed_on[DEVICE_GPU] && row->listed_on[DEVICE_EMULATOR]);
        assert_false(row->listed_on[DEVICE_CPU] || row->needs_cuda_build);
        const struct algorithm *choice = row->on[DEVICE_EMULATOR];
        assert_string_equal(choice->name, row->name);
        assert_int_equal(choice->op, row->op);
        assert_int_equal(choice->family, FAMILY_OWN);
        assert_null(choice->run);
        seen++;
    }
    assert_int_equal(seen, OPERATION_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_hold_for_their_sizes),
        cmocka_unit_test(pairs_have_lines_of_their_own),
        cmocka_unit_test(lines_scale_with_the_device),
        cmocka_unit_test(short_rows_have_a_line_of_their_own),
        cmocka_unit_test(less_is_sorted_in_one_block),
        cmocka_unit_test(what_a_device_cannot_run_is_skipped),
        cmocka_unit_test(clusters_are_as_large_as_the_device_allows),
        cmocka_unit_test(the_cpu_has_nothing_to_choose_from),
        cmocka_unit_test(the_rows_of_auto),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
