/* copies.h: the cost of a run() whose data comes from and returns to host memory. */
#pragma once

#include "../device/backend.h"

/* Input and output in host memory; all zero: not allocated yet. */
struct host_arrays {
    void *input, *output;
    size_t bytes; /* of each array */
    bool pinned;  /* page-locked, so that the device accesses it directly */
    bool stale;   /* the device's input has changed since it was read */
};

enum { COPY_SAMPLES = 11, LEAST_COPY_SAMPLES = 3 };

struct copy_samples {
    unsigned count;
    double whole_ms[COPY_SAMPLES]; /* the copy to the device, run(), and the copy back */
    double h2d_ms[COPY_SAMPLES], d2h_ms[COPY_SAMPLES];
};

/* Takes `samples` samples, or fewer once `max_time_ms` has passed. `written` elements of the
 * result are copied back. Allocates the host arrays if needed. Returns NULL, or why it failed. */
const char *time_copies(struct device *device, const struct trial *trial, uint64_t written,
                        unsigned samples, double max_time_ms, struct host_arrays *host,
                        struct copy_samples *times);

void release_host_arrays(struct device *device, struct host_arrays *host);

/* Frees the host arrays after a reset of the device, which has freed page-locked memory
 * already. */
void forget_host_arrays(struct device *device, struct host_arrays *host);
