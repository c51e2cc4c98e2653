/* emulator_test.cpp: correct kernels give correct results in the emulator, and kernels with a
 * deliberate error show each kind of error. */
#include "emulator/emulator.h"
#include "kernels/async_copy.cuh"

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
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ASAN 1
#endif
#endif

static const unsigned SEEDS = 8, BLOCK = 256;

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

#define LAUNCH(kernel, grid, block, shared_bytes, ...) \
    emulator_launch(kernel, #kernel, grid, block, shared_bytes, false, nullptr, __VA_ARGS__)

static void assert_detail_has(const char *part)
{
    const char *detail = emulator_error_detail();
    if (!strstr(detail, part))
        fail_msg("\"%s\" is not in \"%s\"", part, detail);
    assert_true(strlen(detail) < 512);
}

/* The launch failed, its text has these parts, and everything fails until a reset. */
static void assert_failed(cudaError_t error, const char *kind, const char *place)
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

static int set_up(void **)
{
    emulator_reset();
    emulator_set_seed(1);
    emulator_set_resident_blocks(0);
    emulator_set_multiprocessors(0);
    emulator_set_yield_rate(EMULATOR_DEFAULT_YIELD_PER_MILLE);
    return 0;
}

/* --- Correct kernels -------------------------------------------------------- */

static void block_reduce_kernel(const int *in, int *out, uint64_t n)
{
    int *sums = (int *)emulator_shared_memory();
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    sums[threadIdx.x] = i < n ? in[i] : 0;
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = sums[0];
}

static void test_block_reduce(void **)
{
    const int N = 10000;
    array<int> in(N, 3), out((N + BLOCK - 1) / BLOCK, 0);
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        emulator_set_seed(seed);
        assert_int_equal(LAUNCH(block_reduce_kernel, out.count, BLOCK, BLOCK * sizeof(int), in.data,
                                out.data, N),
                         cudaSuccess);
        int sum = 0;
        for (size_t i = 0; i < out.count; i++)
            sum += out[i];
        assert_int_equal(sum, 3 * N);
    }
}

template <class T> static void warp_scan_kernel(const T *in, T *out, int width)
{
    const int lane = (int)threadIdx.x % width;
    T sum = in[threadIdx.x];
    for (int distance = 1; distance < width; distance *= 2) {
        const T other = __shfl_up_sync(0xFFFFFFFFu, sum, (unsigned)distance, width);
        if (lane >= distance)
            sum += other;
    }
    out[threadIdx.x] = sum;
}

template <class T> static void check_warp_scan(int width)
{
    array<T> in(BLOCK, 0), out(BLOCK, 0);
    for (int i = 0; i < (int)BLOCK; i++)
        in[i] = (T)(i * 7 + 1);
    assert_int_equal(LAUNCH(warp_scan_kernel<T>, 1, BLOCK, 0, in.data, out.data, width),
                     cudaSuccess);
    T sum = 0;
    for (int i = 0; i < (int)BLOCK; i++) {
        sum = i % width ? sum + in[i] : in[i];
        assert_true(out[i] == sum);
    }
}

static void test_warp_scan(void **)
{
    for (int width = 1; width <= 32; width *= 2) {
        check_warp_scan<int>(width);
        check_warp_scan<unsigned long long>(width);
        check_warp_scan<int64_t>(width);
        check_warp_scan<float>(width);
        check_warp_scan<double>(width);
    }
}

/* Odd and even lanes, each with their own mask; then the first five lanes alone. */
static void partial_masks_kernel(int *out)
{
    const int lane = (int)threadIdx.x % 32;
    const bool odd = lane & 1;
    const unsigned mask = odd ? 0xAAAAAAAAu : 0x55555555u;
    int sum = lane;
    for (int distance = 2; distance < 32; distance *= 2) {
        if (odd)
            sum += __shfl_xor_sync(mask, sum, distance);
        else
            sum += __shfl_xor_sync(mask, sum, distance);
    }
    if (lane < 5)
        sum += 1000 * (int)__reduce_add_sync(0x1Fu, lane);
    __syncwarp();
    out[threadIdx.x] = sum;
}

static void test_partial_masks(void **)
{
    array<int> out(BLOCK, 0);
    assert_int_equal(LAUNCH(partial_masks_kernel, 1, BLOCK, 0, out.data), cudaSuccess);
    for (int i = 0; i < (int)BLOCK; i++)
        assert_int_equal(out[i], (i & 1 ? 256 : 240) + (i % 32 < 5 ? 10000 : 0));
}

struct votes {
    unsigned ballot, any, all, match_any, match_all, from_3, down, outside, min_signed, max_bits;
    int match_all_predicate;
};

static void votes_kernel(votes *out)
{
    const int lane = (int)threadIdx.x;
    const unsigned all = 0xFFFFFFFFu;
    votes *v = &out[lane];
    v->ballot = __ballot_sync(all, lane % 3 == 0);
    v->any = (unsigned)__any_sync(all, lane == 31);
    v->all = (unsigned)__all_sync(all, lane < 31);
    v->match_any = __match_any_sync(all, lane / 8);
    v->match_all = __match_all_sync(all, 2.5, &v->match_all_predicate);
    v->from_3 = __shfl_sync(all, (unsigned)lane, 3);
    v->down = __shfl_down_sync(all, (unsigned)lane, 4, 16);
    v->min_signed = (unsigned)__reduce_min_sync(all, lane - 7);
    v->max_bits = __reduce_max_sync(all, (unsigned)(lane - 7));
    v->outside = lane < 4 ? __shfl_sync(0xFu, (unsigned)lane, 9) : 0;
}

static void test_votes(void **)
{
    array<votes> out(32, votes{});
    assert_int_equal(LAUNCH(votes_kernel, 1, 32, 0, out.data), cudaSuccess);
    for (unsigned lane = 0; lane < 32; lane++) {
        const votes &v = out[lane];
        assert_int_equal(v.ballot, 0x49249249u);
        assert_int_equal(v.any, 1);
        assert_int_equal(v.all, 0);
        assert_int_equal(v.match_any, 0xFFu << lane / 8 * 8);
        assert_int_equal(v.match_all, 0xFFFFFFFFu);
        assert_int_equal(v.match_all_predicate, 1);
        assert_int_equal(v.from_3, 3);
        assert_int_equal(v.down, lane % 16 + 4 < 16 ? lane + 4 : lane);
        assert_int_equal((int)v.min_signed, -7);
        assert_int_equal(v.max_bits, 0xFFFFFFFFu);
        assert_int_equal(v.outside, lane < 4 ? 0xCBCBCBCBu : 0);
    }
}

static void block_votes_kernel(int *out)
{
    const int i = (int)threadIdx.x;
    const int count = __syncthreads_count(i % 5 == 0);
    const int all = __syncthreads_and(i >= 0);
    const int not_all = __syncthreads_and(i > 0);
    const int any = __syncthreads_or(i == 77);
    const int none = __syncthreads_or(i < 0);
    out[i] = count == 20 && all && !not_all && any && !none;
}

static void test_block_votes(void **)
{
    array<int> out(100, 0); /* the last warp is not full */
    assert_int_equal(LAUNCH(block_votes_kernel, 1, 100, 0, out.data), cudaSuccess);
    for (int i = 0; i < 100; i++)
        assert_int_equal(out[i], 1);
}

struct counters {
    int sum, lowest, highest;
    unsigned bits, toggled, ring;
    unsigned long long wide, exchanged;
    double real;
    int locked;
    unsigned lock;
};

static void atomics_kernel(counters *c)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&c->sum, 1);
    atomicMin(&c->lowest, -(int)i);
    atomicMax(&c->highest, (int)i);
    atomicOr(&c->bits, 1u << (i % 32));
    atomicXor(&c->toggled, i);
    atomicInc(&c->ring, 9);
    atomicAdd(&c->wide, 1ull << 33);
    atomicExch(&c->exchanged, 5ull);
    atomicAdd(&c->real, 0.5);
    while (atomicCAS(&c->lock, 0u, 1u) != 0)
        spin_wait();
    const int seen = c->locked;
    spin_wait();
    c->locked = seen + 1;
    __threadfence();
    atomicExch(&c->lock, 0u);
}

static void test_atomics(void **)
{
    const int GRID = 9, THREADS = GRID * 64;
    array<counters> c(1, counters{});
    assert_int_equal(LAUNCH(atomics_kernel, GRID, 64, 0, c.data), cudaSuccess);
    assert_int_equal(c[0].sum, THREADS);
    assert_int_equal(c[0].lowest, -(THREADS - 1));
    assert_int_equal(c[0].highest, THREADS - 1);
    assert_int_equal(c[0].bits, 0xFFFFFFFFu);
    assert_int_equal(c[0].toggled, 0);
    assert_int_equal(c[0].ring, THREADS % 10);
    assert_true(c[0].wide == (unsigned long long)THREADS << 33);
    assert_true(c[0].exchanged == 5);
    assert_true(c[0].real == THREADS * 0.5);
    assert_int_equal(c[0].locked, THREADS);
}

/* Each block waits for the sum of the block one ticket before. */
static void chain_kernel(unsigned *ticket, unsigned *sums, unsigned *flags)
{
    unsigned *shared = (unsigned *)emulator_shared_memory();
    if (threadIdx.x == 0)
        shared[0] = atomicAdd(ticket, 1u);
    __syncthreads();
    const unsigned tile = shared[0];
    if (threadIdx.x == 0) {
        unsigned before = 0;
        if (tile > 0) {
            while (__ldcg(&flags[tile - 1]) == 0)
                spin_wait();
            __threadfence();
            before = __ldcg(&sums[tile - 1]);
        }
        __stcg(&sums[tile], before + tile);
        __threadfence();
        __stcg(&flags[tile], 1u);
    }
    __syncthreads();
}

static void test_chain_over_more_blocks_than_resident(void **)
{
    enum { TILES = 300 };
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        for (unsigned resident : {1, 2, 4, 13}) {
            array<unsigned> ticket(1, 0), sums(TILES, 0), flags(TILES, 0);
            emulator_set_seed(seed);
            emulator_set_resident_blocks(resident);
            assert_int_equal(LAUNCH(chain_kernel, TILES, 64, 4, ticket.data, sums.data, flags.data),
                             cudaSuccess);
            assert_int_equal(sums[TILES - 1], TILES * (TILES - 1) / 2);
        }
    }
}

/* A barrier of all blocks, allowed only in a cooperative launch. */
static void grid_barrier_kernel(unsigned *arrived, int *wrong)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1u);
        while (__ldcg(arrived) < gridDim.x)
            spin_wait();
    }
    __syncthreads();
    if (*arrived != gridDim.x)
        atomicAdd(wrong, 1);
}

static void test_cooperative_launch(void **)
{
    int blocks = 0;
    assert_int_equal(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, grid_barrier_kernel, BLOCK, 0),
        cudaSuccess);
    const unsigned held = (unsigned)blocks * EMULATOR_DEFAULT_MULTIPROCESSORS;
    assert_int_equal(held, 32);

    array<unsigned> arrived(1, 0);
    array<int> wrong(1, 0);
    assert_int_equal(emulator_launch(grid_barrier_kernel, "grid_barrier_kernel", held, BLOCK, 0,
                                     true, nullptr, arrived.data, wrong.data),
                     cudaSuccess);
    assert_int_equal(wrong[0], 0);

    assert_int_equal(emulator_launch(grid_barrier_kernel, "grid_barrier_kernel", held + 1, BLOCK, 0,
                                     true, nullptr, arrived.data, wrong.data),
                     cudaErrorCooperativeLaunchTooLarge);
    assert_detail_has("33 cooperative blocks");
    assert_int_equal(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
    assert_int_equal(cudaGetLastError(), cudaSuccess); /* not sticky */

    /* The same kernel as a plain launch waits for blocks that are not resident. */
    arrived[0] = 0;
    assert_failed(LAUNCH(grid_barrier_kernel, 8, BLOCK, 0, arrived.data, wrong.data), "deadlock",
                  "4 wait for a slot");
}

static int asked_for_multiprocessors(void)
{
    int count = 0;
    cudaDeviceProp properties;
    assert_int_equal(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0),
                     cudaSuccess);
    assert_int_equal(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
    assert_int_equal(properties.multiProcessorCount, count);
    return count;
}

/* The number of multiprocessors sets how many blocks are resident at once. */
static void test_multiprocessors(void **)
{
    array<unsigned> arrived(1, 0);
    array<int> wrong(1, 0);
    assert_int_equal(asked_for_multiprocessors(), EMULATOR_DEFAULT_MULTIPROCESSORS);
    for (unsigned count : {1u, 3u, 10u}) {
        const unsigned held = 2048 / BLOCK * count;
        emulator_set_multiprocessors(count);
        assert_int_equal(asked_for_multiprocessors(), count);
        arrived[0] = 0;
        assert_int_equal(emulator_launch(grid_barrier_kernel, "grid_barrier_kernel", held, BLOCK, 0,
                                         true, nullptr, arrived.data, wrong.data),
                         cudaSuccess);
        assert_int_equal(arrived[0], held);
        assert_int_equal(emulator_launch(grid_barrier_kernel, "grid_barrier_kernel", held + 1,
                                         BLOCK, 0, true, nullptr, arrived.data, wrong.data),
                         cudaErrorCooperativeLaunchTooLarge);
        assert_int_equal(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
    }
    assert_int_equal(wrong[0], 0);
    emulator_set_multiprocessors(0);
    assert_int_equal(asked_for_multiprocessors(), EMULATOR_DEFAULT_MULTIPROCESSORS);
}

static void index_kernel(unsigned long long *sum, unsigned *visits)
{
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(sum, (unsigned long long)i);
    visits[i]++;
}

/* Every block runs exactly once, for any size of the grid. */
static void test_every_block_once(void **)
{
    for (unsigned grid : {1u, 2u, 3u, 5u, 64u, 65u, 1000u, 4097u}) {
        for (unsigned block : {1u, 32u, 33u}) {
            array<unsigned long long> sum(1, 0);
            array<unsigned> visits((size_t)grid * block, 0);
            assert_int_equal(LAUNCH(index_kernel, grid, block, 0, sum.data, visits.data),
                             cudaSuccess);
            for (size_t i = 0; i < visits.count; i++)
                assert_int_equal(visits[i], 1);
        }
    }
}

static void stop_in_large_grid_kernel(uint64_t *largest)
{
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i > *largest)
        *largest = i;
    if (*largest > (uint64_t)1 << 40)
        __trap();
}

static void test_largest_grid(void **)
{
    array<uint64_t> largest(1, 0);
    assert_failed(LAUNCH(stop_in_large_grid_kernel, 0x7FFFFFFFu, 1024, 0, largest.data), "trap",
                  "emulator_test.cpp");
    assert_true(largest[0] > (uint64_t)1 << 40);
}

static void bits_kernel(int *wrong)
{
    const struct {
        long long got, wanted;
    } rows[] = {
        {__popc(0xF0F0u), 8},
        {__popcll(~0ull), 64},
        {__clz(1), 31},
        {__clz(0), 32},
        {__clzll(1), 63},
        {__clzll(0), 64},
        {__ffs(0x50), 5},
        {__ffs(0), 0},
        {__ffsll(1ll << 40), 41},
        {__brev(1u), 0x80000000ll},
        {(long long)__brevll(2ull), 0x4000000000000000ll},
        {__funnelshift_l(0x80000001u, 0x12345678u, 4), 0x23456788ll},
        {__funnelshift_r(0x80000001u, 0x12345678u, 4), 0x88000000ll},
        {__funnelshift_lc(7, 9, 32), 7},
        {__byte_perm(0x33221100u, 0x77665544u, 0x7410u), 0x77441100ll},
        {__umulhi(0x80000000u, 6u), 3},
        {(long long)__umul64hi(1ull << 63, 6ull), 3},
        {__mulhi(-1, 5), -1},
        {__float_as_uint(1.0f), 0x3F800000ll},
        {(long long)__uint_as_float(0x40000000u), 2},
        {__double_as_longlong(2.0), 0x4000000000000000ll},
        {min(3, 4u), 3},
        {max(-3ll, 4), 4},
        {(long long)alignof(uint4), 16},
        {(long long)alignof(double2), 16},
        {(long long)alignof(int2), 8},
        {(long long)sizeof(uint3), 12},
        {make_int4(1, 2, 3, 4).w, 4},
        {blockDim.y + blockDim.z + gridDim.y + threadIdx.y + blockIdx.z, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].got != rows[i].wanted)
            *wrong = (int)i + 1;
}

static void test_bits(void **)
{
    array<int> wrong(1, 0);
    assert_int_equal(LAUNCH(bits_kernel, 1, 1, 0, wrong.data), cudaSuccess);
    assert_int_equal(wrong[0], 0);
}

/* Records how many steps the leading warp is ahead of another. */
static void drifting_kernel(unsigned *most)
{
    unsigned *steps = static_cast<unsigned *>(emulator_shared_memory());
    const unsigned warp = threadIdx.x / 32;
    if (threadIdx.x < BLOCK / 32)
        steps[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned step = 1; step <= 500; step++) {
        __syncwarp();
        if (threadIdx.x % 32 == 0) {
            steps[warp] = step;
            for (unsigned other = 0; other < BLOCK / 32; other++)
                if (steps[other] < step)
                    atomicMax(most, step - steps[other]);
        }
    }
}

/* Code that is correct only while warps run side by side must fail. */
static void test_warps_drift_apart(void **)
{
    array<unsigned> most(1, 0);
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        emulator_set_seed(seed);
        assert_int_equal(
            LAUNCH(drifting_kernel, 4, BLOCK, BLOCK / 32 * sizeof(unsigned), most.data),
            cudaSuccess);
    }
    assert_in_range(most[0], 30, 499);
}

/* --- Kernels with deliberate errors ----------------------------------------- */

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
                  "(32 in all) wait at emulator_test.cpp:");
    /* Afterwards everything works. */
    test_block_reduce(NULL);
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

static const unsigned BULK_TILE = 256;

struct bulk_shared {
    emulated::mbarrier full, free;
    alignas(16) uint32_t tile[BULK_TILE];
};

/* One warp fills a tile by bulk copies and the other copies it out, repeatedly. */
static void bulk_copy_kernel(const uint32_t *in, uint32_t *out, uint64_t n, bool waits)
{
    using namespace emulated;
    auto *shared = shared_memory<bulk_shared>();
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->full, WARP);
        mbarrier_init(&shared->free, WARP);
        mbarrier_publish_init();
    }
    __syncthreads();
    for (unsigned round = 0; round * BULK_TILE < n; round++) {
        if (threadIdx.x < WARP) {
            if (round > 0)
                warp_wait(&shared->free, (round - 1) & 1);
            bulk_load(shared->tile, BULK_TILE, in, round * BULK_TILE, n, &shared->full);
        } else {
            if (waits)
                warp_wait(&shared->full, round & 1);
            for (unsigned i = lane_index(); i < BULK_TILE; i += WARP)
                out[round * BULK_TILE + i] = shared->tile[i];
            mbarrier_arrive(&shared->free);
        }
    }
}

/* Counts elements that differ from the source, or are not zero past the end. */
static unsigned wrong_after_bulk_copies(uint64_t n, bool waits)
{
    const unsigned TILES = 4;
    array<uint32_t> in(TILES * BULK_TILE, 0), out(TILES * BULK_TILE, 0);
    for (unsigned i = 0; i < n; i++)
        in[i] = 3 * i + 1;
    assert_int_equal(
        LAUNCH(bulk_copy_kernel, 1, 64, sizeof(bulk_shared), in.data, out.data, n, waits),
        cudaSuccess);
    unsigned wrong = 0;
    for (unsigned i = 0; i < TILES * BULK_TILE; i++)
        wrong += out[i] != (i < n ? 3 * i + 1 : 0);
    return wrong;
}

static void test_bulk_copies(void **)
{
    emulator_set_yield_rate(500);
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        emulator_set_seed(seed);
        for (uint64_t n : {0, 1, 3, 4, 5, 127, 128, 129, 255, 256, 257, 513, 1021, 1024})
            assert_int_equal(wrong_after_bulk_copies(n, true), 0);
        assert_int_not_equal(wrong_after_bulk_copies(BULK_TILE, false), 0);
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

static void nobody_sets_the_flag_kernel(unsigned *flag)
{
    if (threadIdx.x == 3)
        while (__ldcg(flag) == 0)
            spin_wait();
    __syncthreads();
}

/* A wait loop without spin_wait() is found too, through its atomics. */
static void silent_wait_kernel(unsigned *flag)
{
    while (atomicAdd(flag, 0u) == 0) {
    }
}

static void patient_kernel(int *turns)
{
    for (int i = 0; i < 300; i++)
        spin_wait();
    atomicAdd(turns, 1);
}

static void test_deadlock(void **)
{
    array<unsigned> flag(1, 0);
    assert_failed(LAUNCH(nobody_sets_the_flag_kernel, 1, 64, 0, flag.data), "deadlock",
                  "thread 3 spins at emulator_test.cpp:");
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

/* --- Order and runtime ------------------------------------------------------ */

static void order_kernel(unsigned *position, unsigned *order)
{
    order[atomicAdd(position, 1u)] = blockIdx.x * blockDim.x + threadIdx.x;
    __syncthreads();
    order[atomicAdd(position, 1u)] = blockIdx.x * blockDim.x + threadIdx.x;
}

static std::vector<unsigned> order_since_seed(void)
{
    const unsigned GRID = 20, THREADS = GRID * 64;
    array<unsigned> position(1, 0), order(2 * THREADS, 0);
    assert_int_equal(LAUNCH(order_kernel, GRID, 64, 0, position.data, order.data), cudaSuccess);
    return std::vector<unsigned>(order.data, order.data + order.count);
}

static std::vector<unsigned> order_of(uint64_t seed)
{
    emulator_set_seed(seed);
    return order_since_seed();
}

static void test_order_follows_from_the_seed(void **)
{
    assert_true(order_of(5) == order_of(5));
    assert_false(order_of(5) == order_of(6));
    /* A failed launch in between changes nothing. */
    const std::vector<unsigned> before = order_of(7);
    array<unsigned> flag(1, 0);
    assert_failed(LAUNCH(nobody_sets_the_flag_kernel, 3, 128, 0, flag.data), "deadlock", "spins");
    assert_true(order_of(7) == before);
}

/* ---- Several devices ---- */

/* Each device has its own multiprocessors, limits, streams, events and errors. */
static void test_devices(void **)
{
    int count = 0, current = -1, value = 0, blocks = -1;
    emulator_set_device_count(3);
    assert_int_equal(cudaGetDeviceCount(&count), cudaSuccess);
    assert_int_equal(count, 3);
    assert_int_equal(cudaSetDevice(3), cudaErrorInvalidDevice);
    assert_int_equal(cudaSetDevice(-1), cudaErrorInvalidDevice);
    assert_int_equal(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 3),
                     cudaErrorInvalidDevice);
    cudaStream_t streams[3];
    cudaEvent_t events[3];
    for (int d = 0; d < 3; d++) {
        assert_int_equal(cudaSetDevice(d), cudaSuccess);
        assert_int_equal(cudaGetDevice(&current), cudaSuccess);
        assert_int_equal(current, d);
        emulator_set_multiprocessors(5 + (unsigned)d);
        assert_int_equal(cudaStreamCreate(&streams[d]), cudaSuccess);
        assert_int_equal(cudaEventCreate(&events[d]), cudaSuccess);
    }
    for (int d = 0; d < 3; d++) {
        assert_int_equal(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, d),
                         cudaSuccess);
        assert_int_equal(value, 5 + d);
    }

    /* Device 2 is the current one. */
    array<unsigned> flag(1, 0);
    float ms;
    assert_int_equal(cudaEventRecord(events[2], streams[1]), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaEventRecord(events[2], streams[2]), cudaSuccess);
    assert_int_equal(cudaEventRecord(events[1], streams[1]), cudaSuccess);
    assert_int_equal(cudaEventElapsedTime(&ms, events[1], events[2]),
                     cudaErrorInvalidResourceHandle);
    assert_int_equal(emulator_launch(nobody_sets_the_flag_kernel, "nobody_sets_the_flag_kernel", 1,
                                     32, 0, false, streams[1], flag.data),
                     cudaErrorInvalidResourceHandle);
    assert_detail_has("its stream is not the current device's");
    cudaGetLastError();
    emulator_reset();

    const void *kernel = (const void *)nobody_sets_the_flag_kernel;
    assert_int_equal(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000),
        cudaSuccess);
    assert_int_equal(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32, 100000),
                     cudaSuccess);
    assert_int_equal(blocks, 2);

    /* The error of a failed kernel belongs to its device, and a reset frees only that device's
     * objects. */
    assert_int_equal(LAUNCH(nobody_sets_the_flag_kernel, 1, 32, 0, flag.data),
                     cudaErrorLaunchFailure);
    assert_int_equal(cudaSetDevice(1), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(streams[1]), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(streams[2]), cudaErrorLaunchFailure);
    assert_string_equal(emulator_error_detail(), "");
    assert_int_equal(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32, 100000),
                     cudaSuccess);
    assert_int_equal(blocks, 0);
    assert_int_equal(cudaDeviceReset(), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(streams[1]), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaStreamDestroy(streams[0]), cudaSuccess);
    assert_int_equal(cudaEventDestroy(events[0]), cudaSuccess);
    assert_int_equal(cudaSetDevice(2), cudaSuccess);
    assert_detail_has("deadlock");
    assert_int_equal(cudaGetLastError(), cudaErrorLaunchFailure);
    assert_int_equal(cudaDeviceReset(), cudaSuccess);
    assert_string_equal(emulator_error_detail(), "");
    emulator_set_device_count(0);
    assert_int_equal(cudaGetDeviceCount(&count), cudaSuccess);
    assert_int_equal(count, 1);
    cudaGetLastError();
}

/* Launches on one device do not change the order on another. */
static void test_devices_have_their_own_order(void **)
{
    const std::vector<unsigned> alone = order_of(7), other = order_of(8);
    emulator_set_device_count(2);
    emulator_set_seed(7);
    cudaSetDevice(1);
    emulator_set_seed(8);
    assert_true(order_since_seed() == other);
    cudaSetDevice(0);
    assert_true(order_since_seed() == alone);
    emulator_set_device_count(0);
}

static void test_runtime(void **)
{
    int count = 0, value = 0, from[4] = {1, 2, 3, 4}, to[4] = {};
    size_t free_bytes = 0, total_bytes = 0;
    assert_int_equal(cudaGetDeviceCount(&count), cudaSuccess);
    assert_int_equal(count, 1);
    assert_int_equal(cudaSetDevice(1), cudaErrorInvalidDevice);
    assert_int_equal(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0), cudaSuccess);
    assert_int_equal(value, 32);
    cudaDeviceProp properties;
    assert_int_equal(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
    assert_string_equal(properties.name, "emulator");
    assert_int_equal(cudaMemGetInfo(&free_bytes, &total_bytes), cudaSuccess);
    assert_true(0 < free_bytes && free_bytes <= total_bytes);
    int *memory = NULL;
    assert_int_equal(cudaMalloc(&memory, total_bytes * 2), cudaErrorMemoryAllocation);
    assert_string_equal(cudaGetErrorName(cudaGetLastError()), "cudaErrorMemoryAllocation");

    assert_int_equal(cudaMalloc(&memory, sizeof from), cudaSuccess);
    assert_int_equal(cudaMemcpy(memory, from, sizeof from, cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(to, memory, sizeof to, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_memory_equal(from, to, sizeof to);
    assert_int_equal(cudaMemsetAsync(memory, 0xFF, 4), cudaSuccess);
    assert_int_equal(memory[0], -1);
    assert_int_equal(cudaFree(memory), cudaSuccess);

    cudaStream_t stream;
    cudaEvent_t start, stop;
    float ms = -1;
    assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaEventCreate(&start), cudaSuccess);
    assert_int_equal(cudaEventCreate(&stop), cudaSuccess);
    assert_int_equal(cudaEventRecord(start, stream), cudaSuccess);
    assert_int_equal(cudaEventElapsedTime(&ms, start, stop), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaEventRecord(stop, stream), cudaSuccess);
    assert_int_equal(cudaEventElapsedTime(&ms, start, stop), cudaSuccess);
    assert_true(ms >= 0 && ms < 1000);
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    cudaStreamDestroy(stream);
    static_assert(!device_runs_asynchronously);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_block_reduce, set_up),
        cmocka_unit_test_setup(test_warp_scan, set_up),
        cmocka_unit_test_setup(test_partial_masks, set_up),
        cmocka_unit_test_setup(test_votes, set_up),
        cmocka_unit_test_setup(test_block_votes, set_up),
        cmocka_unit_test_setup(test_atomics, set_up),
        cmocka_unit_test_setup(test_chain_over_more_blocks_than_resident, set_up),
        cmocka_unit_test_setup(test_cooperative_launch, set_up),
        cmocka_unit_test_setup(test_multiprocessors, set_up),
        cmocka_unit_test_setup(test_every_block_once, set_up),
        cmocka_unit_test_setup(test_warps_drift_apart, set_up),
        cmocka_unit_test_setup(test_largest_grid, set_up),
        cmocka_unit_test_setup(test_bits, set_up),
        cmocka_unit_test_setup(test_divergent_barrier, set_up),
        cmocka_unit_test_setup(test_missing_barrier, set_up),
        cmocka_unit_test_setup(test_bulk_copies, set_up),
        cmocka_unit_test_setup(test_block_order_assumption, set_up),
        cmocka_unit_test_setup(test_deadlock, set_up),
        cmocka_unit_test_setup(test_divergent_collective, set_up),
        cmocka_unit_test_setup(test_uninitialised_memory_shows, set_up),
        cmocka_unit_test_setup(test_out_of_bounds, set_up),
        cmocka_unit_test_setup(test_illegal_launch, set_up),
        cmocka_unit_test_setup(test_order_follows_from_the_seed, set_up),
        cmocka_unit_test_setup(test_devices, set_up),
        cmocka_unit_test_setup(test_devices_have_their_own_order, set_up),
        cmocka_unit_test_setup(test_runtime, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
