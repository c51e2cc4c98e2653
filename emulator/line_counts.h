/* line_counts.h: what is counted at each place in the code, and by line of the source.
 *
 * A place is the calls that lead to an access (accesses.h). Its line is looked up at the end, since
 * that takes another program. */
#pragma once

#include "accesses.h"

inline namespace emulator_cuda
{

/* Forgets all launches. */
void forget_places(void);

/* Begins a launch, in which nothing is counted so far. */
void begin_places(const char *kernel);

/* The counts at a place in the running launch, at which the access is. Valid until its end. */
struct memory_counts *counts_of_place(uint64_t place, const struct memory_access *access);

/* Adds the counts of all places to the launch's, and to those of its kernel. */
void end_places(struct memory_counts *launch);

} // namespace emulator_cuda
