/* memcpy: the memory ceiling of all operations.
 * Work:    none. DRAM: one read, one write, as the fastest scan or sort must. */
#include "launch.cuh"

namespace SCANBENCH_BACKEND
{

static void run(const struct call *call)
{
    const size_t bytes = call->problem.n * element_bytes(call->problem.type);
    succeeded(queue_of(call), "memcpy",
              cudaMemcpyAsync(call->output, call->input, bytes, cudaMemcpyDeviceToDevice,
                              queue_of(call)->stream));
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(memcpy) = {
    .name = "memcpy",
    .family = FAMILY_CEILING,
    .result = RESULT_COPY,
    .summary = "device-to-device copy: the memory ceiling",
    .source = "CUDA runtime",
    .run = SCANBENCH_BACKEND::run,
};
