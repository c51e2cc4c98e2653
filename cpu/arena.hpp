/* arena.hpp: TBB with a given number of threads. */
#pragma once

#include <memory>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

/* Runs the work with `threads` threads in its parallel parts, whatever the number of
 * processors. */
template <class Work> void in_arena(unsigned threads, Work work)
{
    static std::unique_ptr<tbb::global_control> limit;
    static std::unique_ptr<tbb::task_arena> arena;
    static unsigned arena_threads;
    if (!arena || arena_threads != threads) {
        limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                      threads);
        arena = std::make_unique<tbb::task_arena>((int)threads);
        arena_threads = threads;
    }
    arena->execute(work);
}
