/* clocks.h: --lock-clocks: the clocks of all GPUs of a plan, locked for the whole run. */
#pragma once

#include "../../timing/gpu_clocks.h"
#include "plan.h"

/* All 0: nothing is locked. */
struct clocks {
    struct locked_clocks of[MOST_MEMBERS]; /* of each GPU, by its number */
    bool free_elsewhere; /* another process could not lock one, and every row is of all processes */
};

/* Locks the clocks of all devices of the plan. Those that cannot be locked do not prevent the run:
 * a line says so, and rows say what the clocks were. */
void lock_gpus(const struct plan *plan, bool quiet, struct clocks *clocks);
void unlock_gpus(struct clocks *clocks);

/* Are they locked on the device, or on all members of a team in this process? */
bool are_clocks_locked(const struct clocks *clocks, struct device_choice device);
