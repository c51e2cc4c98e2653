/* slices.h: what the algorithms of several processes share. Each has one slice, in its own memory.
 */
#ifndef SCANBENCH_CPU_SLICES_H
#define SCANBENCH_CPU_SLICES_H

#include "../bench/algorithm.h"

static inline void *at_place(const struct call *call, size_t place)
{
    return (char *)call->scratch + place;
}

/* The bytes of what an all-gather brings, of which there are two, used in turns; and its place. */
static inline size_t gathered_bytes(const struct problem *problem, size_t bytes_a_member)
{
    return next_place(problem->device->members * bytes_a_member);
}

static inline size_t gathered_place(const struct problem *problem, size_t bytes_a_member,
                                    uint32_t number)
{
    return number % 2 * gathered_bytes(problem, bytes_a_member);
}

/* The call of the algorithm that works within a slice, whose scratch begins at a place. */
static inline struct call local_call(const struct call *call, size_t place)
{
    struct call local = *call;
    local.scratch = at_place(call, place);
    local.scratch_bytes = call->scratch_bytes - place;
    return local;
}

static inline size_t local_scratch_bytes(const struct problem *problem)
{
    const struct algorithm *local = problem->local;
    return local->scratch_bytes != NULL ? local->scratch_bytes(problem) : 0;
}

#endif
