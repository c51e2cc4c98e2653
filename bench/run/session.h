/* session.h: an open device and the memory of one group of measurements. */
#pragma once

#include "copies.h"
#include "plan.h"
#include "../device/verify.h"

struct session {
    struct device *device;      /* NULL: no device is open */
    struct device_choice which; /* which of the devices it is */
    struct device_info info;
    struct device_limits limits;
    char driver[32];
    double max_time_ms; /* --max-time */
    struct workspace workspace;
    struct host_arrays host; /* --copies */
};

/* Opens the device unless it is open already. Returns NULL, or why it cannot be used. */
const char *open_session(struct session *session, struct device_choice device,
                         const struct options *options);
void close_session(struct session *session);

/* Milliseconds since a time of clock_ms(): in a team the same in all processes, which must not
 * decide differently. */
double ms_since(const struct session *session, double start_ms);
