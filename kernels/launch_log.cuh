/* launch_log.cuh: records launches, for rows with their times and occupancy. */
#pragma once

#include "queue.cuh"

#include <cstring>

namespace SCANBENCH_BACKEND
{

/* Extracts "hillis_steele_step_kernel" from the compiler's spelling of launch<kernel<T>>. */
inline void kernel_name(const char *pretty_function, char *name, size_t size)
{
    const char *start = strstr(pretty_function, "Kernel = ");
    start = start ? start + strlen("Kernel = ") : pretty_function;
    const char *end = start + strcspn(start, "<;]");
    for (const char *p = start; p < end; p++)
        if (*p == ':' || *p == '(' || *p == '&')
            start = p + 1;
    snprintf(name, size, "%.*s", (int)strcspn(start, "<;])"), start);
}

/* The next record, with the name and the shape; nullptr: there is no room. */
inline struct launch_record *next_record(queue *queue, const char *name, launch_shape shape)
{
    struct launch_log *log = queue->log;
    if (log->count++ >= LAUNCH_LOG_RECORDS)
        return nullptr;
    struct launch_record *record = &log->record[log->count - 1];
    kernel_name(name, record->kernel, sizeof record->kernel);
    record->blocks = shape.blocks;
    record->threads = shape.threads;
    record->traffic = shape.traffic;
    record->dynamic_shared_bytes = shape.shared_bytes;
    return record;
}

/* `resident`: the blocks that a multiprocessor holds at a time. */
inline void record_occupancy(struct launch_record *record, int resident)
{
    int device = 0, threads = 0;
    if (cudaGetDevice(&device) == cudaSuccess &&
        cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device) ==
            cudaSuccess &&
        threads > 0)
        record->occupancy_pct = 100.0 * resident * (int)record->threads / threads;
}

inline void record_launch(queue *queue, const void *kernel, const char *name, launch_shape shape)
{
    struct launch_record *record = next_record(queue, name, shape);
    if (record == nullptr)
        return;
    cudaFuncAttributes attributes;
    int resident = 0;
    if (cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess) {
        record->registers = attributes.numRegs;
        record->static_shared_bytes = attributes.sharedSizeBytes;
    }
    if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, (int)shape.threads,
                                                      shape.shared_bytes) == cudaSuccess)
        record_occupancy(record, resident);
}

} // namespace SCANBENCH_BACKEND
