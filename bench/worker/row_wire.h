/* row_wire.h: rows as bytes, for the channel between worker and parent, which are one build. */
#pragma once

#include "../rows/row.h"

#include <stdio.h>

/* Appends the row to `out`. */
void put_row(FILE *out, const struct row *row);

/* Reads a row from the bytes, into which its texts point. Returns the first byte after it, or
 * NULL if the bytes end before. */
const char *take_row(const char *bytes, const char *end, struct row *row);
