/* emulator_test.cpp: what kernels can call gives the right results in the emulator. */
#include "../../kernels/single_pass/async_copy.cuh"

#include "emulator_testing.h"

#include <initializer_list>

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

static const unsigned BULK_TILE = 256;

struct bulk_shared {
    mbarrier full, free;
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

/* Of each two threads, the second copies and never waits. */
static void element_copies_kernel(const uint64_t *in, uint64_t *early, uint64_t *late)
{
    const unsigned thread = threadIdx.x;
    auto *shared = (uint64_t *)emulator_shared_memory();
    copy_to_shared(&shared[thread], &in[thread]);
    early[thread] = shared[thread];
    if (thread % 2 == 0)
        wait_for_copies();
    late[thread] = shared[thread];
}

static void test_element_copies_are_late(void **)
{
    array<uint64_t> in(BLOCK, 7), early(BLOCK, 0), late(BLOCK, 0);
    const uint64_t poison = 0x0101010101010101u * mbarrier::ASYNC_POISON;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        emulator_set_seed(seed);
        assert_int_equal(LAUNCH(element_copies_kernel, 2, BLOCK, BLOCK * sizeof(uint64_t), in.data,
                                early.data, late.data),
                         cudaSuccess);
        for (size_t i = 0; i < BLOCK; i++) {
            assert_int_equal(early[i], poison);
            assert_int_equal(late[i], i % 2 == 0 ? 7 : poison);
        }
    }
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
        cmocka_unit_test_setup(test_bits, set_up),
        cmocka_unit_test_setup(test_bulk_copies, set_up),
        cmocka_unit_test_setup(test_element_copies_are_late, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
