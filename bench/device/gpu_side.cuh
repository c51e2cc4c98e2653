/* gpu_side.cuh: what cuda_device.cu does on a GPU where the emulator differs (emulator_side.cuh).
 * Included by cuda_device.cu alone. */
#pragma once

#include "cuda_device.cuh"

namespace SCANBENCH_BACKEND
{

constexpr enum device_kind KIND = DEVICE_GPU;
constexpr bool SIMULATED = false;
constexpr double CORE_BYTES_PER_CYCLE = 128;
static void seed_device(uint64_t)
{
}
void restart_orders()
{
}
static const char *kernel_error_detail()
{
    return "";
}
static void forget_kernel_error()
{
}
static bool is_driver_missing(cudaError_t error)
{
    return error == cudaErrorInsufficientDriver;
}

kernel_watch::kernel_watch(const struct problem *, bool)
{
}
kernel_watch::~kernel_watch()
{
}
void describe_buffer(const struct buffer *)
{
}

constexpr void (*set_device_count)(int) = nullptr;
static size_t allocations(cuda_device *)
{
    return 0;
}

static void read_pci_bus_id(char *text, int size, int index)
{
    if (cudaDeviceGetPCIBusId(text, size, index) != cudaSuccess)
        text[0] = '\0';
}

} // namespace SCANBENCH_BACKEND
