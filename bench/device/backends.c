#include "backends.h"

const struct backend *backend_of(enum device_kind kind)
{
    switch (kind) {
    case DEVICE_CPU:
        return &cpu_backend;
    case DEVICE_EMULATOR:
        return &emulated_backend;
    default:
#ifdef SCANBENCH_CUDA
        return &gpu_backend;
#else
        return NULL;
#endif
    }
}

struct machine look_at_machine(void)
{
    struct machine machine = {.gpu_count = 0, .why_none = "this build has no CUDA"};
    const struct backend *backend = backend_of(DEVICE_GPU);
    if (backend != NULL)
        machine.gpu_count = backend->device_count(&machine.why_none);
    return machine;
}
