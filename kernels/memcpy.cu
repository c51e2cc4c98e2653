/* memcpy: the memory ceiling of all operations.
 * Work:    none. DRAM: one read, one write, as the fastest scan or sort must. */
#include "launch.cuh"

namespace SCANBENCH_BACKEND
{

static void copy(const struct call *call, void *to, const void *from, size_t bytes)
{
    succeeded(queue_of(call), "memcpy",
              cudaMemcpyAsync(to, from, call->problem.n * bytes, cudaMemcpyDeviceToDevice,
                              queue_of(call)->stream));
}

static void run(const struct call *call)
{
    copy(call, call->output, call->input, element_bytes(call->problem.type));
    if (call->problem.values != VALUES_NONE)
        copy(call, call->output_values, call->input_values, value_bytes(call->problem.values));
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(memcpy) = {
    .name = "memcpy",
    .family = FAMILY_CEILING,
    .result = RESULT_COPY,
    .traits = TRAIT_PAIRS,
    .summary = "device-to-device copy: the memory ceiling",
    .source = "CUDA runtime",
    .run = SCANBENCH_BACKEND::run,
};
