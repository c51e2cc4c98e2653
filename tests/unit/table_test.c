/* table_test: the table built from bench/algorithms.def: no row is lost or duplicated, whatever
 * is added to it. */
#include "../../bench/choice.h"
#include "../../bench/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const own_lines[] = {
#define ALGORITHM(where, op_name) #op_name,
#define LIBRARY(op_name, op, name) #op_name,
#define OVER_SCANS(op_file)
#define CEILING(where, name)
#define CHOICES()
#include "../../bench/algorithms.def"
#undef ALGORITHM
#undef LIBRARY
#undef OVER_SCANS
#undef CEILING
#undef CHOICES
};

static const char *const ceilings[] = {
#define ALGORITHM(where, op_name)
#define LIBRARY(op_name, op, name)
#define OVER_SCANS(op_file)
#define CEILING(where, name) #name,
#define CHOICES()
#include "../../bench/algorithms.def"
#undef ALGORITHM
#undef LIBRARY
#undef OVER_SCANS
#undef CEILING
#undef CHOICES
};

static const struct table_row *find(enum operation op, const char *name)
{
    for (size_t i = 0; i < table_row_count(); i++)
        if (table_row(i)->op == op && strcmp(table_row(i)->name, name) == 0)
            return table_row(i);
    return NULL;
}

static const struct table_row *row_named(enum operation op, const char *name)
{
    const struct table_row *row = find(op, name);
    if (!row)
        fail_msg("no row %s %s", operation_name(op), name);
    return row;
}

static void no_name_is_there_twice(void **state)
{
    (void)state;
    for (size_t i = 0; i < table_row_count(); i++) {
        const struct table_row *row = table_row(i);
        assert_ptr_equal(find(row->op, row->name), row);
        for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++)
            if (row->on[kind]) {
                assert_string_equal(row->on[kind]->name, row->name);
                assert_int_equal(row->on[kind]->op, row->op);
                assert_true(row->listed_on[kind]);
            }
    }
}

static void every_line_has_its_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof own_lines / sizeof *own_lines; i++) {
        char name[64];
        const char *underscore = strchr(own_lines[i], '_');
        assert_non_null(underscore);
        strcpy(name, underscore + 1);
        for (char *dash = name; (dash = strchr(dash, '_'));)
            *dash = '-';
        int op = 0;
        while (strncmp(own_lines[i], operation_name(op), strlen(operation_name(op))) != 0)
            op++;
        row_named(op, name);
    }
}

static void every_operation_has_every_ceiling(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ceilings / sizeof *ceilings; i++)
        for (int op = 0; op < OPERATION_COUNT; op++)
            assert_int_equal(row_descriptor(row_named(op, ceilings[i]))->family, FAMILY_CEILING);
}

/* An algorithm over a scan has the scan's name, block sizes and source. */
static void expect_over(enum operation op, const struct table_row *scan_row, int kind)
{
    const struct algorithm *scan = scan_row->on[kind];
    const struct algorithm *over = row_named(op, scan_row->name)->on[kind];
    assert_non_null(over);
    if (!over->over)
        return; /* has a separate line */
    assert_ptr_equal(over->over, scan);
    assert_int_equal(over->traits & TRAIT_HAS_BLOCK, scan->traits & TRAIT_HAS_BLOCK);
    assert_int_equal(over->default_block, scan->default_block);
    assert_string_equal(over->source, scan->source);
    assert_int_equal(over->family, FAMILY_OWN);
}

static void every_own_scan_has_a_compaction_and_a_sort(void **state)
{
    (void)state;
    unsigned scans = 0, without_sort = 0;
    for (size_t i = 0; i < table_row_count(); i++) {
        const struct table_row *row = table_row(i);
        for (int kind = DEVICE_GPU; kind < DEVICE_KIND_COUNT; kind++) {
            const struct algorithm *scan = row->on[kind];
            if (row->op != OP_SCAN || !scan || scan->family != FAMILY_OWN ||
                scan->traits & TRAIT_SEGMENTS_ONLY)
                continue;
            scans++;
            expect_over(OP_COMPACT, row, kind);
            if (!(scan->traits & TRAIT_NO_SORT)) {
                expect_over(OP_SORT, row, kind);
                continue;
            }
            without_sort++;
            assert_null(find(OP_SORT, row->name));
        }
    }
    assert_true(scans >= 9);
    assert_true(without_sort < scans);
    assert_null(find(OP_SORT, "efficient-stitch"));
    assert_null(find(OP_COMPACT, "over-scan"));
    assert_null(find(OP_SORT, "over-scan"));
}

/* Every line of choices.def must name an existing algorithm, and the last lines must cover
 * every size, on a known device and on any other. */
static void auto_finds_something_for_every_size(void **state)
{
    (void)state;
    static const char *const names[] = {"NVIDIA H200", "some other"};
    for (int op = 0; op < OPERATION_COUNT; op++)
        for (int type = 0; type < TYPE_COUNT; type++)
            for (unsigned i = 0; i < 2 * 41; i++) {
                const struct device_limits device = {.kind = DEVICE_EMULATOR,
                                                     .name = names[i % 2],
                                                     .compute_capability = i < 41 ? 90 : 80,
                                                     .multiprocessors = 132,
                                                     .threads_per_multiprocessor = 2048,
                                                     .blocks_per_multiprocessor = 32,
                                                     .shared_bytes_per_block = 227 * 1024,
                                                     .shared_bytes_per_multiprocessor = 228 * 1024,
                                                     .cluster_blocks = i < 41 ? 16 : 0};
                const struct problem problem = {
                    .op = op, .type = type, .n = 1ull << i / 2, .device = &device};
                const struct algorithm *algorithm =
                    resolve_choice(&problem, table_algorithm).algorithm;
                if (algorithm == NULL)
                    fail_msg("no choice for %s at n = 2^%u", operation_name(op), i / 2);
                else if (device.compute_capability < 90)
                    assert_string_not_equal(algorithm->name, "lookahead");
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_name_is_there_twice),
        cmocka_unit_test(every_line_has_its_row),
        cmocka_unit_test(every_operation_has_every_ceiling),
        cmocka_unit_test(auto_finds_something_for_every_size),
        cmocka_unit_test(every_own_scan_has_a_compaction_and_a_sort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
