/* backends.h: the kinds of devices, and the devices that are present. */
#pragma once

#include "backend.h"

/* The backend of a kind of device. If this build lacks it, its number of devices is 0, but its
 * static properties are valid. */
const struct backend *backend_of(enum device_kind kind);

/* The number of GPUs; if there are none, `why_none` is the reason. */
struct machine {
    int gpu_count;
    const char *why_none;
};

/* Looks for GPUs. */
struct machine look_at_machine(void);
