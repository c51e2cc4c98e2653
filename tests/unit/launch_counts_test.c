/* launch_counts_test: counts of launches and lines, on a backend with invented ones. */
#include "../../bench/run/launch_counts.h"

#include "../../bench/rows/columns.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ELEMENTS = 100 };

static struct launch_log launches_log;
static struct launch_counts counts;
static const char *why_not;

/* Launch i has 10 * (1 + i) load requests, 4 sectors in each, half of whose bytes are used. The
 * first has the longest chain of applications. */
static const char *all_known(struct device *device, const struct trial *trial,
                             struct memory_counts *each, unsigned most, unsigned *launches,
                             const char **reason)
{
    (void)device;
    (void)trial;
    *reason = NULL;
    *launches = most;
    for (unsigned i = 0; i < most; i++) {
        const uint64_t requests = 10 * (1 + (uint64_t)i);
        each[i] = (struct memory_counts){.blocks = 2,
                                         .barriers = 6,
                                         .load_requests = requests,
                                         .load_sectors = 4 * requests,
                                         .load_bytes = 64 * requests,
                                         .requests = requests,
                                         .lanes = 16 * requests,
                                         .applications = 5 * requests,
                                         .depth = 9 - (uint64_t)i};
    }
    return NULL;
}

/* As a GPU counts. */
static const char *some_known(struct device *device, const struct trial *trial,
                              struct memory_counts *each, unsigned most, unsigned *launches,
                              const char **reason)
{
    all_known(device, trial, each, most, launches, reason);
    for (unsigned i = 0; i < most; i++) {
        each[i].blocks = each[i].barriers = each[i].warp_collectives = UNKNOWN_COUNT;
        each[i].load_bytes = each[i].store_bytes = UNKNOWN_COUNT;
        each[i].requests = each[i].lanes = each[i].atomics = UNKNOWN_COUNT;
        each[i].applications = each[i].depth = UNKNOWN_COUNT;
    }
    return NULL;
}

static const char *not_allowed(struct device *device, const struct trial *trial,
                               struct memory_counts *each, unsigned most, unsigned *launches,
                               const char **reason)
{
    all_known(device, trial, each, most, launches, reason);
    *reason = "not allowed";
    *launches = 0;
    return NULL;
}

static const char *failing(struct device *device, const struct trial *trial,
                           struct memory_counts *each, unsigned most, unsigned *launches,
                           const char **reason)
{
    all_known(device, trial, each, most, launches, reason);
    return "out of order";
}

/* Two kernels, the lines of each in the order of the source. */
static size_t some_lines(struct device *device, const struct line_counts **lines)
{
    static const struct line_counts all[] = {
        {"up", "a.cu:1", {.load_sectors = 5}},
        {"up", "a.cu:2", {.shared_requests = 5, .bank_conflicts = 4}},
        {"up", "a.cu:9", {.store_sectors = 3, .atomics = 6}},
        {"up", "b.cu:1", {.load_sectors = 5}},
        {"down", "a.cu:1", {.load_sectors = 1}},
        {"down", "a.cu:3", {.load_sectors = 100}},
    };
    (void)device;
    *lines = all;
    return sizeof all / sizeof *all;
}

static const struct backend counts_all = {.count = all_known, .count_lines = some_lines},
                            counts_some = {.count = some_known},
                            may_not = {.count = not_allowed, .count_lines = some_lines},
                            fails = {.count = failing, .count_lines = some_lines};

static const char *count_them(const struct backend *can, uint64_t launches, bool by_line)
{
    struct device device = {.can = can};
    const struct trial trial = {.cache = CACHE_COLD};
    launches_log.count = launches;
    return count_launches(&device, &trial, &launches_log, by_line, &counts, &why_not);
}

static void a_run_has_what_its_launches_have(void **state)
{
    (void)state;
    struct row row = empty_row(), second = empty_row(), third = empty_row();
    assert_null(count_them(&counts_all, 2, false));
    assert_null(why_not);
    fill_all_counts(&row, &counts, ELEMENTS);
    assert_int_equal(row.global_load_requests, 30);
    assert_int_equal(row.global_load_sectors, 120);
    assert_int_equal(row.global_store_sectors, 0);
    assert_true(row.sector_use_pct == 50);
    assert_true(row.active_lanes == 16);
    assert_true(row.barriers_per_block == 3);
    assert_true(row.read_bytes_per_element == 64 * 30 / (double)ELEMENTS);
    assert_true(row.work_per_element == 5 * 30 / (double)ELEMENTS);
    assert_int_equal(row.depth, 9);
    fill_launch_counts(&second, &counts, 1, ELEMENTS);
    assert_int_equal(second.global_load_requests, 20);
    assert_true(second.work_per_element == 5 * 20 / (double)ELEMENTS);
    assert_int_equal(second.depth, 8);
    fill_launch_counts(&third, &counts, 2, ELEMENTS);
    assert_int_equal(third.global_load_requests, -1);
    assert_int_equal(counts.line_count, 0);
    free_launch_counts(&counts);
}

static void what_is_unknown_stays_empty(void **state)
{
    (void)state;
    struct row row = empty_row();
    assert_null(count_them(&counts_some, 2, true));
    fill_all_counts(&row, &counts, ELEMENTS);
    assert_int_equal(row.global_load_requests, 30);
    assert_int_equal(row.global_load_sectors, 120);
    assert_int_equal(row.global_store_requests, 0);
    assert_int_equal(row.warp_collectives, -1);
    assert_int_equal(row.atomics, -1);
    assert_true(isnan(row.barriers_per_block) && isnan(row.active_lanes));
    assert_true(isnan(row.sector_use_pct));
    assert_true(isnan(row.read_bytes_per_element) && isnan(row.written_bytes_per_element));
    assert_true(isnan(row.work_per_element));
    assert_int_equal(row.depth, -1);
    assert_int_equal(counts.line_count, 0); /* such a device tells no lines apart */
    free_launch_counts(&counts);
}

static void nothing_divides_by_zero(void **state)
{
    (void)state;
    struct row row = empty_row();
    const struct line_counts line = {"up", "a.cu:1", {.atomics = 1}};
    fill_line_counts(&row, &line, 0);
    assert_true(isnan(row.sector_use_pct) && isnan(row.active_lanes));
    assert_true(isnan(row.read_bytes_per_element));
    assert_int_equal(row.atomics, 1);
    assert_int_equal(row.warp_collectives, -1);
    assert_true(isnan(row.work_per_element));
    assert_int_equal(row.depth, -1); /* not counted by line */
}

static void lines_of_a_kernel_are_by_their_traffic(void **state)
{
    (void)state;
    static const char *const kernels[] = {"up", "up", "up", "up", "down", "down"};
    static const char *const wanted[] = {"a.cu:2", "a.cu:9", "a.cu:1",
                                         "b.cu:1", "a.cu:3", "a.cu:1"};
    assert_null(count_them(&counts_all, 1, true));
    assert_int_equal(counts.line_count, 6);
    for (size_t i = 0; i < counts.line_count; i++) {
        assert_string_equal(counts.lines[i].kernel, kernels[i]);
        assert_string_equal(counts.lines[i].line, wanted[i]);
    }
    free_launch_counts(&counts);
}

static void what_was_not_counted_has_a_reason(void **state)
{
    (void)state;
    struct row row = empty_row();
    assert_null(count_them(&may_not, 2, false));
    assert_string_equal(why_not, "not allowed");
    fill_all_counts(&row, &counts, ELEMENTS);
    assert_int_equal(row.global_load_requests, -1);
    free_launch_counts(&counts);
    assert_string_equal(count_them(&fails, 2, true), "out of order");
    assert_int_equal(counts.launches, 0);
    assert_int_equal(counts.line_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_has_what_its_launches_have),
        cmocka_unit_test(what_is_unknown_stays_empty),
        cmocka_unit_test(nothing_divides_by_zero),
        cmocka_unit_test(lines_of_a_kernel_are_by_their_traffic),
        cmocka_unit_test(what_was_not_counted_has_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
