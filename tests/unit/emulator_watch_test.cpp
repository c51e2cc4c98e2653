/* emulator_watch_test.cpp: kernels that never end, fault, or wait by reading memory. */
#include "emulator_testing.h"
#include "sanitizer.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT_MS = 300 };

/* Called in each test, since cmocka sets handlers of its own before. */
static void begin_watch(double limit_ms = LIMIT_MS)
{
    static struct emulator_watch watch;
    watch = {limit_ms, NULL, true};
    emulator_watch_kernels(&watch);
}

static int stop_watch(void **)
{
    emulator_watch_kernels(NULL);
    return 0;
}

/* On a stream of its own. */
template <class... P, class... A>
static cudaError_t run_kernel(void (*kernel)(P...), const char *name, uint64_t grid, unsigned block,
                              A... arguments)
{
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    const cudaError_t error =
        emulator_launch(kernel, name, grid, block, 0, EMULATOR_IN_TURN, stream, arguments...);
    cudaStreamDestroy(stream);
    return error;
}
#define RUN(kernel, grid, block, ...) run_kernel(kernel, #kernel, grid, block, __VA_ARGS__)

static void add_one_kernel(int *array)
{
    array[blockIdx.x * blockDim.x + threadIdx.x]++;
}

/* The device works again after a failed launch. */
static void assert_usable(void)
{
    array<int> values(4 * 64, 1);
    assert_int_equal(RUN(add_one_kernel, 4, 64, values.data), cudaSuccess);
    for (int i = 0; i < 4 * 64; i++)
        assert_int_equal(values[i], 2);
}

/* --- Kernels that never end ------------------------------------------------- */

static void endless_loop_kernel(volatile int *zero)
{
    for (;;)
        *zero = 0;
}

static void empty_loop_kernel(volatile int *)
{
    for (;;)
        asm volatile("");
}

static void endless_spin_kernel(volatile int *flag)
{
    if (threadIdx.x == 5)
        while (*flag == 0) {
        }
    __syncthreads();
}

static void endless_barriers_kernel(volatile int *)
{
    for (;;)
        __syncthreads();
}

static void endless_shuffles_kernel(volatile int *)
{
    for (int value = 1; value;)
        value = __shfl_xor_sync(0xFFFFFFFFu, value, 1);
}

static void lone_shuffles_kernel(volatile int *)
{
    for (int value = 1; value;)
        value = __shfl_sync(1u << threadIdx.x, value, (int)threadIdx.x);
}

static void endless_atomics_kernel(int *flag)
{
    while (atomicAdd(flag, 0) == 0) {
    }
}

/* The C library's code is not interrupted halfway, but ended none the less. */
static void endless_calls_kernel(volatile int *flag)
{
    while (*flag == 0)
        free(malloc(1000));
}

static void test_endless_kernels(void **)
{
    begin_watch();
    array<int> flag(1, 0);
    assert_failed(RUN(endless_loop_kernel, 1, 1, flag.data), "time limit in endless_loop_kernel",
                  "block 0, thread 0: no thread of 1 blocks has ended in the last 0.3 s");
    assert_failed(RUN(empty_loop_kernel, 3, 32, flag.data), "time limit in empty_loop_kernel",
                  "block ");
    assert_failed(RUN(endless_spin_kernel, 1, 64, flag.data), "time limit in endless_spin_kernel",
                  "block 0, thread 5");
    assert_failed(RUN(endless_barriers_kernel, 2, 64, flag.data),
                  "time limit in endless_barriers_kernel", "(last at emulator_watch_test.cpp:");
    assert_failed(RUN(endless_shuffles_kernel, 2, 64, flag.data),
                  "time limit in endless_shuffles_kernel", "(last at emulator_watch_test.cpp:");
    assert_failed(RUN(lone_shuffles_kernel, 1, 32, flag.data), "time limit in lone_shuffles_kernel",
                  "block 0, thread ");
    emulator_set_yield_rate(0);
    assert_failed(RUN(endless_atomics_kernel, 1, 32, flag.data),
                  "time limit in endless_atomics_kernel", "block 0, thread ");
    assert_failed(RUN(endless_calls_kernel, 1, 32, flag.data), "time limit in endless_calls_kernel",
                  "block 0, thread ");
    assert_usable();
}

/* Threads end all the time, so the launch may take longer than the limit. */
static void slow_kernel(int *turns)
{
    struct timespec start, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000000000ll + now.tv_nsec - start.tv_nsec < 40000000);
    atomicAdd(turns, 1);
}

static void test_slow_kernel(void **)
{
    begin_watch();
    array<int> turns(1, 0);
    assert_int_equal(RUN(slow_kernel, 4, 4, turns.data), cudaSuccess);
    assert_int_equal(turns[0], 16);
}

/* --- Threads that wait without a call --------------------------------------- */

/* Every block waits for all before it, by reading memory; at most four are resident. The ticket
 * makes it right in any order. */
static void volatile_chain_kernel(volatile int *chain, int *ticket)
{
    volatile int *mine = &chain[atomicAdd(ticket, 1)];
    while (*mine == 0) {
    }
    mine[1] = 1;
}

/* All 128 threads of two blocks wait for one thread of the third. */
static void volatile_flag_kernel(volatile int *flag)
{
    if (blockIdx.x == 2 && threadIdx.x == 0)
        *flag = 1;
    while (*flag == 0) {
    }
}

static void lone_warps_kernel(volatile int *flag)
{
    if (blockIdx.x == 2 && threadIdx.x == 0)
        *flag = 1;
    while (*flag == 0)
        __syncwarp(1u << threadIdx.x % 32);
}

static void test_volatile_spins(void **)
{
    begin_watch(100 * LIMIT_MS); /* they end, however busy the machine is */
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        array<int> chain(65, 0), ticket(1, 0), flag(1, 0);
        emulator_set_seed(seed);
        chain[0] = 1;
        assert_int_equal(RUN(volatile_chain_kernel, 64, 1, (volatile int *)chain.data, ticket.data),
                         cudaSuccess);
        assert_int_equal(ticket[0], 64);
        assert_int_equal(RUN(volatile_flag_kernel, 3, 64, (volatile int *)flag.data), cudaSuccess);
        flag[0] = 0;
        assert_int_equal(RUN(lone_warps_kernel, 3, 64, (volatile int *)flag.data), cudaSuccess);
    }
}

/* Registers survive an interruption: each thread counts and sums until all have begun. */
static void counts_kernel(double *sums, long long *counts, int *begun)
{
    double sum[8] = {};
    long long count = 0;
    for (atomicAdd(begun, 1); *(volatile int *)begun < 8; count++)
        for (int j = 0; j < 8; j++)
            sum[j] += (threadIdx.x + j) * 0.5;
    for (int j = 0; j < 8; j++)
        sums[threadIdx.x * 8 + j] = sum[j];
    counts[threadIdx.x] = count;
}

static void test_interrupted_threads_go_on(void **)
{
    begin_watch();
    array<double> sums(8 * 8, 0);
    array<long long> counts(8, 0);
    array<int> begun(1, 0);
    long long all = 0;
    assert_int_equal(RUN(counts_kernel, 1, 8, sums.data, counts.data, begun.data), cudaSuccess);
    for (int t = 0; t < 8; t++) {
        all += counts[t];
        for (int j = 0; j < 8; j++)
            assert_true(sums[t * 8 + j] == (double)counts[t] * ((t + j) * 0.5));
    }
    assert_true(all > 0);
}

/* --- Stopping --------------------------------------------------------------- */

static volatile sig_atomic_t asked_to_stop;

static bool stop_is_asked(void)
{
    return asked_to_stop != 0;
}

static void stop_is_asked_kernel(volatile int *flag)
{
    asked_to_stop = 1;
    while (*flag == 0) {
    }
}

static void test_stop(void **)
{
    static const struct emulator_watch watch = {0, stop_is_asked, false};
    emulator_watch_kernels(&watch);
    array<int> flag(1, 0);
    assert_failed(RUN(stop_is_asked_kernel, 1, 32, (volatile int *)flag.data),
                  "interrupted in stop_is_asked_kernel", "block 0");
    asked_to_stop = 0;
    assert_usable();
}

static void busy_kernel(uint64_t ms)
{
    const clock_t end = clock() + (clock_t)ms * (CLOCKS_PER_SEC / 1000);
    while (clock() < end) {
    }
}

/* A tick of the launch before is still on its way when this one begins. */
static void test_no_watch_any_longer(void **)
{
    begin_watch(1);
    assert_usable();
    emulator_watch_kernels(NULL);
    assert_int_equal(RUN(busy_kernel, 1, 1, (uint64_t)200), cudaSuccess);
}

/* --- Faults ----------------------------------------------------------------- */

/* So that no compiler and no sanitizer sees what the pointer is. */
static int *hidden(uintptr_t address)
{
    asm volatile("" : "+r"(address));
    return (int *)address;
}

[[gnu::no_sanitize("address", "undefined")]] static void store_kernel(uintptr_t address)
{
    if (threadIdx.x == 7)
        *(volatile int *)hidden(address) = 1;
}

[[gnu::no_sanitize("address", "undefined")]] static void divide_kernel(volatile int *values)
{
    values[0] = values[0] / values[1];
}

static void illegal_kernel(int *)
{
    __builtin_trap();
}

static void abort_kernel(int *)
{
    if (threadIdx.x == 9)
        abort();
}

[[gnu::no_sanitize("address", "undefined")]] static int descend(volatile int *values, int depth)
{
    volatile int here[64];
    here[depth % 64] = values[0];
    return values[1] ? depth : descend(values, depth + 1) + here[(depth + 1) % 64];
}

static void overflow_kernel(volatile int *values)
{
    values[2] = descend(values, 0);
}

static void test_faults(void **)
{
    begin_watch();
    array<int> values(1 << 20, 0);
    volatile int *const v = values.data;
    const uintptr_t FAR = (uintptr_t)1 << 35;
    const char *memory = "illegal memory access in store_kernel";
    assert_failed(RUN(store_kernel, 3, 32, (uintptr_t)0), memory,
                  "thread 7: null pointer, address 0x0");
    assert_failed(RUN(store_kernel, 1, 32, (uintptr_t)0x10), memory,
                  "block 0, thread 7: null pointer, address 0x10");
    assert_failed(RUN(store_kernel, 1, 32, ~(uintptr_t)0 / 4 * 3), memory,
                  "an address that no memory has");
    if (!EMULATOR_ASAN) {
        assert_failed(RUN(store_kernel, 1, 32, (uintptr_t)values.data - FAR), memory,
                      "34359738368 bytes before the start of a buffer of 4194304 bytes");
        emulator_describe_memory(values.data, values.data + 16, 4000);
        assert_failed(RUN(store_kernel, 1, 32, (uintptr_t)values.data - FAR), memory,
                      "34359738432 bytes before the start of a buffer of 4000 bytes");
        assert_failed(RUN(overflow_kernel, 1, 32, v), "stack overflow in overflow_kernel",
                      "block 0, thread ");
    }
#if defined(__x86_64__)
    assert_failed(RUN(divide_kernel, 1, 1, v), "division by zero in divide_kernel",
                  "block 0, thread 0");
#endif
    assert_failed(RUN(illegal_kernel, 1, 1, values.data), "in illegal_kernel", "block 0, thread 0");
    assert_failed(RUN(abort_kernel, 1, 32, values.data), "failed assertion in abort_kernel",
                  "block 0, thread 9");
    assert_usable();
}

/* A fault elsewhere has the effect that it always had. */
static volatile sig_atomic_t handled;

static void handle_fault(int)
{
    handled = handled + 1;
}

static void test_faults_of_the_host(void **)
{
    emulator_watch_kernels(NULL);
    struct sigaction action = {}, before;
    action.sa_handler = handle_fault;
    sigaction(SIGSEGV, &action, &before);
    static const struct emulator_watch watch = {LIMIT_MS, NULL, false};
    emulator_watch_kernels(&watch);
    raise(SIGSEGV);
    assert_int_equal(handled, 1);
    emulator_watch_kernels(NULL);
    raise(SIGSEGV);
    assert_int_equal(handled, 2);
    sigaction(SIGSEGV, &before, NULL);
}

/* --- The default stream ----------------------------------------------------- */

static void test_default_stream(void **)
{
    begin_watch();
    array<int> values(64, 1);
    assert_int_equal(LAUNCH(add_one_kernel, 1, 64, 0, values.data), cudaErrorInvalidResourceHandle);
    assert_detail_has("launches add_one_kernel on the default stream, which is neither timed nor "
                      "waited for");
    assert_int_equal(values[0], 1);
    assert_int_equal(RUN(add_one_kernel, 1, 64, values.data), cudaSuccess);
    emulator_watch_kernels(NULL);
    emulator_reset();
    assert_int_equal(LAUNCH(add_one_kernel, 1, 64, 0, values.data), cudaSuccess);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_endless_kernels, set_up, stop_watch),
        cmocka_unit_test_setup_teardown(test_slow_kernel, set_up, stop_watch),
        cmocka_unit_test_setup_teardown(test_volatile_spins, set_up, stop_watch),
        cmocka_unit_test_setup_teardown(test_interrupted_threads_go_on, set_up, stop_watch),
        cmocka_unit_test_setup_teardown(test_stop, set_up, stop_watch),
        cmocka_unit_test_setup_teardown(test_no_watch_any_longer, set_up, stop_watch),
        cmocka_unit_test_setup_teardown(test_faults, set_up, stop_watch),
        cmocka_unit_test_setup_teardown(test_faults_of_the_host, set_up, stop_watch),
        cmocka_unit_test_setup_teardown(test_default_stream, set_up, stop_watch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
