/* device.cpp: the properties and attributes of the emulated devices. */
#include "device.h"

#include <algorithm>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

inline namespace emulator_cuda
{

enum {
    COMPUTE_MAJOR = 9,
    COMPUTE_MINOR = 0,
    REGISTERS = 64 * 1024, /* per block, and per multiprocessor */
};

/* Never destroyed, so that a leak check at exit does not report what the devices hold. */
static std::vector<struct emulated_device *> *devices;
static int chosen;

const std::vector<struct emulated_device *> &all_devices(void)
{
    if (!devices)
        devices = new std::vector<struct emulated_device *>{new emulated_device()};
    return *devices;
}

struct emulated_device *current_device(void)
{
    return all_devices()[(size_t)chosen];
}

/* The device of that index; NULL: there is none. */
static const struct emulated_device *device_at(int index)
{
    const bool there = index >= 0 && (size_t)index < all_devices().size();
    return there ? all_devices()[(size_t)index] : NULL;
}

static int cache_bytes(void)
{
#ifdef _SC_LEVEL3_CACHE_SIZE
    const long level3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (level3 > 0 && level3 <= INT_MAX)
        return (int)level3;
#endif
    return 0;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = (int)all_devices().size();
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    if (!device_at(device))
        return cudaErrorInvalidDevice;
    chosen = device;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = chosen;
    return cudaSuccess;
}

static bool peer_access = true;

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int other)
{
    if (!device_at(device) || !device_at(other))
        return cudaErrorInvalidDevice;
    *can = peer_access && device != other;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int other, unsigned flags)
{
    int can = 0;
    const cudaError_t error = cudaDeviceCanAccessPeer(&can, chosen, other);
    if (error || flags)
        return error ? error : cudaErrorInvalidValue;
    if (!can)
        return cudaErrorPeerAccessUnsupported;
    return current_device()->peers.insert(other).second ? cudaSuccess
                                                        : cudaErrorPeerAccessAlreadyEnabled;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    const struct emulated_device *asked = device_at(device);
    if (!asked)
        return cudaErrorInvalidDevice;
    size_t free_bytes;
    *properties = {};
    snprintf(properties->name, sizeof properties->name, "emulator");
    cudaMemGetInfo(&free_bytes, &properties->totalGlobalMem);
    properties->sharedMemPerBlock = EMULATOR_SHARED_BYTES;
    properties->major = COMPUTE_MAJOR;
    properties->minor = COMPUTE_MINOR;
    properties->multiProcessorCount = (int)asked->multiprocessors;
    properties->sharedMemPerMultiprocessor = EMULATOR_SHARED_BYTES_PER_MULTIPROCESSOR;
    properties->sharedMemPerBlockOptin = asked->shared_bytes;
    properties->warpSize = EMULATOR_WARP_SIZE;
    properties->maxThreadsPerBlock = EMULATOR_MAX_BLOCK;
    properties->maxThreadsPerMultiProcessor = EMULATOR_THREADS_PER_MULTIPROCESSOR;
    properties->maxBlocksPerMultiProcessor = EMULATOR_BLOCKS_PER_MULTIPROCESSOR;
    for (int d = 0; d < 3; d++) {
        properties->maxThreadsDim[d] = d < 2 ? EMULATOR_MAX_BLOCK : 64;
        properties->maxGridSize[d] = d < 1 ? INT_MAX : 65535;
    }
    properties->regsPerBlock = properties->regsPerMultiprocessor = REGISTERS;
    properties->l2CacheSize = cache_bytes();
    properties->concurrentKernels = properties->cooperativeLaunch = 1;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    const struct emulated_device *asked = device_at(device);
    if (!asked)
        return cudaErrorInvalidDevice;
    const struct {
        cudaDeviceAttr attribute;
        int value; /* 0: the emulator does not have it */
    } attributes[] = {
        {cudaDevAttrMaxThreadsPerBlock, EMULATOR_MAX_BLOCK},
        {cudaDevAttrMaxGridDimX, INT_MAX},
        {cudaDevAttrMaxSharedMemoryPerBlock, EMULATOR_SHARED_BYTES},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, (int)asked->shared_bytes},
        {cudaDevAttrCooperativeLaunch, 1},
        {cudaDevAttrWarpSize, EMULATOR_WARP_SIZE},
        {cudaDevAttrMaxRegistersPerBlock, REGISTERS},
        {cudaDevAttrClockRate, 0},
        {cudaDevAttrEccEnabled, 0},
        {cudaDevAttrMemoryClockRate, 0},
        {cudaDevAttrGlobalMemoryBusWidth, 0},
        {cudaDevAttrL2CacheSize, cache_bytes()},
        {cudaDevAttrMultiProcessorCount, (int)asked->multiprocessors},
        {cudaDevAttrMaxThreadsPerMultiProcessor, EMULATOR_THREADS_PER_MULTIPROCESSOR},
        {cudaDevAttrComputeCapabilityMajor, COMPUTE_MAJOR},
        {cudaDevAttrComputeCapabilityMinor, COMPUTE_MINOR},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, EMULATOR_SHARED_BYTES_PER_MULTIPROCESSOR},
        {cudaDevAttrMaxRegistersPerMultiprocessor, REGISTERS},
        {cudaDevAttrMaxBlocksPerMultiprocessor, EMULATOR_BLOCKS_PER_MULTIPROCESSOR},
    };
    for (const auto &row : attributes)
        if (row.attribute == attribute) {
            *value = row.value;
            return cudaSuccess;
        }
    return cudaErrorInvalidValue;
}

} // namespace emulator_cuda

void emulator_set_multiprocessors(unsigned count)
{
    current_device()->multiprocessors = count ? count : (unsigned)EMULATOR_DEFAULT_MULTIPROCESSORS;
}

void emulator_set_shared_bytes(unsigned bytes)
{
    current_device()->shared_bytes = bytes ? bytes : (unsigned)EMULATOR_SHARED_BYTES_OPTIN;
}

void emulator_set_peer_access(bool allowed)
{
    peer_access = allowed;
}

void emulator_set_device_count(unsigned count)
{
    all_devices();
    while (devices->size() > std::max(count, 1u)) {
        delete devices->back();
        devices->pop_back();
    }
    while (devices->size() < count) {
        devices->push_back(new emulated_device());
        devices->back()->index = (int)devices->size() - 1;
    }
    chosen = 0;
}
