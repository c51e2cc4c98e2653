/* cache_state.h: the state of the caches when a sample begins. */
#pragma once

enum cache_state {
    CACHE_COLD,  /* lines of other memory that can be dropped */
    CACHE_DIRTY, /* lines of other memory that must be written back first */
    CACHE_HOT,   /* whatever the previous sample left */
    CACHE_STATE_COUNT,
};

/* The names that --cache takes and the rows show. */
static inline const char *cache_state_name(enum cache_state state)
{
    return state == CACHE_COLD ? "cold" : state == CACHE_DIRTY ? "dirty" : "hot";
}
