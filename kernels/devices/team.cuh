/* team.cuh: what the algorithms of several devices share. */
#pragma once

#include "../../bench/engine.h"
#include "../launch.cuh"
#include "team_queue.cuh"

#include <algorithm>
#include <utility>

namespace SCANBENCH_BACKEND
{

/* Calls f(call, member) for every member in this process, each with its device as the current one.
 *
 * In the emulator a launch is complete when it returns. So a kernel may wait for what was
 * launched before it, by an earlier loop or for an earlier member, but not for what is launched
 * later. */
template <class Function> void on_each_member(const struct team *team, Function f)
{
    for (unsigned m = 0; m < team->here; m++) {
        const struct call *call = &team->call[m];
        if (succeeded(queue_of(call), "device", cudaSetDevice(queue_of(call)->device)))
            f(call, team->first + m);
    }
}

/* Makes what is queued next on one of a member's streams wait for what is queued on the other. */
inline void wait_for_stream(team_queue *queue, cudaStream_t waiting, cudaStream_t other)
{
    succeeded(queue, "event", cudaEventRecord(queue->reached, other));
    succeeded(queue, "event", cudaStreamWaitEvent(waiting, queue->reached, 0));
}

inline team_queue *team_queue_of(const struct call *call)
{
    return static_cast<team_queue *>(queue_of(call));
}

/* Calls f(). What it queues runs beside what is queued later, until rejoin(). */
template <class Function> void beside(const struct team *team, Function f)
{
    const auto swap_streams = [team] {
        for (unsigned m = 0; m < team->here; m++) {
            team_queue *queue = team_queue_of(&team->call[m]);
            std::swap(queue->stream, queue->beside);
        }
    };
    on_each_member(team, [](const struct call *call, unsigned) {
        team_queue *queue = team_queue_of(call);
        wait_for_stream(queue, queue->beside, queue->stream);
    });
    swap_streams();
    f();
    swap_streams();
}

inline void rejoin(const struct team *team)
{
    on_each_member(team, [](const struct call *call, unsigned) {
        team_queue *queue = team_queue_of(call);
        wait_for_stream(queue, queue->stream, queue->beside);
    });
}

/* An array at a place in the member's scratch. */
template <class T> T *at_place(const struct call *call, size_t place)
{
    return reinterpret_cast<T *>(static_cast<char *>(call->scratch) + place);
}

/* Where the scratch of every member begins, for kernels that store there themselves. */
struct memories {
    char *of[MOST_MEMBERS];

    template <class T> __device__ __forceinline__ T *at(unsigned member, size_t place) const
    {
        return reinterpret_cast<T *>(of[member] + place);
    }
};

inline memories memories_of(const struct team *team)
{
    memories memory = {};
    for (unsigned m = 0; m < team->here; m++)
        memory.of[m] = static_cast<char *>(team->call[m].scratch);
    return memory;
}

/* Ends a kernel that has waited for another device for about half a minute: longer than any is
 * late, unless it is lost. */
struct patience {
    static constexpr long long GIVE_UP_CYCLES = 1ll << 36;
    long long start;

    __device__ __forceinline__ patience()
    {
        start = clock64();
    }
    __device__ __forceinline__ void wait()
    {
        spin_wait();
        if (clock64() - start > GIVE_UP_CYCLES)
            __trap();
    }
};

/* The places of what an all-gather brings: two, which are used in turns. */
struct gathered {
    size_t bytes, first; /* of one place; of the first */

    gathered(const struct problem *problem, size_t bytes_per_member, size_t first = 0)
        : bytes(next_place(problem->device->members * bytes_per_member)), first(first)
    {
    }

    size_t place(uint32_t number) const
    {
        return first + number % 2 * bytes;
    }

    size_t end() const
    {
        return first + 2 * bytes;
    }
};

/* The call of the algorithm that works within a slice, whose scratch begins at a place. */
inline struct call local_call(const struct call *call, size_t place)
{
    struct call local = *call;
    local.scratch = at_place<char>(call, place);
    local.scratch_bytes = call->scratch_bytes - place;
    return local;
}

/* Enough for any member, given the longest slice: others may be shorter by one element, and an
 * algorithm may need more scratch for fewer elements. */
inline size_t local_scratch_bytes(const struct problem *longest)
{
    const struct algorithm *local = longest->local;
    struct problem shorter = *longest;
    shorter.n -= longest->n > 0;
    if (local == nullptr || local->scratch_bytes == nullptr)
        return 0;
    return std::max(local->scratch_bytes(longest), local->scratch_bytes(&shorter));
}

inline void prepare_local(const struct call *call, size_t place)
{
    const struct call local = local_call(call, place);
    if (call->problem.local->prepare != nullptr)
        call->problem.local->prepare(&local);
}

inline void run_local(const struct call *call, size_t place)
{
    const struct call local = local_call(call, place);
    call->problem.local->run(&local);
}

/* The problem of the longest slice, which decides what must be the same on every member. */
inline struct problem longest_problem(const struct problem *problem)
{
    struct problem longest = *problem;
    longest.n = longest_slice(problem->whole_n, problem->device->members);
    return longest;
}

} // namespace SCANBENCH_BACKEND
