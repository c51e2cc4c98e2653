/* streams.cpp: streams, events, and graphs that streams capture. */
#include "runtime.h"

#include <time.h>

inline namespace emulator_cuda
{

/* ---- Streams ---- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    *stream = new emulator_stream{flags, NULL};
    remember(&emulated_device::streams, *stream);
    return latch(cudaSuccess);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    if (!stream || !forget(&emulated_device::streams, stream))
        return latch(cudaErrorInvalidResourceHandle);
    delete stream->captured;
    delete stream;
    return latch(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    const struct emulated_device *device = device_of_stream(stream);
    if (!device)
        return latch(cudaErrorInvalidResourceHandle);
    if (emulator_captures(stream))
        return latch(cudaErrorStreamCaptureUnsupported);
    return device->sticky_error ? device->sticky_error : latch(cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    *event = new emulator_event{false, 0};
    remember(&emulated_device::events, *event);
    return latch(cudaSuccess);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    if (!event || !forget(&emulated_device::events, event))
        return latch(cudaErrorInvalidResourceHandle);
    delete event;
    return latch(cudaSuccess);
}

static const struct emulated_device *device_of_event(cudaEvent_t event)
{
    return device_of(&emulated_device::events, event);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    if (!event || device_of_event(event) != device_of_stream(stream))
        return latch(cudaErrorInvalidResourceHandle);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    event->time_ns = now.tv_sec * (int64_t)1000000000 + now.tv_nsec;
    event->recorded = true;
    return latch(cudaSuccess);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t stop)
{
    if (!start || !stop || !start->recorded || !stop->recorded ||
        device_of_event(start) != device_of_event(stop))
        return latch(cudaErrorInvalidResourceHandle);
    *ms = (float)((double)(stop->time_ns - start->time_ns) * 1e-6);
    return latch(cudaSuccess);
}

/* ---- Graphs ---- */

struct emulator_executable {
    emulator_graph graph;
};

bool emulator_captures(cudaStream_t stream)
{
    return stream && device_of_stream(stream) && stream->captured;
}

cudaError_t record(cudaStream_t stream, std::function<cudaError_t()> step)
{
    stream->captured->steps.push_back(std::move(step));
    return latch(cudaSuccess);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode)
{
    if (!stream || !device_of_stream(stream))
        return latch(stream ? cudaErrorInvalidResourceHandle : cudaErrorStreamCaptureUnsupported);
    if (stream->captured)
        return latch(cudaErrorIllegalState);
    stream->captured = new emulator_graph();
    return latch(cudaSuccess);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    if (!emulator_captures(stream))
        return latch(cudaErrorIllegalState);
    *graph = stream->captured;
    stream->captured = NULL;
    return latch(cudaSuccess);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status)
{
    if (!device_of_stream(stream))
        return latch(cudaErrorInvalidResourceHandle);
    *status =
        emulator_captures(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return latch(cudaSuccess);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long)
{
    if (!graph)
        return latch(cudaErrorInvalidValue);
    *executable = new emulator_executable{*graph};
    return latch(cudaSuccess);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream)
{
    if (!executable || !device_of_stream(stream))
        return latch(cudaErrorInvalidValue);
    for (const auto &step : executable->graph.steps)
        if (const cudaError_t error = step())
            return error;
    return latch(cudaSuccess);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return latch(cudaSuccess);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable)
{
    delete executable;
    return latch(cudaSuccess);
}

} // namespace emulator_cuda
