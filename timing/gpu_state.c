/* gpu_state: reads the state of a GPU through NVML. */
#include "gpu_state.h"

#include "nvml.h"

#include <math.h>
#include <stdio.h>

/* Reasons that mean throttling: software and hardware thermal slowdown, hardware slowdown,
 * power brake (nvmlClocksEventReasons). */
#define NVML_SLOWDOWN_REASONS (0x8ull | 0x20ull | 0x40ull | 0x80ull)

struct gpu_state read_gpu_state(const char *pci_bus_id)
{
    struct gpu_state state = {.sm_clock_mhz = NAN, .temperature_c = NAN, .throttled = -1};
    const struct nvml *nvml = load_nvml();
    nvml_device device;
    unsigned value;
    unsigned long long reasons;
    if (!find_nvml_device(nvml, pci_bus_id, &device))
        return state;
    if (nvml->clock != NULL && nvml->clock(device, NVML_CLOCK_SM, &value) == NVML_SUCCESS)
        state.sm_clock_mhz = value;
    if (nvml->temperature != NULL &&
        nvml->temperature(device, NVML_TEMPERATURE_GPU, &value) == NVML_SUCCESS)
        state.temperature_c = value;
    if (nvml->reasons != NULL && nvml->reasons(device, &reasons) == NVML_SUCCESS)
        state.throttled = (reasons & NVML_SLOWDOWN_REASONS) != 0;
    return state;
}

double read_gpu_energy_mj(const char *pci_bus_id)
{
    const struct nvml *nvml = load_nvml();
    nvml_device device;
    unsigned long long mj;
    if (!find_nvml_device(nvml, pci_bus_id, &device) || nvml->energy == NULL ||
        nvml->energy(device, &mj) != NVML_SUCCESS)
        return NAN;
    return (double)mj;
}

unsigned count_gpu_processes(const char *pci_bus_id)
{
    const struct nvml *nvml = load_nvml();
    nvml_device device;
    unsigned count = 0;
    /* If the list does not fit, the call fails and says how long the list is. */
    if (find_nvml_device(nvml, pci_bus_id, &device) && nvml->processes != NULL)
        nvml->processes(device, &count, NULL);
    return count;
}

void read_gpu_driver(char *text, size_t size)
{
    const struct nvml *nvml = load_nvml();
    char version[80];
    text[0] = '\0';
    if (nvml != NULL && nvml->driver != NULL &&
        nvml->driver(version, sizeof version) == NVML_SUCCESS)
        snprintf(text, size, "v%s", version);
}
