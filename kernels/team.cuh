/* team.cuh: what the algorithms of several devices share. */
#ifndef SCANBENCH_KERNELS_TEAM_CUH
#define SCANBENCH_KERNELS_TEAM_CUH

#include "launch.cuh"

namespace SCANBENCH_BACKEND
{

/* Calls f(call, member) for every member in this process, each with its device as the current one.
 *
 * In the emulator a launch is complete when it returns. So a loop like this may wait for what an
 * earlier loop has launched, but not for what itself launches on another device. */
template <class Function> void on_each_member(const struct team *team, Function f)
{
    for (unsigned m = 0; m < team->here; m++) {
        const struct call *call = &team->call[m];
        if (succeeded(queue_of(call), "device", cudaSetDevice(queue_of(call)->device)))
            f(call, team->first + m);
    }
}

/* An array at a place in the member's scratch. */
template <class T> T *at_place(const struct call *call, size_t place)
{
    return reinterpret_cast<T *>(static_cast<char *>(call->scratch) + place);
}

/* The places of what an all-gather brings: two, which are used in turns. */
struct gathered {
    size_t bytes; /* of one place */

    gathered(const struct problem *problem, size_t bytes_a_member)
        : bytes(next_place(problem->device->members * bytes_a_member))
    {
    }

    size_t place(uint32_t number) const
    {
        return number % 2 * bytes;
    }

    size_t end() const
    {
        return 2 * bytes;
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

inline size_t local_scratch_bytes(const struct problem *problem)
{
    const struct algorithm *local = problem->local;
    return local->scratch_bytes != nullptr ? local->scratch_bytes(problem) : 0;
}

} // namespace SCANBENCH_BACKEND

#endif
