/* row_index_test: rows of a file found by their hash, as a comparison of each would find them. */
#include "../../bench/rows/row_index.h"

#include "../../bench/base/errors.h"
#include "../../bench/rows/baseline.h"
#include "../../bench/rows/resume.h"

#include <math.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static struct csv csv;
static struct row_index row_index;

static void read_text(const char *text)
{
    char path[] = "/tmp/row_index_test.XXXXXX", why[CSV_REASON_BYTES];
    const int file = mkstemp(path);
    assert_true(file >= 0);
    unlink(path);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    assert_int_equal(read_open_csv_file(file, &csv, why), EXIT_OK);
    close(file);
}

static void index_text(const char *text, enum match_level level)
{
    read_text(text);
    const struct row_matcher matcher = make_row_matcher(&csv, level);
    row_index = make_row_index(&matcher);
}

static void forget(void)
{
    free_row_index(&row_index);
    free_csv(&csv);
}

static struct row row_of(const char *algo, int64_t n, const char *max)
{
    struct row row = empty_row();
    row.algo = algo;
    row.n = n;
    row.max = max;
    row.scratch = "kept"; /* as in files without these columns */
    row.operator= "sum";
    row.segments = "none";
    row.values = "none";
    return row;
}

static void the_last_match_and_those_before(void **state)
{
    (void)state;
    index_text("algo,n\na,5\nb,5\na,5\na,6\na,5\n", SAME_CONFIGURATION);
    const struct row row = row_of("a", 5, NULL), none = row_of("c", 5, NULL);
    assert_int_equal(find_last_match(&row_index, &row), 4);
    assert_int_equal(find_match_before(&row_index, 4), 2);
    assert_int_equal(find_match_before(&row_index, 2), 0);
    assert_int_equal(find_match_before(&row_index, 0), NO_ROW);
    assert_int_equal(find_last_like(&row_index, 0), 4);
    assert_int_equal(find_last_like(&row_index, 1), 1);
    assert_int_equal(find_last_match(&row_index, &none), NO_ROW);
    forget();
}

/* However a number is written, it is the same: as a count, as a decimal, and above 2^64. */
static void numbers_by_their_value(void **state)
{
    (void)state;
    static const char *const alike[][2] = {{"1048576", "2^20"},
                                           {"1048576", "1Mi"},
                                           {"1e6", "1000000.0"},
                                           {"0.50", ".5"},
                                           {"2^20-1", "1048575"},
                                           {"18446744073709551616", "1.8446744073709551616e19"},
                                           {"2^53+1", "9007199254740993"},
                                           {"", ""}};
    static const char *const other[][2] = {
        {"1048576", "1048577"}, {"0.5", "0.51"}, {"", "0"}, {"2^20", "2^21"}};
    char text[128];
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++) {
        snprintf(text, sizeof text, "algo,n,max\na,7,%s\n", alike[i][0]);
        index_text(text, SAME_CONFIGURATION);
        const struct row row = row_of("a", 7, alike[i][1]);
        assert_int_equal(find_last_match(&row_index, &row), 0);
        forget();
    }
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        snprintf(text, sizeof text, "algo,n,max\na,7,%s\n", other[i][0]);
        index_text(text, SAME_CONFIGURATION);
        const struct row row = row_of("a", 7, other[i][1]);
        assert_int_equal(find_last_match(&row_index, &row), NO_ROW);
        forget();
    }
}

static void labels_by_their_text(void **state)
{
    (void)state;
    index_text("algo,n,label\na,7,1.0\na,7,1\n", SAME_BUILD);
    struct row row = row_of("a", 7, NULL);
    row.label = "1.0";
    assert_int_equal(find_last_match(&row_index, &row), 0);
    forget();
}

static void launches_match_their_run(void **state)
{
    (void)state;
    read_text("algo,n,kernel,launch\na,5,,\na,5,up,1\na,6,up,1\na,5,down,2\n");
    const struct row_matcher whole = make_row_matcher(&csv, SAME_CONFIGURATION);
    const struct row_matcher runs = match_runs(&whole);
    row_index = make_row_index(&runs);
    assert_int_equal(find_last_like(&row_index, 0), 3);
    assert_int_equal(find_match_before(&row_index, 3), 1);
    assert_int_equal(find_match_before(&row_index, 1), 0);
    free_row_index(&row_index);
    row_index = make_row_index(&whole);
    assert_int_equal(find_last_like(&row_index, 0), 0);
    forget();
}

static void of_a_file_without_rows_none(void **state)
{
    (void)state;
    index_text("algo,n\n", SAME_CONFIGURATION);
    const struct row row = row_of("a", 5, NULL);
    assert_int_equal(find_last_match(&row_index, &row), NO_ROW);
    forget();
    index_text("", SAME_CONFIGURATION);
    assert_int_equal(find_last_match(&row_index, &row), NO_ROW);
    forget();
    assert_int_equal(find_last_match(&row_index, &row), NO_ROW); /* of no file at all */
}

/* ---- many rows ---- */

/* Comparing each of so many rows with each would take over a minute. */
enum { MANY_ROWS = 40000, MOST_SECONDS = 20 };

static double processor_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Writes rows of n = 1 to MANY_ROWS to a new file, which the caller removes. */
static FILE *many_rows(char *path)
{
    strcpy(path, "/tmp/row_index_test.XXXXXX");
    FILE *file = fdopen(mkstemp(path), "r+");
    assert_non_null(file);
    fprintf(file, "op,algo,n,time_ms,noise_pct,check,reason,seed\n");
    for (int n = 1; n <= MANY_ROWS; n++)
        fprintf(file, "scan,serial,%d,%d,0,passed,,1\n", n, n);
    fflush(file);
    return file;
}

static struct row one_of_many(int n)
{
    struct row row = row_of("serial", n, NULL);
    row.op = "scan";
    row.seed = "1";
    row.time_ms = 1;
    row.noise_pct = 0;
    return row;
}

static void a_baseline_of_many_rows(void **state)
{
    (void)state;
    char path[64];
    int code;
    FILE *file = many_rows(path);
    const struct output_spec spec = {.baseline_path = path, .fail_slower_pct = NAN};
    const double start = processor_seconds();
    struct baseline *baseline = open_baseline(&spec, &code);
    assert_non_null(baseline);
    for (int n = 1; n <= MANY_ROWS; n++) {
        struct row row = one_of_many(n);
        compare_with_baseline(baseline, &row);
        assert_true(row.baseline_ms == n);
    }
    assert_int_equal(close_baseline(baseline), EXIT_OK);
    assert_true(processor_seconds() - start < MOST_SECONDS);
    fclose(file);
    unlink(path);
}

static void a_resumed_file_of_many_rows(void **state)
{
    (void)state;
    char path[64], why[CSV_REASON_BYTES];
    struct resume resume;
    FILE *file = many_rows(path);
    assert_int_equal(read_csv_file(path, &csv, why), EXIT_OK);
    const double start = processor_seconds();
    start_resume(&resume, &csv, false, false);
    for (int n = 1; n <= MANY_ROWS; n++) {
        const struct row row = one_of_many(n), missing = one_of_many(n + MANY_ROWS);
        assert_true(resume_has_all(&resume, &row));
        assert_false(resume_has_all(&resume, &missing));
        assert_int_equal(resume_lost_count(&resume, &row), 0);
    }
    free_resume(&resume);
    assert_true(processor_seconds() - start < MOST_SECONDS);
    fclose(file);
    unlink(path);
}

/* Sets of samples in another order than their rows, and of two rows that are alike: each has its
 * own. */
static void samples_in_any_order(void **state)
{
    (void)state;
    struct resume resume;
    read_text("op,algo,n,samples,check,seed\ns,a,1,2,passed,1\ns,a,2,2,passed,1\n"
              "s,a,1,2,passed,1\ns,a,3,2,passed,1\n");
    start_resume(&resume, &csv, false, false);
    read_text("algo,n,sample,time_ms\na,2,1,7\na,2,2,7\na,1,1,7\na,1,2,7\na,9,1,7\na,9,2,7\n"
              "a,1,1,7\na,1,2,7\n");
    assert_int_equal(find_sample_sets(&resume, &csv, 1000), 1000);
    const bool wanted[] = {true, true, true, false};
    for (size_t r = 0; r < 4; r++)
        assert_int_equal(resume.sampled[r], wanted[r]);
    free_csv(&csv);
    free_resume(&resume);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_match_and_those_before),
        cmocka_unit_test(numbers_by_their_value),
        cmocka_unit_test(labels_by_their_text),
        cmocka_unit_test(launches_match_their_run),
        cmocka_unit_test(of_a_file_without_rows_none),
        cmocka_unit_test(a_baseline_of_many_rows),
        cmocka_unit_test(a_resumed_file_of_many_rows),
        cmocka_unit_test(samples_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
