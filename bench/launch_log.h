/* launch_log.h: the kernel launches of one run(), recorded by the kernels' host code for the
 * rows. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Bytes of global memory that a launch must read and write, each byte counted once: a fixed
 * part, and a part per element of the operation's result. */
struct launch_traffic {
    uint64_t bytes;
    unsigned bytes_per_result;
};

/* One launch of a kernel, recorded while the queue has a log. */
struct launch_record {
    char kernel[64];
    uint64_t blocks;
    unsigned threads;
    struct launch_traffic traffic;
    size_t static_shared_bytes, dynamic_shared_bytes;
    int registers;
    double occupancy_pct; /* theoretical */
};

enum { LAUNCH_LOG_RECORDS = 512 };

/* The launches of one run(). All are counted; the first LAUNCH_LOG_RECORDS are kept. */
struct launch_log {
    uint64_t count;
    struct launch_record record[LAUNCH_LOG_RECORDS];
};
