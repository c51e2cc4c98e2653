/* emulator_races_test.cpp: what orders threads, and the races that the emulator finds where nothing
 * does. */
#include "emulator_testing.h"

#include "ptx.h"

#include <initializer_list>

/* Kernels of this file are compiled without the compiler's calls, and make them here. */
extern "C" {
void __tsan_read4(const void *);
void __tsan_write1(const void *);
void __tsan_write4(const void *);
void __tsan_volatile_read4(const void *);
void __tsan_volatile_write4(const void *);
void __tsan_write_range(const void *, size_t);
}

#define LOAD(place) (__tsan_read4(&(place)), (place))
#define STORE(place, value) (__tsan_write4(&(place)), (place) = (value))
#define LOAD_VOLATILE(place) \
    (__tsan_volatile_read4(&(place)), *const_cast<const volatile unsigned *>(&(place)))
static void store_volatile(unsigned *place, unsigned value)
{
    __tsan_volatile_write4(place);
    *const_cast<volatile unsigned *>(place) = value;
}

/* Few, because finding lines takes longest. */
enum : unsigned { WARP = 32, WHOLE = 0xFFFFFFFF, FEW_SEEDS = 2 };

/* A launch that is looked at, with each seed. */
template <class... P, class... A>
static void assert_no_race(void (*kernel)(P...), unsigned grid, unsigned block, A... arguments)
{
    emulator_find_races(true);
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        emulator_set_seed(seed);
        if (LAUNCH(kernel, grid, block, 4096, arguments...) != cudaSuccess)
            fail_msg("%s", emulator_error_detail());
    }
    emulator_find_races(false);
}

template <class... P, class... A>
static void assert_race(const char *part, void (*kernel)(P...), unsigned grid, unsigned block,
                        A... arguments)
{
    emulator_find_races(true);
    for (unsigned seed = 1; seed <= FEW_SEEDS; seed++) {
        emulator_set_seed(seed);
        assert_failed(LAUNCH(kernel, grid, block, 4096, arguments...), "race on", part);
    }
    emulator_find_races(false);
}

static unsigned *shared_words(void)
{
    return (unsigned *)emulator_shared_memory();
}

/* --- Within a block ------------------------------------------------------------ */

/* Each thread writes a word and reads that of the thread `distance` before, after `order`; in a
 * second round, what was read is written. */
enum order { NOTHING, BARRIER, WARP_BARRIER, HALF_WARP_BARRIER, SHUFFLE, VOTE };

static void meet(enum order order)
{
    const unsigned half = threadIdx.x % WARP < WARP / 2 ? 0xFFFF : 0xFFFF0000;
    if (order == BARRIER)
        __syncthreads();
    else if (order == WARP_BARRIER)
        __syncwarp();
    else if (order == HALF_WARP_BARRIER)
        __syncwarp(half);
    else if (order == SHUFFLE)
        __shfl_sync(WHOLE, 1u, 0);
    else if (order == VOTE)
        __any_sync(WHOLE, 1);
}

static void exchange_kernel(enum order order, unsigned distance)
{
    unsigned *words = shared_words();
    STORE(words[threadIdx.x], threadIdx.x);
    meet(order);
    const unsigned from = (threadIdx.x + blockDim.x - distance) % blockDim.x;
    LOAD(words[from]);
}

static void test_barriers_order_a_block(void **)
{
    assert_no_race(exchange_kernel, 2, 256, BARRIER, 100u);
    for (enum order order : {NOTHING, WARP_BARRIER, SHUFFLE})
        assert_race("race on shared memory in kernel, block ", exchange_kernel, 2, 256, order,
                    100u);
    assert_race("and no barrier lies between", exchange_kernel, 1, 256, WARP_BARRIER, 32u);
}

static void test_collectives_order_lanes(void **)
{
    for (enum order order : {BARRIER, WARP_BARRIER, SHUFFLE, VOTE})
        assert_no_race(exchange_kernel, 1, WARP, order, 1u);
    assert_race("and no __syncwarp() or barrier lies between", exchange_kernel, 1, WARP, NOTHING,
                1u);
    assert_race("and no __syncwarp() or barrier lies between", exchange_kernel, 1, WARP,
                HALF_WARP_BARRIER, 1u);
}

/* Only the named lanes: what half a warp exchanges. */
static void exchange_of_halves_kernel(void)
{
    unsigned *words = shared_words();
    STORE(words[threadIdx.x], threadIdx.x);
    meet(HALF_WARP_BARRIER);
    LOAD(words[threadIdx.x ^ 1]);
}

static void test_half_a_warp(void **)
{
    assert_no_race(exchange_of_halves_kernel, 1, 64);
}

/* A word is read by all, then written by one: the barrier that loops lack most often. */
static void read_then_write_kernel(bool with_barrier)
{
    unsigned *words = shared_words();
    if (threadIdx.x == 0)
        STORE(words[0], 1);
    __syncthreads();
    LOAD(words[0]);
    if (with_barrier)
        __syncthreads();
    if (threadIdx.x == 77)
        STORE(words[0], 1);
}

static void test_write_after_read(void **)
{
    assert_no_race(read_then_write_kernel, 1, 256, true);
    assert_race("it at emulator_races_test.cpp:", read_then_write_kernel, 1, 256, false);
}

/* Two barriers on, nothing of before is left. */
static void turns_kernel(unsigned turns)
{
    unsigned *words = shared_words();
    for (unsigned turn = 0; turn < turns; turn++) {
        STORE(words[(threadIdx.x + turn) % blockDim.x], turn);
        __syncthreads();
        LOAD(words[(threadIdx.x + 2 * turn) % blockDim.x]);
        __syncthreads();
    }
}

static void test_many_turns(void **)
{
    assert_no_race(turns_kernel, 12, 96, 20u);
}

static void same_value_kernel(bool different)
{
    unsigned *words = shared_words();
    STORE(words[0], different ? threadIdx.x : 7);
    __syncthreads();
    LOAD(words[0]);
}

static void test_stores_of_the_same_value(void **)
{
    assert_no_race(same_value_kernel, 1, 64, false);
    assert_race("wrote it", same_value_kernel, 1, 64, true);
}

static void bytes_kernel(unsigned bytes)
{
    unsigned char *words = (unsigned char *)shared_words();
    for (unsigned b = 0; b < bytes; b++) {
        __tsan_write1(&words[threadIdx.x + b]);
        words[threadIdx.x + b] = (unsigned char)(threadIdx.x + 1);
    }
}

static void test_bytes_of_a_word(void **)
{
    assert_no_race(bytes_kernel, 1, 64, 1u);
    assert_race("byte ", bytes_kernel, 1, 64, 2u);
}

/* Without __syncwarp(), `volatile` does not keep lanes in step. */
static void in_step_kernel(unsigned distance)
{
    unsigned *words = shared_words();
    store_volatile(&words[threadIdx.x], threadIdx.x);
    LOAD_VOLATILE(words[(threadIdx.x + distance) % blockDim.x]);
}

static void test_lanes_are_not_in_step(void **)
{
    assert_race("thread ", in_step_kernel, 1, WARP, 1u);
    assert_no_race(in_step_kernel, 1, 2 * WARP, 32u); /* flags between warps may be volatile */
}

static void wide_kernel(unsigned shift)
{
    unsigned *words = shared_words();
    if (threadIdx.x == 0) {
        __tsan_write_range(words, 16);
        memset(words, 1, 16);
    } else if (threadIdx.x == WARP) {
        STORE(words[3 + shift], 5);
    }
}

static void test_wide_accesses(void **)
{
    assert_no_race(wide_kernel, 1, 64, 1u);
    assert_race("word 3 of the launch's shared memory", wide_kernel, 1, 64, 0u);
}

/* --- Atomics, flags --------------------------------------------------------------- */

static void atomics_kernel(unsigned *sum, bool plain)
{
    atomicAdd(sum, 1u);
    if (threadIdx.x == 40 && plain)
        LOAD(*sum);
    __syncthreads();
    if (gridDim.x == 1)
        LOAD(*sum);
}

static void test_atomics_race_with_others_only(void **)
{
    array<unsigned> sum(1, 0);
    assert_no_race(atomics_kernel, 1, 64, sum.data, false);
    assert_no_race(atomics_kernel, 4, 64, sum.data, false);
    assert_race("word 0 of a buffer of 4 bytes", atomics_kernel, 1, 64, sum.data, true);
}

/* A block tells the next that its value is there. */
enum telling { NO_FLAG, NO_FENCE, BY_ATOMIC, BY_VOLATILE, FLAG_FIRST };

static void tell(unsigned *value, unsigned *flag, enum telling how)
{
    if (how == FLAG_FIRST) {
        __threadfence();
        atomicExch(flag, 1u);
    }
    STORE(*value, 5);
    if (how != NO_FENCE)
        __threadfence();
    if (how == BY_ATOMIC || how == NO_FENCE)
        atomicExch(flag, 1u);
    else if (how == BY_VOLATILE)
        store_volatile(flag, 1);
}

static void wait_for(unsigned *flag, enum telling how)
{
    if (how == NO_FLAG)
        return;
    if (how == BY_VOLATILE)
        while (LOAD_VOLATILE(*flag) == 0)
            spin_wait();
    else
        while (atomicAdd(flag, 0u) == 0)
            spin_wait();
}

static void chain_kernel(unsigned *values, unsigned *flags, enum telling how)
{
    const unsigned b = blockIdx.x;
    if (threadIdx.x != 3)
        return;
    if (b > 0) {
        wait_for(&flags[b - 1], how);
        LOAD(values[b - 1]);
        if (b > 1 && how != FLAG_FIRST)
            LOAD(values[b - 2]); /* known by way of the block between */
    }
    tell(&values[b], &flags[b], how);
}

static void chain(const char *part, enum telling how)
{
    for (unsigned seed = 1; seed <= FEW_SEEDS; seed++) {
        array<unsigned> values(40, 0), flags(40, 0);
        emulator_set_seed(seed);
        emulator_find_races(true);
        const cudaError_t error =
            emulator_launch(chain_kernel, "chain_kernel", 4, 64, 0, EMULATOR_ALL_RESIDENT, nullptr,
                            values.data, flags.data, how);
        emulator_find_races(false);
        if (part)
            assert_failed(error, "race on global memory in chain_kernel", part);
        else if (error)
            fail_msg("%s", emulator_error_detail());
    }
}

static void test_flags_order_blocks(void **)
{
    chain(NULL, BY_ATOMIC);
    chain(NULL, BY_VOLATILE);
    chain("nothing orders the two blocks", NO_FLAG);
    chain("of a buffer of 160 bytes", NO_FENCE);
    chain("nothing orders the two blocks", FLAG_FIRST);
}

/* All threads of a block write, and one of them tells of it; all of the next block read, after one
 * has waited. */
static void whole_blocks_kernel(unsigned *values, unsigned *flags, bool all_wait)
{
    const unsigned t = threadIdx.x, b = blockIdx.x;
    if (b == 1) {
        if (t == 0)
            wait_for(flags, BY_VOLATILE);
        if (all_wait)
            __syncthreads();
        LOAD(values[blockDim.x - 1 - t]);
        return;
    }
    STORE(values[t], t);
    __syncthreads();
    if (t == 0) {
        __threadfence();
        store_volatile(flags, 1);
    }
}

static void test_barriers_pass_on_what_flags_tell(void **)
{
    for (unsigned seed = 1; seed <= FEW_SEEDS; seed++)
        for (const bool all_wait : {true, false}) {
            array<unsigned> values(64, 0), flags(1, 0);
            emulator_set_seed(seed);
            emulator_find_races(true);
            const cudaError_t error =
                emulator_launch(whole_blocks_kernel, "whole_blocks_kernel", 2, 64, 0,
                                EMULATOR_ALL_RESIDENT, nullptr, values.data, flags.data, all_wait);
            emulator_find_races(false);
            if (!all_wait)
                assert_failed(error, "race on global memory", "nothing orders");
            else if (error)
                fail_msg("%s", emulator_error_detail());
        }
}

/* The block that ends last adds up what all have left. */
static void last_block_kernel(unsigned *parts, unsigned *ticket, unsigned *sum, bool with_fence)
{
    if (threadIdx.x > 0)
        return;
    STORE(parts[blockIdx.x], blockIdx.x);
    if (with_fence)
        __threadfence();
    if (atomicAdd(ticket, 1u) != gridDim.x - 1)
        return;
    STORE(*ticket, 0);
    for (unsigned b = 0; b < gridDim.x; b++)
        *sum += LOAD(parts[b]);
}

static void test_last_block(void **)
{
    array<unsigned> parts(300, 0), ticket(1, 0), sum(1, 0);
    assert_no_race(last_block_kernel, 300, WARP, parts.data, ticket.data, sum.data, true);
    emulator_find_races(true);
    assert_failed(LAUNCH(last_block_kernel, 300, WARP, 0, parts.data, ticket.data, sum.data, false),
                  "race on global memory", "last_block_kernel");
    emulator_find_races(false);
}

static void neighbour_kernel(unsigned *words, unsigned shift)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    STORE(words[i], LOAD(words[i + shift]) + 1);
}

static void test_blocks_race(void **)
{
    array<unsigned> words(4 * WARP + WARP, 1);
    assert_no_race(neighbour_kernel, 4, WARP, words.data,
                   0u); /* launches come one after the other */
    assert_race("race on global memory in kernel: thread ", neighbour_kernel, 4, WARP, words.data,
                (unsigned)WARP);
}

/* --- Copies and clusters ------------------------------------------------------------ */

static void copy_kernel(const unsigned *in, bool waits)
{
    struct shared {
        mbarrier barrier;
        alignas(16) unsigned words[256];
    } *shared = (struct shared *)emulator_shared_memory();
    if (threadIdx.x == 0)
        mbarrier_init(&shared->barrier, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        mbarrier_expect(&shared->barrier, 1024);
        bulk_copy_to_shared(shared->words, in, 1024, &shared->barrier);
        mbarrier_arrive(&shared->barrier);
    }
    if (waits || threadIdx.x == 0)
        mbarrier_wait(&shared->barrier, 0);
    LOAD(shared->words[threadIdx.x]);
}

static void test_bulk_copies_are_waited_for(void **)
{
    array<unsigned> in(256, 1);
    assert_no_race(copy_kernel, 2, 64, in.data, true);
    assert_race("race on shared memory", copy_kernel, 2, 64, in.data, false);
}

static void cluster_kernel(unsigned *words, bool waits)
{
    const unsigned b = blockIdx.x, t = threadIdx.x;
    STORE(words[b * WARP + t], b);
    if (waits) {
        cluster_arrive();
        cluster_wait();
    }
    LOAD(words[(b + 1) % gridDim.x * WARP + t]);
}

static void test_a_barrier_of_the_cluster(void **)
{
    array<unsigned> words(4 * WARP, 1);
    emulator_find_races(true);
    for (const bool waits : {true, false}) {
        const cudaError_t error = emulator_launch(cluster_kernel, "cluster_kernel", 4, WARP, 0,
                                                  EMULATOR_ONE_CLUSTER, nullptr, words.data, waits);
        if (waits)
            assert_int_equal(error, cudaSuccess);
        else
            assert_failed(error, "race on global memory in cluster_kernel", "nothing orders");
    }
    emulator_find_races(false);
}

/* --- Launches ------------------------------------------------------------------------- */

static void test_only_if_wanted(void **)
{
    assert_int_equal(LAUNCH(same_value_kernel, 1, 64, 4096, true), cudaSuccess);
    emulator_find_races(true);
    assert_failed(LAUNCH(same_value_kernel, 1, 64, 4096, true), "race", "same_value_kernel");
    assert_true(emulator_found_race());
    assert_int_equal(LAUNCH(same_value_kernel, 1, 64, 4096, false), cudaSuccess);
    assert_false(emulator_found_race());
    emulator_find_races(false);
    assert_int_equal(LAUNCH(same_value_kernel, 1, 64, 4096, true), cudaSuccess);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_barriers_order_a_block, set_up),
        cmocka_unit_test_setup(test_collectives_order_lanes, set_up),
        cmocka_unit_test_setup(test_half_a_warp, set_up),
        cmocka_unit_test_setup(test_write_after_read, set_up),
        cmocka_unit_test_setup(test_many_turns, set_up),
        cmocka_unit_test_setup(test_stores_of_the_same_value, set_up),
        cmocka_unit_test_setup(test_bytes_of_a_word, set_up),
        cmocka_unit_test_setup(test_lanes_are_not_in_step, set_up),
        cmocka_unit_test_setup(test_wide_accesses, set_up),
        cmocka_unit_test_setup(test_atomics_race_with_others_only, set_up),
        cmocka_unit_test_setup(test_flags_order_blocks, set_up),
        cmocka_unit_test_setup(test_barriers_pass_on_what_flags_tell, set_up),
        cmocka_unit_test_setup(test_last_block, set_up),
        cmocka_unit_test_setup(test_blocks_race, set_up),
        cmocka_unit_test_setup(test_bulk_copies_are_waited_for, set_up),
        cmocka_unit_test_setup(test_a_barrier_of_the_cluster, set_up),
        cmocka_unit_test_setup(test_only_if_wanted, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
