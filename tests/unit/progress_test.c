/* progress_test: durations as text. */
#include "../../bench/run/progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(durations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
