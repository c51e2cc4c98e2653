/* baseline_test: comparison with the rows of a file, and which changes count. */
#include "../../bench/rows/baseline.h"
#include "../../bench/rows/columns.h"
#include "../../bench/base/errors.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];
static const char header[] = "op,algo,kernel,n,block,time_ms,noise_pct\n";

static int make_path(void **state)
{
    (void)state;
    strcpy(path, "/tmp/scanbench-baseline-XXXXXX");
    const int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

static struct baseline *open_gate(const char *start, const char *rows, double fail_slower_pct,
                                  bool strict, int *code)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s%s", start, rows);
    fclose(file);
    const struct output_spec spec = {
        .baseline_path = path, .fail_slower_pct = fail_slower_pct, .strict = strict};
    *code = EXIT_OK;
    return open_baseline(&spec, code);
}

static struct baseline *open_text(const char *start, const char *rows, double fail_slower_pct,
                                  int *code)
{
    return open_gate(start, rows, fail_slower_pct, false, code);
}

/* The row of scan naive, n = 1000, block 64. */
static struct row naive_row(double time_ms)
{
    struct row row = empty_row();
    row.op = "scan";
    row.algo = "naive";
    row.n = 1000;
    row.block = 64;
    row.scratch = "kept";
    row.operator= "sum";
    row.segments = "none";
    row.values = "none";
    row.time_ms = time_ms;
    row.noise_pct = 0;
    return row;
}

/* The same, after comparing. */
static struct row compared(struct baseline *baseline, double time_ms, double noise_pct)
{
    struct row row = naive_row(time_ms);
    row.noise_pct = noise_pct;
    compare_with_baseline(baseline, &row);
    return row;
}

static int change(double ms, double noise_pct, double past_ms, double past_noise_pct)
{
    const struct past_runs past = {1, past_ms, past_ms, past_ms, past_noise_pct};
    return real_change(ms, noise_pct, &past);
}

static void noise_is_no_change(void **state)
{
    (void)state;
    assert_int_equal(change(1, 0.5, 1, 0.5), 0);
    assert_int_equal(change(1.019, 0, 1, 0), 0);
    assert_int_equal(change(1.09, 4, 1, 4), 0); /* 4 + 4 + 2 % */
    assert_int_equal(change(1.11, 4, 1, 4), 1);
    assert_int_equal(change(1.1, 0.5, 1, 0.5), 1);
    assert_int_equal(change(0.9, 0.5, 1, 0.5), -1);
    assert_int_equal(change(0.98, 0.5, 1, 0.5), 0);
    assert_int_equal(change(0.0031, 0, 0.0027, 0), 0); /* a step of the events' clock */
    assert_int_equal(change(0.0099, 0.5, 0.009, 0.5), 1);
}

/* Past runs of 7.0 to 7.8 us: a change must lie more than 0.8 us outside. The spread of few
 * runs is unknown. */
static void several_runs_say_how_much_runs_differ(void **state)
{
    (void)state;
    const struct past_runs wide = {5, 0.0073, 0.0070, 0.0078, 0};
    assert_int_equal(real_change(0.0085, 0, &wide), 0);
    assert_int_equal(real_change(0.0087, 0, &wide), 1);
    assert_int_equal(real_change(0.0063, 0, &wide), 0);
    assert_int_equal(real_change(0.0061, 0, &wide), -1);
    assert_int_equal(real_change(0.0087, 3, &wide), 0);
    const struct past_runs narrow = {5, 0.0041, 0.0041, 0.0042, 0};
    assert_int_equal(real_change(0.00451, 0, &narrow), 1);
    assert_int_equal(real_change(0.00429, 0, &narrow), 0);
    const struct past_runs few = {4, 0.0041, 0.0041, 0.0042, 0};
    assert_int_equal(real_change(0.00451, 0, &few), 0);
    const struct past_runs alike = {9, 1, 1, 1, 0};
    assert_int_equal(real_change(1.019, 0, &alike), 0);
    assert_int_equal(real_change(1.021, 0, &alike), 1);
}

/* One past run cannot say how much runs differ, so the table does. Two can, if not well. */
static void one_past_run_differs_as_much_as_processes_were_seen_to(void **state)
{
    (void)state;
    const double old = 0.005, pct = find_one_run_pct("gpu0", 1 << 14);
    const double within = old * 0.9 * pct / 100, beyond = old * 1.1 * pct / 100;
    struct past_runs past = {1, old, old, old, 0, pct};
    assert_int_equal(real_change(old + within, 0, &past), 0);
    assert_int_equal(real_change(old - within, 0, &past), 0);
    assert_int_equal(real_change(old + beyond, 0, &past), 1);
    assert_int_equal(real_change(old - beyond, 0, &past), -1);
    past.count = 2;
    assert_int_equal(real_change(old + within, 0, &past), 1);

    /* For large arrays it says little more than RUN_TO_RUN_PCT. */
    assert_true(find_one_run_pct("gpu1", 1 << 24) < 2 * RUN_TO_RUN_PCT);
    double last_pct = 100;
    for (int64_t n = 0; n < INT64_C(1) << 40; n = 2 * n + 1) {
        const double pct = find_one_run_pct("gpu0", n);
        assert_true(pct > 0 && pct <= last_pct);
        last_pct = pct;
    }
    /* Little is known of a kind that is not in the table. */
    assert_true(find_one_run_pct("abacus", 1 << 24) == find_one_run_pct("gpu0", 0));
}

static void each_row_finds_its_own(void **state)
{
    (void)state;
    int code;
    struct baseline *baseline = open_text(header,
                                          "scan,naive,,1000,32,5,0.1\n"
                                          "scan,naive,,1000,64,2,0.1\n"
                                          "scan,naive,step_kernel,1000,64,7,0.1\n"
                                          "scan,naive,,2000,64,8,0.1\n"
                                          "sort,naive,,1000,64,9,0.1\n",
                                          NAN, &code);
    assert_non_null(baseline);
    struct row row = compared(baseline, 3, 0.1);
    assert_true(row.baseline_ms == 2);
    assert_true(row.baseline_ratio == 1.5);
    assert_string_equal(row.change, "slower");
    row = compared(baseline, 1, 0.1);
    assert_string_equal(row.change, "faster");
    row = compared(baseline, 2.01, 0.1);
    assert_string_equal(row.change, "none");
    assert_int_equal(close_baseline(baseline), EXIT_OK);
}

/* Such a file has no column for the scratch memory, values and GPUs of its rows. */
static void rows_of_an_older_file_have_what_was_usual(void **state)
{
    (void)state;
    int code;
    struct baseline *baseline = open_text(header, "scan,naive,,1000,64,2,0.1\n", NAN, &code);
    struct row rows[4];
    for (size_t i = 0; i < 4; i++)
        rows[i] = naive_row(3);
    rows[1].values = "u32";
    rows[2].scratch = "fresh";
    rows[3].gpus = 2;
    for (size_t i = 0; i < 4; i++) {
        compare_with_baseline(baseline, &rows[i]);
        assert_int_equal(isfinite(rows[i].baseline_ms), i == 0);
    }
    assert_int_equal(close_baseline(baseline), EXIT_OK);
}

/* The median of the runs of one build on one device counts, not those of other builds. */
static void of_several_rows_those_of_the_last_build_count(void **state)
{
    (void)state;
    static const char with_build[] =
        "op,algo,launch,kernel,type,kind,n,block,threads,simd,device,cache,input,max,keep,"
        "time_ms,noise_pct,version,commit,host,label,device_name\n";
#define RUN(time, noise, commit, label, name) \
    "scan,naive,,,,,1000,64,,,,,,,," time "," noise ",v1," commit ",h," label "," name "\n"
    int code;
    struct baseline *baseline = open_text(
        with_build,
        RUN("9", "0", "old", "", "A") RUN("2", "0", "new", "", "A") RUN("3", "0.5", "new", "", "A")
            RUN("8", "0", "new", "x=y", "A") RUN("8", "0", "new", "", "B")
                RUN("", "", "new", "", "A") RUN("2.5", "0", "new", "", "A"),
        NAN, &code);
    assert_true(compared(baseline, 4.1, 0).baseline_ms == 2.5);
    assert_string_equal(compared(baseline, 4.1, 0).change, "slower");
    assert_string_equal(compared(baseline, 3.9, 0).change, "none");
    assert_string_equal(compared(baseline, 1.1, 0).change, "none");
    assert_string_equal(compared(baseline, 0.9, 0).change, "faster");
    assert_int_equal(close_baseline(baseline), EXIT_OK);

    baseline = open_text(with_build,
                         RUN("2", "0", "new-dirty", "", "A") RUN("4", "0", "new-dirty", "", "A"),
                         NAN, &code);
    assert_true(compared(baseline, 4, 0).baseline_ms == 4);
    assert_int_equal(close_baseline(baseline), EXIT_OK);

    baseline =
        open_text(with_build, RUN("2", "0", "", "", "A") RUN("4", "0", "", "", "A"), NAN, &code);
    assert_true(compared(baseline, 4, 0).baseline_ms == 4);
    assert_int_equal(close_baseline(baseline), EXIT_OK);
}

static void where_no_row_says_its_build_the_last_counts(void **state)
{
    (void)state;
    int code;
    struct baseline *baseline =
        open_text(header, "scan,naive,,1000,64,2,0\nscan,naive,,1000,64,4,0\n", NAN, &code);
    assert_true(compared(baseline, 4, 0).baseline_ms == 4);
    assert_int_equal(close_baseline(baseline), EXIT_OK);
}

static void what_has_no_time_is_not_compared(void **state)
{
    (void)state;
    int code;
    struct baseline *baseline =
        open_text(header, "scan,naive,,1000,64,,\nscan,naive,,1000,64,x,1\n", NAN, &code);
    assert_true(isnan(compared(baseline, 4, 0).baseline_ms));
    assert_null(compared(baseline, 4, 0).change);
    assert_true(isnan(compared(baseline, NAN, 0).baseline_ratio));
    assert_int_equal(close_baseline(baseline), EXIT_OK);
}

static int code_after(double time_ms, double noise_pct, double fail_slower_pct, const char *rows)
{
    int code;
    struct baseline *baseline = open_text(header, rows, fail_slower_pct, &code);
    compared(baseline, time_ms, noise_pct);
    return close_baseline(baseline);
}

static void the_gate(void **state)
{
    (void)state;
    static const char row[] = "scan,naive,,1000,64,2,0.5\n";
    assert_int_equal(code_after(2.02, 0.5, 5, row), EXIT_OK);
    assert_int_equal(code_after(2.2, 0.5, 5, row), EXIT_OK); /* one run cannot tell */
    assert_int_equal(code_after(2.8, 0.5, 5, row), EXIT_SLOWER);
    assert_int_equal(code_after(2.8, 0.5, 45, row), EXIT_OK); /* slower, but not by so much */
    assert_int_equal(code_after(2.8, 20, 5, row), EXIT_OK);   /* or is it noise? */
    assert_int_equal(code_after(1.5, 0.5, 5, row), EXIT_OK);
    assert_int_equal(code_after(2.8, 0.5, NAN, row), EXIT_OK);
    /* Nothing to compare is a failure, not a pass. */
    assert_int_equal(code_after(2, 0.5, 5, "scan,naive,,1000,32,2,0.5\n"), EXIT_ERROR);
    assert_int_equal(code_after(2, 0.5, NAN, "scan,naive,,1000,32,2,0.5\n"), EXIT_OK);
    assert_int_equal(code_after(NAN, NAN, 5, row), EXIT_ERROR);
    assert_int_equal(code_after(NAN, NAN, NAN, row), EXIT_OK);
}

/* Compares a row that the file has and, after it, the other one. */
static int code_of_two(const struct row *other, double time_ms, bool strict)
{
    int code;
    struct baseline *baseline = open_gate(header, "scan,naive,,1000,64,2,0.5\n", 5, strict, &code);
    struct row row = *other;
    compared(baseline, time_ms, 0.5);
    compare_with_baseline(baseline, &row);
    return close_baseline(baseline);
}

static void a_strict_gate_has_every_row_compared(void **state)
{
    (void)state;
    struct row unknown = naive_row(2), launch = naive_row(1), skipped = naive_row(NAN);
    unknown.block = launch.block = skipped.block = 32;
    launch.kernel = "naive_kernel";
    assert_int_equal(code_of_two(&unknown, 2, false), EXIT_OK);
    assert_int_equal(code_of_two(&unknown, 2, true), EXIT_ERROR);
    assert_int_equal(code_of_two(&unknown, 9, true), EXIT_SLOWER);
    assert_int_equal(code_of_two(&launch, 2, true), EXIT_OK);
    assert_int_equal(code_of_two(&skipped, 2, true), EXIT_OK);
}

static void files_that_do_not_serve(void **state)
{
    (void)state;
    int code;
    assert_null(open_text("", "", NAN, &code));
    assert_int_equal(code, EXIT_USAGE);
    assert_null(open_text("", "algo;n;time_ms\nnaive;1000;2\n", NAN, &code));
    assert_int_equal(code, EXIT_USAGE);
    assert_null(open_text(header, "scan\nnaive\n", NAN, &code));
    assert_int_equal(code, EXIT_USAGE);
    /* A torn line is ignored; the lines before it count. */
    struct baseline *baseline =
        open_text(header, "scan,naive,,1000,64,2,0\nscan,naive,,10", NAN, &code);
    assert_true(compared(baseline, 2, 0).baseline_ms == 2);
    assert_int_equal(close_baseline(baseline), EXIT_OK);
    assert_int_equal(close_baseline(NULL), EXIT_OK);
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, make_path, remove_path)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_is_no_change),
        cmocka_unit_test(several_runs_say_how_much_runs_differ),
        cmocka_unit_test(one_past_run_differs_as_much_as_processes_were_seen_to),
        WITH_FILE(each_row_finds_its_own),
        WITH_FILE(rows_of_an_older_file_have_what_was_usual),
        WITH_FILE(of_several_rows_those_of_the_last_build_count),
        WITH_FILE(where_no_row_says_its_build_the_last_counts),
        WITH_FILE(what_has_no_time_is_not_compared),
        WITH_FILE(the_gate),
        WITH_FILE(a_strict_gate_has_every_row_compared),
        WITH_FILE(files_that_do_not_serve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
