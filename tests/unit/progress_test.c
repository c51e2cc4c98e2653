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

/* Five rows of ten are another worker's. Then one takes half a second, and four are left. */
static void the_time_left_is_that_of_rows_of_this_worker(void **state)
{
    const struct options options = {.progress = PROGRESS_ALWAYS};
    char line[256];
    double left = 0;
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    speak_to(ends[1]);
    start_progress(&options, 10, 5);
    usleep(500 * 1000);
    show_progress("scan", 6);
    const ssize_t count = read(ends[0], line, sizeof line - 1);
    assert_true(count > 0);
    line[count] = '\0';
    assert_non_null(strstr(line, "scan: 6 of 10 rows, about "));
    assert_int_equal(sscanf(strstr(line, "about "), "about %lf s left", &left), 1);
    assert_true(left >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations),
        cmocka_unit_test(the_time_left_is_that_of_rows_of_this_worker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
