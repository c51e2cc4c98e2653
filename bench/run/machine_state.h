/* machine_state.h: what on this machine may disturb the measurement. */
#pragma once

#include "session.h"

enum { DISTURBANCE_BYTES = 256 };

/* Formats what may disturb times on the open device, as a list; empty if nothing does. `root`
 * is the folder that /proc and /sys are in: "". */
void find_disturbances(const char *root, const struct session *session, bool lock_clocks,
                       char text[DISTURBANCE_BYTES]);
