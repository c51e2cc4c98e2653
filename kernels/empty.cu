/* empty: one kernel that does nothing, to show the cost of a launch. */
#include "launch.cuh"

namespace SCANBENCH_BACKEND
{

__global__ void empty_kernel()
{
}

static void run(const struct call *call)
{
    launch<empty_kernel>(queue_of(call), {1, 32});
}

} // namespace SCANBENCH_BACKEND

ALGORITHM_DESCRIPTOR(empty) = {
    .name = "empty",
    .family = FAMILY_CEILING,
    .result = RESULT_NOTHING,
    .traits = TRAIT_PAIRS,
    .summary = "an empty kernel: what one launch costs",
    .source = "CUDA runtime",
    .run = SCANBENCH_BACKEND::run,
};
