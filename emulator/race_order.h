/* race_order.h: which accesses of a launch's threads come before which, for races.cpp. */
#pragma once

#include "emulator.h"

#include <stdint.h>

inline namespace emulator_cuda
{

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

struct block;
struct warp;

/* Before a launch. */
void clear_order(void);

/* When a block has ended: the next one in its place begins anew. */
void forget_order(struct block *block);

/* The time of the running thread's accesses from here on. */
uint32_t time_of_accesses(void);

/* Does all that `earlier` stands for come before what the running thread does next? */
bool comes_before(const seen_access &earlier, const seen_access &next);

/* What the running thread does with what lies at an address. Without a fence it releases nothing.
 */
void acquire_at(uintptr_t address);
void release_at(uintptr_t address);
void order_by_fence(void);

/* A thread in a loop of volatile loads may be interrupted between what is told of a load and the
 * load itself, which then sees what others have released since: await_at() acquires and remembers
 * the address, and acquire_again() acquires it anew. */
void await_at(uintptr_t address);
void acquire_again(void);

/* A barrier that has opened, of the block or of the launch, and a collective of lanes. */
void order_by_barrier(struct block *block);
void order_by_launch_barrier(void);
void order_by_collective(struct block *block, struct warp *warp, unsigned mask);

} // namespace emulator_cuda
