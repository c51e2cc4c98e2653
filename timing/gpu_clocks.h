/* gpu_clocks.h: locks the clocks of a GPU, through NVML, as long as this process lives.
 *
 * Locked clocks outlive the process that locked them. So a process of its own does it, which
 * notices the end of this one, be it by a signal or a crash, and unlocks them. */
#pragma once

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All 0: nothing is locked. */
struct locked_clocks {
    pid_t keeper;
    int line; /* to the keeper, which unlocks when it closes */
};

/* Locks the clocks of the GPU with this PCI bus id at the highest frequency that it can hold.
 * Returns NULL, or why they cannot be locked. */
const char *lock_gpu_clocks(const char *pci_bus_id, struct locked_clocks *locked);

/* Unlocks them, and returns when they are unlocked. */
void unlock_gpu_clocks(struct locked_clocks *locked);

#ifdef __cplusplus
}
#endif
