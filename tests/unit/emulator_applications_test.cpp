/* emulator_applications_test.cpp: how often kernels apply an operator, and the longest chain. */
#include "../../kernels/warp.cuh"

#include "emulator_testing.h"

using namespace SCANBENCH_BACKEND;

using number = counting<4>;

/* What one launch has applied, by operands that count. */
template <class... P, class... A>
static application_counts applied(void (*kernel)(P...), unsigned grid, unsigned block,
                                  A... arguments)
{
    const application_counts *each;
    emulator_start_counting_applications();
    assert_true(operands_must_count());
    assert_int_equal(LAUNCH(kernel, grid, block, 0, arguments...), cudaSuccess);
    emulator_stop_counting_applications();
    assert_int_equal(emulator_applications_of_launches(&each), 1);
    return each[0];
}

static void expect(application_counts counted, uint64_t applications, uint64_t depth)
{
    assert_int_equal(counted.applications, applications);
    assert_int_equal(counted.depth, depth);
}

/* ---- Chains and trees ---- */

/* ((in[0] + in[1]) + in[2]) + ... */
template <class T> static void chain_kernel(const T *in, T *out, unsigned n)
{
    T sum = in[0];
    for (unsigned i = 1; i < n; i++)
        sum = sum + in[i];
    out[global_thread()] = sum;
}

/* Pairs, pairs of pairs and so on. */
static void tree_kernel(number *array, unsigned n)
{
    for (unsigned half = 1; half < n; half *= 2)
        for (unsigned i = 0; i + half < n; i += 2 * half)
            array[i] += array[i + half];
}

static void none_kernel(const number *in, number *out)
{
    out[threadIdx.x] = in[threadIdx.x];
}

static void test_a_chain_is_as_deep_as_it_is_long(void **)
{
    array<number> in(8, 0), out(96, 0);
    expect(applied(chain_kernel<number>, 1, 1, in.data, out.data, 8u), 7, 7);
    assert_int_equal(out[0].depth, 7);
    /* Each thread has a chain of its own. */
    expect(applied(chain_kernel<number>, 3, 32, in.data, out.data, 8u), 3 * 32 * 7, 7);
}

static void test_a_tree_has_a_level_per_doubling(void **)
{
    array<number> in(64, 0), other(65, 0);
    expect(applied(tree_kernel, 1, 1, in.data, 64u), 63, 6);
    expect(applied(tree_kernel, 1, 1, other.data, 65u), 64, 7);
}

static void test_chains_go_on_through_memory(void **)
{
    array<number> in(8, 0), out(1, 0);
    applied(chain_kernel<number>, 1, 1, in.data, out.data, 8u);
    in[3] = out[0];
    expect(applied(chain_kernel<number>, 1, 1, in.data, out.data, 8u), 7, 7 + 5);
}

static void test_nothing_applied(void **)
{
    array<number> in(32, 0), out(32, 0);
    expect(applied(none_kernel, 1, 32, in.data, out.data), 0, 0);
}

/* A number of one byte would not do. */
static void test_wide_operands(void **)
{
    using wide = counting<8>;
    static_assert(sizeof(wide) == 8 && sizeof(number) == 4);
    array<wide> in(1000, 0), out(1, 0);
    expect(applied(chain_kernel<wide>, 1, 1, in.data, out.data, 1000u), 999, 999);
}

/* ---- Warps ---- */

template <class T> static void warp_kernel(const T *in, T *out)
{
    out[global_thread()] = warp_sum(in[global_thread()]);
}

static void test_sums_of_a_warp(void **)
{
    array<number> in(64, 0), out(64, 0);
    counts_instructions = false;
    /* Five times each lane adds what another has. */
    expect(applied(warp_kernel<number>, 2, 32, in.data, out.data), 2 * 5 * 32, 5);
    assert_int_equal(out[63].depth, 5);
    /* An instruction adds each lane's once. */
    counts_instructions = true;
    expect(applied(warp_kernel<number>, 1, 64, in.data, out.data), 2 * 31, 5);
    assert_int_equal(out[63].depth, 5);
    counts_instructions = false;
}

/* Step s leaves the first 2^s lanes as they are. */
static void inclusive_kernel(const number *in, number *out)
{
    out[threadIdx.x] = warp_inclusive_sum(in[threadIdx.x]);
}

static void test_scan_of_a_warp(void **)
{
    array<number> in(32, 0), out(32, 0);
    expect(applied(inclusive_kernel, 1, 32, in.data, out.data), 31 + 30 + 28 + 24 + 16, 5);
    assert_int_equal(out[0].depth, 0);
    assert_int_equal(out[1].depth, 1);
    assert_int_equal(out[31].depth, 5);
}

/* ---- Operands that do not commute ---- */

static void test_one_application_per_pair(void **)
{
    array<affine<number>> maps(8, 0), map(1, 0);
    array<flagged<number>> sums(8, 0), sum(1, 0);
    expect(applied(chain_kernel<affine<number>>, 1, 1, maps.data, map.data, 8u), 7, 7);
    assert_int_equal(map[0].b.depth, 7);
    expect(applied(chain_kernel<flagged<number>>, 1, 1, sums.data, sum.data, 8u), 7, 7);
    assert_int_equal(sum[0].sum.depth, 7);
    /* Nothing is added where a segment begins. */
    sums[4].begins = 1;
    expect(applied(chain_kernel<flagged<number>>, 1, 1, sums.data, sum.data, 8u), 6, 3);
}

/* ---- When ---- */

static void test_launch_by_launch(void **)
{
    array<number> in(8, 0), out(1, 0);
    const application_counts *each;
    emulator_start_counting_applications();
    assert_true(operands_must_count());
    for (unsigned n = 8; n > 5; n--)
        LAUNCH(chain_kernel<number>, 1, 1, 0, in.data, out.data, n);
    emulator_stop_counting_applications();
    assert_int_equal(emulator_applications_of_launches(&each), 3);
    for (unsigned i = 0; i < 3; i++)
        expect(each[i], 7 - i, 7 - i);
}

/* Kernels that no operand was asked for apply what nobody sees. */
static void test_without_operands(void **)
{
    array<unsigned> in(8, 1), out(1, 0);
    const application_counts *each;
    assert_false(operands_must_count());
    emulator_start_counting_applications();
    LAUNCH(chain_kernel<unsigned>, 1, 1, 0, in.data, out.data, 8u);
    emulator_stop_counting_applications();
    assert_int_equal(emulator_applications_of_launches(&each), 0);
    assert_int_equal(out[0], 8);
    assert_false(operands_must_count());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_chain_is_as_deep_as_it_is_long, set_up),
        cmocka_unit_test_setup(test_a_tree_has_a_level_per_doubling, set_up),
        cmocka_unit_test_setup(test_chains_go_on_through_memory, set_up),
        cmocka_unit_test_setup(test_nothing_applied, set_up),
        cmocka_unit_test_setup(test_wide_operands, set_up),
        cmocka_unit_test_setup(test_sums_of_a_warp, set_up),
        cmocka_unit_test_setup(test_scan_of_a_warp, set_up),
        cmocka_unit_test_setup(test_one_application_per_pair, set_up),
        cmocka_unit_test_setup(test_launch_by_launch, set_up),
        cmocka_unit_test_setup(test_without_operands, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
