/* fenced_memory.h: host memory with protected surroundings.
 *
 * On either side of an array lie GUARD_BYTES that can be written and are checked later
 * (guard.h). Past those lies a page that, when touched, ends the program with one line that
 * names the algorithm. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Allocates `bytes` bytes aligned to `alignment`, a power of two and a multiple of the page
 * size. Returns NULL with errno set if there is no memory. At most FENCED_ARRAYS at a time. */
enum { FENCED_ARRAYS = 16 };
void *fenced_allocate(size_t bytes, size_t alignment);
void fenced_release(void *data);

/* Forbids every access to the whole pages of an array's margins, and writes to the array if it is
 * `read_only`, until it is opened again. The first access is noted and goes on. Return false with
 * errno set if the system refuses. */
bool fenced_close(void *data, bool read_only);
bool fenced_open(void *data);

/* Describes the first such access since the last call: "touched memory 4 bytes past the end of a
 * buffer of 4096 bytes". Returns false if there was none. */
bool fenced_touch(char *text, size_t size);

/* From now on, a touch of a protected page is reported as the doing of `name`, which must stay
 * valid until the next call. */
void watch_fences(const char *name);
