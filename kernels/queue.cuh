/* queue.cuh: where an algorithm's work goes, and the shape of a launch. */
#pragma once

#include "../bench/algorithm.h"
#include "../bench/launch_log.h"

#include <cuda_runtime.h>

#include <cstdio>

namespace SCANBENCH_BACKEND
{

struct work_span;

/* Where an algorithm's work goes. The first error is kept here, and later launches are dropped,
 * so an algorithm neither needs to check for errors nor can ignore one. */
struct queue {
    cudaStream_t stream;
    int device;
    char error[256];        /* empty: no error so far */
    struct launch_log *log; /* NULL: launches are not recorded */
    /* A kernel has asked the L2 to keep lines that it read. Such lines survive a flush, and
     * would still be there in a cold sample. */
    bool lines_kept;
    /* NULL, or called right before and right after each launch to time it. */
    void (*mark)(struct queue *);
    /* NULL, or where an algorithm that knows better than the caller when its work begins and ends
     * says so: a function that copies from and to the host itself. */
    struct work_span *span;
};

/* Two events of the caller's. */
struct work_span {
    cudaEvent_t begin, end;
    bool taken; /* both were recorded */
};

inline queue *queue_of(const struct call *call)
{
    return static_cast<queue *>(call->queue);
}

inline void fail(queue *queue, const char *what, const char *reason)
{
    if (queue->error[0] == '\0')
        snprintf(queue->error, sizeof queue->error, "%s: %s", what, reason);
}

/* Keeps the first error of the runtime calls. Returns false on an error. */
inline bool succeeded(queue *queue, const char *what, cudaError_t error)
{
    if (error == cudaSuccess)
        return true;
    fail(queue, what, cudaGetErrorString(error));
    return false;
}

/* Fills device memory with zeros. */
inline void clear(const struct call *call, void *from, size_t bytes)
{
    succeeded(queue_of(call), "memset", cudaMemsetAsync(from, 0, bytes, queue_of(call)->stream));
}

inline void clear_scratch(const struct call *call)
{
    if (call->scratch_bytes > 0)
        clear(call, call->scratch, call->scratch_bytes);
}

/* Stores the count of a compaction of no elements, for which no kernel is launched. */
inline void store_zero_count(const struct call *call)
{
    if (call->problem.n == 0)
        clear(call, call->count, sizeof *call->count);
}

/* Has the device what came with sm_90: bulk copies, clusters, and launches that overlap? */
inline bool has_sm_90(const struct device_limits *device)
{
    return device->compute_capability >= 90;
}

/* The shape of a launch. With more blocks than a grid can have, the launch fails with that
 * reason. With no blocks, nothing is launched. */
struct launch_shape {
    uint64_t blocks;
    unsigned threads;
    struct launch_traffic traffic = {};
    size_t shared_bytes = 0;
    bool cooperative = false; /* all blocks must be resident at once, or the launch fails */
    /* For devices with has_sm_90(): */
    bool overlaps = false; /* may begin before the launch before has ended */
    bool cluster = false;  /* all blocks are one cluster */
};

} // namespace SCANBENCH_BACKEND
