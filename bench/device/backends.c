/* backends: the table of backends, and the GPUs that are present. */
#include "backends.h"

#ifdef SCANBENCH_CUDA
#define GPU_BACKEND gpu_backend
#else
#define GPU_BACKEND absent_gpu

static int no_cuda(const char **why)
{
    *why = "this build has no CUDA";
    return 0;
}

static const struct backend absent_gpu = {
    .kind = DEVICE_GPU,
    .numbered = true,
    .has_blocks = true,
    .device_count = no_cuda,
};
#endif

const struct backend *backend_of(enum device_kind kind)
{
    static const struct backend *const backends[DEVICE_KIND_COUNT] = {
        [DEVICE_CPU] = &cpu_backend,
        [DEVICE_GPU] = &GPU_BACKEND,
        [DEVICE_EMULATOR] = &emulated_backend,
    };
    return backends[kind];
}

struct machine look_at_machine(void)
{
    struct machine machine = {0};
    machine.gpu_count = backend_of(DEVICE_GPU)->device_count(&machine.why_none);
    return machine;
}
