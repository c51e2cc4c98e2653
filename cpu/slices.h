/* slices.h: what the algorithms of several processes share. Each has one slice, in its own memory.
 */
#pragma once

#include "../bench/engine.h"

static inline void *at_place(const struct call *call, size_t place)
{
    return (char *)call->scratch + place;
}

/* The bytes of what an all-gather brings, of which there are two, used in turns; and its place. */
static inline size_t gathered_bytes(const struct problem *problem, size_t bytes_per_member)
{
    return next_place(problem->device->members * bytes_per_member);
}

static inline size_t gathered_place(const struct problem *problem, size_t bytes_per_member,
                                    uint32_t number)
{
    return number % 2 * gathered_bytes(problem, bytes_per_member);
}

/* The call of the algorithm that works within a slice, whose scratch begins at a place. */
static inline struct call local_call(const struct call *call, size_t place)
{
    struct call local = *call;
    local.scratch = at_place(call, place);
    local.scratch_bytes = call->scratch_bytes - place;
    return local;
}

/* Enough for any process, given the longest slice: others may be shorter by one element, and an
 * algorithm may need more scratch for fewer elements. */
static inline size_t local_scratch_bytes(const struct problem *longest)
{
    const struct algorithm *local = longest->local;
    struct problem shorter = *longest;
    shorter.n -= longest->n > 0;
    if (local->scratch_bytes == NULL)
        return 0;
    const size_t most = local->scratch_bytes(longest), other = local->scratch_bytes(&shorter);
    return most > other ? most : other;
}
