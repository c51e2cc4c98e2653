/* cpu_memory: buffers in host memory between guard zones. */
#define _GNU_SOURCE /* MADV_HUGEPAGE */
#include "cpu_device.h"

#include "fenced_memory.h"
#include "guard.h"
#include "host_memory.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

enum { PAGE_BYTES = 4096, HUGE_PAGE_BYTES = 2 << 20 };

size_t cpu_free_memory_bytes(struct device *device)
{
    (void)device;
    return read_host_memory("").free_bytes;
}

const char *cpu_write_guards(struct device *device, const struct buffer *buffer)
{
    (void)device;
    unsigned char *data = buffer->data;
    GUARD_UNPOISON(data - GUARD_BYTES);
    GUARD_UNPOISON(data + buffer->bytes);
    memset(data - GUARD_BYTES, GUARD_BYTE, GUARD_BYTES);
    memset(data + buffer->bytes, GUARD_BYTE, GUARD_BYTES);
    GUARD_POISON(data - GUARD_BYTES);
    GUARD_POISON(data + buffer->bytes);
    return NULL;
}

/* The first thread to touch a page decides which memory holds it. Threads touch blocks of an
 * array in turns, so that its pages are distributed over them. */
static void touch_pages(unsigned char *data, size_t bytes, int threads)
{
#pragma omp parallel for schedule(static, 1) num_threads(threads) if (bytes > HUGE_PAGE_BYTES)
    for (size_t page = 0; page < bytes; page += HUGE_PAGE_BYTES)
        data[page] = POISON_BYTE;
}

/* Uses whole huge pages for large arrays; otherwise a TLB miss every 4 KiB would be part of
 * every time. */
const char *cpu_allocate(struct device *device, size_t bytes, struct buffer *buffer)
{
    const bool huge = bytes >= HUGE_PAGE_BYTES;
    void *data = fenced_allocate(bytes, huge ? HUGE_PAGE_BYTES : PAGE_BYTES);
    if (data == NULL) {
        snprintf(device->reason, sizeof device->reason, "cannot allocate: %s", strerror(errno));
        return device->reason;
    }
    if (huge)
        madvise(data, bytes, MADV_HUGEPAGE);
    *buffer = (struct buffer){.data = data, .bytes = bytes, .allocated = bytes};
    touch_pages(buffer->data, bytes, cpu_of(device)->threads);
    return cpu_write_guards(device, buffer);
}

const char *cpu_resize(struct device *device, struct buffer *buffer, size_t bytes)
{
    guard_open_rest(buffer);
    buffer->bytes = bytes;
    cpu_write_guards(device, buffer);
    guard_close_rest(buffer);
    return NULL;
}

void cpu_release(struct device *device, struct buffer *buffer)
{
    (void)device;
    if (buffer->data == NULL)
        return;
    unsigned char *data = buffer->data;
    GUARD_UNPOISON(data - GUARD_BYTES);
    guard_open_rest(buffer);
    fenced_release(data);
    *buffer = (struct buffer){0};
}

const char *cpu_read(struct device *device, void *host, const void *data, size_t bytes)
{
    (void)device;
    memcpy(host, data, bytes);
    return NULL;
}

const char *cpu_check_guards(struct device *device, const struct buffer *buffer, bool *damaged,
                             struct guard_damage *damage)
{
    (void)device;
    unsigned char *data = buffer->data;
    GUARD_UNPOISON(data - GUARD_BYTES);
    GUARD_UNPOISON(data + buffer->bytes);
    *damaged = guard_damaged(data - GUARD_BYTES, data + buffer->bytes, buffer->bytes, damage);
    GUARD_POISON(data - GUARD_BYTES);
    GUARD_POISON(data + buffer->bytes);
    return NULL;
}

const char *cpu_poison(struct device *device, const struct buffer *buffer)
{
    (void)device;
    memset(buffer->data, POISON_BYTE, buffer->bytes);
    return NULL;
}
