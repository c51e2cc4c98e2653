/* nvml: loads NVML with dlopen(). */
#include "nvml.h"

#include <dlfcn.h>
#include <stddef.h>

static struct nvml nvml;

static const struct {
    const char *name;
    void **function;
} functions[] = {
    {"nvmlInit_v2", (void **)&nvml.init},
    {"nvmlDeviceGetHandleByPciBusId_v2", (void **)&nvml.handle},
    {"nvmlDeviceGetClockInfo", (void **)&nvml.clock},
    {"nvmlDeviceGetTemperature", (void **)&nvml.temperature},
    {"nvmlDeviceGetCurrentClocksThrottleReasons", (void **)&nvml.reasons},
    {"nvmlDeviceGetTotalEnergyConsumption", (void **)&nvml.energy},
    {"nvmlSystemGetDriverVersion", (void **)&nvml.driver},
    {"nvmlDeviceGetComputeRunningProcesses_v3", (void **)&nvml.processes},
    {"nvmlDeviceSetGpuLockedClocks", (void **)&nvml.lock_clocks},
    {"nvmlDeviceResetGpuLockedClocks", (void **)&nvml.reset_clocks},
    {"nvmlErrorString", (void **)&nvml.error},
};

const struct nvml *load_nvml(void)
{
    static int state; /* 0: not tried, 1: loaded, -1: absent */
    if (state != 0)
        return state > 0 ? &nvml : NULL;
    state = -1;
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (library == NULL)
        return NULL;
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        *functions[f].function = dlsym(library, functions[f].name);
    if (nvml.init != NULL && nvml.init() == NVML_SUCCESS)
        state = 1;
    return state > 0 ? &nvml : NULL;
}

int find_nvml_device(const struct nvml *loaded, const char *pci_bus_id, nvml_device *device)
{
    return loaded != NULL && loaded->handle != NULL &&
           loaded->handle(pci_bus_id, device) == NVML_SUCCESS;
}
