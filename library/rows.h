/* rows.h: the rows `libscanbench`, with which the program measures its own library: calls as a
 * user makes them. They are no part of the library. */
#pragma once

#include "handle.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Creates the handle that the call keeps, if there is none yet, and reserves its scratch. */
scanbench_status open_row(const struct call *call, const struct side *side, unsigned number);

/* Calls the function for the problem. */
scanbench_status run_row(const struct call *call, void *stream);

/* Returns NULL, or why the library has no function for such a problem. */
const char *no_such_call(const struct problem *problem);

void release_row(const struct call *call);

#ifdef __cplusplus
}
#endif
