/* energy_test: the energy of a run by counters of all sorts. */
#include "../../bench/run/energy.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

static uint64_t runs; /* so far: each takes 1 ms and 7 mJ */
static unsigned reads;

static const char *run_many(const struct trial *trial, unsigned count)
{
    (void)trial;
    usleep(1000 * count);
    runs += count;
    return NULL;
}

static const char *run_into_the_wall(const struct trial *trial, unsigned count)
{
    run_many(trial, count);
    return "out of order";
}

/* Ticks at every fourth look, to what was used until then. */
static double ticking(const char *device)
{
    static double shown;
    (void)device;
    if (reads++ % 4 == 0)
        shown = 1000 + 7.0 * (double)runs;
    return shown;
}

static double unknown(const char *device)
{
    (void)device;
    return NAN;
}

static double standing(const char *device)
{
    (void)device;
    return 1000;
}

static double measured(const struct backend *backend, read_energy *read, const char **why)
{
    double energy_mj = -1;
    *why = measure_energy(backend, NULL, 1, read, "gpu", &energy_mj);
    return energy_mj;
}

static void energy(void **state)
{
    (void)state;
    const struct backend good = {.run_many = run_many}, bad = {.run_many = run_into_the_wall};
    const char *why;
    assert_true(fabs(measured(&good, ticking, &why) - 7) < 1e-9);
    assert_null(why);
    assert_true(isnan(measured(&good, unknown, &why)));
    assert_null(why);
    assert_true(isnan(measured(&good, standing, &why)));
    assert_null(why);
    assert_true(isnan(measured(&bad, standing, &why)));
    assert_string_equal(why, "out of order");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(energy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
