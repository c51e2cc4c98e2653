/* clocks: locks the clocks of each GPU of a plan once. */
#include "clocks.h"

#include "../base/errors.h"
#include "../names.h"
#include "../base/processes.h"

static unsigned gpus_of(struct device_choice device)
{
    return device.members > 0 ? device.members : 1;
}

/* Returns whether they are locked. */
static bool lock_gpu(const struct backend *backend, int index, struct clocks *clocks)
{
    char bus_id[32];
    backend->read_pci_bus_id(bus_id, sizeof bus_id, index);
    const char *why = lock_gpu_clocks(bus_id, &clocks->of[index]);
    if (why != NULL)
        complain("--lock-clocks: gpu%d: %s; its clocks stay as they are", index, why);
    return why == NULL;
}

void lock_gpus(const struct plan *plan, bool quiet, struct clocks *clocks)
{
    bool tried[MOST_MEMBERS] = {false}, told[DEVICE_KIND_COUNT] = {false}, all_locked = true;
    for (size_t g = 0; g < plan->group_count; g++) {
        const struct device_choice device = plan->groups[g].device;
        const struct backend *backend = backend_of(device.kind);
        if (backend->read_pci_bus_id == NULL) {
            if (!told[device.kind] && !quiet)
                complain("--lock-clocks: %s has no clocks to lock", device_kind_name(device.kind));
            told[device.kind] = true;
            continue;
        }
        for (int gpu = device.index; gpu < device.index + (int)gpus_of(device); gpu++)
            if (gpu < MOST_MEMBERS && !tried[gpu]) {
                all_locked &= lock_gpu(backend, gpu, clocks);
                tried[gpu] = true;
            }
    }
    clocks->free_elsewhere = !all_processes(all_locked) && all_locked;
    if (clocks->free_elsewhere)
        complain("--lock-clocks: the clocks of another process's GPU stay as they are");
}

void unlock_gpus(struct clocks *clocks)
{
    for (int gpu = 0; gpu < MOST_MEMBERS; gpu++)
        unlock_gpu_clocks(&clocks->of[gpu]);
}

bool are_clocks_locked(const struct clocks *clocks, struct device_choice device)
{
    if (backend_of(device.kind)->read_pci_bus_id == NULL || clocks->free_elsewhere)
        return false;
    for (int gpu = device.index; gpu < device.index + (int)gpus_of(device); gpu++)
        if (gpu >= MOST_MEMBERS || clocks->of[gpu].keeper == 0)
            return false;
    return true;
}
