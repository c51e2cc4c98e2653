/* team_queue.cuh: the queue of a device that may be a member of a team. */
#pragma once

#include "../queue.cuh"

namespace SCANBENCH_BACKEND
{

/* A queue with a second stream, for work beside that of the first (beside() in team.cuh): its
 * blocks start first. By the event one of the two waits for the other. */
struct team_queue : queue {
    cudaStream_t beside;
    cudaEvent_t reached;
};

} // namespace SCANBENCH_BACKEND
