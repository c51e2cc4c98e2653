/* runtime.h: what the parts of the runtime share: errors, and the objects of devices.
 *
 * The parts are runtime.cpp (errors, the end of a device), memory.cpp, streams.cpp (streams,
 * events, graphs) and launches.cpp. */
#pragma once

#include "scheduler.h"

#include <functional>
#include <unordered_map>
#include <vector>

inline namespace emulator_cuda
{

/* The error of a failed kernel on the current device, or cudaSuccess. */
cudaError_t sticky_error(void);

/* Returns a call's error after keeping it for cudaGetLastError(), or the sticky one. */
cudaError_t latch(cudaError_t error);

/* The error that the host thread would get, and may not have asked for. */
cudaError_t latched_error(void);

/* ---- Objects of devices ---- */

struct emulator_graph {
    std::vector<std::function<cudaError_t()>> steps;
};

struct emulator_stream {
    unsigned flags;
    emulator_graph *captured; /* NULL: nothing is being captured */
};

struct emulator_event {
    bool recorded;
    int64_t time_ns;
};

using objects = std::unordered_map<uintptr_t, struct extent>;

/* Adds the object to the current device. */
void remember(objects emulated_device::*set, const void *object, size_t bytes = 0);

/* Removes the object from its device. Returns false if no device has it. */
bool forget(objects emulated_device::*set, const void *object);

/* The device that owns an object; NULL: none. */
const struct emulated_device *device_of(objects emulated_device::*set, const void *object);

/* The device of a stream; for the default stream, the current device. */
const struct emulated_device *device_of_stream(cudaStream_t stream);

/* Adds a step to the graph that the stream captures. */
cudaError_t record(cudaStream_t stream, std::function<cudaError_t()> step);

} // namespace emulator_cuda
