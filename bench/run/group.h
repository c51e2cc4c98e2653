/* group.h: measures the entries of one group in turns, even if the device fails. */
#pragma once

#include "measurement.h"

/* Runs run->group and writes its rows, except those that run->state->entries marks as done by an
 * earlier worker. Returns the exit code of the rows. If the device is lost, sets run->lost and
 * updates these marks. */
int run_group(struct run *run);
