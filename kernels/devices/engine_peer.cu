/* engine_peer: members store in each other's memory; no host in between.
 * Source:  the flags of a shared-memory barrier, between devices.
 * Relies:  on peer access between all devices, and on one process.
 *
 * A member stores its data in the others' scratch, then raises its flag there: the number of the
 * exchange. The fence between the two makes whoever sees the flag see the data. A flag only grows,
 * so none is reset. A kernel that waits for a flag follows, in every queue, the one that raises the
 * member's own, so it cannot keep another from being raised. */
#include "../warp.cuh"
#include "team.cuh"

namespace SCANBENCH_BACKEND
{

namespace peer
{

constexpr size_t MOST_THREADS = 1024;

__device__ __forceinline__ void raise_flag(uint32_t *flag, uint32_t number)
{
    __threadfence_system();
    store_flag(flag, number);
}

template <class Word>
__device__ __forceinline__ void copy_words(char *to, const char *from, size_t bytes)
{
    for (size_t i = threadIdx.x; i < bytes / sizeof(Word); i += blockDim.x)
        reinterpret_cast<Word *>(to)[i] = reinterpret_cast<const Word *>(from)[i];
}

/* Block b stores `bytes` bytes at `to` in the memory of member b: as words of 16 or 8 bytes where
 * these divide the size and, with it, the place of each member's data. */
__global__ void send_kernel(const __grid_constant__ memories memory, unsigned member,
                            uint32_t number, size_t from, size_t to, size_t bytes, size_t flags)
{
    char *theirs = memory.of[blockIdx.x];
    const char *mine = memory.of[member] + from;
    if (bytes % 16 == 0)
        copy_words<uint4>(theirs + to + member * bytes, mine, bytes);
    else if (bytes % 8 == 0)
        copy_words<uint64_t>(theirs + to + member * bytes, mine, bytes);
    else
        copy_words<unsigned char>(theirs + to + member * bytes, mine, bytes);
    __syncthreads();
    if (threadIdx.x == 0)
        raise_flag(reinterpret_cast<uint32_t *>(theirs + flags) + member, number);
}

/* Raises this member's flag at every other; thread k at member k. */
__global__ void raise_flags_kernel(const __grid_constant__ memories memory, unsigned member,
                                   uint32_t number, size_t flags)
{
    raise_flag(reinterpret_cast<uint32_t *>(memory.of[threadIdx.x] + flags) + member, number);
}

/* Thread k waits for member k. */
__global__ void wait_kernel(const uint32_t *flags, uint32_t number)
{
    patience patience;
    while ((int32_t)(load_flag(&flags[threadIdx.x]) - number) < 0)
        patience.wait();
}

static void wait_for_all(const struct team *team, uint32_t number)
{
    on_each_member(team, [&](const struct call *call, unsigned) {
        launch<wait_kernel>(queue_of(call), {1, team->size},
                            at_place<const uint32_t>(call, team->engine_place), number);
    });
}

static void all_gather(const struct team *team, uint32_t number, size_t from, size_t to,
                       size_t bytes)
{
    const size_t warps = ceil_div(bytes, sizeof(uint4) * WARP);
    const auto threads = (unsigned)std::min(warps * WARP, MOST_THREADS);
    on_each_member(team, [&](const struct call *call, unsigned member) {
        launch<send_kernel>(queue_of(call), {team->size, threads}, memories_of(team), member,
                            number, from, to, bytes, team->engine_place);
    });
    wait_for_all(team, number);
}

static void meet(const struct team *team, uint32_t number)
{
    on_each_member(team, [&](const struct call *call, unsigned member) {
        launch<raise_flags_kernel>(queue_of(call), {1, team->size}, memories_of(team), member,
                                   number, team->engine_place);
    });
    wait_for_all(team, number);
}

static size_t scratch_bytes(const struct problem *problem)
{
    return problem->device->members * sizeof(uint32_t);
}

static void prepare(const struct team *team)
{
    on_each_member(team, [&](const struct call *call, unsigned) {
        succeeded(queue_of(call), "memset",
                  cudaMemsetAsync(at_place<char>(call, team->engine_place), 0,
                                  scratch_bytes(&call->problem), queue_of(call)->stream));
    });
}

static const char *supports(const struct problem *problem)
{
    return problem->device->processes > 1 ? "the devices belong to several processes"
                                          : problem->device->no_peers;
}

} // namespace peer

} // namespace SCANBENCH_BACKEND

ENGINE_DESCRIPTOR(engine_peer) = {
    .name = "peer",
    .summary = "stores and flags in the other devices' memory",
    .source = "scanbench",
    .supports = SCANBENCH_BACKEND::peer::supports,
    .scratch_bytes = SCANBENCH_BACKEND::peer::scratch_bytes,
    .prepare = SCANBENCH_BACKEND::peer::prepare,
    .all_gather = SCANBENCH_BACKEND::peer::all_gather,
    .meet = SCANBENCH_BACKEND::peer::meet,
};
