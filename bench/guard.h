/* guard.h: the zones before and behind each buffer, in memory the host can see.
 *
 * A write beside a buffer changes a zone and is found by value, on any device.
 * Under the address sanitizer the zones of host memory are poisoned as well, so
 * that a read beside the buffer is found too, where it happens. */
#ifndef SCANBENCH_BENCH_GUARD_H
#define SCANBENCH_BENCH_GUARD_H

#include "backend.h"

#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define GUARD_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GUARD_SANITIZED 1
#endif
#endif

#ifdef GUARD_SANITIZED
#include <sanitizer/asan_interface.h>
#define GUARD_POISON_BYTES(zone, bytes) __asan_poison_memory_region(zone, bytes)
#define GUARD_UNPOISON_BYTES(zone, bytes) __asan_unpoison_memory_region(zone, bytes)
#else
#define GUARD_POISON_BYTES(zone, bytes) ((void)(zone), (void)(bytes))
#define GUARD_UNPOISON_BYTES(zone, bytes) ((void)(zone), (void)(bytes))
#endif

#define GUARD_POISON(zone) GUARD_POISON_BYTES(zone, GUARD_BYTES)
#define GUARD_UNPOISON(zone) GUARD_UNPOISON_BYTES(zone, GUARD_BYTES)

/* What is allocated but not in use, with the zone behind all of it: closed to
 * the sanitizer's eyes, or open. */
static inline void guard_close_rest(const struct buffer *buffer)
{
    GUARD_POISON_BYTES((unsigned char *)buffer->data + buffer->bytes,
                       buffer->allocated - buffer->bytes + GUARD_BYTES);
}

static inline void guard_open_rest(const struct buffer *buffer)
{
    GUARD_UNPOISON_BYTES((unsigned char *)buffer->data + buffer->bytes,
                         buffer->allocated - buffer->bytes + GUARD_BYTES);
}

/* The bytes of an allocation that holds a buffer and its zones. */
static inline size_t guarded_bytes(size_t bytes)
{
    return GUARD_BYTES + bytes + GUARD_BYTES;
}

/* The offset of the first changed byte of one zone's copy, or -1. */
static inline int first_changed_byte(const unsigned char zone[GUARD_BYTES])
{
    for (int i = 0; i < GUARD_BYTES; i++)
        if (zone[i] != GUARD_BYTE)
            return i;
    return -1;
}

/* Where a buffer's neighbourhood was written: `offset` bytes from its start,
 * negative before it, and the byte found there. */
struct guard_damage {
    int64_t offset;
    unsigned char zone[GUARD_BYTES]; /* the damaged zone as it was found */
};

/* Looks at copies of both zones; true if either was written to. */
static inline bool guard_damaged(const unsigned char *front, const unsigned char *back,
                                 size_t bytes, struct guard_damage *damage)
{
    const int behind = first_changed_byte(back), before = first_changed_byte(front);
    if (behind < 0 && before < 0)
        return false;
    damage->offset = behind >= 0 ? (int64_t)bytes + behind : before - GUARD_BYTES;
    memcpy(damage->zone, behind >= 0 ? back : front, GUARD_BYTES);
    return true;
}

#endif
