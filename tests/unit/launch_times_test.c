/* launch_times_test: launches timed one by one, on a backend with invented times. */
#include "../../bench/run/launch_times.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static unsigned calls; /* calls of the backend's measure_launches() */
static bool was_queued;

/* Launch i takes 1 + i ms, and 10 ms more in every fourth run. */
static const char *made_up(struct device *device, const struct trial *trial, double *time_ms,
                           unsigned count)
{
    (void)device;
    was_queued = trial->queued;
    for (unsigned i = 0; i < count; i++)
        time_ms[i] = 1 + i + (calls % 4 == 3 ? 10 : 0);
    calls++;
    return NULL;
}

static const char *failing(struct device *device, const struct trial *trial, double *time_ms,
                           unsigned count)
{
    made_up(device, trial, time_ms, count);
    return calls < 3 ? NULL : "out of order";
}

static struct launch_log launches_log;
static struct launch_times times;

static const char *time_them(uint64_t launches, bool queued, unsigned samples,
                             struct device *device)
{
    calls = 0;
    launches_log.count = launches;
    const struct trial trial = {.cache = CACHE_COLD, .queued = queued};
    return time_launches(device, &trial, &launches_log, samples, &times);
}

static const struct backend times_launches = {.measure_launches = made_up};
static const struct backend fails = {.measure_launches = failing};
static struct device good = {.can = &times_launches}, bad = {.can = &fails};

static void each_launch_has_its_own_median(void **state)
{
    (void)state;
    assert_null(time_them(3, true, 7, &good));
    assert_int_equal(calls, 7);
    assert_int_equal(times.launches, 3);
    for (unsigned i = 0; i < 3; i++) {
        const struct statistics s = launch_statistics(&times, i);
        assert_int_equal(s.count, 7);
        assert_true(s.median == 1 + i);
        assert_true(s.max == 11 + i);
    }
    free_launch_times(&times);
}

/* Three launches take 1, 2 and 3 ms, or 11, 12 and 13. A share is of its own run's time: of the sum
 * of medians, 6 ms, the last launch's mean would be more. */
static void shares_are_of_the_same_run(void **state)
{
    (void)state;
    assert_null(time_them(3, true, 4, &good));
    double sum = 0;
    for (unsigned i = 0; i < 3; i++) {
        const double wanted = 100 * (3 * (1 + i) / 6.0 + (11 + i) / 36.0) / 4;
        assert_true(fabs(launch_share_pct(&times, i) - wanted) < 1e-9);
        sum += launch_share_pct(&times, i);
    }
    assert_true(fabs(sum - 100) < 1e-9);
    free_launch_times(&times);
    assert_null(time_them(1, true, 4, &good));
    assert_true(launch_share_pct(&times, 0) == 100);
    times.time_ms[0] = times.all_ms[0] = 0; /* shorter than the clock can tell */
    assert_true(launch_share_pct(&times, 0) == 100);
    for (unsigned s = 0; s < 4; s++)
        times.time_ms[s] = times.all_ms[s] = 0;
    assert_true(isnan(launch_share_pct(&times, 0)));
    free_launch_times(&times);
}

static void a_stream_is_held_for_as_many_as_fit(void **state)
{
    (void)state;
    assert_null(time_them(HOLDABLE_MARKED_LAUNCHES, true, 1, &good));
    assert_true(was_queued && times.queued);
    free_launch_times(&times);
    assert_null(time_them(HOLDABLE_MARKED_LAUNCHES + 1, true, 1, &good));
    assert_false(was_queued || times.queued);
    free_launch_times(&times);
    assert_null(time_them(1, false, 1, &good));
    assert_false(was_queued || times.queued);
    free_launch_times(&times);
}

static void launches_beyond_the_launches_logare_left_out(void **state)
{
    (void)state;
    assert_null(time_them(LAUNCH_LOG_RECORDS + 5, true, 2, &good));
    assert_int_equal(times.launches, LAUNCH_LOG_RECORDS);
    free_launch_times(&times);
}

static void a_failure_leaves_nothing(void **state)
{
    (void)state;
    assert_string_equal(time_them(2, true, 5, &bad), "out of order");
    assert_int_equal(calls, 3);
    assert_int_equal(times.launches, 0);
    assert_null(times.time_ms);
}

static void the_longest_launch(void **state)
{
    (void)state;
    launches_log.count = 0;
    assert_null(longest_launch(&launches_log, &times));
    assert_null(time_them(2, true, 1, &good));
    launches_log.record[0] = (struct launch_record){.blocks = 100, .threads = 256};
    launches_log.record[1] = (struct launch_record){.blocks = 1, .threads = 32};
    assert_ptr_equal(longest_launch(&launches_log, &times), &launches_log.record[1]);
    free_launch_times(&times);
    assert_ptr_equal(longest_launch(&launches_log, &times), &launches_log.record[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_launch_has_its_own_median),
        cmocka_unit_test(shares_are_of_the_same_run),
        cmocka_unit_test(a_stream_is_held_for_as_many_as_fit),
        cmocka_unit_test(launches_beyond_the_launches_logare_left_out),
        cmocka_unit_test(a_failure_leaves_nothing),
        cmocka_unit_test(the_longest_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
