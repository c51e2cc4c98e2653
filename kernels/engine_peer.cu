/* engine_peer: members store in each other's memory; no host in between.
 * Source:  the flags of a shared-memory barrier, between devices.
 * Relies:  on peer access between all devices, and on one process.
 *
 * A member stores its data in the others' scratch, then raises its flag there: the number of the
 * exchange. The fence between the two makes whoever sees the flag see the data. A flag only grows,
 * so none is reset. A kernel that waits for a flag follows, in every queue, the one that raises the
 * member's own, so it cannot keep another from being raised. */
#include "team.cuh"

#include <algorithm>

namespace SCANBENCH_BACKEND
{

namespace peer
{

enum { THREADS = 256, WORDS_AT_ONCE = 8, MOST_BLOCKS_A_RUN = 64 };

/* About half a minute: longer than any device is late, unless it is lost. */
constexpr long long GIVE_UP_CYCLES = 1ll << 36;

/* Where the scratch of every member begins. */
struct memories {
    char *of[MOST_MEMBERS];
};

__device__ __forceinline__ void raise_flag(uint32_t *flag, uint32_t number)
{
    __threadfence_system();
#ifdef __CUDACC__
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(number) : "memory");
#else
    __stcg(flag, number);
#endif
}

__device__ __forceinline__ uint32_t read_flag(const uint32_t *flag)
{
#ifdef __CUDACC__
    uint32_t number;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(number) : "l"(flag) : "memory");
    return number;
#else
    return __ldcg(flag);
#endif
}

/* Copied in the widest words that divide its size and, with it, the place of each member's. */
template <class Word>
__device__ __forceinline__ void copy_words(char *to, const char *from, size_t bytes)
{
    for (size_t i = threadIdx.x; i < bytes / sizeof(Word); i += blockDim.x)
        reinterpret_cast<Word *>(to)[i] = reinterpret_cast<const Word *>(from)[i];
}

/* Block b stores `bytes` bytes at `to` in the memory of member b. */
__global__ void send_kernel(memories memory, unsigned member, uint32_t number, size_t from,
                            size_t to, size_t bytes, size_t flags)
{
    char *theirs = memory.of[blockIdx.x];
    const char *mine = memory.of[member] + from;
    if (bytes % 8 == 0)
        copy_words<uint64_t>(theirs + to + member * bytes, mine, bytes);
    else
        copy_words<unsigned char>(theirs + to + member * bytes, mine, bytes);
    __syncthreads();
    if (threadIdx.x == 0)
        raise_flag(reinterpret_cast<uint32_t *>(theirs + flags) + member, number);
}

/* Where a run lies in the memory of its sender, and where it goes in that of its receiver. */
template <class Word> struct run {
    const Word *from;
    Word *to;
    uint64_t n;

    __device__ __forceinline__ run(const memories &memory, unsigned sender, unsigned receiver,
                                   unsigned size, size_t from_place, size_t to_place, size_t counts)
    {
        const uint64_t *count = reinterpret_cast<const uint64_t *>(memory.of[sender] + counts);
        from = reinterpret_cast<const Word *>(memory.of[sender] + from_place);
        to = reinterpret_cast<Word *>(memory.of[receiver] + to_place);
        for (unsigned k = 0; k < receiver; k++)
            from += count[sender * size + k];
        for (unsigned k = 0; k < sender; k++)
            to += count[k * size + receiver];
        n = count[sender * size + receiver];
    }
};

/* As many blocks for each run: gridDim.x / size. Loads of a thread are in flight together. */
template <class Word>
__global__ void send_runs_kernel(memories memory, unsigned member, unsigned size, size_t from,
                                 size_t to, size_t counts)
{
    const unsigned blocks = gridDim.x / size;
    const run<Word> mine(memory, member, blockIdx.x / blocks, size, from, to, counts);
    const uint64_t stride = (uint64_t)blocks * THREADS;
    for (uint64_t i = blockIdx.x % blocks * THREADS + threadIdx.x; i < mine.n;
         i += WORDS_AT_ONCE * stride) {
        Word word[WORDS_AT_ONCE];
#pragma unroll
        for (unsigned k = 0; k < WORDS_AT_ONCE; k++)
            if (i + k * stride < mine.n)
                word[k] = mine.from[i + k * stride];
#pragma unroll
        for (unsigned k = 0; k < WORDS_AT_ONCE; k++)
            if (i + k * stride < mine.n)
                mine.to[i + k * stride] = word[k];
    }
}

/* Raises this member's flag at every other; thread k at member k. */
__global__ void raise_flags_kernel(memories memory, unsigned member, uint32_t number, size_t flags)
{
    raise_flag(reinterpret_cast<uint32_t *>(memory.of[threadIdx.x] + flags) + member, number);
}

/* Thread k waits for member k. */
__global__ void wait_kernel(const uint32_t *flags, uint32_t number)
{
    const long long start = clock64();
    while ((int32_t)(read_flag(&flags[threadIdx.x]) - number) < 0) {
        spin_wait();
        if (clock64() - start > GIVE_UP_CYCLES)
            __trap();
    }
}

static memories memories_of(const struct team *team)
{
    memories memory = {};
    for (unsigned m = 0; m < team->here; m++)
        memory.of[m] = static_cast<char *>(team->call[m].scratch);
    return memory;
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
    on_each_member(team, [&](const struct call *call, unsigned member) {
        launch<send_kernel>(queue_of(call), {team->size, THREADS}, memories_of(team), member,
                            number, from, to, bytes, team->engine_place);
    });
    wait_for_all(team, number);
}

static void exchange_runs(const struct team *team, uint32_t number, size_t from, size_t to,
                          size_t counts)
{
    const uint64_t useful = ceil_div(team->call->problem.whole_n, THREADS * WORDS_AT_ONCE);
    const unsigned blocks = (unsigned)std::clamp<uint64_t>(useful, 1, MOST_BLOCKS_A_RUN);
    with_sum_type<OP_SORT>(team->call->problem.type, [&](auto zero) {
        on_each_member(team, [&](const struct call *call, unsigned member) {
            launch<send_runs_kernel<decltype(zero)>>(queue_of(call), {team->size * blocks, THREADS},
                                                     memories_of(team), member, team->size, from,
                                                     to, counts);
            launch<raise_flags_kernel>(queue_of(call), {1, team->size}, memories_of(team), member,
                                       number, team->engine_place);
        });
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
    .exchange_runs = SCANBENCH_BACKEND::peer::exchange_runs,
};
