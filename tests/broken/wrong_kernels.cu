/* wrong_kernels: parallel errors that a GPU may or may not show, and that the emulator always
 * shows. i32 and u32, whole blocks only: n is a multiple of the block. Each block scans its own
 * elements separately. */
#include "../../kernels/launch.cuh"

namespace SCANBENCH_BACKEND
{

/* Every second thread skips the barrier. */
__global__ void divergent_barrier_kernel(const uint32_t *in, uint32_t *out)
{
    uint32_t *copy = shared_memory<uint32_t>();
    copy[threadIdx.x] = in[global_thread()];
    if (threadIdx.x % 2 == 0)
        __syncthreads();
    out[global_thread()] = copy[threadIdx.x];
}

/* Reads what other threads write without waiting for them. */
__global__ void missing_barrier_kernel(const uint32_t *in, uint32_t *out, bool inclusive)
{
    uint32_t *copy = shared_memory<uint32_t>();
    copy[threadIdx.x] = in[global_thread()];
    uint32_t sum = 0;
    for (unsigned t = 0; t < threadIdx.x + inclusive; t++)
        sum += copy[t];
    out[global_thread()] = sum;
}

/* Each block waits for the next one, which may not be resident: with more blocks than the
 * device holds at once this may never end. */
__global__ void deadlock_kernel(const uint32_t *in, uint32_t *out, unsigned *flags)
{
    out[global_thread()] = in[global_thread()];
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x + 1 < gridDim.x)
        while (atomicAdd(&flags[blockIdx.x + 1], 0) == 0)
            __nanosleep(100);
    atomicAdd(&flags[blockIdx.x], 1);
}

/* Assumes that shared memory is zero. */
__global__ void uninitialised_shared_kernel(const uint32_t *in, uint32_t *out, bool inclusive)
{
    uint32_t *sums = shared_memory<uint32_t>();
    if (threadIdx.x == 0)
        for (unsigned t = 0; t < blockDim.x; t++)
            for (unsigned before = 0; before < t + inclusive; before++)
                sums[t] += in[global_thread() + before];
    __syncthreads();
    out[global_thread()] = sums[threadIdx.x];
}

/* Waits by reading memory, for what nobody writes. */
__global__ void endless_spin_kernel(const uint32_t *in, uint32_t *out)
{
    volatile uint32_t *flag = out;
    if (threadIdx.x == 1)
        while (*flag != in[0] + 1)
            ;
    __syncthreads();
    out[global_thread()] = in[global_thread()];
}

/* Never ends, and calls nothing. */
__global__ void endless_loop_kernel(const uint32_t *in, uint32_t *out)
{
    volatile uint32_t *flag = out;
    for (;;)
        *flag = in[0];
}

/* Stores far from every buffer, or nowhere. */
__global__ void illegal_store_kernel(const uint32_t *in, uint32_t *out, bool inclusive)
{
    out[threadIdx.x] = in[threadIdx.x] + inclusive;
}

/* A scan by one thread. */
__global__ void serial_kernel(const uint32_t *in, uint32_t *out, uint64_t n, bool inclusive)
{
    uint32_t sum = 0;
    for (uint64_t i = 0; i < n && global_thread() == 0; i++) {
        out[i] = inclusive ? sum + in[i] : sum;
        sum += in[i];
    }
}

/* Runs one block, whose result is right unless the error shows. */
template <auto Kernel> static void run_one_block(const struct call *call)
{
    const unsigned block = call->problem.block;
    const uint32_t *in = static_cast<const uint32_t *>(call->input);
    uint32_t *out = static_cast<uint32_t *>(call->output);
    const bool inclusive = call->problem.kind == KIND_INCLUSIVE;
    if constexpr (std::is_invocable_v<decltype(Kernel), const uint32_t *, uint32_t *, bool>)
        launch<Kernel>(queue_of(call), {1, block, {}, block * sizeof(uint32_t)}, in, out,
                       inclusive);
    else
        launch<Kernel>(queue_of(call), {1, block, {}, block * sizeof(uint32_t)}, in, out);
}

static void run_null_pointer(const struct call *call)
{
    launch<illegal_store_kernel>(queue_of(call), {1, call->problem.block},
                                 static_cast<const uint32_t *>(call->input),
                                 static_cast<uint32_t *>(nullptr), true);
}

static void run_wild_pointer(const struct call *call)
{
    const uintptr_t far = (uintptr_t)call->output - ((uintptr_t)1 << 35);
    launch<illegal_store_kernel>(queue_of(call), {1, call->problem.block},
                                 static_cast<const uint32_t *>(call->input),
                                 reinterpret_cast<uint32_t *>(far), true);
}

/* Right, but not in the order of the call's queue: on a queue of its own, whose stream is 0. */
static void run_default_stream(const struct call *call)
{
    struct queue other = *queue_of(call);
    other.stream = nullptr;
    other.log = nullptr;
    other.mark = nullptr;
    launch<serial_kernel>(&other, {1, call->problem.block},
                          static_cast<const uint32_t *>(call->input),
                          static_cast<uint32_t *>(call->output), call->problem.n,
                          call->problem.kind == KIND_INCLUSIVE);
}

static void run_deadlock(const struct call *call)
{
    const unsigned block = call->problem.block;
    succeeded(queue_of(call), "flags",
              cudaMemsetAsync(call->scratch, 0, call->problem.n * sizeof(unsigned),
                              queue_of(call)->stream));
    launch<deadlock_kernel>(queue_of(call), {call->problem.n / block, block},
                            static_cast<const uint32_t *>(call->input),
                            static_cast<uint32_t *>(call->output),
                            static_cast<unsigned *>(call->scratch));
}

static size_t flag_bytes(const struct problem *problem)
{
    return problem->n * sizeof(unsigned);
}

static const char *one_block_only(const struct problem *problem)
{
    return problem->n == problem->block ? nullptr : "n is the block size here";
}

static const char *whole_blocks_only(const struct problem *problem)
{
    return problem->n % problem->block == 0 ? nullptr : "n is a multiple of the block size here";
}

} // namespace SCANBENCH_BACKEND

#define WRONG_KERNEL(op_name, its_name, its_run, its_summary, its_scratch_bytes, its_supports) \
    ALGORITHM_DESCRIPTOR(op_name) = {                                                          \
        .name = its_name,                                                                      \
        .op = OP_SCAN,                                                                         \
        .family = FAMILY_OWN,                                                                  \
        .traits = TRAIT_HAS_BLOCK,                                                             \
        .default_block = 64,                                                                   \
        .summary = its_summary,                                                                \
        .source = "none",                                                                      \
        .supports = SCANBENCH_BACKEND::its_supports,                                           \
        .scratch_bytes = its_scratch_bytes,                                                    \
        .run = SCANBENCH_BACKEND::its_run,                                                     \
    };

WRONG_KERNEL(scan_divergent_barrier, "divergent-barrier",
             run_one_block<SCANBENCH_BACKEND::divergent_barrier_kernel>,
             "half the block waits at a barrier", nullptr, one_block_only)
WRONG_KERNEL(scan_missing_barrier, "missing-barrier",
             run_one_block<SCANBENCH_BACKEND::missing_barrier_kernel>,
             "reads shared memory without a barrier", nullptr, one_block_only)
WRONG_KERNEL(scan_deadlock, "deadlock", run_deadlock, "each block waits for the next",
             SCANBENCH_BACKEND::flag_bytes, whole_blocks_only)
WRONG_KERNEL(scan_uninitialised_shared, "uninitialised-shared",
             run_one_block<SCANBENCH_BACKEND::uninitialised_shared_kernel>,
             "assumes that shared memory is zero", nullptr, one_block_only)
WRONG_KERNEL(scan_endless_spin, "endless-spin",
             run_one_block<SCANBENCH_BACKEND::endless_spin_kernel>, "one thread waits for ever",
             nullptr, one_block_only)
WRONG_KERNEL(scan_endless_loop, "endless-loop",
             run_one_block<SCANBENCH_BACKEND::endless_loop_kernel>, "never ends", nullptr,
             one_block_only)
WRONG_KERNEL(scan_null_pointer, "null-pointer", run_null_pointer, "stores to a null pointer",
             nullptr, one_block_only)
WRONG_KERNEL(scan_wild_pointer, "wild-pointer", run_wild_pointer, "stores far from its output",
             nullptr, one_block_only)
WRONG_KERNEL(scan_default_stream, "default-stream", run_default_stream,
             "launches on the default stream", nullptr, whole_blocks_only)
