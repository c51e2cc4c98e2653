/* energy_test: the energy per run, from counters of several kinds. */
#include "../../bench/run/energy.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

static uint64_t runs; /* runs so far; each takes 1 ms and 7 mJ */
static unsigned reads;

static const char *run_many(struct device *device, const struct trial *trial, unsigned count)
{
    (void)device;
    (void)trial;
    usleep(1000 * count);
    runs += count;
    return NULL;
}

static const char *run_into_the_wall(struct device *device, const struct trial *trial,
                                     unsigned count)
{
    run_many(device, trial, count);
    return "out of order";
}

/* Ticks at every fourth reading, to the energy used until then. */
static double ticking(struct device *device)
{
    static double shown;
    (void)device;
    if (reads++ % 4 == 0)
        shown = 1000 + 7.0 * (double)runs;
    return shown;
}

static double unknown(struct device *device)
{
    (void)device;
    return NAN;
}

static double standing(struct device *device)
{
    (void)device;
    return 1000;
}

static double measured(const struct backend *backend, const char **why)
{
    struct device device = {.can = backend};
    double energy_mj = -1;
    *why = measure_energy(&device, NULL, 1, &energy_mj);
    return energy_mj;
}

static void energy(void **state)
{
    (void)state;
    const struct backend ticks = {.run_many = run_many, .read_energy_mj = ticking};
    const struct backend knows_none = {.run_many = run_many, .read_energy_mj = unknown};
    const struct backend stands = {.run_many = run_many, .read_energy_mj = standing};
    const struct backend fails = {.run_many = run_into_the_wall, .read_energy_mj = standing};
    const char *why;
    assert_true(fabs(measured(&ticks, &why) - 7) < 1e-9);
    assert_null(why);
    assert_true(isnan(measured(&knows_none, &why)));
    assert_null(why);
    assert_true(isnan(measured(&stands, &why)));
    assert_null(why);
    assert_true(isnan(measured(&fails, &why)));
    assert_string_equal(why, "out of order");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(energy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
