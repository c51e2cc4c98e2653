/* show.h: --show: what went into a run and what came out, for people. */
#ifndef SCANBENCH_BENCH_RUN_SHOW_H
#define SCANBENCH_BENCH_RUN_SHOW_H

#include "session.h"

/* Prints the first `show` and the last elements of the input and of the `written` elements
 * of the result to stderr. */
void show_result(const struct session *session, const struct problem *p, const char *algorithm,
                 uint64_t written, unsigned show);

#endif
