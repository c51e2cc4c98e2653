/* fenced_memory.h: host memory whose surroundings may not be touched.
 *
 * On both sides of an array lie GUARD_BYTES that can be written and are looked at later
 * (guard.h), and past those a page that ends the program with one line, which names the
 * algorithm that touched it. */
#ifndef SCANBENCH_BENCH_DEVICE_FENCED_MEMORY_H
#define SCANBENCH_BENCH_DEVICE_FENCED_MEMORY_H

#include <stddef.h>

/* An array of so many bytes, aligned to `alignment`, a power of two and a multiple of the
 * page size. NULL with errno: there is no memory. At most FENCED_ARRAYS at a time. */
enum { FENCED_ARRAYS = 16 };
void *fenced_allocate(size_t bytes, size_t alignment);
void fenced_release(void *data);

/* From now on a page that may not be touched is reported, as the doing of `name`, which
 * must stand until the next call. */
void watch_fences(const char *name);

#endif
