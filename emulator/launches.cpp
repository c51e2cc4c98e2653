/* launches.cpp: checks launches, and runs or records them. */
#include "runtime.h"
#include "sanitizer.h"

#include <algorithm>
#include <limits.h>
#include <stdio.h>
#include <string>

inline namespace emulator_cuda
{

static size_t shared_limit(const void *kernel)
{
    const auto &shared_limits = current_device()->shared_limits;
    const auto raised = shared_limits.find(kernel);
    return (size_t)(raised == shared_limits.end() ? EMULATOR_SHARED_BYTES : raised->second);
}

/* In the emulator only threads, blocks and shared memory are limited. */
unsigned blocks_per_multiprocessor(unsigned block, size_t shared_bytes)
{
    const unsigned warps = (block + EMULATOR_WARP_SIZE - 1) / EMULATOR_WARP_SIZE;
    const unsigned by_threads = EMULATOR_THREADS_PER_MULTIPROCESSOR / (warps * EMULATOR_WARP_SIZE);
    const size_t by_shared =
        EMULATOR_SHARED_BYTES_PER_MULTIPROCESSOR / (shared_bytes + EMULATOR_SHARED_BYTES_RESERVED);
    return (unsigned)std::min(
        {(size_t)by_threads, by_shared, (size_t)EMULATOR_BLOCKS_PER_MULTIPROCESSOR});
}

uint64_t blocks_per_device(unsigned block, size_t shared_bytes)
{
    return (uint64_t)current_device()->multiprocessors *
           blocks_per_multiprocessor(block, shared_bytes);
}

static cudaError_t check_launch(const struct emulator_launch_request *request, char *text,
                                size_t text_bytes)
{
    const uint64_t grid = request->grid;
    const size_t limit = shared_limit(request->kernel);
    if (current_launch.running) {
        snprintf(text, text_bytes, "a kernel cannot launch another");
        return cudaErrorNotSupported;
    }
    if (device_of_stream(request->stream) != current_device()) {
        snprintf(text, text_bytes, "its stream is not the current device's");
        return cudaErrorInvalidResourceHandle;
    }
    if (request->illegal != NULL) {
        snprintf(text, text_bytes, "%s", request->illegal);
        return cudaErrorInvalidConfiguration;
    }
    if (grid < 1 || grid > INT_MAX) {
        snprintf(text, text_bytes, "%llu blocks, where 1 to %d are allowed",
                 (unsigned long long)grid, INT_MAX);
        return cudaErrorInvalidConfiguration;
    }
    if (request->block < 1 || request->block > EMULATOR_MAX_BLOCK) {
        snprintf(text, text_bytes, "%u threads per block, where 1 to %d are allowed",
                 request->block, EMULATOR_MAX_BLOCK);
        return cudaErrorInvalidConfiguration;
    }
    if (request->shared_bytes > limit) {
        snprintf(text, text_bytes, "%zu bytes of shared memory, where %zu are allowed",
                 request->shared_bytes, limit);
        return cudaErrorInvalidValue;
    }
    const uint64_t held = blocks_per_device(request->block, request->shared_bytes);
    if (request->residency == EMULATOR_ALL_RESIDENT && grid > held) {
        snprintf(text, text_bytes, "%llu cooperative blocks, where the device holds %llu",
                 (unsigned long long)grid, (unsigned long long)held);
        return cudaErrorCooperativeLaunchTooLarge;
    }
    const uint64_t in_cluster = std::min<uint64_t>(held, EMULATOR_CLUSTER_BLOCKS);
    if (request->residency == EMULATOR_ONE_CLUSTER && grid > in_cluster) {
        snprintf(text, text_bytes, "%llu blocks in a cluster, where %llu are possible",
                 (unsigned long long)grid, (unsigned long long)in_cluster);
        return cudaErrorInvalidClusterSize;
    }
    return cudaSuccess;
}

static cudaError_t check_and_run(const emulator_launch_request *request)
{
    if (sticky_error())
        return sticky_error();
    char text[128];
    const cudaError_t error = check_launch(request, text, sizeof text);
    if (error) {
        describe_illegal_launch(request, text);
        return latch(error);
    }
    if (current_watch() && current_watch()->own_streams_only && !request->stream) {
        describe_default_stream(request);
        return latch(cudaErrorInvalidResourceHandle);
    }
    const device_opened opened;
    if (!emulator_run(request) || !memory_guards_hold(request->name))
        current_device()->sticky_error = cudaErrorLaunchFailure;
    return sticky_error();
}

/* The name and the arguments may be gone when the graph is launched. */
static cudaError_t record_launch(const emulator_launch_request *request)
{
    const auto *closure = static_cast<const unsigned char *>(request->closure);
    const std::vector<unsigned char> copy(closure, closure + request->closure_bytes);
    return record(request->stream, [copy, again = *request, name = std::string(request->name)] {
        emulator_launch_request launch = again;
        launch.name = name.c_str();
        launch.closure = copy.data();
        return check_and_run(&launch);
    });
}

cudaError_t emulator_submit(const emulator_launch_request *request)
{
    return emulator_captures(request->stream) ? record_launch(request) : check_and_run(request);
}

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
    if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed)
        return latch(cudaSuccess);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
        (unsigned)value > current_device()->shared_bytes)
        return latch(cudaErrorInvalidValue);
    current_device()->shared_limits[kernel] = value;
    return latch(cudaSuccess);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *)
{
    *attributes = {};
    attributes->ptxVersion = 90;
    return latch(cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                          int block, size_t shared_bytes)
{
    if (block < 1)
        return latch(cudaErrorInvalidValue);
    const bool fits = block <= EMULATOR_MAX_BLOCK && shared_bytes <= shared_limit(kernel);
    *blocks = fits ? (int)blocks_per_multiprocessor((unsigned)block, shared_bytes) : 0;
    return latch(cudaSuccess);
}

} // namespace emulator_cuda
