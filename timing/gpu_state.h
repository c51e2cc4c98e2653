/* gpu_state.h: clocks, temperature and driver of an NVIDIA GPU, from NVML.
 *
 * NVML is loaded at run time. If it is missing, everything is unknown and nothing fails. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gpu_state {
    double sm_clock_mhz;  /* NAN: unknown */
    double temperature_c; /* NAN: unknown */
    /* 1: throttled by heat or a power brake; 0: not throttled; -1: unknown */
    int throttled;
};

/* The state of the GPU with this PCI bus id, "0000:65:00.0". */
struct gpu_state read_gpu_state(const char *pci_bus_id);

/* Energy that the GPU has used so far, in mJ; NAN: unknown. */
double read_gpu_energy_mj(const char *pci_bus_id);

/* Processes with a context on this GPU, this one included; 0 if unknown. */
unsigned count_gpu_processes(const char *pci_bus_id);

/* "v580.159.04", or "" if unknown. */
void read_gpu_driver(char *text, size_t size);

#ifdef __cplusplus
}
#endif
