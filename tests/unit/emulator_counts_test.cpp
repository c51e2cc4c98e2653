/* emulator_counts_test.cpp: what launches do to memory, as the emulator counts it. */
#include "emulator_testing.h"

#include <initializer_list>

/* Kernels of this file are compiled without the compiler's calls, and make them here. */
extern "C" {
void __tsan_read4(const void *);
void __tsan_read8(const void *);
void __tsan_read16(const void *);
void __tsan_write4(const void *);
void __tsan_read_range(const void *, size_t);
}

#define LOAD(place) (__tsan_read4(&(place)), (place))
#define STORE(place, value) (__tsan_write4(&(place)), (place) = (value))

enum : unsigned { WARP = 32 };

/* The counts of one launch that must succeed. */
template <class... P, class... A>
static memory_counts counts_of(void (*kernel)(P...), unsigned grid, unsigned block,
                               size_t shared_bytes, A... arguments)
{
    emulator_start_counting();
    const cudaError_t error = LAUNCH(kernel, grid, block, shared_bytes, arguments...);
    emulator_stop_counting();
    assert_int_equal(error, cudaSuccess);
    assert_int_equal(emulator_counted_launches(), 1);
    return *emulator_counts_of_launch(0);
}

/* --- Global memory ------------------------------------------------------------ */

static void copy_kernel(const unsigned *in, unsigned *out, unsigned stride)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned value = LOAD(in[i * stride]);
    STORE(out[i], value);
}

static void test_neighbours_share_sectors(void **)
{
    array<unsigned> in(256, 1), out(256, 0);
    const memory_counts c = counts_of(copy_kernel, 4, 64, 0, in.data, out.data, 1u);
    assert_int_equal(c.blocks, 4);
    assert_int_equal(c.load_requests, 8);
    assert_int_equal(c.load_sectors, 32);
    assert_int_equal(c.load_bytes, 1024);
    assert_int_equal(c.store_requests, 8);
    assert_int_equal(c.store_sectors, 32);
    assert_int_equal(c.store_bytes, 1024);
    assert_int_equal(c.requests, 16);
    assert_int_equal(c.lanes, 512);
    assert_int_equal(c.shared_requests, 0);
    assert_int_equal(c.barriers, 0);
}

static void test_strided_loads_waste_sectors(void **)
{
    array<unsigned> in(8 * 64, 1), out(64, 0);
    const memory_counts c = counts_of(copy_kernel, 1, 64, 0, in.data, out.data, 8u);
    assert_int_equal(c.load_requests, 2);
    assert_int_equal(c.load_sectors, 64);
    assert_int_equal(c.load_bytes, 256);
}

static void test_one_word_for_all_lanes(void **)
{
    array<unsigned> in(1, 1), out(64, 0);
    const memory_counts c = counts_of(copy_kernel, 1, 64, 0, in.data, out.data, 0u);
    assert_int_equal(c.load_requests, 2);
    assert_int_equal(c.load_sectors, 2);
    assert_int_equal(c.load_bytes, 8);
}

static void test_last_warp_is_cut(void **)
{
    array<unsigned> in(40, 1), out(40, 0);
    const memory_counts c = counts_of(copy_kernel, 1, 40, 0, in.data, out.data, 1u);
    assert_int_equal(c.load_requests, 2);
    assert_int_equal(c.load_sectors, 5);
    assert_int_equal(c.lanes, 80);
}

static void wide_kernel(const char *in, unsigned bytes)
{
    const char *at = in + (size_t)threadIdx.x * bytes;
    if (bytes == 8)
        __tsan_read8(at);
    else if (bytes == 16)
        __tsan_read16(at);
    else
        __tsan_read_range(at, bytes);
}

static void words_kernel(const char *in)
{
    __tsan_read_range(in + (size_t)threadIdx.x * 8, 8);
}

static void test_wide_accesses(void **)
{
    array<char> in(48 * WARP, 0);
    memory_counts c = counts_of(wide_kernel, 1, WARP, 0, in.data, 16u);
    assert_int_equal(c.load_requests, 1);
    assert_int_equal(c.load_sectors, 16);
    c = counts_of(wide_kernel, 1, WARP, 0, in.data, 48u); /* three of 16 bytes */
    assert_int_equal(c.load_requests, 3);
    assert_int_equal(c.load_sectors, 3 * WARP);
    assert_int_equal(c.load_bytes, 48 * WARP);
    c = counts_of(wide_kernel, 1, WARP, 0, in.data, 12u); /* three of 4, wherever a lane's lies */
    assert_int_equal(c.load_requests, 3);
    assert_int_equal(c.load_sectors, 3 * 12);
    assert_int_equal(c.lanes, 3 * WARP);
    c = counts_of(words_kernel, 1, WARP, 0, in.data); /* two of 4 */
    assert_int_equal(c.load_requests, 2);
    assert_int_equal(c.load_sectors, 2 * 8);
}

/* The host's memory, constants and the thread's own stack are none that a GPU would load from. */
static void private_kernel(const unsigned *host, unsigned *out)
{
    static unsigned constant = 3;
    volatile unsigned mine[4] = {1, 2, 3, 4};
    __tsan_read4(host);
    __tsan_read4(&constant);
    __tsan_read4((const void *)&mine[threadIdx.x % 4]);
    STORE(out[threadIdx.x], mine[threadIdx.x % 4] + constant);
}

static void test_what_is_no_memory_of_the_device(void **)
{
    const unsigned host = 1;
    array<unsigned> out(WARP, 0);
    const memory_counts c = counts_of(private_kernel, 1, WARP, 0, &host, out.data);
    assert_int_equal(c.load_requests, 0);
    assert_int_equal(c.store_requests, 1);
    assert_int_equal(c.requests, 1);
}

/* --- Shared memory -------------------------------------------------------------- */

static void strided_shared_kernel(unsigned stride, unsigned bytes)
{
    const char *shared = (const char *)emulator_shared_memory() + 4 * stride * threadIdx.x;
    if (bytes == 4)
        __tsan_read4(shared);
    else if (bytes == 8)
        __tsan_read8(shared);
    else
        __tsan_read16(shared);
}

/* Strides are of words. */
static uint64_t conflicts(unsigned stride, unsigned bytes)
{
    const memory_counts c =
        counts_of(strided_shared_kernel, 1, WARP, (4 * stride + bytes) * WARP, stride, bytes);
    assert_int_equal(c.shared_requests, 1);
    assert_int_equal(c.load_requests, 0);
    assert_int_equal(c.lanes, WARP);
    return c.bank_conflicts;
}

static void test_bank_conflicts(void **)
{
    assert_int_equal(conflicts(0, 4), 0); /* one word for all */
    for (unsigned stride = 1; stride <= 32; stride *= 2)
        assert_int_equal(conflicts(stride, 4), stride - 1);
    assert_int_equal(conflicts(3, 4), 0);
    assert_int_equal(conflicts(33, 4), 0);
    assert_int_equal(conflicts(2, 8), 0); /* neighbours, by half warps */
    assert_int_equal(conflicts(4, 8), 2); /* twice two words of a bank */
    assert_int_equal(conflicts(4, 16), 0);
    assert_int_equal(conflicts(32, 16), 4 * 7);
}

/* --- Which accesses belong together ----------------------------------------------- */

/* Odd lanes load first, and the loads of all lanes are one request still. */
static void guarded_kernel(const unsigned *in, unsigned *out)
{
    unsigned sum = 0;
    if (threadIdx.x % 2)
        sum += LOAD(in[threadIdx.x]);
    sum += LOAD(in[threadIdx.x + 32]);
    STORE(out[threadIdx.x], sum);
}

static void test_places_are_told_apart(void **)
{
    array<unsigned> in(64, 1), out(WARP, 0);
    const memory_counts c = counts_of(guarded_kernel, 1, WARP, 0, in.data, out.data);
    assert_int_equal(c.load_requests, 2);
    assert_int_equal(c.lanes, 16 + 32 + 32);
}

/* Lane t makes t turns. */
static void loop_kernel(const unsigned *in)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < threadIdx.x; i++)
        sum += LOAD(in[i]);
    __syncwarp();
    if (sum == 1)
        LOAD(in[sum]);
}

static void test_turns_of_a_loop(void **)
{
    array<unsigned> in(64, 1);
    const memory_counts c = counts_of(loop_kernel, 1, WARP, 0, in.data);
    assert_int_equal(c.load_requests, 31 + 1);
    assert_int_equal(c.load_sectors, 31 + 1);
    assert_int_equal(c.lanes, 31 * 32 / 2 + 1);
    assert_int_equal(c.warp_collectives, 1);
}

/* A level of a tree has half the threads of the level before. Without the barriers, the only access
 * of thread 1 on the second level would go with the first of thread 0. */
static void tree_kernel(unsigned *out)
{
    unsigned *shared = (unsigned *)emulator_shared_memory();
    STORE(shared[threadIdx.x], 1);
    for (unsigned half = 1; half < blockDim.x; half *= 2) {
        __syncthreads();
        const unsigned right = (2 * threadIdx.x + 2) * half - 1;
        if (right < blockDim.x && (half > 1 || threadIdx.x > 0))
            STORE(shared[right], LOAD(shared[right]) + LOAD(shared[right - half]));
    }
    __syncthreads();
    if (threadIdx.x == 0)
        STORE(out[0], LOAD(shared[blockDim.x - 1]));
}

static void test_barriers_separate(void **)
{
    array<unsigned> out(1, 0);
    const memory_counts c = counts_of(tree_kernel, 1, 64, 64 * 4, out.data);
    /* Levels of 32 - 1, 16, 8, 4, 2 and 1 nodes, one warp each: two loads and a store; conflicts of
     * stride 2, 4, .. 32 in each of these, then of one node none. */
    assert_int_equal(c.shared_requests, 2 + 6 * 3 + 1);
    assert_int_equal(c.bank_conflicts, 3 * (1 + 1 + 1 + 1 + 1));
    assert_int_equal(c.barriers, 7);
    assert_int_equal(c.store_requests, 1);
}

/* Half of the lanes meet by themselves, then all. */
static void halves_kernel(const unsigned *in)
{
    LOAD(in[threadIdx.x]);
    if (threadIdx.x < 16)
        __syncwarp(0xFFFF);
    LOAD(in[threadIdx.x]);
    __syncwarp();
    LOAD(in[threadIdx.x]);
}

static void test_lanes_that_met_are_together_again(void **)
{
    array<unsigned> in(WARP, 1);
    const memory_counts c = counts_of(halves_kernel, 1, WARP, 0, in.data);
    assert_int_equal(c.load_requests, 1 + 2 + 1);
    assert_int_equal(c.lanes, 3 * WARP);
    assert_int_equal(c.warp_collectives, 2);
}

/* --- Atomics, copies -------------------------------------------------------------- */

static void atomic_kernel(unsigned *sum)
{
    unsigned *shared = (unsigned *)emulator_shared_memory();
    atomicAdd(sum, 1u);
    atomicMax(&shared[threadIdx.x % 2 * 32], threadIdx.x);
    atomicCAS(&shared[threadIdx.x], 0u, 1u);
}

static void test_atomics(void **)
{
    array<unsigned> sum(1, 0);
    const memory_counts c = counts_of(atomic_kernel, 1, WARP, 64 * 4, sum.data);
    assert_int_equal(c.atomics, 3 * WARP);
    assert_int_equal(c.shared_requests, 2);
    assert_int_equal(c.bank_conflicts, 1);
    assert_int_equal(c.load_requests + c.store_requests, 0);
    assert_int_equal(c.requests, 3);
}

static void bulk_kernel(const unsigned *in)
{
    struct shared {
        mbarrier barrier;
        alignas(16) unsigned words[256];
    } *shared = (struct shared *)emulator_shared_memory();
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->barrier, 1);
        mbarrier_expect(&shared->barrier, 1024);
        bulk_copy_to_shared(shared->words, in, 1024, &shared->barrier);
        mbarrier_arrive(&shared->barrier);
    }
    __syncthreads();
    mbarrier_wait(&shared->barrier, 0);
}

static void test_bulk_copies_have_sectors_and_no_request(void **)
{
    array<unsigned> in(256, 1);
    const memory_counts c = counts_of(bulk_kernel, 1, WARP, 2048, in.data);
    assert_int_equal(c.load_sectors, 32);
    assert_int_equal(c.load_bytes, 1024);
    assert_int_equal(c.requests, 0);
}

/* --- Launches ---------------------------------------------------------------------- */

/* Threads take turns where they wait, and blocks where one yields. */
static void turns_kernel(const unsigned *in, unsigned *out)
{
    unsigned *shared = (unsigned *)emulator_shared_memory();
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    STORE(shared[threadIdx.x], LOAD(in[2 * i]));
    __threadfence();
    unsigned sum = LOAD(shared[threadIdx.x]);
    for (unsigned lane = 1; lane < 32; lane *= 2)
        sum += __shfl_xor_sync(0xFFFFFFFF, sum, (int)lane);
    __syncthreads();
    STORE(out[i], sum + LOAD(shared[threadIdx.x * 2 % blockDim.x]));
}

static void test_order_does_not_matter(void **)
{
    array<unsigned> in(2 * 16 * 64, 1), out(16 * 64, 0);
    const memory_counts first =
        counts_of(turns_kernel, 16, 64, 64 * 4, (const unsigned *)in.data, out.data);
    assert_int_equal(first.barriers, 16);
    assert_int_equal(first.warp_collectives, 16 * 2 * 5);
    for (unsigned seed = 0; seed < SEEDS; seed++)
        for (unsigned resident : {1, 2, 13})
            for (unsigned yield_per_mille : {0, 2, 500}) {
                emulator_set_seed(seed);
                emulator_set_resident_blocks(resident);
                emulator_set_yield_rate(yield_per_mille);
                const memory_counts again =
                    counts_of(turns_kernel, 16, 64, 64 * 4, (const unsigned *)in.data, out.data);
                assert_memory_equal(&again, &first, sizeof first);
            }
}

/* What depends on the order of threads is counted in the same order each time. */
static void waiting_kernel(unsigned *flag, unsigned *turns)
{
    if (threadIdx.x == 0)
        atomicExch(flag, 1u);
    while (atomicAdd(flag, 0u) == 0)
        spin_wait();
    if (LOAD(*flag) == 2)
        LOAD(*turns);
}

static void test_seed_does_not_matter(void **)
{
    memory_counts first = {};
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        array<unsigned> flag(1, 0), turns(1, 0);
        emulator_set_seed(seed);
        const memory_counts c = counts_of(waiting_kernel, 1, BLOCK, 0, flag.data, turns.data);
        assert_true(c.atomics > BLOCK);
        if (seed > 0)
            assert_int_equal(c.atomics, first.atomics);
        first = c;
    }
}

static void test_only_between_start_and_stop(void **)
{
    array<unsigned> in(64, 1), out(64, 0);
    emulator_start_counting();
    for (unsigned stride : {1, 0})
        assert_int_equal(LAUNCH(copy_kernel, 1, 64, 0, in.data, out.data, stride), cudaSuccess);
    emulator_stop_counting();
    assert_int_equal(LAUNCH(copy_kernel, 1, 64, 0, in.data, out.data, 1), cudaSuccess);
    assert_int_equal(emulator_counted_launches(), 2);
    assert_int_equal(emulator_counts_of_launch(0)->load_sectors, 8);
    assert_int_equal(emulator_counts_of_launch(1)->load_sectors, 2);
}

/* Nothing of a launch that failed is left for the next. */
static void stuck_kernel(const unsigned *in)
{
    LOAD(in[threadIdx.x]);
    if (threadIdx.x > 0)
        __syncthreads();
}

static void test_failed_launch(void **)
{
    array<unsigned> in(64, 1), out(64, 0);
    emulator_start_counting();
    assert_failed(LAUNCH(stuck_kernel, 1, 64, 0, in.data), "barrier", "stuck_kernel");
    emulator_stop_counting();
    const memory_counts c = counts_of(copy_kernel, 1, 64, 0, in.data, out.data, 1u);
    assert_int_equal(c.load_requests, 2);
    assert_int_equal(c.requests, 4);
}

/* --- Lines ------------------------------------------------------------------------ */

/* Is inlined nowhere, and called by two kernels. */
[[gnu::noinline]] static unsigned strided_load(const unsigned *in)
{
    return LOAD(in[8 * threadIdx.x]);
}
enum { STRIDED = __LINE__ - 2 };

static void lines_kernel(const unsigned *in, unsigned *out)
{
    unsigned *shared = (unsigned *)emulator_shared_memory();
    STORE(shared[2 * threadIdx.x], strided_load(in));
    for (unsigned i = 0; i < 3; i++)
        atomicAdd(&shared[1], i);
    __syncthreads();
    if (threadIdx.x < 8)
        STORE(out[threadIdx.x], shared[0]);
}
enum { STORED = __LINE__ - 7, ADDED = __LINE__ - 5, LAST = __LINE__ - 2 };

static void other_kernel(const unsigned *in)
{
    if (strided_load(in) == 2)
        LOAD(in[0]);
}

static const struct memory_counts *of_line(const char *kernel, int number)
{
    const struct line_counts *lines;
    const size_t count = emulator_counts_of_lines(&lines);
    char line[64];
    snprintf(line, sizeof line, "emulator_counts_test.cpp:%d", number);
    for (size_t i = 0; i < count; i++)
        if (strcmp(lines[i].kernel, kernel) == 0 && strcmp(lines[i].line, line) == 0)
            return &lines[i].counts;
    fail_msg("%s has no %s", kernel, line);
    return NULL;
}

/* Two launches of one kernel, one of another in between. */
static void count_lines_of_three_launches(unsigned *in, unsigned *out)
{
    emulator_start_counting();
    assert_int_equal(LAUNCH(lines_kernel, 2, WARP, 64 * 4, in, out), cudaSuccess);
    assert_int_equal(LAUNCH(other_kernel, 1, WARP, 0, in), cudaSuccess);
    assert_int_equal(LAUNCH(lines_kernel, 1, WARP, 64 * 4, in, out), cudaSuccess);
    emulator_stop_counting();
}

static void test_lines(void **)
{
    array<unsigned> in(8 * WARP, 1), out(WARP, 0);
    count_lines_of_three_launches(in.data, out.data);
    const memory_counts *c = of_line("lines_kernel", STRIDED);
    assert_int_equal(c->load_requests, 3);
    assert_int_equal(c->load_sectors, 3 * WARP);
    assert_int_equal(c->load_bytes, 3 * WARP * 4);
    assert_int_equal(c->lanes, 3 * WARP);
    assert_int_equal(c->shared_requests, 0);
    c = of_line("other_kernel", STRIDED);
    assert_int_equal(c->load_requests, 1);
    c = of_line("lines_kernel", STORED);
    assert_int_equal(c->shared_requests, 3);
    assert_int_equal(c->bank_conflicts, 3);
    assert_int_equal(c->requests, 3);
    c = of_line("lines_kernel", ADDED);
    assert_int_equal(c->atomics, 3 * 3 * WARP);
    assert_int_equal(c->shared_requests, 3 * 3);
    c = of_line("lines_kernel", LAST);
    assert_int_equal(c->store_requests, 3);
    assert_int_equal(c->store_sectors, 3);
    assert_int_equal(c->lanes, 3 * 8);
    assert_int_equal(c->barriers, 0);
}

static void test_lines_are_in_order(void **)
{
    static const char *const kernels[] = {"lines_kernel", "lines_kernel", "lines_kernel",
                                          "lines_kernel", "other_kernel"};
    static const int numbers[] = {STRIDED, STORED, ADDED, LAST, STRIDED};
    array<unsigned> in(8 * WARP, 1), out(WARP, 0);
    const struct line_counts *lines;
    count_lines_of_three_launches(in.data, out.data);
    assert_int_equal(emulator_counts_of_lines(&lines), 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(lines[i].kernel, kernels[i]);
        assert_int_equal(atoi(strchr(lines[i].line, ':') + 1), numbers[i]);
    }
}

/* Launches have the sums of what their lines have. */
static void test_lines_add_up_to_launches(void **)
{
    array<unsigned> in(256, 1), out(16 * 64, 0);
    emulator_start_counting();
    assert_int_equal(LAUNCH(turns_kernel, 1, 64, 64 * 4, in.data, out.data), cudaSuccess);
    assert_int_equal(LAUNCH(tree_kernel, 3, 64, 64 * 4, out.data), cudaSuccess);
    assert_int_equal(LAUNCH(atomic_kernel, 2, WARP, 64 * 4, out.data), cudaSuccess);
    assert_int_equal(LAUNCH(bulk_kernel, 2, WARP, 2048, in.data), cudaSuccess);
    emulator_stop_counting();
    memory_counts launched = {}, lined = {};
    const struct line_counts *lines;
    const size_t count = emulator_counts_of_lines(&lines);
    for (size_t i = 0; i < count; i++)
        add_memory_counts(&lined, &lines[i].counts);
    for (size_t i = 0; i < emulator_counted_launches(); i++)
        add_memory_counts(&launched, emulator_counts_of_launch(i));
    launched.blocks = launched.barriers = launched.warp_collectives = 0;
    assert_memory_equal(&lined, &launched, sizeof lined);
    assert_true(lined.atomics > 0 && lined.bank_conflicts > 0 && lined.load_sectors > 64);
}

static void test_lines_begin_anew(void **)
{
    array<unsigned> in(8 * WARP, 1), out(WARP, 0);
    const struct line_counts *lines;
    count_lines_of_three_launches(in.data, out.data);
    counts_of(copy_kernel, 1, WARP, 0, in.data, out.data, 1u);
    assert_int_equal(emulator_counts_of_lines(&lines), 2);
    assert_string_equal(lines[0].kernel, "kernel"); /* as counts_of() calls it */
    emulator_start_counting();
    emulator_stop_counting();
    assert_int_equal(emulator_counts_of_lines(&lines), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_neighbours_share_sectors, set_up),
        cmocka_unit_test_setup(test_strided_loads_waste_sectors, set_up),
        cmocka_unit_test_setup(test_one_word_for_all_lanes, set_up),
        cmocka_unit_test_setup(test_last_warp_is_cut, set_up),
        cmocka_unit_test_setup(test_wide_accesses, set_up),
        cmocka_unit_test_setup(test_what_is_no_memory_of_the_device, set_up),
        cmocka_unit_test_setup(test_bank_conflicts, set_up),
        cmocka_unit_test_setup(test_places_are_told_apart, set_up),
        cmocka_unit_test_setup(test_turns_of_a_loop, set_up),
        cmocka_unit_test_setup(test_barriers_separate, set_up),
        cmocka_unit_test_setup(test_lanes_that_met_are_together_again, set_up),
        cmocka_unit_test_setup(test_atomics, set_up),
        cmocka_unit_test_setup(test_bulk_copies_have_sectors_and_no_request, set_up),
        cmocka_unit_test_setup(test_order_does_not_matter, set_up),
        cmocka_unit_test_setup(test_seed_does_not_matter, set_up),
        cmocka_unit_test_setup(test_only_between_start_and_stop, set_up),
        cmocka_unit_test_setup(test_failed_launch, set_up),
        cmocka_unit_test_setup(test_lines, set_up),
        cmocka_unit_test_setup(test_lines_are_in_order, set_up),
        cmocka_unit_test_setup(test_lines_add_up_to_launches, set_up),
        cmocka_unit_test_setup(test_lines_begin_anew, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
