/* emulator_testing.h: what the tests of the emulator share. */
#pragma once

#include "emulator.h"

#include <cuda_runtime.h>

extern "C" {
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the headers it requires. */
#include <cmocka.h>
}

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum : unsigned { SEEDS = 8, BLOCK = 256 };

/* An array in the emulated device's memory. */
template <class T> struct array {
    T *data;
    size_t count;

    array(size_t count, T value) : data(NULL), count(count)
    {
        assert_int_equal(cudaMalloc(&data, count * sizeof(T)), cudaSuccess);
        for (size_t i = 0; i < count; i++)
            data[i] = value;
    }
    ~array()
    {
        cudaFree(data);
    }
    array(const array &) = delete;
    T &operator[](size_t i)
    {
        return data[i];
    }
};

#define LAUNCH(kernel, grid, block, shared_bytes, ...)                                     \
    emulator_launch(kernel, #kernel, grid, block, shared_bytes, EMULATOR_IN_TURN, nullptr, \
                    __VA_ARGS__)

inline void assert_detail_has(const char *part)
{
    const char *detail = emulator_error_detail();
    if (!strstr(detail, part))
        fail_msg("\"%s\" is not in \"%s\"", part, detail);
    assert_true(strlen(detail) < 512);
}

/* The launch failed, its text has these parts, and everything fails until a reset. */
inline void assert_failed(cudaError_t error, const char *kind, const char *place)
{
    assert_int_equal(error, cudaErrorLaunchFailure);
    assert_detail_has(kind);
    assert_detail_has(place);
    assert_int_equal(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    assert_int_equal(cudaGetLastError(), cudaErrorLaunchFailure);
    assert_int_equal(cudaGetLastError(), cudaErrorLaunchFailure);
    if (getenv("EMULATOR_TEST_SHOW"))
        fprintf(stderr, "    %s\n", emulator_error_detail());
    emulator_reset();
    assert_string_equal(emulator_error_detail(), "");
    assert_int_equal(cudaGetLastError(), cudaSuccess);
}

inline int set_up(void **)
{
    emulator_reset();
    emulator_set_seed(1);
    emulator_set_resident_blocks(0);
    emulator_set_multiprocessors(0);
    emulator_set_yield_rate(EMULATOR_DEFAULT_YIELD_PER_MILLE);
    return 0;
}

/* A deadlock. */
inline void nobody_sets_the_flag_kernel(unsigned *flag)
{
    if (threadIdx.x == 3)
        while (__ldcg(flag) == 0)
            spin_wait();
    __syncthreads();
}
