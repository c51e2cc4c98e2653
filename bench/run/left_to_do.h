/* left_to_do.h: finds the entries of a group whose rows are finished, in the file of --resume
 * or by an earlier worker. */
#pragma once

#include "measurement.h"

/* Marks the finished entries. For comparison memcpy is measured even so, and `auto` on one device
 * if a team needs its time. Returns false if nothing is left to do. */
bool skip_rows_there(struct run *run);

/* After the loss of the device: stores what the next worker must know in run->state->entries. */
void note_entries(struct run *run);

/* --check: an algorithm of which some rows did not come to an end is not tried again. Notes a
 * finished row, and tells whether enough have been noted. */
void note_endless_row(const struct run *run, const struct measurement *m);
bool is_endless(const struct run *run, const struct measurement *m);
