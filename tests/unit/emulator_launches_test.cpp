/* emulator_launches_test.cpp: which blocks run and in which order, on one or several devices. */
#include "emulator_testing.h"

#include <vector>

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
                                     EMULATOR_ALL_RESIDENT, nullptr, arrived.data, wrong.data),
                     cudaSuccess);
    assert_int_equal(wrong[0], 0);

    assert_int_equal(emulator_launch(grid_barrier_kernel, "grid_barrier_kernel", held + 1, BLOCK, 0,
                                     EMULATOR_ALL_RESIDENT, nullptr, arrived.data, wrong.data),
                     cudaErrorCooperativeLaunchTooLarge);
    assert_detail_has("33 cooperative blocks");
    assert_int_equal(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
    assert_int_equal(cudaGetLastError(), cudaSuccess); /* not sticky */

    /* The same kernel as a plain launch waits for blocks that are not resident. */
    arrived[0] = 0;
    assert_failed(LAUNCH(grid_barrier_kernel, 8, BLOCK, 0, arrived.data, wrong.data), "deadlock",
                  "4 wait for a slot");
}

/* Every block stores in the shared memory of all. */
static void cluster_kernel(unsigned *sums)
{
    auto *values = (unsigned *)emulator_shared_memory();
    if (threadIdx.x == 0)
        memset(values, 0, gridDim.x * sizeof *values);
    cluster_arrive();
    cluster_wait();
    if (threadIdx.x < gridDim.x)
        *(unsigned *)emulator_shared_of_block(&values[blockIdx.x], threadIdx.x) = blockIdx.x + 1;
    cluster_arrive();
    cluster_wait();
    if (threadIdx.x == 0)
        for (unsigned i = 0; i < gridDim.x; i++)
            sums[blockIdx.x] += values[i];
}

enum cluster_mistake {
    TWO_ARRIVALS,
    WAITS_ALONE,
    TOO_EARLY,
    TOO_LATE,
    NO_SUCH_BLOCK,
    NOT_SHARED,
    DIVERGES
};

static void wrong_cluster_kernel(enum cluster_mistake mistake)
{
    char *shared = (char *)emulator_shared_memory(), local;
    if (mistake == WAITS_ALONE)
        cluster_wait();
    if (mistake == DIVERGES && threadIdx.x == 1)
        return;
    if (mistake == TOO_EARLY)
        emulator_shared_of_block(shared, 0);
    cluster_arrive();
    if (mistake == TWO_ARRIVALS)
        cluster_arrive();
    cluster_wait();
    if (mistake == NO_SUCH_BLOCK)
        emulator_shared_of_block(shared, gridDim.x);
    if (mistake == NOT_SHARED)
        emulator_shared_of_block(&local, 0);
    if (mistake == TOO_LATE && blockIdx.x == 0)
        for (;;) {
            emulator_shared_of_block(shared, 1);
            spin_wait();
        }
}

template <class... A> static cudaError_t launch_cluster(void (*kernel)(A...), unsigned grid, A... a)
{
    return emulator_launch(kernel, "cluster", grid, BLOCK, 256, EMULATOR_ONE_CLUSTER, nullptr,
                           a...);
}

static void test_clusters(void **)
{
    for (unsigned grid : {1u, 2u, 7u, (unsigned)EMULATOR_CLUSTER_BLOCKS})
        for (unsigned seed = 0; seed < SEEDS; seed++) {
            emulator_set_seed(seed);
            array<unsigned> sums(grid, 0);
            assert_int_equal(launch_cluster(cluster_kernel, grid, sums.data), cudaSuccess);
            for (unsigned i = 0; i < grid; i++)
                assert_int_equal(sums[i], grid * (grid + 1) / 2);
        }
    array<unsigned> sums(EMULATOR_CLUSTER_BLOCKS + 1, 0);
    assert_int_equal(launch_cluster(cluster_kernel, EMULATOR_CLUSTER_BLOCKS + 1, sums.data),
                     cudaErrorInvalidClusterSize);
    assert_detail_has("17 blocks in a cluster, where 16 are possible");
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidClusterSize);

    /* One block is a cluster in any launch. */
    assert_int_equal(LAUNCH(cluster_kernel, 1, BLOCK, 256, sums.data), cudaSuccess);
    assert_int_equal(sums[0], 1);
    assert_failed(LAUNCH(cluster_kernel, 2, BLOCK, 256, sums.data), "cluster", "has no clusters");

    assert_failed(launch_cluster(wrong_cluster_kernel, 2, TWO_ARRIVALS), "cluster",
                  "has arrived before");
    assert_failed(launch_cluster(wrong_cluster_kernel, 2, WAITS_ALONE), "cluster",
                  "has not arrived");
    assert_failed(launch_cluster(wrong_cluster_kernel, 2, TOO_EARLY), "cluster",
                  "before a barrier");
    assert_failed(launch_cluster(wrong_cluster_kernel, 2, TOO_LATE), "cluster",
                  "a block that has ended");
    assert_failed(launch_cluster(wrong_cluster_kernel, 2, NO_SUCH_BLOCK), "cluster",
                  "no such block");
    assert_failed(launch_cluster(wrong_cluster_kernel, 2, NOT_SHARED), "cluster",
                  "not in shared memory");
    assert_failed(launch_cluster(wrong_cluster_kernel, 2, DIVERGES), "cluster",
                  "thread 1 has exited");
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
                                         EMULATOR_ALL_RESIDENT, nullptr, arrived.data, wrong.data),
                         cudaSuccess);
        assert_int_equal(arrived[0], held);
        assert_int_equal(emulator_launch(grid_barrier_kernel, "grid_barrier_kernel", held + 1,
                                         BLOCK, 0, EMULATOR_ALL_RESIDENT, nullptr, arrived.data,
                                         wrong.data),
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
                  "emulator_launches_test.cpp");
    assert_true(largest[0] > (uint64_t)1 << 40);
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
                                     32, 0, EMULATOR_IN_TURN, streams[1], flag.data),
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
        cmocka_unit_test_setup(test_chain_over_more_blocks_than_resident, set_up),
        cmocka_unit_test_setup(test_cooperative_launch, set_up),
        cmocka_unit_test_setup(test_clusters, set_up),
        cmocka_unit_test_setup(test_multiprocessors, set_up),
        cmocka_unit_test_setup(test_every_block_once, set_up),
        cmocka_unit_test_setup(test_warps_drift_apart, set_up),
        cmocka_unit_test_setup(test_largest_grid, set_up),
        cmocka_unit_test_setup(test_order_follows_from_the_seed, set_up),
        cmocka_unit_test_setup(test_devices, set_up),
        cmocka_unit_test_setup(test_devices_have_their_own_order, set_up),
        cmocka_unit_test_setup(test_runtime, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
