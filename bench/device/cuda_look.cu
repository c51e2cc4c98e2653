/* cuda_look: notes in device memory what each timed run has left (look.h). */
#include "cuda_device.cuh"

#include "look.h"

namespace SCANBENCH_BACKEND
{

__global__ void look_kernel(struct view view, struct look *look)
{
    if (threadIdx.x < LOOK_PLACES)
        look_at(&view, threadIdx.x, look);
}

__global__ void poison_places_kernel(struct view view)
{
    if (threadIdx.x < LOOK_PLACES)
        poison_place(&view, threadIdx.x);
}

__global__ void placed_digest_kernel(struct view view, struct look *look)
{
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    unsigned long long sum = 0;
    for (uint64_t i = global_thread(); i < view.n; i += threads)
        sum += placed_digest(&view, i);
    atomicAdd(reinterpret_cast<unsigned long long *>(&look->whole), sum);
}

void poison_places(cuda_device *device, const struct view &view)
{
    if (view.n > 0)
        launch<poison_places_kernel>(&device->work, {.blocks = 1, .threads = 32}, view);
}

/* Queues the look at what a sample left; `whole`: with the digest of all elements. */
void queue_look(cuda_device *device, const struct view &view, bool whole, unsigned sample)
{
    if (view.n == 0)
        return;
    struct look *look = device->d_looks + sample;
    launch<look_kernel>(&device->work, {.blocks = 1, .threads = 32}, view, look);
    if (whole)
        launch<placed_digest_kernel>(&device->work, harness_shape(device, view.n), view, look);
}

const char *read_looks(cuda_device *device, struct look *looks, unsigned count)
{
    const char *why = finish(device, "cannot check the result");
    return why == nullptr ? read_device(device, looks, device->d_looks, count * sizeof *looks)
                          : why;
}

} // namespace SCANBENCH_BACKEND
