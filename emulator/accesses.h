/* accesses.h: what the threads of a launch do to memory, told to those who observe it.
 *
 * access_hooks.cpp has what kernels call. An observer is a file of its own and one line of
 * accesses.cpp's table: access_counts.cpp counts, and trace.cpp notes each access. */
#pragma once

#include "emulator.h"

#include <stddef.h>
#include <stdint.h>

inline namespace emulator_cuda
{

struct block;
struct warp;
enum emulator_access_kind : uint8_t; /* device_functions.h has this and the next two */
enum ordering : uint8_t;
enum collective_op : uint8_t;

enum memory_space : uint8_t { MEMORY_OTHER, MEMORY_GLOBAL, MEMORY_SHARED };

/* An access of the running thread. It is told before it is made. To other memory, only atomics and
 * volatile accesses are told. */
struct memory_access {
    uintptr_t address;
    size_t bytes;
    emulator_access_kind kind;
    memory_space space;
    bool is_volatile;       /* or goes past the L1 */
    const void *caller;     /* where the kernel goes on after it */
    const uintptr_t *frame; /* the innermost frame */
};

/* What an observer is told during a launch; NULL: it does not want to know. */
struct access_observer {
    /* Returns whether the launch is observed. `random_state` decides the order of blocks and
     * threads, and may be set. */
    bool (*begin_launch)(uint64_t *random_state);
    void (*access)(const struct memory_access *access);
    void (*barrier)(struct block *block); /* has opened */
    /* One of all threads of the launch has opened. Without `waits`, threads may do something
     * between arriving and waiting. */
    void (*launch_barrier)(bool waits);
    /* Is complete: the warp has the operands and the results. */
    void (*collective)(struct block *block, struct warp *warp, unsigned mask, collective_op op);
    void (*order)(ordering kind, const void *address); /* by the running thread */
    void (*end_block)(struct block *block);
    void (*end_launch)(void);
};

extern const struct access_observer application_observer, counting_observer, race_observer,
    tracing_observer;

/* Tells an access by the running thread. */
void note_access(const void *address, size_t bytes, emulator_access_kind kind, const void *caller,
                 bool is_volatile = false);

static inline uint64_t hash_with(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
}

/* The widest access of at most 16 bytes at this address, of the `left` bytes of an object of
 * `whole`. Its alignment is not known, but divides its size: of 12 bytes it is 4 at most. So all
 * lanes copy alike, wherever their objects lie. */
size_t widest_access_bytes(uintptr_t address, size_t left, size_t whole);

/* The calls that lead to an access, as return addresses, the innermost first. Returns how many
 * there are, `most` at most. Kernels and what calls them keep frame pointers. */
int calls_of(const struct memory_access *access, uintptr_t *calls, int most);

/* The place of an access in the code: a hash of the calls that lead to it. */
uint64_t place_of(const struct memory_access *access);

/* The scheduler tells of launches, of barriers that have opened, of collectives that are complete,
 * and of blocks that have ended; all but launches only if emulator_observes_accesses. */
void begin_observed_launch(uint64_t *random_state);
void observe_barrier(struct block *block);
void observe_launch_barrier(bool waits);
void observe_collective(struct block *block, struct warp *warp, unsigned mask, collective_op op);
void observe_end_of_block(struct block *block);
void end_observed_launch(void);

} // namespace emulator_cuda
