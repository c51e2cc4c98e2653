/* cluster.cpp: what the blocks of a cluster share: a barrier, and each other's shared memory. */
#include "scheduler.h"

inline namespace emulator_cuda
{

/* Ends the launch with a description of what the thread must not do. */
[[noreturn]] static void refuse(const char *text, struct source_place place)
{
    describe_call(current_block, "cluster", text, place);
    abandon_launch();
}

/* Both steps of the barrier are of whole warps: no lane is ahead of the others. */
static void meet_lanes(struct source_place place)
{
    __syncwarp(0xFFFFFFFFu, place.file, place.line);
}

/* What the barrier's phases of one parity order. */
static const void *order_of_phase(uint32_t phase)
{
    return reinterpret_cast<const uint64_t *>(&current_launch.cluster) + phase % 2;
}

/* A launch without clusters is one if it has one block. */
static void require_cluster(const char *function, struct source_place place)
{
    const struct emulator_launch_request *request = &current_launch.request;
    require_kernel(function, place);
    if (request->residency != EMULATOR_ONE_CLUSTER && request->grid > 1)
        refuse("this launch has no clusters", place);
}

void cluster_arrive(const char *file, int line)
{
    require_cluster("cluster_arrive", {file, line});
    meet_lanes({file, line});
    const struct emulator_launch_request *request = &current_launch.request;
    struct cluster_barrier *barrier = &current_launch.cluster;
    if (current_thread->arrived_in_cluster)
        refuse("the thread has arrived before, and not waited", {file, line});
    current_thread->arrived_in_cluster = true;
    current_thread->cluster_phase = barrier->phase;
    emulator_observe_ordering(ORDER_RELEASE, order_of_phase(barrier->phase));
    if (++barrier->arrived == request->grid * request->block) {
        barrier->arrived = 0;
        barrier->phase++;
        if (emulator_observes_accesses)
            observe_launch_barrier(false);
    }
}

void cluster_wait(const char *file, int line)
{
    require_cluster("cluster_wait", {file, line});
    meet_lanes({file, line});
    struct thread *thread = current_thread;
    if (!thread->arrived_in_cluster)
        refuse("the thread waits, and has not arrived", {file, line});
    while (current_launch.cluster.phase == thread->cluster_phase)
        spin_wait(file, line);
    thread->arrived_in_cluster = false;
    emulator_observe_ordering(ORDER_ACQUIRE, order_of_phase(thread->cluster_phase));
}

void *emulator_shared_of_block(const void *here, unsigned index, const char *file, int line)
{
    require_cluster("emulator_shared_of_block", {file, line});
    emulator_yield_point();
    const ptrdiff_t place = (const char *)here - current_block->shared;
    if (place < 0 || (size_t)place >= current_launch.request.shared_bytes)
        refuse("the address is not in shared memory", {file, line});
    if (index >= current_launch.request.grid)
        refuse("the cluster has no such block", {file, line});
    if (current_launch.cluster.phase == 0)
        refuse("another block's shared memory, before a barrier has told that it runs",
               {file, line});
    for (struct block *block : active_blocks)
        if (block->index == index)
            return block->shared + place;
    refuse("shared memory of a block that has ended", {file, line});
}

} // namespace emulator_cuda
