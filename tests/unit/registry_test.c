/* registry_test: the rows, the words of --algo and the nearest matches. Links
 * tests/unit/stub_algorithms.c instead of bench/table.c. */
#include "../../bench/base/nearest.h"
#include "../../bench/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct table_row *row_named(enum operation op, const char *name)
{
    for (size_t i = 0; i < table_row_count(); i++)
        if (table_row(i)->op == op && strcmp(table_row(i)->name, name) == 0)
            return table_row(i);
    fail_msg("no row %s", name);
    return NULL;
}

/* Expects the names of scan's rows that a word selects, joined by spaces. */
static void expect_scan_rows(const char *word, const char *expected)
{
    char names[256] = "";
    for (size_t i = 0; i < table_row_count(); i++) {
        const struct table_row *row = table_row(i);
        if (row->op != OP_SCAN || !row_matches(row, word))
            continue;
        strcat(names, names[0] ? " " : "");
        strcat(names, row->name);
    }
    assert_string_equal(names, expected);
}

static void rows_come_from_the_table(void **state)
{
    (void)state;
    assert_int_equal(table_row_count(), 13);
    assert_string_equal(table_row(0)->name, "serial");
    assert_int_equal(table_row(0)->op, OP_SCAN);
    assert_string_equal(table_row(4)->name, "efficient-smem");
    assert_string_equal(table_row(9)->name, "serial-scan");
    assert_int_equal(table_row(9)->op, OP_COMPACT);
}

static void lines_of_one_name_are_one_row(void **state)
{
    (void)state;
    const struct table_row *row = row_named(OP_SCAN, "memcpy");
    for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++)
        assert_true(row->listed_on[kind]);
    assert_non_null(row->on[DEVICE_CPU]);
    assert_non_null(row->on[DEVICE_EMULATOR]);
    assert_ptr_not_equal(row->on[DEVICE_CPU], row->on[DEVICE_EMULATOR]);
    assert_ptr_not_equal(row_named(OP_SCAN, "serial"), row_named(OP_COMPACT, "serial"));
}

static void an_operation_over_each_own_scan(void **state)
{
    (void)state;
    const struct table_row *row = row_named(OP_COMPACT, "efficient-smem");
    const struct table_row *scan = row_named(OP_SCAN, "efficient-smem");
    assert_ptr_equal(row->on[DEVICE_EMULATOR]->over, scan->on[DEVICE_EMULATOR]);
    assert_string_equal(row->on[DEVICE_EMULATOR]->name, "efficient-smem");
    assert_false(row->listed_on[DEVICE_CPU]);
    assert_true(row->listed_on[DEVICE_GPU]);
    row_named(OP_COMPACT, "efficient");
    /* A separate line comes first, and scans that are not our own have no such row. */
    assert_null(row_named(OP_COMPACT, "naive")->on[DEVICE_EMULATOR]->over);
    for (size_t i = 0; i < table_row_count(); i++) {
        const struct table_row *other = table_row(i);
        assert_string_not_equal(other->name, "over-scan");
        if (other->op == OP_COMPACT) {
            assert_string_not_equal(other->name, "thrust");
            assert_string_not_equal(other->name, "parallel");
        }
    }
}

static void what_a_build_without_cuda_has(void **state)
{
    (void)state;
    const struct table_row *naive = row_named(OP_SCAN, "naive");
    const struct table_row *thrust = row_named(OP_SCAN, "thrust");
    assert_false(naive->needs_cuda_build);
    assert_true(thrust->needs_cuda_build);
    assert_true(naive->listed_on[DEVICE_GPU] && !naive->listed_on[DEVICE_CPU]);
    assert_true(thrust->listed_on[DEVICE_GPU] && !thrust->listed_on[DEVICE_EMULATOR]);
#ifdef STUB_CUDA
    assert_non_null(naive->on[DEVICE_GPU]);
    assert_non_null(row_descriptor(thrust));
#else
    assert_null(naive->on[DEVICE_GPU]);
    assert_null(row_descriptor(thrust));
#endif
    assert_string_equal(row_descriptor(naive)->name, "naive");
}

static void words_select_rows(void **state)
{
    (void)state;
    expect_scan_rows("all", "serial parallel naive efficient efficient-smem thrust memcpy slices");
    expect_scan_rows("cpu", "serial parallel memcpy");
    expect_scan_rows("gpu", "naive efficient efficient-smem thrust memcpy slices");
    expect_scan_rows("own", "serial parallel naive efficient efficient-smem slices");
    expect_scan_rows("library", "thrust");
    expect_scan_rows("efficient", "efficient");
    expect_scan_rows("efficient*", "efficient efficient-smem");
    expect_scan_rows("*smem", "efficient-smem");
    expect_scan_rows("[np]a*", "parallel naive");
    expect_scan_rows("?aive", "naive");
    expect_scan_rows("slices", "slices");
    expect_scan_rows("nccl", "slices");
    expect_scan_rows("[np]*", "parallel naive slices");
    expect_scan_rows("eff", "");
    expect_scan_rows("Naive", "");
    expect_scan_rows("", "");
    expect_scan_rows("[", "");
}

static void words_select_by_device(void **state)
{
    (void)state;
    const struct table_row *row = row_named(OP_SCAN, "memcpy");
    assert_true(row_matches_on(row, DEVICE_CPU, "cpu"));
    assert_false(row_matches_on(row, DEVICE_GPU, "cpu"));
    assert_true(row_matches_on(row, DEVICE_EMULATOR, "gpu"));
    assert_true(row_matches_on(row, DEVICE_GPU, "mem*"));
    assert_false(row_matches_on(row_named(OP_SCAN, "naive"), DEVICE_CPU, "all"));
    assert_true(row_matches_on(row_named(OP_SCAN, "slices"), DEVICE_EMULATOR, "peer"));
    assert_true(row_matches_on(row_named(OP_SCAN, "slices"), DEVICE_GPU, "nccl"));
    assert_false(row_matches_on(row_named(OP_SCAN, "slices"), DEVICE_EMULATOR, "nccl"));
}

static void known_words(void **state)
{
    (void)state;
    assert_true(registry_knows("library"));
    assert_true(registry_knows("serial-scan"));
    assert_true(registry_knows("eff*"));
    assert_false(registry_knows("efficient_smem"));
    assert_false(registry_knows("x*"));
}

static void nearest_words(void **state)
{
    (void)state;
    assert_string_equal(registry_nearest("effcient-smem"), "efficient-smem");
    assert_string_equal(registry_nearest("efficient_smem"), "efficient-smem");
    assert_string_equal(registry_nearest("eff"), "efficient");
    assert_string_equal(registry_nearest("NAIVE"), "naive");
    assert_string_equal(registry_nearest("thurst"), "thrust");
    assert_string_equal(registry_nearest("peeer"), "peer");
    assert_string_equal(registry_nearest("libary"), "library");
    assert_non_null(registry_nearest(""));

    char long_word[5000];
    memset(long_word, 'x', sizeof long_word);
    long_word[sizeof long_word - 1] = '\0';
    assert_non_null(registry_nearest(long_word));
    assert_false(is_near(long_word, "naive"));
    assert_true(is_near("thurst", "thrust"));
    assert_true(is_near("eff", "efficient-smem"));
    assert_false(is_near("", "all"));
    assert_false(is_near("bogus", "naive"));
    assert_null(nearest_match("word", NULL, 0));
}

static void names(void **state)
{
    (void)state;
    assert_string_equal(operation_name(OP_COMPACT), "compact");
    assert_string_equal(type_name(TYPE_F64), "f64");
    assert_string_equal(kind_name(KIND_INCLUSIVE), "inclusive");
    assert_string_equal(device_kind_name(DEVICE_EMULATOR), "emulator");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_from_the_table),
        cmocka_unit_test(lines_of_one_name_are_one_row),
        cmocka_unit_test(an_operation_over_each_own_scan),
        cmocka_unit_test(what_a_build_without_cuda_has),
        cmocka_unit_test(words_select_rows),
        cmocka_unit_test(words_select_by_device),
        cmocka_unit_test(known_words),
        cmocka_unit_test(nearest_words),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
