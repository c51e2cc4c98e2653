/* gpu_marks.cuh: any number of timing marks in a stream, and the time between any two.
 *
 * Measures the parts of a run that gpu_timer.cuh times as a whole. */
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

namespace SCANBENCH_BACKEND
{

struct gpu_marks {
    std::vector<cudaEvent_t> events;
    size_t marked = 0;
};

/* Starts over, for up to `count` marks. */
inline cudaError_t start_marks(gpu_marks *marks, size_t count)
{
    marks->marked = 0;
    while (marks->events.size() < count) {
        cudaEvent_t event;
        const cudaError_t error = cudaEventCreate(&event);
        if (error != cudaSuccess)
            return error;
        marks->events.push_back(event);
    }
    return cudaSuccess;
}

/* Queues the next mark. Marks beyond that number are only counted. */
inline cudaError_t mark(gpu_marks *marks, cudaStream_t stream)
{
    const size_t i = marks->marked++;
    return i < marks->events.size() ? cudaEventRecord(marks->events[i], stream) : cudaSuccess;
}

/* Milliseconds from mark `from` to mark `to`, once the stream is done. */
inline cudaError_t time_between(const gpu_marks *marks, size_t from, size_t to, double *time_ms)
{
    float elapsed_ms = 0;
    const cudaError_t error =
        cudaEventElapsedTime(&elapsed_ms, marks->events[from], marks->events[to]);
    *time_ms = elapsed_ms;
    return error;
}

inline void destroy_marks(gpu_marks *marks)
{
    for (const cudaEvent_t event : marks->events)
        cudaEventDestroy(event);
    *marks = gpu_marks{};
}

} // namespace SCANBENCH_BACKEND
