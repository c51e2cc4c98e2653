/* emulator_shared_test.cpp: static shared memory of CUDA sources as they are written. */
#include "emulator_testing.h"

#include "../../emulator/plain_cuda.h"

/* More than half of what a block has. */
struct large {
    char bytes[EMULATOR_SHARED_BYTES / 2 + 1];
};
static const plain_shared_variable of_one = {sizeof(large), 16, "one", "one.cu", 1},
                                   of_other = {sizeof(large), 16, "other", "other.cu", 2};

static void one_kernel(char *out)
{
    out[threadIdx.x] = static_cast<large *>(plain_shared(&of_one))->bytes[threadIdx.x];
}

static void other_kernel(char *out)
{
    out[threadIdx.x] = static_cast<large *>(plain_shared(&of_other))->bytes[threadIdx.x];
}

static void run(void (*kernel)(char *), char *out)
{
    plain_typed(plain_tag(), plain_configure(4, 64), "kernel", kernel)(out);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
}

/* The launches have the same number since the seed was set. */
static void test_another_kernel_after_another_seed(void **)
{
    array<char> out(64, 0);
    emulator_set_seed(1);
    run(one_kernel, out.data);
    emulator_set_seed(2);
    run(other_kernel, out.data);
}

static void test_it_is_poisoned_in_each_block(void **)
{
    array<char> out(64, 0);
    run(one_kernel, out.data);
    for (size_t i = 0; i < out.count; i++)
        assert_int_equal((unsigned char)out[i], EMULATOR_SHARED_POISON);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_another_kernel_after_another_seed),
        cmocka_unit_test(test_it_is_poisoned_in_each_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
