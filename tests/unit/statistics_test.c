/* statistics_test: known answers, the coverage of the confidence interval, and the end of
 * simulated measurements. */
#include "../../bench/base/summarize.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define SUMMARIZE(...) \
    summarize((const double[]){__VA_ARGS__}, COUNT(((const double[]){__VA_ARGS__})))

static void expect_near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-9 * fmax(1, fabs(wanted))))
        fail_msg("got %.17g, wanted %.17g", got, wanted);
}

static void known_answers(void **state)
{
    (void)state;
    struct statistics s = SUMMARIZE(9, 4, 2, 5, 4, 7, 4, 5);
    assert_int_equal(s.count, 8);
    expect_near(s.min, 2);
    expect_near(s.max, 9);
    expect_near(s.mean, 5);
    expect_near(s.median, 4.5);
    expect_near(s.stddev, sqrt(32.0 / 7));
}

static void median_of_odd_and_even_counts(void **state)
{
    (void)state;
    expect_near(SUMMARIZE(3, 1, 2).median, 2);
    expect_near(SUMMARIZE(4, 1, 3, 2).median, 2.5);
    expect_near(SUMMARIZE(1, 1, 1, 100).median, 1);
    expect_near(SUMMARIZE(100, 1, 1).median, 1); /* one outlier does not move it */
}

static void one_value_and_none(void **state)
{
    (void)state;
    struct statistics one = SUMMARIZE(0.25);
    expect_near(one.median, 0.25);
    expect_near(one.mean, 0.25);
    expect_near(one.stddev, 0);
    expect_near(one.noise_pct, 0);
    struct statistics none = summarize(NULL, 0);
    assert_int_equal(none.count, 0);
    expect_near(none.median, 0);
}

static void the_values_stay_as_they_are(void **state)
{
    (void)state;
    double values[] = {3, 1, 2};
    summarize(values, COUNT(values));
    expect_near(values[0], 3);
    expect_near(values[1], 1);
    expect_near(values[2], 2);
}

/* With fewer than 6 values no two of them enclose the median with 95 %: the smallest and the
 * largest of 5 do so with probability 1 - 2/2^5. */
static void noise_of_few_values_is_their_range(void **state)
{
    (void)state;
    expect_near(SUMMARIZE(2, 3).noise_pct, 100 * 0.5 / 2.5);
    expect_near(SUMMARIZE(3, 1, 2).noise_pct, 50);
    expect_near(SUMMARIZE(10, 10, 10, 10, 12).noise_pct, 10);
}

static void noise_of_equal_values_is_none(void **state)
{
    (void)state;
    expect_near(SUMMARIZE(7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7).noise_pct, 0);
}

/* Finds the order statistics of the noise interval from outside: if values are 1 below index k
 * and 3 from there on, the noise is nonzero exactly if low < k <= high. */
static void find_interval(size_t count, size_t *low, size_t *high)
{
    double values[512];
    *low = *high = 0;
    for (size_t k = 1; k < count; k++) {
        for (size_t i = 0; i < count; i++)
            values[i] = i < k ? 1 : 3;
        if (median_noise_pct(values, count) == 0)
            continue;
        if (*high == 0)
            *low = k - 1;
        *high = k;
    }
}

/* The probability that the true median lies between the order statistics `low` and `high`,
 * counted from 0, of `count` independent values: the probability that from low + 1 to high of
 * them are below it. */
static double coverage(size_t count, size_t low, size_t high)
{
    double sum = 0;
    for (size_t k = low + 1; k <= high; k++)
        sum += exp(lgamma((double)count + 1) - lgamma((double)k + 1) -
                   lgamma((double)(count - k) + 1) - (double)count * log(2));
    return sum;
}

static void the_interval_holds_about_95_percent(void **state)
{
    (void)state;
    for (size_t count = 6; count <= 400; count++) {
        size_t low, high;
        find_interval(count, &low, &high);
        const double covered = coverage(count, low, high);
        if (covered < 0.94) /* the ranks come from a normal approximation */
            fail_msg("%zu values: places %zu..%zu hold the median with %.4f only", count, low, high,
                     covered);
        /* The interval is not wider than needed: two ranks fewer would not suffice. */
        if (count >= 20 && coverage(count, low + 1, high - 1) >= 0.96)
            fail_msg("%zu values: places %zu..%zu are too many", count, low, high);
    }
}

static void documented_order_statistics(void **state)
{
    (void)state;
    double values[100];
    for (int i = 0; i < 100; i++)
        values[i] = 1000 + i;
    /* Ranks 50 -+ 9.8, rounded outwards, lie 20 places apart, of 1. */
    expect_near(median_noise_pct(values, 100), 100 * 20.0 / 2 / 1049.5);
}

/* ---- when to stop ---- */

/* A small random generator, so that the samples are the same on every machine. */
static double next_sample(uint64_t *random, double noise)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return 1 + noise * ((double)(*random >> 40) / 0x1p24 - 0.5);
}

/* The number of samples that a measurement takes if samples vary by +-noise/2 and last about 1
 * ms, all of it measured time. */
static size_t samples_until_enough(struct sampling sampling, double noise)
{
    static double values[MAX_SAMPLES + 1];
    uint64_t random = 1;
    double spent_ms = 0;
    for (size_t count = 1; count <= MAX_SAMPLES; count++) {
        values[count - 1] = next_sample(&random, noise);
        spent_ms += values[count - 1];
        const struct statistics s = summarize(values, count);
        if (enough_samples(&sampling, &s, spent_ms))
            return count;
    }
    fail_msg("it never stops");
    return 0;
}

static void a_given_number_is_taken_exactly(void **state)
{
    (void)state;
    for (unsigned samples = 1; samples < 40; samples++)
        assert_int_equal(samples_until_enough((struct sampling){.samples = samples}, 1), samples);
}

/* Samples of 1 ms each. */
static void steady_samples_are_spread_over_some_time(void **state)
{
    (void)state;
    struct sampling sampling = {.max_noise_pct = 0.5, .max_time_ms = 1000};
    assert_int_equal(samples_until_enough(sampling, 0), MIN_SPAN_MS);
    sampling.max_time_ms = 50;
    assert_int_equal(samples_until_enough(sampling, 0), 50);
    const struct statistics long_ones = {.count = MIN_SAMPLES};
    assert_true(enough_samples(&sampling, &long_ones, MIN_SPAN_MS));
}

static void quartiles(void **state)
{
    (void)state;
    expect_near(SUMMARIZE(5, 1, 4, 2, 3).q1, 2);
    expect_near(SUMMARIZE(5, 1, 4, 2, 3).q3, 4);
    expect_near(SUMMARIZE(1, 2, 3, 4).q1, 1.75);
    expect_near(SUMMARIZE(1, 2, 3, 4).q3, 3.25);
    expect_near(SUMMARIZE(7).q1, 7);
    expect_near(SUMMARIZE(7).q3, 7);
}

static void noisy_samples_stop_when_the_noise_is_low(void **state)
{
    (void)state;
    struct sampling sampling = {.max_noise_pct = 1, .max_time_ms = 10000};
    const size_t some = samples_until_enough(sampling, 0.1);
    sampling.max_noise_pct = 0.5;
    const size_t more = samples_until_enough(sampling, 0.1);
    assert_true(some > MIN_SAMPLES);
    assert_true(more > some);
    assert_true(more < 10000);
}

static void time_ends_what_noise_does_not(void **state)
{
    (void)state;
    const struct sampling sampling = {.max_noise_pct = 0, .max_time_ms = 100};
    const size_t count = samples_until_enough(sampling, 0.5);
    assert_in_range(count, 95, 106);
}

static void never_under_the_minimum_of_samples(void **state)
{
    (void)state;
    const struct sampling sampling = {.max_noise_pct = 100, .max_time_ms = 0.001};
    assert_int_equal(samples_until_enough(sampling, 0.5), MIN_SAMPLES);
}

static void the_least_time_is_measured(void **state)
{
    (void)state;
    const struct sampling sampling = {
        .max_noise_pct = 100, .min_time_ms = 150, .max_time_ms = 1000};
    assert_in_range(samples_until_enough(sampling, 0), 150, 151);
}

/* A device that is always throttled has a row all the same. */
static void samples_are_dropped_while_there_is_time(void **state)
{
    (void)state;
    const struct sampling free_number = {.max_time_ms = 100};
    assert_true(may_drop_samples(&free_number, 0, 99));
    assert_false(may_drop_samples(&free_number, 0, 100));
    assert_false(may_drop_samples(&free_number, MIN_SAMPLES - 1, 100));
    assert_true(may_drop_samples(&free_number, MIN_SAMPLES, 100));
    const struct sampling exact = {.samples = 50, .max_time_ms = 100};
    assert_true(may_drop_samples(&exact, 0, 99));
    assert_false(may_drop_samples(&exact, 49, 100)); /* or it would never end */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(median_of_odd_and_even_counts),
        cmocka_unit_test(one_value_and_none),
        cmocka_unit_test(the_values_stay_as_they_are),
        cmocka_unit_test(noise_of_few_values_is_their_range),
        cmocka_unit_test(noise_of_equal_values_is_none),
        cmocka_unit_test(the_interval_holds_about_95_percent),
        cmocka_unit_test(documented_order_statistics),
        cmocka_unit_test(a_given_number_is_taken_exactly),
        cmocka_unit_test(steady_samples_are_spread_over_some_time),
        cmocka_unit_test(quartiles),
        cmocka_unit_test(noisy_samples_stop_when_the_noise_is_low),
        cmocka_unit_test(time_ends_what_noise_does_not),
        cmocka_unit_test(never_under_the_minimum_of_samples),
        cmocka_unit_test(the_least_time_is_measured),
        cmocka_unit_test(samples_are_dropped_while_there_is_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
