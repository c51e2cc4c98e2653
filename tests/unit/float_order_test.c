/* float_order_test: inexact sums of floating-point numbers, whose result depends on the order
 * of additions. Uses the emulator, which runs blocks and threads in a different order for each
 * seed, as different runs do. */
#include "../../bench/device/backend.h"
#include "../../bench/device/random.h"
#include "../../bench/registry.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A cluster of such blocks holds N. Of look-back, few runs differ. */
enum { N = 60001, BLOCK = 128, FEW_RUNS = 8, MANY_RUNS = 40 };
#define TOLERANCE (8 * FLT_EPSILON)

/* Fractions between 0 and 1 of 24 bits: their sums are not exact. */
static void make_fractions(float *in)
{
    for (int i = 0; i < N; i++)
        in[i] = (float)(random_bits(7, (uint64_t)i) >> 40) * 0x1p-24f;
}

/* The inclusive scan of `in` in the order that the emulator's seed gives. */
static void scan(const struct algorithm *algorithm, uint64_t seed, const float *in, float *out)
{
    static struct launch_log log;
    struct device_info info;
    struct device_limits limits;
    struct device *device;
    double ms;
    assert_null(emulated_backend.open(0, seed, &info, &limits, &device));
    limits.kind = DEVICE_EMULATOR;
    const struct problem problem = {.op = OP_SCAN,
                                    .type = TYPE_F32,
                                    .kind = KIND_INCLUSIVE,
                                    .n = N,
                                    .block = algorithm->default_block > 0 ? BLOCK : 0,
                                    .max_time_ms = 1e9,
                                    .device = &limits};
    const char *why = algorithm->supports != NULL ? algorithm->supports(&problem) : NULL;
    if (why != NULL)
        fail_msg("%s: %s", algorithm->name, why);
    struct buffer input, output, scratch;
    assert_null(device->can->allocate(device, N * sizeof *in, &input));
    assert_null(device->can->allocate(device, N * sizeof *out, &output));
    assert_null(device->can->allocate(
        device, algorithm->scratch_bytes != NULL ? algorithm->scratch_bytes(&problem) : 0,
        &scratch));
    memcpy(input.data, in, N * sizeof *in); /* the emulator's memory is the host's */
    void *kept = NULL;
    struct call call = {.problem = problem,
                        .kept = &kept,
                        .input = input.data,
                        .output = output.data,
                        .scratch = scratch.data,
                        .scratch_bytes = scratch.bytes};
    const struct trial trial = {.algorithm = algorithm, .call = &call};
    assert_null(device->can->first_call(device, &trial, &log, &ms));
    assert_null(device->can->read(device, out, output.data, N * sizeof *out));
    if (kept != NULL && algorithm->release != NULL)
        algorithm->release(&call);
    device->can->release(device, &input);
    device->can->release(device, &output);
    device->can->release(device, &scratch);
    device->can->close(device);
}

/* Asserts that results are near the exact sums, so that no element is lost or counted twice. */
static void assert_near(const char *name, const float *in, const float *out)
{
    double exact = 0;
    for (int i = 0; i < N; i++) {
        exact += in[i];
        if (!(fabs(out[i] - exact) <= TOLERANCE * exact))
            fail_msg("%s, output[%d]: got %.9g, wanted about %.9g", name, i, (double)out[i], exact);
    }
}

static bool same_bits(const void *a, const void *b, size_t bytes)
{
    return memcmp(a, b, bytes) == 0;
}

/* Does any of the runs differ in its bits from the first? */
static bool differs(const struct algorithm *algorithm, unsigned runs)
{
    static float in[N], first[N], out[N];
    make_fractions(in);
    scan(algorithm, 1, in, first);
    assert_near(algorithm->name, in, first);
    bool other = false;
    for (unsigned run = 1; run < runs && !other; run++) {
        scan(algorithm, 1 + run, in, out);
        assert_near(algorithm->name, in, out);
        other = !same_bits(first, out, sizeof out);
    }
    return other;
}

/* How far a look-back block looks depends on the progress of the others. No other algorithm of
 * ours depends on that, except those that choose look-back. */
static void only_look_back_rounds_as_it_comes(void **state)
{
    (void)state;
    unsigned seen = 0;
    for (size_t r = 0; r < table_row_count(); r++) {
        const struct table_row *row = table_row(r);
        const struct algorithm *algorithm = row->on[DEVICE_EMULATOR];
        if (row->op != OP_SCAN || algorithm == NULL || row->of_team ||
            algorithm->family != FAMILY_OWN || row->is_choice ||
            algorithm->traits & TRAIT_SEGMENTS_ONLY)
            continue;
        const bool looks_back = strcmp(algorithm->name, "lookback") == 0;
        if (differs(algorithm, looks_back ? MANY_RUNS : FEW_RUNS) != looks_back)
            fail_msg("%s: %sthe same in every run", algorithm->name, looks_back ? "" : "not ");
        seen++;
    }
    assert_true(seen >= 13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_look_back_rounds_as_it_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
