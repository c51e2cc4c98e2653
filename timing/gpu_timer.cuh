/* gpu_timer.cuh: device time of what is queued between two events.
 *
 * A host needs microseconds to queue a launch, a small kernel less to run. So
 * the stream is first held by a kernel that spins until the host has queued
 * everything up to the last event and lets go: then the device finds its work
 * waiting, and the events enclose nothing but it.
 *
 * Before a cold sample a buffer of four times the L2 is read, which leaves lines
 * that can be dropped. Before a dirty one it is written: then those lines must
 * be written back at the cost of what is timed. */
#ifndef SCANBENCH_TIMING_GPU_TIMER_CUH
#define SCANBENCH_TIMING_GPU_TIMER_CUH

#include "cache_state.h"

#include <cuda_runtime.h>

#include <cstdint>

namespace SCANBENCH_BACKEND
{

enum { TIMER_EVENT_PAIRS = 16, HOLD_LIMIT_MS = 100 };

struct gpu_timer {
    cudaStream_t stream;
    cudaEvent_t start[TIMER_EVENT_PAIRS], stop[TIMER_EVENT_PAIRS];
    unsigned *release; /* page-locked: the turn the host has let go of */
    unsigned *d_release;
    unsigned turn;
    unsigned char *sweep;
    size_t sweep_bytes;
};

cudaError_t open_timer(gpu_timer *timer, cudaStream_t stream, size_t cache_bytes);
void close_timer(gpu_timer *timer);

/* Queues what puts the device's caches into the state; nothing for hot. */
cudaError_t set_cache_state(gpu_timer *timer, enum cache_state state);

/* Has the L2 forget which lines it was asked to keep. */
cudaError_t forget_kept_lines(void);

/* Holds the stream until let_go(), or for HOLD_LIMIT_MS at most: what would wait
 * for the device while it is held would otherwise wait for ever. */
cudaError_t hold_stream(gpu_timer *timer);
void let_go(gpu_timer *timer);

} // namespace SCANBENCH_BACKEND

#endif
