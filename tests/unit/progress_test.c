/* progress_test: the line of progress, and durations as text. */
#include "../../bench/base/errors.h"
#include "../../bench/run/progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void expect_duration(double seconds, const char *wanted)
{
    char text[48];
    format_duration(seconds, text, sizeof text);
    assert_string_equal(text, wanted);
}

static void durations(void **state)
{
    (void)state;
    expect_duration(0, "0 s");
    expect_duration(0.4, "0 s");
    expect_duration(59.4, "59 s");
    expect_duration(59.6, "1 min 0 s");
    expect_duration(125, "2 min 5 s");
    expect_duration(3599, "59 min 59 s");
    expect_duration(3600, "1 h 0 min");
    expect_duration(90061, "25 h 1 min");
}

/* The line some time after the start, when `done` rows are done, `done_before` of them by others.
 */
static void show_after(unsigned ms, size_t row_count, size_t done_before, double done,
                       char line[256])
{
    const struct options options = {.progress = PROGRESS_ALWAYS};
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    speak_to(ends[1]);
    start_progress(&options, row_count, done_before);
    usleep(ms * 1000);
    show_progress("scan", done);
    const ssize_t count = read(ends[0], line, 255);
    assert_true(count > 0);
    line[count] = '\0';
    close(ends[0]);
    close(ends[1]);
}

/* The seconds left that the line names. */
static double time_left(const char *line)
{
    double left = -1;
    assert_non_null(strstr(line, ", about "));
    assert_int_equal(sscanf(strstr(line, "about "), "about %lf s left", &left), 1);
    return left;
}

/* Five rows of ten are another worker's. Then one takes half a second, and four are left. */
static void the_time_left_is_that_of_rows_of_this_worker(void **state)
{
    char line[256];
    (void)state;
    show_after(500, 10, 5, 6, line);
    assert_non_null(strstr(line, "scan: 6 of 10 rows, about "));
    assert_true(time_left(line) >= 2);
}

static void no_time_left_before_a_row_is_done(void **state)
{
    char line[256];
    (void)state;
    show_after(10, 12, 0, 0.9, line);
    assert_string_equal(line, "scan: 0 of 12 rows\n");
    show_after(10, 12, 3, 3.9, line);
    assert_string_equal(line, "scan: 3 of 12 rows\n");
    show_after(10, 12, 3, 4, line);
    assert_true(time_left(line) >= 0);
    show_after(10, 2, 0, 0.1, line);
    assert_string_equal(line, "scan: 0 of 2 rows\n");
    show_after(500, 2, 0, 0.2, line); /* a tenth of all */
    assert_true(time_left(line) >= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations),
        cmocka_unit_test(the_time_left_is_that_of_rows_of_this_worker),
        cmocka_unit_test(no_time_left_before_a_row_is_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
