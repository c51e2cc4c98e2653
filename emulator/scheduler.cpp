/* scheduler.cpp: the scheduler of blocks, warps and threads.
 *
 * Threads are fibers that switch directly to each other: a thread that waits or ends asks
 * next_fiber() for the next one to run. A fiber whose thread has ended runs the next thread
 * that has not begun, so threads without barriers cost one function call each. */
#include "sanitizer.h"
#include "scheduler.h"

#include <algorithm>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

inline namespace emulator_cuda
{

enum {
    GUARD_BYTES = 1024, /* also keeps the arena aligned for any shared layout */
    GUARD_BYTE = 0xA5,
    GUARD_BYTES_CHECKED = 128,
    OVERRUN_BYTES = 64 * 1024, /* more memory, so that a large overrun hits nothing else */
    /* Rounds of all resident blocks in which every thread only spins. A wait loop may stop
     * counting after a few hundred turns. */
    STALLED_ROUNDS = 1000,
    STALLED_PREEMPTIONS = 1000 * 1000,
    /* A block delays a warp in about one of this many rounds, and for at most as many rounds. */
    ROUNDS_TO_HOLD = 512,
    MOST_ROUNDS_HELD = 512,
};

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;
long long emulator_operations_to_yield = EMULATOR_DEFAULT_YIELD_PER_MILLE;

struct launch current_launch;
struct block *current_block;
struct thread *current_thread;
std::vector<struct block *> active_blocks;

/* Every block ever used, for reuse. Never destroyed, so that a leak check at exit does not
 * report them. */
static std::vector<struct block *> &block_pool = *new std::vector<struct block *>();
static struct fiber host_fiber;

static uint64_t random_state;
static unsigned resident_blocks = EMULATOR_DEFAULT_RESIDENT_BLOCKS;
static unsigned yield_per_mille = EMULATOR_DEFAULT_YIELD_PER_MILLE;

/* The finaliser of SplitMix64 (Steele, Lea and Flood, 2014). */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

uint64_t random_bits(void)
{
    random_state += 0x9E3779B97F4A7C15u;
    return mix(random_state);
}

/* --- The order of blocks ---------------------------------------------------- */

/* The block at `position` in the random order: a permutation of the grid that needs no memory,
 * as a Feistel network over the next power of four. Values outside the grid are mapped again. */
static uint32_t shuffled_block(uint64_t position, uint64_t grid, uint64_t key)
{
    unsigned half = 1;
    while (half < 16 && (uint64_t)1 << (2 * half) < grid)
        half++;
    const uint32_t mask = ((uint32_t)1 << half) - 1;
    uint64_t value = position;
    do {
        uint32_t left = (uint32_t)(value >> half), right = (uint32_t)value & mask;
        for (uint64_t round = 0; round < 4; round++) {
            const uint32_t next = left ^ ((uint32_t)mix(key + (round << 32) + right) & mask);
            left = right;
            right = next;
        }
        value = (uint64_t)left << half | right;
    } while (value >= grid);
    return (uint32_t)value;
}

static uint64_t grid_key;

/* --- Resident blocks -------------------------------------------------------- */

void make_all_ready(struct block *block)
{
    const unsigned count = current_launch.request.block;
    uint16_t *ring = block->ring.data();
    for (unsigned i = 0; i < count; i++) {
        const unsigned j = random_below(i + 1);
        ring[i] = ring[j];
        ring[j] = (uint16_t)i;
    }
    block->head = 0;
    block->tail = count;
    block->round_end = count;
}

static void prepare_shared(struct block *block)
{
    const size_t bytes = current_launch.request.shared_bytes;
    const size_t room = (bytes + GUARD_BYTES - 1) / GUARD_BYTES * GUARD_BYTES + 2 * GUARD_BYTES;
    if (block->shared_room < room + OVERRUN_BYTES) {
        ::free(block->shared_arena);
        block->shared_room = room + OVERRUN_BYTES;
        block->shared_arena = (char *)aligned_alloc(GUARD_BYTES, block->shared_room);
    }
    if (!block->shared_arena) {
        perror("emulator: no memory for shared memory");
        abort();
    }
    block->shared = block->shared_arena + GUARD_BYTES;
    unpoison_memory(block->shared_arena, block->shared_room);
    memset(block->shared_arena, GUARD_BYTE, room);
    poison_memory(block->shared_arena, GUARD_BYTES);
    poison_memory(block->shared + bytes, block->shared_room - GUARD_BYTES - bytes);
}

/* Without ASan, writes to the guard zones are found by their values. */
static bool shared_guards_hold(const struct block *block)
{
    const char *end = block->shared + current_launch.request.shared_bytes;
    return EMULATOR_ASAN ||
           (!first_change(block->shared - GUARD_BYTES_CHECKED, GUARD_BYTES_CHECKED, GUARD_BYTE) &&
            !first_change(end, GUARD_BYTES_CHECKED, GUARD_BYTE));
}

/* Starts the next block of the grid in this slot. Returns false if all have been started. */
static bool start_next_block(struct block *block)
{
    const struct emulator_launch_request *request = &current_launch.request;
    if (current_launch.started == request->grid)
        return false;
    block->index = shuffled_block(current_launch.started++, request->grid, grid_key);
    block->live = request->block;
    block->progressed = block->spun = false;
    block->rounds_held = 0;
    block->arrived = 0;
    block->barrier_mismatch = false;
    block->votes = {0, 1, 0};
    memset(block->shared, EMULATOR_SHARED_POISON, request->shared_bytes);
    for (struct thread &thread : block->threads)
        thread = {.fiber = NULL, .place = {NULL, 0}, .state = THREAD_READY};
    for (struct warp &warp : block->warps)
        warp.pending_set = 0;
    make_all_ready(block);
    return true;
}

static void fill_device(unsigned resident)
{
    const unsigned threads = current_launch.request.block;
    current_launch.ring_mask = 1;
    while (current_launch.ring_mask + 1 < threads)
        current_launch.ring_mask = current_launch.ring_mask * 2 + 1;
    while (block_pool.size() < resident)
        block_pool.push_back(new struct block());
    active_blocks.clear();
    for (unsigned i = 0; i < resident; i++) {
        struct block *block = block_pool[i];
        block->ring.resize(current_launch.ring_mask + 1);
        block->threads.resize(threads);
        block->warps.resize((threads + EMULATOR_WARP_SIZE - 1) / EMULATOR_WARP_SIZE);
        prepare_shared(block);
        if (start_next_block(block))
            active_blocks.push_back(block);
    }
}

/* --- Scheduling ------------------------------------------------------------- */

static void fiber_loop(void);

static void enter_block(struct block *block)
{
    current_block = block;
    blockIdx.x = block->index;
}

static void enter_random_block(void)
{
    enter_block(active_blocks[random_below((uint32_t)active_blocks.size())]);
}

/* Called when the block's last thread has exited. */
static void finish_block(struct block *block)
{
    if (emulator_observes_accesses)
        observe_end_of_block(block);
    if (!shared_guards_hold(block))
        describe_failure(block, "shared memory out of bounds",
                         "something wrote outside the launch's shared bytes");
    else if (!start_next_block(block))
        active_blocks.erase(std::find(active_blocks.begin(), active_blocks.end(), block));
    current_launch.stalled_rounds = current_launch.preemptions = 0;
}

/* In strict rotation all warps would move through a kernel side by side. On a GPU one warp may
 * fall far behind, and whatever the others failed to wait for is not there yet. */
static void hold_a_warp_back(struct block *block)
{
    if (block->rounds_held > 0)
        block->rounds_held--;
    else if (random_below(ROUNDS_TO_HOLD) == 0) {
        block->held_back = random_below((uint32_t)block->warps.size());
        block->rounds_held = 1 + random_below(MOST_ROUNDS_HELD);
    }
}

/* Takes the next thread out of the ring. Returns false if its turn is in a later round. */
static bool take_thread(struct block *block)
{
    const uint16_t index = block->ring[block->head++ & current_launch.ring_mask];
    threadIdx.x = index;
    if (block->rounds_held == 0 || index / EMULATOR_WARP_SIZE != block->held_back)
        return true;
    block->ring[block->tail++ & current_launch.ring_mask] = index;
    return false;
}

/* Called when every runnable thread has had its turn. Not inline, nor is what follows a round: in
 * the frame of every switch their variables would take up its stack's cache lines, and redzones
 * around each that are set and cleared. */
[[gnu::noinline]] static void finish_round(struct block *block)
{
    if (block->live == 0) {
        finish_block(block);
        return;
    }
    if (block->head == block->tail) {
        describe_stuck_block(block);
        return;
    }
    if (current_launch.end) {
        describe_end();
        return;
    }
    if (block->progressed)
        current_launch.stalled_rounds = current_launch.preemptions = 0;
    else if (block->spun)
        current_launch.stalled_rounds++;
    if (current_launch.stalled_rounds > STALLED_ROUNDS * active_blocks.size() ||
        current_launch.preemptions > STALLED_PREEMPTIONS)
        describe_no_progress();
    hold_a_warp_back(block);
    block->round_end = block->tail;
}

/* Finishes the round, and enters the block that goes on. Returns false if the launch is over. */
[[gnu::noinline]] static bool begin_round(void)
{
    struct block *block = current_block;
    finish_round(block);
    if (current_launch.failed || active_blocks.empty())
        return false;
    const bool stays = block->live && block->progressed && random_bits() % 4 != 0;
    block->progressed = block->spun = false;
    if (!stays)
        enter_random_block();
    return true;
}

static struct fiber *next_fiber(void)
{
    if (__builtin_expect(current_launch.failed, false)) /* a sanitizer has found something */
        return &host_fiber;
    do {
        while (current_block->head == current_block->round_end)
            if (!begin_round())
                return &host_fiber;
    } while (!take_thread(current_block));
    struct block *block = current_block;
    struct thread *thread = &block->threads[threadIdx.x];
    current_thread = thread;
    current_launch.switches++;
    thread->state = THREAD_READY;
    if (!thread->fiber) {
        thread->fiber = fiber_take(fiber_loop);
        block->progressed = true;
    }
    return thread->fiber;
}

/* The main loop of every fiber: runs threads from beginning to end. */
static void fiber_loop(void)
{
    current_thread->fiber->main_frame = __builtin_frame_address(0);
    for (;;) {
        current_thread->late_stores.clear(); /* of one that has not waited */
        leave_scheduler();
        current_launch.request.run(current_launch.request.closure);
        enter_scheduler();
        struct fiber *self = current_thread->fiber;
        current_thread->fiber = NULL;
        current_thread->state = THREAD_EXITED;
        current_block->live--;
        current_launch.ended++;
        current_block->progressed = true;
        /* It is now on top of the pool: the next thread to begin gets this fiber. */
        fiber_give_back(self);
        struct fiber *next = next_fiber();
        if (next != self)
            fiber_switch(self, next);
    }
}

static void switch_from_current(struct fiber *self)
{
    struct fiber *next = next_fiber();
    if (next != self)
        fiber_switch(self, next);
}

void wait_as(enum thread_state state, struct source_place place)
{
    current_thread->state = state;
    current_thread->place = place;
    switch_from_current(current_thread->fiber);
}

void abandon_launch(void)
{
    enter_scheduler();
    fiber_switch(current_thread->fiber, &host_fiber);
    abort(); /* nothing resumes a thread of a failed launch */
}

void require_kernel(const char *function, struct source_place place)
{
    if (current_launch.running)
        return;
    fprintf(stderr, "emulator: %s called outside a kernel, at %s:%d\n", function, place.file,
            place.line);
    abort();
}

void spin_wait(const char *file, int line)
{
    require_kernel("spin_wait", {file, line});
    enter_scheduler();
    struct block *block = current_block;
    make_ready(block, current_index());
    block->spun = true;
    wait_as(THREAD_SPINNING, {file, line});
    leave_scheduler();
}

static void draw_next_yield(void)
{
    emulator_operations_to_yield =
        yield_per_mille ? 1 + random_below(2000 / yield_per_mille) : INT64_MAX;
}

void let_others_run(void)
{
    current_launch.preemptions++;
    make_ready(current_block, current_index());
    struct fiber *self = current_thread->fiber;
    enter_random_block();
    switch_from_current(self);
}

void emulator_preempt(void)
{
    draw_next_yield();
    if (!current_launch.running)
        return;
    enter_scheduler();
    let_others_run();
    leave_scheduler();
}

void *emulator_shared_memory(void)
{
    require_kernel("shared_memory", {__FILE__, __LINE__});
    return current_block->shared;
}

/* --- A launch --------------------------------------------------------------- */

static unsigned resident_blocks_of(const struct emulator_launch_request *request)
{
    const uint64_t held = blocks_per_device(request->block, request->shared_bytes);
    const uint64_t wanted =
        request->residency == EMULATOR_IN_TURN ? resident_blocks : request->grid;
    return (unsigned)std::min({wanted, held, request->grid});
}

/* After a failed launch: its threads never end, so their fibers are restarted. */
static void drop_threads(void)
{
    for (struct block *block : block_pool)
        for (struct thread &thread : block->threads)
            if (thread.fiber) {
                fiber_reset(thread.fiber, fiber_loop);
                thread.fiber = NULL;
            }
}

bool emulator_run(const struct emulator_launch_request *request)
{
    static uint64_t launches;
    current_launch = {};
    current_launch.request = *request;
    current_launch.number = ++launches;
    current_launch.running = true;
    struct emulated_device *device = current_device();
    random_state = mix(device->seed + 0x632BE59BD9B4E019u * ++device->launches_since_seed);
    begin_observed_launch(&random_state);
    grid_key = random_bits();
    draw_next_yield();

    threadIdx = blockIdx = {0, 0, 0};
    blockDim = dim3(request->block);
    gridDim = dim3((unsigned)request->grid);
    fill_device(resident_blocks_of(request));
    enter_random_block();
    watch_launch();
    fiber_switch(&host_fiber, next_fiber());

    end_observed_launch();
    current_launch.running = false;
    current_block = NULL;
    current_thread = NULL;
    if (current_launch.failed)
        drop_threads();
    return !current_launch.failed;
}

} // namespace emulator_cuda

using namespace emulator_cuda;

void emulator_set_seed(uint64_t value)
{
    current_device()->seed = value;
    current_device()->launches_since_seed = 0;
}

void emulator_restart_orders(void)
{
    current_device()->launches_since_seed = 0;
}

void emulator_set_resident_blocks(unsigned blocks)
{
    resident_blocks = blocks ? blocks : (unsigned)EMULATOR_DEFAULT_RESIDENT_BLOCKS;
}

void emulator_set_yield_rate(unsigned per_mille)
{
    yield_per_mille = std::min(per_mille, 1000u);
}
