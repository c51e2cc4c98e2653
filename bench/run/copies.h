/* copies.h: what a run() costs whose data is, and is wanted, in the host's memory. */
#ifndef SCANBENCH_BENCH_RUN_COPIES_H
#define SCANBENCH_BENCH_RUN_COPIES_H

#include "../device/backend.h"

/* Copies of input and output in the host's memory; all zero: none yet. */
struct host_arrays {
    void *input, *output;
    size_t bytes; /* of each */
    bool pinned;  /* page-locked, so that the device reads and writes it by itself */
};

enum { COPY_SAMPLES = 11, LEAST_COPY_SAMPLES = 3 };

struct copy_samples {
    unsigned count;
    double whole_ms[COPY_SAMPLES]; /* to the device, run(), and back */
    double h2d_ms[COPY_SAMPLES], d2h_ms[COPY_SAMPLES];
};

/* Takes `samples` of them, fewer if they last longer than `max_time_ms`. `written`
 * elements of the result are copied back. Makes the host's arrays unless they are
 * there. Returns NULL, or why not. */
const char *time_copies(struct device *device, const struct trial *trial, uint64_t written,
                        unsigned samples, double max_time_ms, struct host_arrays *host,
                        struct copy_samples *times);

void release_host_arrays(struct device *device, struct host_arrays *host);

/* The same when the device was reset, which took page-locked memory with it. */
void forget_host_arrays(struct device *device, struct host_arrays *host);

#endif
