/* scan_memcpy: no scan at all, but the memory ceiling a scan is measured by.
 * Work:    none. DRAM: one read, one write, as the fastest scan must. */
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

ALGORITHM_DESCRIPTOR(scan_memcpy) = {
    .name = "memcpy",
    .op = OP_SCAN,
    .family = FAMILY_CEILING,
    .result = RESULT_COPY,
    .summary = "device-to-device copy: what the memory allows",
    .source = "CUDA runtime",
    .run = SCANBENCH_BACKEND::run,
};
