/* text_table_test: the table for people, laid out for terminals of several widths. */
#include "../../bench/rows/text_table.h"
#include "../../bench/base/terminal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct row some_row(const char *algo, int64_t n, double time_ms)
{
    struct row row = empty_row();
    row.op = "scan";
    row.algo = algo;
    row.type = "i32";
    row.n = n;
    row.device = "gpu0";
    row.device_name = "NVIDIA H200";
    row.driver = "v580.159.04";
    row.cache = "cold";
    row.version = "v1.2.3";
    row.commit = "g1234567";
    row.check = "passed";
    row.time_ms = time_ms;
    row.samples = 11;
    row.noise_pct = 0.4;
    row.steady = "yes";
    row.gb_s = 100;
    row.memcpy_pct = 50;
    return row;
}

/* Writes a table of one group of rows; the caller frees it. */
static char *table_of(const struct output_spec *spec, const struct row *rows, size_t count,
                      int width, bool colour)
{
    struct text_table *table = new_text_table(spec, NULL, 0, width, colour);
    static char *text;
    static size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    for (size_t r = 0; r < count; r++)
        announce_to_table(table, &rows[r]);
    for (size_t r = 0; r < count; r++)
        add_to_table(table, &rows[r]);
    flush_table(table, out);
    fclose(out);
    free_text_table(table);
    return text;
}

static const struct output_spec plain = {.quiet = true};

static void expect_width(const char *text, int width)
{
    char copy[4096], *rest;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *line = strtok_r(copy, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        if (shown_width(line) > width)
            fail_msg("%d columns: %s", shown_width(line), line);
}

static void what_varies_is_a_column(void **state)
{
    (void)state;
    struct row rows[2] = {some_row("memcpy", 1 << 20, 1), some_row("memcpy", 1 << 20, 2)};
    rows[0].threads = 1;
    rows[1].threads = 2;
    char *text = table_of(&plain, rows, 2, 80, false);
    assert_string_equal(
        text, "scanbench v1.2.3 g1234567, NVIDIA H200, v580.159.04, op=scan, type=i32, n=2^20,\n"
              "  device=gpu0, cache=cold\n"
              "algo    threads      time       ±     GB/s  % memcpy  check\n"
              "memcpy        1  1.000 ms   0.4 %    100.0      50.0  passed\n"
              "memcpy        2  2.000 ms   0.4 %    100.0      50.0  passed\n");
    free(text);
}

/* A heading would say it of the other rows' kernels as well. */
static void a_block_of_some_rows_is_a_column(void **state)
{
    (void)state;
    struct row rows[2] = {some_row("naive", 7, 1), some_row("mine", 7, 2)};
    rows[0].block = 128;
    char *text = table_of(&plain, rows, 2, 80, false);
    assert_null(strstr(text, "block="));
    assert_non_null(strstr(text, "\nnaive    128  1.000 ms "));
    assert_non_null(strstr(text, "\nmine       -  2.000 ms "));
    free(text);
    rows[1].block = 128;
    text = table_of(&plain, rows, 2, 80, false);
    assert_non_null(strstr(text, " block=128,"));
    free(text);
    rows[0].block = rows[1].block = -1;
    text = table_of(&plain, rows, 2, 80, false);
    assert_null(strstr(text, "block"));
    free(text);
}

/* Rates and noise say nothing of a device that is simulated, and no row of it is the fastest. */
static void simulated_rows_have_times_alone(void **state)
{
    (void)state;
    struct row rows[3] = {some_row("naive", 7, 1), some_row("lookback", 7, 2),
                          some_row("cub", 7, 3)};
    rows[0].device = rows[1].device = "emulator";
    rows[0].simulated = rows[1].simulated = true;
    char *text = table_of(&plain, rows, 2, 80, true);
    assert_null(strstr(text, "GB/s"));
    assert_null(strstr(text, "memcpy"));
    assert_null(strstr(text, "±"));
    assert_null(strstr(text, "\033"));
    assert_non_null(strstr(text, "\nnaive     1.000 ms  passed\n"));
    free(text);
    text = table_of(&plain, rows, 3, 80, false);
    assert_non_null(strstr(text, "± "));
    assert_non_null(
        strstr(text, "naive     emulator  1.000 ms                             passed\n"));
    assert_non_null(
        strstr(text, "cub       gpu0      3.000 ms   0.4 %    100.0      50.0  passed\n"));
    free(text);
}

static void libraries_are_in_the_heading(void **state)
{
    (void)state;
    struct row rows[3] = {some_row("a", 7, 1), some_row("cub", 7, 1), some_row("tbb", 7, 1)};
    rows[1].library_version = "CUB 3.0.1";
    rows[2].library_version = "oneTBB 2021.8";
    char *text = table_of(&plain, rows, 3, 80, false);
    assert_non_null(strstr(text, "v580.159.04, CUB 3.0.1, oneTBB 2021.8,"));
    free(text);
}

/* Rows in which every axis varies and every name is long. */
static void no_line_is_too_long(void **state)
{
    (void)state;
    struct row rows[4];
    for (int r = 0; r < 4; r++) {
        rows[r] =
            some_row(r % 2 ? "efficient-smem-padded" : "naive", r % 2 ? 335544320 : 1000, 123.4);
        rows[r].op = r < 2 ? "compact" : "sort";
        rows[r].type = r % 2 ? "i32" : "f64";
        rows[r].kind = r % 2 ? "inclusive" : "exclusive";
        rows[r].device = r % 2 ? "emulator" : "gpu0";
        rows[r].block = 128 << r;
        rows[r].threads = r;
        rows[r].simd = r % 2 ? "portable" : "avx512";
        rows[r].cache = r % 2 ? "cold" : "hot";
    }
    rows[2].check = "skipped";
    rows[2].reason =
        "a reason that is much longer than whatever is left of the line, so that it takes several";
    rows[2].time_ms = NAN;
    for (int width = 80; width <= 160; width += 40) {
        char *text = table_of(&plain, rows, 4, width, false);
        expect_width(text, width);
        assert_non_null(strstr(text, "inclusive"));
        assert_non_null(strstr(text, "335544320"));
        assert_non_null(strstr(text, "portable"));
        assert_non_null(strstr(text, "skipped: a reason"));
        assert_non_null(strstr(text, "several\n"));
        free(text);
    }
}

static void axes_that_do_not_fit_stand_above_their_rows(void **state)
{
    (void)state;
    struct row rows[3] = {some_row("efficient-smem-padded", 1024, 1), some_row("naive", 1024, 2),
                          some_row("naive", 335544320, 3)};
    for (int r = 0; r < 3; r++)
        rows[r].block = 128 << r;
    char *text = table_of(&plain, rows, 3, 72, false);
    expect_width(text, 72);
    assert_non_null(strstr(text, "\nn=2^10:\nefficient-smem-padded "));
    assert_non_null(strstr(text, "\nn=335544320:\nnaive "));
    const char *first = strstr(text, "n=2^10");
    assert_null(strstr(first + 1, "n=2^10"));
    free(text);
}

static void noise_that_is_too_high_is_marked(void **state)
{
    (void)state;
    struct row rows[2] = {some_row("a", 7, 1), some_row("b", 7, 1)};
    rows[1].noise_pct = 1400;
    rows[1].steady = "no";
    char *text = table_of(&plain, rows, 2, 80, false);
    assert_non_null(strstr(text, " 0.4 %  "));
    assert_non_null(strstr(text, " 1400 %! "));
    free(text);
}

static void a_comparison_with_an_unsteady_memcpy_is_marked(void **state)
{
    (void)state;
    struct row rows[2] = {some_row("a", 7, 1), some_row("b", 7, 1)};
    rows[1].memcpy_unsteady = true;
    char *text = table_of(&plain, rows, 2, 80, false);
    assert_non_null(strstr(text, "a     1.000 ms   0.4 %    100.0      50.0  passed\n"
                                 "b     1.000 ms   0.4 %    100.0      50.0! passed\n"));
    free(text);
}

static void the_fastest_is_green(void **state)
{
    (void)state;
    struct row rows[4] = {some_row("a", 7, 2), some_row("b", 7, 1.5), some_row("memcpy", 7, 1),
                          some_row("c", 7, NAN)};
    rows[3].check = "failed";
    rows[3].reason = "output[0]";
    rows[3].gb_s = NAN;
    char *text = table_of(&plain, rows, 4, 80, true);
    assert_non_null(strstr(text, "\033[1;32m1.500 ms"));
    assert_null(strstr(text, "\033[1;32m1.000 ms"));
    assert_null(strstr(text, "\033[1;32m2.000 ms"));
    assert_non_null(strstr(text, "\033[31mfailed: output[0]\033[0m"));
    free(text);
    text = table_of(&plain, rows, 4, 80, false);
    assert_null(strchr(text, '\033'));
    free(text);
}

static void launches_stand_below_their_run(void **state)
{
    (void)state;
    const struct output_spec spec = {.launches = true};
    struct row rows[2] = {some_row("naive", 7, 1), some_row("naive", 7, 0.5)};
    rows[1].kernel = "hillis_steele_first_kernel";
    rows[1].launch = 1;
    rows[1].grid = 12;
    rows[1].share_pct = 50;
    char *text = table_of(&spec, rows, 2, 80, false);
    expect_width(text, 80);
    assert_non_null(strstr(text, "\n  1 hillis_steele_first "));
    assert_non_null(strstr(text, " 50.0%      12"));
    free(text);
}

static void a_long_name_of_a_kernel_is_whole(void **state)
{
    (void)state;
    const struct output_spec spec = {.launches = true};
    struct row rows[3] = {some_row("naive", 7, 1), some_row("naive", 7, 0.5),
                          some_row("naive", 7, 0.25)};
    rows[1].kernel = "partition_of_keys_by_sampled_splitters_kernel";
    rows[1].launch = 1;
    rows[2].kernel = "one_kernel_step_kernel"; /* the suffix alone is left out */
    rows[2].launch = 12;
    char *text = table_of(&spec, rows, 3, 80, false);
    expect_width(text, 80);
    assert_non_null(strstr(text, "\n  1 partition_of_keys_by_sampled_splitters\n"
                                 "                            500.0 us"));
    assert_non_null(strstr(text, "\n  12 one_kernel_step        250.0 us"));
    free(text);
}

/* Of two kernels; after a launch, and after another algorithm. */
static void lines_stand_below_their_kernel(void **state)
{
    (void)state;
    const struct output_spec spec = {.counts = COUNTS_BY_LINE};
    struct row rows[5] = {some_row("naive", 7, 1), some_row("naive", 7, NAN),
                          some_row("naive", 7, NAN), some_row("naive", 7, NAN),
                          some_row("efficient", 7, 1)};
    for (int r = 0; r < 5; r++)
        rows[r].simulated = true;
    for (int r = 1; r < 4; r++)
        rows[r].kernel = r < 3 ? "up_sweep_kernel" : "down_sweep_kernel";
    rows[1].line = "scan_naive.cu:12";
    rows[2].line = "scan_naive.cu:7";
    rows[3].line = "scan_with_a_name_that_is_too_long.cu:1234";
    rows[1].global_load_requests = 12;
    rows[1].global_store_requests = 30;
    rows[1].global_load_sectors = 1000;
    rows[1].global_store_sectors = 1000234;
    rows[1].sector_use_pct = 12.5;
    rows[1].shared_requests = 5;
    rows[1].bank_conflicts = 0;
    rows[1].active_lanes = 15.94;
    char *text = table_of(&spec, rows, 5, 80, false);
    expect_width(text, 80);
    assert_non_null(strstr(text, " global  sectors  used  shared  conflicts  lanes\nnaive  "));
    assert_non_null(strstr(
        text, "\n  up_sweep\n"
              "    scan_naive.cu:12                42     1.0M   12%       5          0   15.9\n"
              "    scan_naive.cu:7 "));
    assert_non_null(
        strstr(text, "\n  down_sweep\n    scan_with_a_name_that_is_too_long.cu:1234\n"));
    assert_non_null(strstr(text, "\nefficient "));
    free(text);
    text = table_of(&spec, rows, 5, 110, false);
    expect_width(text, 110);
    assert_non_null(strstr(text, "lanes  atomics  check\nnaive "));
    free(text);
}

static void chosen_columns_are_those_of_the_file(void **state)
{
    (void)state;
    const struct column *chosen[2] = {NULL, NULL};
    for (size_t c = 0; c < COLUMN_COUNT; c++) {
        if (strcmp(columns[c].name, "time_ms") == 0)
            chosen[0] = &columns[c];
        if (strcmp(columns[c].name, "algo") == 0)
            chosen[1] = &columns[c];
    }
    struct text_table *table = new_text_table(&plain, chosen, 2, 80, false);
    const struct row row = some_row("naive", 7, 0.125);
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    add_to_table(table, &row);
    flush_table(table, out);
    fclose(out);
    free_text_table(table);
    assert_non_null(strstr(text, "\n time_ms  algo\n   0.125  naive\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_varies_is_a_column),
        cmocka_unit_test(a_block_of_some_rows_is_a_column),
        cmocka_unit_test(simulated_rows_have_times_alone),
        cmocka_unit_test(libraries_are_in_the_heading),
        cmocka_unit_test(no_line_is_too_long),
        cmocka_unit_test(axes_that_do_not_fit_stand_above_their_rows),
        cmocka_unit_test(noise_that_is_too_high_is_marked),
        cmocka_unit_test(a_comparison_with_an_unsteady_memcpy_is_marked),
        cmocka_unit_test(the_fastest_is_green),
        cmocka_unit_test(launches_stand_below_their_run),
        cmocka_unit_test(a_long_name_of_a_kernel_is_whole),
        cmocka_unit_test(lines_stand_below_their_kernel),
        cmocka_unit_test(chosen_columns_are_those_of_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
