/* possible_time_test: which times a machine can and cannot reach. */
#include "../../bench/run/possible_time.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* An H200's: 4.8 TB/s, 132 multiprocessors, 60 MiB of L2. */
static const struct speed_limits gpu = {
    .idle_ms = 0.002, .chip_gb_s = 33454, .memory_gb_s = 4815, .cache_bytes = 60 << 20};
static const struct speed_limits cpu = {
    .idle_ms = NAN, .chip_gb_s = 2000, .memory_gb_s = NAN, .cache_bytes = 32 << 20};

static void expect(const struct speed_limits *limits, double memcpy_gb_s, double bytes,
                   double time_ms, const char *wanted)
{
    char why[128] = "possible";
    const bool impossible = impossible_time(limits, memcpy_gb_s, bytes, time_ms, why, sizeof why);
    assert_string_equal(why, wanted);
    assert_int_equal(impossible, wanted[0] == 'i');
}

static void what_was_measured_is_possible(void **state)
{
    (void)state;
    expect(&gpu, 4260, 0x1p32, 0.997, "possible");             /* scan of 2^29, cold */
    expect(&gpu, 9400, 0x1p23, 0.0068, "possible");            /* 2^20, out of the L2 */
    expect(&gpu, NAN, 0x1p15, 0.0040, "possible");             /* 2^12 */
    expect(&gpu, NAN, 8, 0.0027, "possible");                  /* one element */
    expect(&cpu, 44, 0x1p29, 0x1p29 / 2.0 / 44e6, "possible"); /* twice memcpy, when it was slow */
    expect(&cpu, NAN, 8, 20e-6, "possible");                   /* one element, 20 ns */
    expect(&cpu, NAN, 8000, 40e-6, "possible");
    expect(&cpu, NAN, 8, 0, "possible"); /* the clock has not moved */
}

static void less_than_an_empty_kernel(void **state)
{
    (void)state;
    expect(&gpu, NAN, 8, 0.0013, "impossible: 1.3 us; an empty kernel takes longer");
}

static void more_than_the_cores_move(void **state)
{
    (void)state;
    expect(&cpu, 27, 0x1p23, 29e-6,
           "impossible: 6.5e+04 GB/s; the device's cores move 2e+03 GB/s at most");
    expect(&gpu, NAN, 0x1p27, 0.003,
           "impossible: 4.33e+04 GB/s; the device's cores move 3.35e+04 GB/s at most");
}

static void more_than_the_memory_moves(void **state)
{
    (void)state;
    expect(&gpu, 4260, 0x1p32, 0.5,
           "impossible: 8.59e+03 GB/s; the device's memory moves 7.22e+03 GB/s at most");
    /* A data sheet with too low a bandwidth does not make memcpy's own rate impossible. */
    expect(&gpu, 9000, 0x1p32, 0.5, "possible");
    /* Data that fits the caches may be faster. */
    expect(&gpu, 4260, 0x1p26, 0.008, "possible");
    expect(&cpu, 44, 0x1p29, 0x1p29 / 5.0 / 44e6,
           "impossible: 220 GB/s; the device's memory moves 176 GB/s at most");
    expect(&cpu, NAN, 0x1p29, 0x1p29 / 5.0 / 44e6, "possible"); /* nobody knows */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_measured_is_possible),
        cmocka_unit_test(less_than_an_empty_kernel),
        cmocka_unit_test(more_than_the_cores_move),
        cmocka_unit_test(more_than_the_memory_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
