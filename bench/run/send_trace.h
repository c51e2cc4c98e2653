/* send_trace.h: --trace, what one run reads and writes, with what tells it from other runs. */
#pragma once

#include "measurement.h"

/* Traces one untimed run and sends it home as a JSON object: `title`, the axes of its row, and what
 * the device writes. Returns NULL, or why the run failed. The device can trace. */
const char *send_trace(const struct run *run, const struct measurement *m,
                       const struct trial *trial);
