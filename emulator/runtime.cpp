/* runtime.cpp: errors, the objects of devices, and the end of a device. */
#include "runtime.h"

inline namespace emulator_cuda
{

/* --- Errors ----------------------------------------------------------------- */

/* The host thread's last error, on any device; cleared when read. */
static cudaError_t last_error = cudaSuccess;

cudaError_t sticky_error(void)
{
    return current_device()->sticky_error;
}

cudaError_t latch(cudaError_t error)
{
    if (sticky_error())
        return sticky_error();
    if (error)
        last_error = error;
    return error;
}

cudaError_t latched_error(void)
{
    return sticky_error() ? sticky_error() : last_error;
}

/* For sources of the user's: see plain_cuda.h. */
cudaError_t cudaPeekAtLastError(void)
{
    return latched_error();
}

cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = latched_error();
    last_error = cudaSuccess;
    return error;
}

#define ERROR(name, text) \
    {                     \
        name, #name, text \
    }
static const struct {
    cudaError_t error;
    const char *name, *text;
} error_table[] = {
    ERROR(cudaSuccess, "no error"),
    ERROR(cudaErrorInvalidValue, "invalid argument"),
    ERROR(cudaErrorMemoryAllocation, "out of memory"),
    ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    ERROR(cudaErrorPeerAccessUnsupported, "peer access is not supported between these two devices"),
    ERROR(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    ERROR(cudaErrorNotSupported, "operation not supported"),
    ERROR(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    ERROR(cudaErrorInvalidClusterSize, "an invalid cluster size was requested"),
};
#undef ERROR

const char *cudaGetErrorName(cudaError_t error)
{
    for (const auto &row : error_table)
        if (row.error == error)
            return row.name;
    return "cudaErrorUnknown";
}

const char *cudaGetErrorString(cudaError_t error)
{
    for (const auto &row : error_table)
        if (row.error == error)
            return row.text;
    return "unknown error";
}

/* --- A device's objects ---------------------------------------------------- */

void remember(objects emulated_device::*set, const void *object, size_t bytes)
{
    (current_device()->*set)[~(uintptr_t)object] = {~(uintptr_t)object, bytes, bytes,
                                                    SIDE_OF_DEVICE};
}

bool forget(objects emulated_device::*set, const void *object)
{
    for (struct emulated_device *device : all_devices())
        if ((device->*set).erase(~(uintptr_t)object) == 1)
            return true;
    return false;
}

const struct emulated_device *device_of(objects emulated_device::*set, const void *object)
{
    for (const struct emulated_device *device : all_devices())
        if ((device->*set).count(~(uintptr_t)object) == 1)
            return device;
    return NULL;
}

const struct emulated_device *device_of_stream(cudaStream_t stream)
{
    return stream ? device_of(&emulated_device::streams, stream) : current_device();
}

cudaError_t cudaDeviceSynchronize(void)
{
    return latch(cudaSuccess);
}

template <class T, class Function> static void take_all(objects *set, Function give_back)
{
    for (const auto &[complement, extent] : *set)
        give_back((T *)~complement);
    set->clear();
}

cudaError_t cudaDeviceReset(void)
{
    struct emulated_device *device = current_device();
    take_all<void>(&device->memory, free_guarded);
    take_all<emulator_stream>(&device->streams, [](emulator_stream *stream) { delete stream; });
    take_all<emulator_event>(&device->events, [](emulator_event *event) { delete event; });
    device->shared_limits.clear();
    device->peers.clear();
    emulator_reset();
    return cudaSuccess;
}

} // namespace emulator_cuda

void emulator_reset(void)
{
    using namespace emulator_cuda;
    current_device()->sticky_error = last_error = cudaSuccess;
    clear_failure();
}
