/* emulator_side.cuh: what cuda_device.cu does in the emulator where a GPU differs (gpu_side.cuh).
 * Included by cuda_device.cu alone. */
#pragma once

#include "../../emulator/emulator.h"
#include "../base/interrupt.h"
#include "cuda_device.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND
{

constexpr enum device_kind KIND = DEVICE_EMULATOR;
constexpr bool SIMULATED = true;
constexpr double CORE_BYTES_PER_CYCLE = 0;
static void seed_device(uint64_t seed)
{
    emulator_set_seed(seed);
}
void restart_orders()
{
    emulator_restart_orders();
}
static const char *kernel_error_detail()
{
    return emulator_error_detail();
}
static void forget_kernel_error()
{
    emulator_reset();
}
static bool is_driver_missing(cudaError_t)
{
    return false;
}

/* How much CPU time may pass without the end of a thread. One thread may do all the work, of a
 * row that takes --max-time or more: 2^20 elements take the slowest kernel of ours a second. */
static double limit_ms(const struct problem *problem)
{
    constexpr double LEAST_MS = 5000, ROWS = 10, ELEMENTS = 1 << 20;
    return std::max(LEAST_MS, ROWS * problem->max_time_ms) *
           std::max(1.0, (double)problem->n / ELEMENTS);
}

kernel_watch::kernel_watch(const struct problem *problem, bool own_streams_only)
{
    const struct emulator_watch watch = {limit_ms(problem), interrupted, own_streams_only};
    emulator_watch_kernels(&watch);
}
kernel_watch::~kernel_watch()
{
    emulator_watch_kernels(nullptr);
}
void describe_buffer(const struct buffer *buffer)
{
    emulator_describe_memory(static_cast<char *>(buffer->data) - GUARD_BYTES, buffer->data,
                             buffer->bytes);
}

static size_t allocations(cuda_device *)
{
    return emulator_allocations();
}

static void set_device_count(int count)
{
    emulator_set_device_count((unsigned)count);
}

static void read_pci_bus_id(char *text, int, int)
{
    text[0] = '\0';
}

} // namespace SCANBENCH_BACKEND
