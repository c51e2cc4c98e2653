/* show.h: --show, the input and result of a run on stderr. */
#pragma once

#include "session.h"

/* Prints the first `show` elements and the last one, of the input and of the `written` elements
 * of the result, to stderr. */
void show_result(const struct session *session, const struct problem *p, const char *algorithm,
                 uint64_t written, unsigned show);
