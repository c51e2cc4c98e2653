/* device_info_test: how many blocks of each size fit on a multiprocessor. */
#include "../../bench/run/device_info.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Limits from NVIDIA's table of compute capabilities. */
static const struct device_info sm_90 = {
    .threads_per_block = 1024,
    .threads_per_multiprocessor = 2048,
    .blocks_per_multiprocessor = 32,
    .warp_size = 32,
    .shared_bytes_per_block_optin = 227 << 10,
    .shared_bytes_per_multiprocessor = 228 << 10,
    .registers_per_multiprocessor = 65536,
};
static const struct device_info sm_86 = {
    .threads_per_block = 1024,
    .threads_per_multiprocessor = 1536,
    .blocks_per_multiprocessor = 16,
    .warp_size = 32,
    .shared_bytes_per_block_optin = 99 << 10,
    .shared_bytes_per_multiprocessor = 100 << 10,
    .registers_per_multiprocessor = 65536,
};

static void expect_residency(const struct device_info *info, int block, int blocks,
                             double occupancy_pct, int registers, size_t shared_kib_times_8)
{
    const struct block_residency r = block_residency(info, block);
    assert_int_equal(r.blocks, blocks);
    assert_true(r.occupancy_pct == occupancy_pct);
    assert_int_equal(r.registers_per_thread, registers);
    assert_int_equal(r.shared_bytes_per_block, shared_kib_times_8 * 128);
}

static void resident_blocks(void **state)
{
    (void)state;
    expect_residency(&sm_90, 32, 32, 50, 64, 49); /* 228 / 32 KiB, less one */
    expect_residency(&sm_90, 64, 32, 100, 32, 49);
    expect_residency(&sm_90, 128, 16, 100, 32, 106);
    expect_residency(&sm_90, 1024, 2, 100, 32, 904);
    expect_residency(&sm_86, 32, 16, 100.0 * 512 / 1536, 128, 42);
    expect_residency(&sm_86, 512, 3, 100, 40, 258);
    expect_residency(&sm_86, 1024, 1, 100.0 * 1024 / 1536, 64, 792);
}

static void what_does_not_fit_or_is_not_known(void **state)
{
    (void)state;
    const struct device_info cpu = {.multiprocessors = 8};
    assert_int_equal(block_residency(&cpu, 32).blocks, 0);
    assert_int_equal(block_residency(&sm_90, 2048).blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resident_blocks),
        cmocka_unit_test(what_does_not_fit_or_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
