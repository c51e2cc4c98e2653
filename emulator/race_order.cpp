/* race_order.cpp: what orders threads.
 *
 * A barrier orders the threads of its block, a barrier of the grid or of the cluster all of them, a
 * warp collective the lanes of its mask, and an mbarrier who arrives before who waits. A fence
 * followed by an atomic or a volatile store, the release, orders what came before the fence before
 * what follows an atomic or a volatile load of the same word that comes later, the acquisition, for
 * which no fence is asked. As volatile count as well __ldcg, __ldcv, __stcg and __stwt. Lanes of a
 * warp are not in step. Every collective orders lanes, although CUDA promises that of __syncwarp
 * alone. */
#include "race_order.h"

#include "clocks.h"
#include "scheduler.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

inline namespace emulator_cuda
{

enum { SYNCHRONISED_BYTES = 8 };

/* A thread's part. What it knows of its own block's threads is in three places: what all of them
 * knew at the block's last barrier, what lanes of its warp have told it, and what it has acquired.
 */
struct thread_order {
    uint32_t time;           /* of its accesses from here on */
    uint32_t fence;          /* the time before its last fence; 0: none */
    launch_clock acquired;   /* of all blocks */
    launch_clock to_release; /* what it would release; NULL: not known yet */
    uintptr_t awaited;       /* the synchronised word of its last volatile load; 0: none */
    uint64_t awaited_turn;   /* in which that was */
};

struct lane_order {
    uint32_t up_to[EMULATOR_WARP_SIZE]; /* what is known of each lane */
};

struct block_order {
    uint64_t launch; /* for which it holds */
    bool begun;
    uint32_t barrier; /* the time of the last one */
    std::vector<thread_order> threads;
    std::vector<lane_order> lanes; /* as many as threads, in whole warps */
};

static uint32_t now;                                         /* events so far */
static uint32_t grid_barrier;                                /* the time of the last one */
static std::unordered_map<uintptr_t, launch_clock> released; /* by word */

static struct block_order *order_of(struct block *block)
{
    if (!block->order)
        block->order = new block_order();
    struct block_order *order = block->order;
    if (order->begun && order->launch == current_launch.number)
        return order;
    order->launch = current_launch.number;
    order->begun = true;
    order->barrier = 0;
    order->threads.assign(block->threads.size(), {.time = ++now});
    order->lanes.assign(block->warps.size() * EMULATOR_WARP_SIZE, {});
    return order;
}

static unsigned lane_of(unsigned thread)
{
    return thread % EMULATOR_WARP_SIZE;
}

bool comes_before(const seen_access &earlier, const seen_access &next)
{
    const struct block_order *order = current_block->order;
    if (earlier.time < grid_barrier)
        return true;
    if (earlier.block == next.block) {
        if (earlier.thread == next.thread || earlier.time < order->barrier)
            return true;
        if (same_warp(earlier, next) &&
            earlier.time <= order->lanes[next.thread].up_to[lane_of(earlier.thread)])
            return true;
    }
    return clock_knows(order->threads[next.thread].acquired, earlier.block, earlier.thread,
                       earlier.time);
}

static void acquire(struct thread_order *thread, uintptr_t word)
{
    const auto at = released.find(word);
    if (at == released.end())
        return;
    const launch_clock all = join_clocks(thread->acquired, at->second);
    if (all != thread->acquired)
        thread->to_release = NULL;
    thread->acquired = all;
}

/* The running thread's clock, as of its last fence. */
static launch_clock clock_to_release(struct block_order *order, unsigned index)
{
    struct thread_order *thread = &order->threads[index];
    if (thread->to_release)
        return thread->to_release;
    struct block_clock own = {order->barrier, {}};
    const unsigned first = index - lane_of(index);
    for (unsigned lane = 0; lane < EMULATOR_WARP_SIZE; lane++) {
        const uint32_t time =
            first + lane == index ? thread->fence : order->lanes[index].up_to[lane];
        if (time > 0 && time >= own.before)
            own.up_to.push_back({(uint16_t)(first + lane), time});
    }
    thread->to_release = add_to_clock(thread->acquired, current_block->index, std::move(own));
    return thread->to_release;
}

static struct thread_order *running_thread(void)
{
    return &order_of(current_block)->threads[current_index()];
}

uint32_t time_of_accesses(void)
{
    return running_thread()->time;
}

static uintptr_t synchronised_word(uintptr_t address)
{
    return address / SYNCHRONISED_BYTES * SYNCHRONISED_BYTES;
}

void acquire_at(uintptr_t address)
{
    acquire(running_thread(), synchronised_word(address));
}

void release_at(uintptr_t address)
{
    struct block_order *order = order_of(current_block);
    if (order->threads[current_index()].fence == 0)
        return;
    launch_clock &clock = released[synchronised_word(address)];
    clock = join_clocks(clock, clock_to_release(order, current_index()));
}

void order_by_fence(void)
{
    struct thread_order *thread = running_thread();
    thread->fence = thread->time;
    thread->time = ++now;
    thread->to_release = NULL;
}

/* --- Loops of volatile loads ------------------------------------------------------ */

void await_at(uintptr_t address)
{
    struct thread_order *thread = running_thread();
    acquire_at(address);
    thread->awaited = synchronised_word(address);
    thread->awaited_turn = current_launch.switches;
}

static void acquire_again_by(struct thread_order *thread)
{
    if (thread->awaited && thread->awaited_turn != current_launch.switches)
        acquire(thread, thread->awaited);
    thread->awaited = 0;
}

void acquire_again(void)
{
    acquire_again_by(running_thread());
}

/* --- Barriers and collectives ----------------------------------------------------- */

void order_by_barrier(struct block *block)
{
    struct block_order *order = order_of(block);
    launch_clock acquired = NULL;
    for (thread_order &thread : order->threads) {
        acquire_again_by(&thread);
        acquired = join_clocks(acquired, thread.acquired);
    }
    order->barrier = ++now;
    for (thread_order &thread : order->threads) {
        thread.time = now;
        thread.acquired = acquired;
        thread.to_release = NULL;
    }
}

void order_by_collective(struct block *block, struct warp *warp, unsigned mask)
{
    struct block_order *order = order_of(block);
    const size_t first = (size_t)(warp - block->warps.data()) * EMULATOR_WARP_SIZE;
    struct lane_order known = {};
    launch_clock acquired = NULL;
    for (unsigned rest = mask; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        struct thread_order *thread = &order->threads[first + lane];
        acquire_again_by(thread);
        acquired = join_clocks(acquired, thread->acquired);
        for (unsigned other = 0; other < EMULATOR_WARP_SIZE; other++)
            known.up_to[other] =
                std::max(known.up_to[other], order->lanes[first + lane].up_to[other]);
    }
    for (unsigned rest = mask; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        known.up_to[lane] = order->threads[first + lane].time;
    }
    now++;
    for (unsigned rest = mask; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        struct thread_order *thread = &order->threads[first + lane];
        order->lanes[first + lane] = known;
        thread->time = now;
        thread->acquired = acquired;
        thread->to_release = NULL;
    }
}

/* All blocks are resident, and all threads are there. */
void order_by_launch_barrier(void)
{
    grid_barrier = ++now;
    for (struct block *block : active_blocks)
        for (thread_order &thread : order_of(block)->threads) {
            thread.time = now;
            thread.to_release = NULL;
        }
}

/* --- A launch ---------------------------------------------------------------------- */

void forget_order(struct block *block)
{
    if (block->order)
        block->order->begun = false;
}

void clear_order(void)
{
    now = grid_barrier = 0;
    released.clear();
    clear_clocks((uint32_t)current_launch.request.grid);
}

} // namespace emulator_cuda
