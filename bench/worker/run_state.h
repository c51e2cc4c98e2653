/* run_state.h: how far a run is, in memory that outlives the worker: what a new worker must know.
 */
#pragma once

#include "../../timing/cache_state.h"
#include "../../timing/clock.h"
#include "../algorithm.h"
#include "../base/errors.h"

#include <stdbool.h>
#include <stddef.h>

enum { MOST_ENTRIES = 4096 };

/* The state of each entry of the plan's group, one letter per entry. */
enum {
    ENTRY_TO_DO = 't',
    ENTRY_DONE = 'd',
    ENTRY_LOST_DEVICE = 'l', /* it has a row; or it ended the worker after its row */
    ENTRY_ENDED_WORKER = 'e' /* it has no row yet */
};

enum { NO_ENTRY = -1 };

struct run_state {
    /* The plan of the first worker. If a new one makes another, the run cannot go on. */
    int gpus;
    size_t groups;

    size_t group;                           /* index of the first unfinished group */
    char entries[MOST_ENTRIES + 1];         /* states of that group's entries; "": not begun */
    int code;                               /* exit code so far */
    char endless[512];                      /* names of rows that did not end, each with a blank */
    double reference_ms[CACHE_STATE_COUNT]; /* of `auto` on one device, for that group */
    bool told_of[DEVICE_KIND_COUNT];        /* was the note on disturbances printed? */
    bool told_of_check;                     /* and that on what --check says of a file? */

    /* What runs. */
    int running;            /* the entry that runs or ran last in the group */
    int suspect;            /* the same, but the last of the user's, if one ran */
    char name[64];          /* of that entry, or what else runs code of the user's */
    bool inside;            /* does it run now? */
    volatile double end_ms; /* it must not run after this time of clock_ms(); 0: no limit */
    double limit_ms;        /* how long that was at its start */

    char last_words[LAST_WORDS_BYTES]; /* of this worker; "": it said nothing */

    /* How a worker ended at the entries marked ENTRY_ENDED_WORKER. */
    char reason[LAST_WORDS_BYTES];
    int reason_code;

    /* How this worker ended its task. */
    bool finished; /* false: it died */
    bool lost;     /* the device, and rows are left for a new worker */
    int result;    /* exit code */
};

/* From now on what runs has this many milliseconds; 0: no limit. */
static inline void set_limit(struct run_state *state, double limit_ms)
{
    state->limit_ms = limit_ms;
    state->end_ms = limit_ms > 0 ? clock_ms() + limit_ms : 0;
}

/* Before the first worker. */
static inline struct run_state first_state(void)
{
    return (struct run_state){.running = NO_ENTRY, .suspect = NO_ENTRY};
}
