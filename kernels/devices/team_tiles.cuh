/* team_tiles.cuh: the tiles of one wave on each of several devices, as if of one launch.
 *
 * Every member has a status for each tile of all members. A block publishes its total there on its
 * own device and on those after it, so a total is one store away from whoever waits for it, as
 * within a device. Two sets of statuses are used in turns. Before a block publishes a total on
 * another device it knows that the call there before this one has begun. So the one before that has
 * ended, which used the same set.
 *
 * Relies: on members being launched in order, since a tile waits for those of earlier members. */
#pragma once

#include "../single_pass/one_wave.cuh"
#include "team.cuh"

namespace SCANBENCH_BACKEND
{

/* Places in scratch, zero before the first call. */
struct team_board {
    size_t begun; /* the last call that has begun, of each member */
    size_t status[2];
    size_t end;

    team_board(unsigned size, uint64_t tiles_per_member)
    {
        const size_t bytes = next_place(size * tiles_per_member * sizeof(tile_status<uint64_t>));
        begun = 0;
        status[0] = next_place(size * sizeof(uint64_t));
        status[1] = status[0] + bytes;
        end = status[1] + bytes;
    }
};

template <class Sum> struct team_tiles {
    static constexpr bool FAR = true;
    static constexpr one_wave::residency RESIDENT = one_wave::residency::ALL;
    using shared = one_wave::watch<Sum>;
    using patience = SCANBENCH_BACKEND::patience;
    memories memory;
    size_t begun, place; /* of the calls that have begun, and of this call's statuses */
    unsigned member, size;
    uint32_t number; /* of the call */

    __device__ __forceinline__ unsigned tile() const
    {
        return blockIdx.x;
    }
    __device__ __forceinline__ unsigned before() const
    {
        return member * gridDim.x + blockIdx.x;
    }
    __device__ __forceinline__ const tile_status<Sum> *status() const
    {
        return memory.at<const tile_status<Sum>>(member, place);
    }
    __device__ __forceinline__ void begin(shared *) const
    {
        for (unsigned k = threadIdx.x; k <= member; k += blockDim.x) {
            prefetch_status(&status()[k * gridDim.x + blockIdx.x]);
            if (blockIdx.x == 0 && k < member)
                store_word<FAR>(memory.at<uint64_t>(k, begun) + member, number);
        }
    }
    /* Waits for the members to which the first warp will publish. A barrier follows. */
    __device__ __forceinline__ void wait_to_publish(shared *) const
    {
        patience longer;
        for (unsigned k = member + 1 + threadIdx.x; k < size; k += blockDim.x)
            while (load_word<FAR>(memory.at<const uint64_t>(member, begun) + k) + 1 < number)
                longer.wait();
    }
    __device__ __forceinline__ void publish_total(shared *, Sum total) const
    {
        if (threadIdx.x >= WARP) /* which do not have the total */
            return;
        for (unsigned k = member + 1 + threadIdx.x; k < size; k += WARP)
            publish<FAR>(memory.at<tile_status<Sum>>(k, place) + before(), total,
                         aggregate_tag(number));
        if (threadIdx.x == WARP - 1 && blockIdx.x + 1 < gridDim.x)
            publish<FAR>(memory.at<tile_status<Sum>>(member, place) + before(), total,
                         aggregate_tag(number));
    }
    __device__ __forceinline__ void add_before(shared *here, unsigned, Sum *sum) const
    {
        if (before() > 0)
            *sum = one_wave::watch_before(*this, 0, aggregate_tag(number), here->watched) + *sum;
    }
};

} // namespace SCANBENCH_BACKEND
