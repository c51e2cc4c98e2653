/* gpu_timer.cuh: device time of the work queued between two events.
 *
 * The host needs microseconds to queue a launch, and a small kernel runs in less. So a kernel
 * first holds the stream: it spins until the host has queued everything up to the last event
 * and releases it. The device then finds its work waiting, and the events enclose nothing else.
 *
 * Before a cold sample, a buffer of four times the size of the L2 is read, which fills the L2
 * with lines that can be dropped. Before a dirty sample it is written, so that those lines must
 * be written back during the sample. */
#pragma once

#include "cache_state.h"

#include <cuda_runtime.h>

#include <cstdint>

namespace SCANBENCH_BACKEND
{

enum { TIMER_EVENT_PAIRS = 16, HOLD_LIMIT_MS = 100 };

struct gpu_timer {
    cudaStream_t stream;
    cudaEvent_t start[TIMER_EVENT_PAIRS], stop[TIMER_EVENT_PAIRS];
    unsigned *release; /* page-locked: number of the hold that the host has released */
    unsigned *d_release;
    unsigned turn;
    unsigned char *sweep;
    size_t sweep_bytes;
};

inline cudaError_t create_events(gpu_timer *timer)
{
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < TIMER_EVENT_PAIRS && error == cudaSuccess; i++) {
        error = cudaEventCreate(&timer->start[i]);
        if (error == cudaSuccess)
            error = cudaEventCreate(&timer->stop[i]);
    }
    return error;
}

inline void destroy_events(gpu_timer *timer)
{
    for (int i = 0; i < TIMER_EVENT_PAIRS; i++) {
        if (timer->start[i])
            cudaEventDestroy(timer->start[i]);
        if (timer->stop[i])
            cudaEventDestroy(timer->stop[i]);
    }
}

cudaError_t open_timer(gpu_timer *timer, cudaStream_t stream, size_t cache_bytes);
void close_timer(gpu_timer *timer);

/* Queues the work that puts the device's caches into the state; none for hot. */
cudaError_t set_cache_state(gpu_timer *timer, enum cache_state state);

/* Resets the lines that the L2 was asked to keep. */
cudaError_t forget_kept_lines(void);

/* Holds the stream until let_go(), or for HOLD_LIMIT_MS at most: a call that waits for the
 * device while the stream is held would otherwise never return. */
cudaError_t hold_stream(gpu_timer *timer);
void let_go(gpu_timer *timer);

} // namespace SCANBENCH_BACKEND
