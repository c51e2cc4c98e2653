/* clocks.h: what a thread knows of others: up to where all that they did comes before what it does
 * next.
 *
 * Times count the events of a launch that order threads. Each access has the time of its thread's
 * last event. Clocks never change once they are made, share what they have in common, and live as
 * long as the launch. */
#pragma once

#include <stdint.h>
#include <utility>
#include <vector>

inline namespace emulator_cuda
{

/* What is known of a block: of all its threads, what they did before a time, and of some threads
 * more: what they did up to a time. */
struct block_clock {
    uint32_t before;
    std::vector<std::pair<uint16_t, uint32_t>> up_to; /* by thread; each at or after `before` */
};

/* What is known of any block of the launch. NULL: nothing. */
typedef const void *launch_clock;

/* Forgets the clocks of the launch before. */
void clear_clocks(uint32_t blocks);

/* The clock that knows what either knows: one of the two, if it knows all of the other. */
launch_clock join_clocks(launch_clock a, launch_clock b);

/* The clock that knows what `clock` does, and `more` of a block. */
launch_clock add_to_clock(launch_clock clock, uint32_t block, struct block_clock more);

/* Is what the thread did at that time known? */
bool clock_knows(launch_clock clock, uint32_t block, uint16_t thread, uint32_t time);

} // namespace emulator_cuda
