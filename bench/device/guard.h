/* guard.h: the guard zones before and after each buffer, in host-readable memory.
 *
 * A write outside a buffer changes a zone and is found by its value, on any device. Under the
 * address sanitizer the zones of host memory are poisoned as well, so that a read outside the
 * buffer is found too, at the instruction that does it. */
#pragma once

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

/* Poisons or unpoisons, for the address sanitizer, the allocated bytes that are not in use and
 * the zone after them. */
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

/* The size of an allocation that holds a buffer and its zones. */
static inline size_t guarded_bytes(size_t bytes)
{
    return GUARD_BYTES + bytes + GUARD_BYTES;
}

/* The offset of the first changed byte of one zone's copy, or -1. */
static inline int first_changed_byte(const unsigned char zone[GUARD_BYTES])
{
    /* Every byte equals its predecessor and the first is right: as fast as memcmp. */
    if (zone[0] == GUARD_BYTE && memcmp(zone, zone + 1, GUARD_BYTES - 1) == 0)
        return -1;
    int i = 0;
    while (zone[i] == GUARD_BYTE)
        i++;
    return i;
}

/* Where a guard zone was overwritten: offset of the first changed byte from the buffer's start,
 * negative before it, and the eight bytes of the zone around it. */
struct guard_damage {
    int64_t offset;
    unsigned char found[8];
};

/* The start of the damaged zone, as an offset from the buffer's start. */
static inline int64_t damaged_zone_start(const struct guard_damage *damage, size_t bytes)
{
    return damage->offset >= 0 ? (int64_t)bytes : -(int64_t)GUARD_BYTES;
}

/* Checks copies of both zones; returns true if either was overwritten. */
static inline bool guard_damaged(const unsigned char *front, const unsigned char *back,
                                 size_t bytes, struct guard_damage *damage)
{
    const int after = first_changed_byte(back), before = first_changed_byte(front);
    if (after < 0 && before < 0)
        return false;
    const int in_zone = after >= 0 ? after : before;
    damage->offset = in_zone + (after >= 0 ? (int64_t)bytes : -(int64_t)GUARD_BYTES);
    memcpy(damage->found, (after >= 0 ? back : front) + in_zone / 8 * 8, sizeof damage->found);
    return true;
}
