/* backends.h: the kinds of devices, and which devices are there. */
#ifndef SCANBENCH_BENCH_DEVICE_BACKENDS_H
#define SCANBENCH_BENCH_DEVICE_BACKENDS_H

#include "backend.h"

/* The backend of a kind of device. If this build has none, there is no such device, but
 * what is known before one is open is known all the same. */
const struct backend *backend_of(enum device_kind kind);

/* The GPUs there are; `why_none` says why there is none. */
struct machine {
    int gpu_count;
    const char *why_none;
};

/* How many GPUs there are, or why none. */
struct machine look_at_machine(void);

#endif
