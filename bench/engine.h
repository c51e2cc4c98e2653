/* engine.h: several devices that share one array, and how they exchange data.
 *
 * What algorithm.h is for one device, this is for a team of them: algorithms over slices and
 * engines include it. An engine is one file that ends with a `struct engine`, and one line of
 * engines.def. */
#pragma once

#include "algorithm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Several devices, the members, that share one array. Member k holds slice k of input and output,
 * from slice_start(n, size, k) on. Each has a call of its own, whose problem.n is the length of its
 * slice and whose scratch has the same layout on every member. */
struct team {
    unsigned size;     /* members in all processes */
    unsigned first;    /* number of this process's first member */
    unsigned here;     /* members in this process */
    struct call *call; /* one for each of these */
    const struct engine *engine;
    size_t engine_place; /* of the engine's own scratch */
    /* NULL, or called before and after each exchange, to time it. */
    void (*mark)(const struct team *team);
    void *harness; /* for mark() */
};

enum { MOST_MEMBERS = 64 };

/* The lines of engines.def. */
enum engine_id {
#define ENGINE(NAME, ...) ENGINE_##NAME,
#include "engines.def"
#undef ENGINE
    ENGINE_COUNT
};

/* How the members of a team exchange data: through each other's memory, a library, messages.
 * A place is an offset into scratch, a multiple of 256, the same on every member. The functions are
 * called once for all members of this process; they enqueue work or do it, in the order of each
 * member's queue. `number` counts a team's exchanges since prepare(), from 1. */
struct engine {
    const char *name;
    const char *summary;
    const char *source;
    unsigned traits;                      /* of every algorithm with this engine */
    unsigned runs_traits;                 /* of those that exchange runs, in addition */
    const char *(*library_version)(void); /* as for an algorithm, like supports() */
    const char *(*supports)(const struct problem *problem);

    /* How to get what this build lacks for the engine; NULL: it lacks nothing. May be NULL. */
    const char *(*missing)(void);

    /* Bytes of scratch for itself, and how they are set up. May be NULL. */
    size_t (*scratch_bytes)(const struct problem *problem);
    void (*prepare)(const struct team *team);

    /* Each member has `bytes` bytes at `from`; each gets those of member k at `to` + k * bytes.
     * Exchanges must use two places `to` in turns: a member may still read one when others already
     * write the next. */
    void (*all_gather)(const struct team *team, uint32_t number, size_t from, size_t to,
                       size_t bytes);

    /* NULL, or kernels can store in the scratch of all members: what they have stored there before
     * is there for all that is queued after this call, on the stream that each queue has at that
     * time. Counts as an exchange. */
    void (*meet)(const struct team *team, uint32_t number);

    /* Where they cannot: each member has one run of elements for each, one after the other, at
     * `from`; each gets the runs for it at `to`, in the order of members. `counts` is the place of
     * the same table on every member: counts[k * size + j] elements go from member k to member j.
     */
    void (*exchange_runs)(const struct team *team, uint32_t number, size_t from, size_t to,
                          size_t counts);
};

/* Called before and after each exchange, or the wait for one beside which members work. */
static inline void mark_exchange(const struct team *team)
{
    if (team->mark != NULL)
        team->mark(team);
}

static inline void team_all_gather(const struct team *team, uint32_t number, size_t from, size_t to,
                                   size_t bytes)
{
    mark_exchange(team);
    team->engine->all_gather(team, number, from, to, bytes);
    mark_exchange(team);
}

static inline void team_exchange_runs(const struct team *team, uint32_t number, size_t from,
                                      size_t to, size_t counts)
{
    mark_exchange(team);
    team->engine->exchange_runs(team, number, from, to, counts);
    mark_exchange(team);
}

#ifdef __cplusplus
}
#endif
