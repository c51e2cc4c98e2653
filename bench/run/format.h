/* format.h: devices, inputs and memory as text. */
#pragma once

#include "session.h"

/* "cpu", "emulator", "gpu0"; "gpu" for a team of them. */
void format_device(struct device_choice device, char *text, size_t size);

/* The largest value of an input, as typed if it was. */
void format_max(const struct input_spec *input, char *text, size_t size);

/* 1536 -> "1.5 KiB". */
void format_bytes(double bytes, char *text, size_t size);

/* What bounds the device's free memory, such as " (ulimit -v is 1.0 GiB)"; "": its memory. */
enum { MEMORY_BOUND_BYTES = 168 };
void format_memory_bound(const struct session *session, char text[MEMORY_BOUND_BYTES]);
