/* backends: the table of backends, and the GPUs that are present. */
#include "backends.h"

#ifndef SCANBENCH_CUDA
static int no_cuda(const char **why)
{
    *why = "this build has no CUDA";
    return 0;
}

const struct backend gpu_backend = {
    .kind = DEVICE_GPU,
    .numbered = true,
    .has_blocks = true,
    .device_count = no_cuda,
};
#endif

const struct backend *backend_of(enum device_kind kind)
{
    static const struct backend *const backends[DEVICE_KIND_COUNT] = {
#define DEVICE(NAME, name, BACKEND) &BACKEND,
#include "../devices.def"
    };
    return backends[kind];
}

struct machine look_at_machine(void)
{
    struct machine machine = {0};
    machine.gpu_count = backend_of(DEVICE_GPU)->device_count(&machine.why_none);
    return machine;
}
