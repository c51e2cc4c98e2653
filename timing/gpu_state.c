/* gpu_state: reads the state of a GPU through NVML, loaded with dlopen(). */
#include "gpu_state.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>

/* The NVML functions in use, with the signatures of its stable ABI, so that nvml.h is not
 * needed to build. */
enum { NVML_SUCCESS = 0, NVML_CLOCK_SM = 1, NVML_TEMPERATURE_GPU = 0 };

/* Reasons that mean throttling: software and hardware thermal slowdown, hardware slowdown,
 * power brake (nvmlClocksEventReasons). */
#define NVML_SLOWDOWN_REASONS (0x8ull | 0x20ull | 0x40ull | 0x80ull)

typedef void *nvml_device;

static struct {
    int state; /* 0: not tried, 1: loaded, -1: absent */
    int (*init)(void);
    int (*handle)(const char *, nvml_device *);
    int (*clock)(nvml_device, int, unsigned *);
    int (*temperature)(nvml_device, int, unsigned *);
    int (*reasons)(nvml_device, unsigned long long *);
    int (*energy)(nvml_device, unsigned long long *);
    int (*driver)(char *, unsigned);
} nvml;

static int load_nvml(void)
{
    if (nvml.state != 0)
        return nvml.state > 0;
    nvml.state = -1;
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (library == NULL)
        return 0;
    *(void **)&nvml.init = dlsym(library, "nvmlInit_v2");
    *(void **)&nvml.handle = dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2");
    *(void **)&nvml.clock = dlsym(library, "nvmlDeviceGetClockInfo");
    *(void **)&nvml.temperature = dlsym(library, "nvmlDeviceGetTemperature");
    *(void **)&nvml.reasons = dlsym(library, "nvmlDeviceGetCurrentClocksThrottleReasons");
    *(void **)&nvml.energy = dlsym(library, "nvmlDeviceGetTotalEnergyConsumption");
    *(void **)&nvml.driver = dlsym(library, "nvmlSystemGetDriverVersion");
    if (nvml.init != NULL && nvml.init() == NVML_SUCCESS)
        nvml.state = 1;
    return nvml.state > 0;
}

struct gpu_state read_gpu_state(const char *pci_bus_id)
{
    struct gpu_state state = {.sm_clock_mhz = NAN, .temperature_c = NAN, .throttled = -1};
    nvml_device device;
    unsigned value;
    unsigned long long reasons;
    if (!load_nvml() || nvml.handle == NULL || nvml.handle(pci_bus_id, &device) != NVML_SUCCESS)
        return state;
    if (nvml.clock != NULL && nvml.clock(device, NVML_CLOCK_SM, &value) == NVML_SUCCESS)
        state.sm_clock_mhz = value;
    if (nvml.temperature != NULL &&
        nvml.temperature(device, NVML_TEMPERATURE_GPU, &value) == NVML_SUCCESS)
        state.temperature_c = value;
    if (nvml.reasons != NULL && nvml.reasons(device, &reasons) == NVML_SUCCESS)
        state.throttled = (reasons & NVML_SLOWDOWN_REASONS) != 0;
    return state;
}

double read_gpu_energy_mj(const char *pci_bus_id)
{
    nvml_device device;
    unsigned long long mj;
    if (!load_nvml() || nvml.handle == NULL || nvml.energy == NULL ||
        nvml.handle(pci_bus_id, &device) != NVML_SUCCESS ||
        nvml.energy(device, &mj) != NVML_SUCCESS)
        return NAN;
    return (double)mj;
}

void read_gpu_driver(char *text, size_t size)
{
    char version[80];
    text[0] = '\0';
    if (load_nvml() && nvml.driver != NULL && nvml.driver(version, sizeof version) == NVML_SUCCESS)
        snprintf(text, size, "v%s", version);
}
