/* onesweep_one_launch.cuh: all steps of onesweep.cuh in one launch, which costs little if it
 * turns out to be disabled.
 * Relies:  on all blocks being resident, or a barrier of the grid would wait for ever: the launch
 *          is cooperative, its grid from the occupancy query.
 *
 * Blocks count the digits together. In each portion of a pass they then take one tile after the
 * other, by tickets. */
#pragma once

#include "onesweep.cuh"

namespace SCANBENCH_BACKEND::onesweep
{

/* The keys that a thread loads while it counts as many. Resident threads are few, so each has many
 * loads in flight. */
enum { KEYS_COUNTED = 8 };

/* The portion that is being sorted is kept in shared memory, because registers are scarce. */
template <class Key, class Value, class Shape> struct one_launch_layout {
    shared_layout<Key, Value, Shape> of_tile;
    struct portion portion;
    struct route route;
};

/* Sorts a portion. In each earlier portion of the pass, every block has taken one ticket too many,
 * by which it saw that no tile was left. */
template <class Shape, class Key, class Value>
__device__ __forceinline__ void sort_portion(const task<Key, Value> &task)
{
    auto *shared = shared_memory<one_launch_layout<Key, Value, Shape>>();
    const portion &portion = shared->portion;
#pragma unroll 1
    for (;;) {
        if (threadIdx.x == 0)
            shared->of_tile.ticket =
                atomicAdd(&task.plan->tickets[portion.pass], 1u) - portion.number * gridDim.x;
        clear_counters<DIGITS>(shared->of_tile.counts.of_warp[threadIdx.x / WARP]);
        __syncthreads();
        const unsigned tile = shared->of_tile.ticket;
        if (tile >= portion.first_tile + portion.tiles)
            break;
        sort_tile_of<Shape>(task, portion, shared->route, tile);
    }
}

template <class Key, class Value, class Shape>
__global__ void LAUNCH_BOUNDS(Shape::THREADS, Shape::BLOCKS)
    sort_in_one_launch_kernel(const __grid_constant__ task<Key, Value> task, bool in_place)
{
    auto *shared = shared_memory<one_launch_layout<Key, Value, Shape>>();
    unsigned *counts = shared->of_tile.counts.of_warp[0];
    static_assert(sizeof *shared <= sizeof shared->of_tile + ONE_LAUNCH_BYTES);
    static_assert(Shape::WARPS >= PASSES<Key>);
    const auto &arrays = task.arrays;
    plan *plan = task.plan;
    if (plan->disabled)
        return;
    clear_counts<Key>(counts);
    plan_passes<Shape::THREADS, KEYS_COUNTED>(arrays.keys.in, arrays.n, arrays.order, in_place,
                                              plan, counts);
    grid_barrier(&plan->arrived);
    for (unsigned pass = 0; pass < PASSES<Key>; pass++) {
        const route route = route_of(plan, pass);
        if (!has_work(route, pass))
            continue;
        for (unsigned number = 0; number < task.portions.count; number++) {
            if (!route.is_first() || number > 0)
                grid_barrier(&plan->arrived); /* the portion before is sorted */
            if (threadIdx.x == 0) {
                shared->portion = task.portions.at(pass, number);
                shared->route = route;
            }
            __syncthreads();
            sort_portion<Shape>(task);
        }
    }
}

template <class Key, class Value> void sort_in_one_launch(const struct call *call)
{
    const struct problem *problem = &call->problem;
    const uint64_t bytes = problem->n * (sizeof(Key) + VALUE_BYTES<Value>);
    with_shape<Key, Value>(problem, [&]<class OfTiles>() {
        using Shape = copying<OfTiles>;
        const task<Key, Value> task = task_of<Key, Value, Shape>(call);
        launch_resident<sort_in_one_launch_kernel<Key, Value, Shape>>(
            call,
            {.blocks = task.portions.tiles,
             .threads = Shape::THREADS,
             .traffic = {problem->n * sizeof(Key) + 2 * PASSES<Key> * bytes},
             .shared_bytes = sizeof(one_launch_layout<Key, Value, Shape>),
             .cooperative = true},
            task, is_in_place(call));
    });
}

} // namespace SCANBENCH_BACKEND::onesweep
