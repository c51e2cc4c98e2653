/* nvml.h: the functions of NVML in use, loaded at run time with the signatures of its stable
 * ABI, so that neither nvml.h nor the library is needed to build. */
#pragma once

enum { NVML_SUCCESS = 0, NVML_CLOCK_SM = 1, NVML_TEMPERATURE_GPU = 0 };

/* In place of a frequency: the highest at which the GPU stays within its power. */
#define NVML_CLOCK_LIMIT_ID_TDP 0xffffff01u

typedef void *nvml_device;

/* A function that the library lacks is NULL. */
struct nvml {
    int (*init)(void);
    int (*handle)(const char *, nvml_device *);
    int (*clock)(nvml_device, int, unsigned *);
    int (*temperature)(nvml_device, int, unsigned *);
    int (*reasons)(nvml_device, unsigned long long *);
    int (*energy)(nvml_device, unsigned long long *);
    int (*driver)(char *, unsigned);
    int (*processes)(nvml_device, unsigned *, void *);
    int (*lock_clocks)(nvml_device, unsigned, unsigned);
    int (*reset_clocks)(nvml_device);
    const char *(*error)(int);
};

/* NULL: there is no NVML. */
const struct nvml *load_nvml(void);

/* Finds the GPU with this PCI bus id. Returns 0 if there is none. */
int find_nvml_device(const struct nvml *nvml, const char *pci_bus_id, nvml_device *device);
