/* scheduler.h: the state of a launch, shared by emulator.cpp (who runs when),
 * collectives.cpp (barriers and warp intrinsics) and report.cpp (what went wrong). */
#ifndef SCANBENCH_EMULATOR_SCHEDULER_H
#define SCANBENCH_EMULATOR_SCHEDULER_H

#include "cuda_runtime.h"
#include "emulator.h"
#include "fiber.h"

#include <stdint.h>
#include <unordered_map>
#include <unordered_set>
#include <vector>

inline namespace emulator_cuda
{

enum thread_state : uint8_t {
    THREAD_READY,         /* in the ring, or running */
    THREAD_SPINNING,      /* in the ring, having said spin_wait() */
    THREAD_IN_BARRIER,    /* waits for the rest of its block */
    THREAD_IN_COLLECTIVE, /* waits for the other lanes of its mask */
    THREAD_EXITED,
};

struct source_place {
    const char *file;
    int line;
};

/* One CUDA thread. It has a fiber from its first instruction to its last. */
struct thread {
    struct fiber *fiber;
    struct source_place place; /* where it waits */
    enum thread_state state;
};

/* A warp collective that some lanes of its mask have reached. */
struct pending_collective {
    unsigned mask, arrived;
    enum collective_op op;
    struct source_place place;
};

struct warp {
    unsigned pending_set; /* which of `pending` are in use */
    struct pending_collective pending[EMULATOR_WARP_SIZE];
    struct collective_operand operand[EMULATOR_WARP_SIZE];
    uint64_t result[EMULATOR_WARP_SIZE];
};

/* What the threads of a block bring to a barrier, and take from it. */
struct barrier_votes {
    int count, all, any;
};

/* A resident block. The ring holds the threads that can go on, each at most
 * once; those up to round_end have their turn in this round. */
struct block {
    uint32_t index;
    unsigned live; /* threads that have not exited */
    unsigned head, tail, round_end;
    bool progressed, spun; /* in this round */
    unsigned held_back;    /* a warp that is left out */
    unsigned rounds_held;  /* for so many rounds more */

    unsigned arrived; /* at the barrier */
    bool barrier_mismatch;
    struct source_place barrier_place;
    struct barrier_votes votes, result;

    char *shared;       /* exactly launch.shared_bytes, */
    char *shared_arena; /* between two guard zones */

    std::vector<uint16_t> ring; /* a power of two of them */
    std::vector<struct thread> threads;
    std::vector<struct warp> warps;
};

struct launch {
    struct emulator_launch_request request;
    uint64_t started; /* blocks taken from the grid so far */
    unsigned ring_mask;
    bool running, failed;
    uint64_t stalled_rounds, preemptions; /* since anyone made progress */
};

extern struct launch current_launch;
extern struct block *current_block;
extern struct thread *current_thread;
extern std::vector<struct block *> active_blocks; /* resident, not yet over */

/* Seeded. */
uint64_t random_bits(void);
static inline uint32_t random_below(uint32_t n)
{
    return (uint32_t)(((random_bits() >> 32) * n) >> 32);
}

static inline unsigned current_index(void)
{
    return threadIdx.x;
}

/* Lets a thread run again, in its block's next round. */
static inline void make_ready(struct block *block, unsigned thread_index)
{
    block->threads[thread_index].state = THREAD_READY;
    block->ring[block->tail++ & current_launch.ring_mask] = (uint16_t)thread_index;
}

/* Fills the block's empty ring with all its threads, in a new order. */
void make_all_ready(struct block *block);

/* The running thread waits until somebody makes it ready. */
void wait_as(enum thread_state state, struct source_place place);

/* Ends the launch from within a thread; never returns to it. */
[[noreturn]] void abandon_launch(void);

/* Stops the process where a device function is called outside a kernel. */
void require_kernel(const char *function, struct source_place place);

/* Runs a launch that has been checked. False: it failed, and a report says why. */
bool emulator_run(const struct emulator_launch_request *request);

enum { REPORT_BYTES = 512 };

/* What belongs to one device and not to another. */
struct emulated_device {
    int index;
    unsigned multiprocessors = EMULATOR_DEFAULT_MULTIPROCESSORS;
    uint64_t seed, launches_since_seed;
    cudaError_t sticky_error; /* a failed kernel's, until emulator_reset() */
    char report[REPORT_BYTES];
    /* The kernels whose limit of dynamic shared memory was raised. */
    std::unordered_map<const void *, int> shared_limits;
    /* What cudaDeviceReset() takes away. Kept as complements, which are no pointers to
     * whoever looks for memory that was not given back. */
    std::unordered_set<uintptr_t> memory, streams, events;
};

/* device.cpp: the current device, and all of them. */
struct emulated_device *current_device(void);
const std::vector<struct emulated_device *> &all_devices(void);

/* runtime.cpp: how many such blocks a multiprocessor holds, and all of them. */
unsigned blocks_per_multiprocessor(unsigned block, size_t shared_bytes);
uint64_t blocks_per_device(unsigned block, size_t shared_bytes);

/* report.cpp: writes emulator_error_detail()'s text. All but the last two mark
 * the running launch as failed. */
void report_stuck_block(const struct block *block);
void report_stuck_warp(const struct block *block, unsigned warp_index);
void report_no_progress(void);
void report_call(const struct block *block, const char *kind, const char *text,
                 struct source_place place);
void report_failure(const struct block *block, const char *kind, const char *text);
void report_illegal_launch(const char *kernel, const char *text);
void clear_report(void);

} // namespace emulator_cuda
#endif
