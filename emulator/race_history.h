/* race_history.h: what each word of memory has seen of a launch, as far as a later access could
 * race with it.
 *
 * A word has a few accesses. If there are more, one is forgotten, so of many racing pairs not all
 * would be found; the first one found ends the launch. */
#pragma once

#include "emulator.h"

#include <stddef.h>
#include <stdint.h>

inline namespace emulator_cuda
{

enum { SEEN = 4 }; /* accesses that a word has: 64 bytes, a cache line */

enum : uint8_t { SEEN_WRITES = 1, SEEN_ATOMIC = 2, SEEN_VOLATILE = 4 };

/* An access, as far as it is remembered. */
struct seen_access {
    uint32_t block;
    uint32_t time; /* 0: none */
    uint32_t place;
    uint16_t thread;
    uint8_t bytes; /* of the word: bit mask */
    uint8_t how;
};

static inline bool same_warp(const seen_access &a, const seen_access &b)
{
    return a.block == b.block && a.thread / EMULATOR_WARP_SIZE == b.thread / EMULATOR_WARP_SIZE;
}

struct word_history {
    seen_access seen[SEEN];
};

/* That of the word at an address, in the current launch. */
word_history *history_of(uintptr_t address);

/* For the next block whose shared memory it is. */
void forget_words(const char *start, size_t bytes);

/* For the next launch. */
void forget_pages(void);

} // namespace emulator_cuda
