/* emulator_errors_test.cpp: kernels with a deliberate error show each kind of error. */
#include "emulator_testing.h"

#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ASAN 1
#endif
#endif

static void patient_kernel(int *turns)
{
    for (int i = 0; i < 300; i++)
        spin_wait();
    atomicAdd(turns, 1);
}

static void one_path_without_barrier_kernel(int *out)
{
    if (threadIdx.x < 32)
        __syncthreads();
    out[threadIdx.x] = 1;
}

static void two_barriers_kernel(int *out)
{
    if (threadIdx.x % 2)
        __syncthreads();
    else
        __syncthreads();
    out[threadIdx.x] = 1;
}

static void test_divergent_barrier(void **)
{
    array<int> out(64, 0);
    assert_failed(LAUNCH(one_path_without_barrier_kernel, 1, 64, 0, out.data), "divergent barrier",
                  "threads 32-63 have exited");
    assert_failed(LAUNCH(two_barriers_kernel, 1, 64, 0, out.data), "divergent barrier",
                  "(32 in all) wait at emulator_errors_test.cpp:");
    /* Afterwards everything works. */
    array<int> turns(1, 0);
    assert_int_equal(LAUNCH(patient_kernel, 7, 64, 0, turns.data), cudaSuccess);
    assert_int_equal(turns[0], 7 * 64);
}

/* Reverses a block in shared memory, and forgets the barrier. */
static void missing_barrier_kernel(int *array)
{
    int *shared = (int *)emulator_shared_memory();
    shared[threadIdx.x] = array[threadIdx.x];
    array[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

static void missing_syncwarp_kernel(int *array)
{
    int *shared = (int *)emulator_shared_memory();
    for (int round = 0; round < 3; round++) {
        shared[threadIdx.x] = array[threadIdx.x];
        __syncwarp();
        array[threadIdx.x] = shared[threadIdx.x ^ 1];
        /* here */
    }
}

static void test_missing_barrier(void **)
{
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        array<int> reversed(BLOCK, 0), swapped(BLOCK, 0);
        for (int i = 0; i < (int)BLOCK; i++)
            reversed[i] = swapped[i] = i;
        emulator_set_seed(seed);
        assert_int_equal(
            LAUNCH(missing_barrier_kernel, 1, BLOCK, BLOCK * sizeof(int), reversed.data),
            cudaSuccess);
        assert_int_equal(
            LAUNCH(missing_syncwarp_kernel, 1, BLOCK, BLOCK * sizeof(int), swapped.data),
            cudaSuccess);
        int wrong_reversed = 0, wrong_swapped = 0;
        for (int i = 0; i < (int)BLOCK; i++) {
            wrong_reversed += reversed[i] != (int)BLOCK - 1 - i;
            wrong_swapped += swapped[i] != (i ^ 1);
        }
        assert_int_not_equal(wrong_reversed, 0);
        assert_int_not_equal(wrong_swapped, 0);
    }
}

/* Assumes that blocks start in the order of their index. */
static void block_order_kernel(unsigned *flags)
{
    if (threadIdx.x == 0) {
        while (blockIdx.x > 0 && __ldcg(&flags[blockIdx.x - 1]) == 0)
            spin_wait();
        __stcg(&flags[blockIdx.x], 1u);
    }
}

static void test_block_order_assumption(void **)
{
    enum { GRID = 64 };
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        array<unsigned> flags(GRID, 0);
        emulator_set_seed(seed);
        assert_failed(LAUNCH(block_order_kernel, GRID, 64, 0, flags.data), "deadlock", "spins at");
    }
}

/* A wait loop without spin_wait() is found too, through its atomics. */
static void silent_wait_kernel(unsigned *flag)
{
    while (atomicAdd(flag, 0u) == 0) {
    }
}

static void test_deadlock(void **)
{
    array<unsigned> flag(1, 0);
    assert_failed(LAUNCH(nobody_sets_the_flag_kernel, 1, 64, 0, flag.data), "deadlock",
                  "thread 3 spins at emulator_testing.h:");
    emulator_set_yield_rate(1000);
    assert_failed(LAUNCH(silent_wait_kernel, 2, 32, 0, flag.data), "deadlock", "block 0");
    array<int> turns(1, 0);
    assert_int_equal(LAUNCH(patient_kernel, 7, 64, 0, turns.data), cudaSuccess);
    assert_int_equal(turns[0], 7 * 64);
}

static void half_a_warp_shuffles_kernel(int *out)
{
    int value = (int)threadIdx.x;
    if (threadIdx.x % 32 < 16)
        value = __shfl_sync(0xFFFFFFFFu, value, 0);
    out[threadIdx.x] = value;
}

static void different_operations_kernel(int *out)
{
    int value = (int)threadIdx.x;
    if (threadIdx.x < 16)
        value = __shfl_sync(0xFFFFFFFFu, value, 0);
    else
        value = __any_sync(0xFFFFFFFFu, value);
    out[threadIdx.x] = value;
}

static void different_masks_kernel(int *out)
{
    const unsigned mask = threadIdx.x < 16 ? 0xFFFFFFFFu : 0xFFFF0000u;
    out[threadIdx.x] = __shfl_sync(mask, 1, 0);
}

static void not_in_its_mask_kernel(int *out)
{
    out[threadIdx.x] = __shfl_sync(1u, 1, 0);
}

static void test_divergent_collective(void **)
{
    const char *kind = "divergent warp collective";
    array<int> out(64, 0);
    assert_failed(LAUNCH(half_a_warp_shuffles_kernel, 1, 64, 0, out.data), kind,
                  "(mask 0xffffffff)");
    assert_failed(LAUNCH(different_operations_kernel, 1, 32, 0, out.data), kind, "block 0");
    assert_failed(LAUNCH(different_masks_kernel, 1, 32, 0, out.data), kind, "threads 0-15 wait");
    assert_failed(LAUNCH(not_in_its_mask_kernel, 1, 32, 0, out.data), "illegal warp collective",
                  "does not name the calling lane");
}

static void read_shared_kernel(unsigned *out)
{
    out[threadIdx.x] = ((unsigned *)emulator_shared_memory())[threadIdx.x];
    ((unsigned *)emulator_shared_memory())[threadIdx.x] = 0;
}

static void test_uninitialised_memory_shows(void **)
{
    array<unsigned> out(32, 0);
    for (int i = 0; i < 2; i++) { /* the second launch does not see the first one's */
        assert_int_equal(LAUNCH(read_shared_kernel, 3, 32, 128, out.data), cudaSuccess);
        for (int j = 0; j < 32; j++)
            assert_int_equal(out[j], 0xCBCBCBCBu);
    }
    unsigned *fresh = NULL;
    assert_int_equal(cudaMalloc(&fresh, 12), cudaSuccess);
    assert_int_equal((uintptr_t)fresh % 256, 0);
    assert_int_equal(fresh[2], 0xCDCDCDCDu);
    assert_int_equal(cudaFree(fresh), cudaSuccess);
}

static void beyond_shared_kernel(int *)
{
    ((char *)emulator_shared_memory())[100 + threadIdx.x] = 1;
}

static void beyond_global_kernel(int *array)
{
    array[threadIdx.x + 1]++;
}

#ifdef UNDER_ASAN
static bool dies_by_asan(void (*kernel)(int *), size_t shared_bytes)
{
    const pid_t child = fork();
    if (child == 0) {
        array<int> buffer(32, 0);
        if (!freopen("/dev/null", "w", stderr))
            _exit(2);
        LAUNCH(kernel, 1, 32, shared_bytes, buffer.data);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) || WEXITSTATUS(status) == 1;
}
#endif

static void test_out_of_bounds(void **)
{
#ifdef UNDER_ASAN
    assert_false(dies_by_asan(beyond_shared_kernel, 132));
    assert_true(dies_by_asan(beyond_shared_kernel, 131));
    assert_true(dies_by_asan(beyond_global_kernel, 0));
#else
    array<int> buffer(33, 0);
    assert_int_equal(LAUNCH(beyond_shared_kernel, 1, 32, 132, buffer.data), cudaSuccess);
    assert_failed(LAUNCH(beyond_shared_kernel, 1, 32, 131, buffer.data),
                  "shared memory out of bounds", "block 0");
    assert_int_equal(LAUNCH(beyond_global_kernel, 1, 32, 0, buffer.data), cudaSuccess);
#endif
}

static void test_illegal_launch(void **)
{
    array<int> out(1024, 0);
    int *const p = out.data;
    const size_t most = EMULATOR_SHARED_BYTES_OPTIN;
    assert_int_equal(LAUNCH(beyond_global_kernel, 0, 32, 0, p), cudaErrorInvalidConfiguration);
    assert_detail_has("illegal launch of beyond_global_kernel: 0 blocks");
    assert_int_equal(LAUNCH(beyond_global_kernel, (uint64_t)1 << 31, 32, 0, p),
                     cudaErrorInvalidConfiguration);
    assert_int_equal(LAUNCH(beyond_global_kernel, 1, 0, 0, p), cudaErrorInvalidConfiguration);
    assert_int_equal(LAUNCH(beyond_global_kernel, 1, 1025, 0, p), cudaErrorInvalidConfiguration);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidConfiguration);
    assert_int_equal(LAUNCH(read_shared_kernel, 1, 32, most, (unsigned *)p), cudaErrorInvalidValue);
    assert_int_equal(cudaFuncSetAttribute(read_shared_kernel,
                                          cudaFuncAttributeMaxDynamicSharedMemorySize, (int)most),
                     cudaSuccess);
    assert_int_equal(LAUNCH(read_shared_kernel, 1, 32, most, (unsigned *)p), cudaSuccess);
    assert_int_equal(cudaFuncSetAttribute(read_shared_kernel,
                                          cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          (int)most + 1),
                     cudaErrorInvalidValue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_divergent_barrier, set_up),
        cmocka_unit_test_setup(test_missing_barrier, set_up),
        cmocka_unit_test_setup(test_block_order_assumption, set_up),
        cmocka_unit_test_setup(test_deadlock, set_up),
        cmocka_unit_test_setup(test_divergent_collective, set_up),
        cmocka_unit_test_setup(test_uninitialised_memory_shows, set_up),
        cmocka_unit_test_setup(test_out_of_bounds, set_up),
        cmocka_unit_test_setup(test_illegal_launch, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
