/* scheduler.h: the state of a launch, shared by scheduler.cpp (scheduling), collectives.cpp
 * (barriers and warp intrinsics), cluster.cpp and failure.cpp (failures). */
#pragma once

/* Here they are written. */
#define EMULATOR_CONSTANT

#include "access_counts.h"
#include "cuda_runtime.h"
#include "device.h"
#include "emulator.h"
#include "fiber.h"

#include <stdint.h>
#include <vector>

inline namespace emulator_cuda
{

enum thread_state : uint8_t {
    THREAD_READY,         /* in the ring, or running */
    THREAD_SPINNING,      /* in the ring, after a call of spin_wait() */
    THREAD_IN_BARRIER,    /* waits for the rest of its block */
    THREAD_IN_COLLECTIVE, /* waits for the other lanes of its mask */
    THREAD_EXITED,
};

struct source_place {
    const char *file;
    int line;
};

/* A copy to shared memory that its thread has not waited for. */
struct late_store {
    void *to;
    uint64_t value;
    size_t bytes;
};

/* One CUDA thread. It has a fiber from its first to its last instruction. */
struct thread {
    struct fiber *fiber;
    struct source_place place; /* the place where it waits */
    enum thread_state state;
    bool arrived_in_cluster;
    uint32_t cluster_phase; /* in which it arrived */
    std::vector<struct late_store> late_stores;
};

/* A warp collective that some lanes of its mask have reached. */
struct pending_collective {
    unsigned mask, arrived;
    enum collective_op op;
    struct source_place place;
};

struct warp {
    unsigned pending_set; /* bit mask of the entries of `pending` in use */
    struct pending_collective pending[EMULATOR_WARP_SIZE];
    struct collective_operand operand[EMULATOR_WARP_SIZE];
    uint64_t result[EMULATOR_WARP_SIZE];
    struct warp_accesses accesses; /* of a counted launch */
};

/* The threads' votes at a barrier, and the result. */
struct barrier_votes {
    int count, all, any;
};

/* A resident block. The ring holds the runnable threads, each at most once; those before
 * round_end have their turn in this round. */
struct block {
    uint32_t index;
    unsigned live; /* threads that have not exited */
    unsigned head, tail, round_end;
    bool progressed, spun; /* flags of this round */
    unsigned held_back;    /* the delayed warp */
    unsigned rounds_held;  /* number of rounds it is still delayed */

    unsigned arrived; /* number of threads at the barrier */
    bool barrier_mismatch;
    struct source_place barrier_place;
    struct barrier_votes votes, result;

    char *shared;        /* exactly launch.shared_bytes bytes */
    char *shared_arena;  /* the same between two guard zones */
    size_t shared_room;  /* bytes of the arena */
    char *static_shared; /* plain_cuda.cpp's; NULL: none so far */
    size_t static_shared_bytes;
    struct block_order *order; /* race_order.cpp's; NULL: none so far */

    std::vector<uint16_t> ring; /* its size is a power of two */
    std::vector<struct thread> threads;
    std::vector<struct warp> warps;
};

/* The barrier of a launch that is one cluster. */
struct cluster_barrier {
    uint64_t arrived; /* threads */
    uint32_t phase;   /* phases completed */
};

/* Why a launch ends before its threads have. */
enum end_reason {
    END_NONE,
    END_OVERDUE, /* no thread has ended for too long */
    END_STOPPED, /* the watch asked for it */
};

struct launch {
    struct emulator_launch_request request;
    uint64_t number; /* of launches in this process, on any device */
    struct cluster_barrier cluster;
    uint64_t started; /* blocks taken from the grid so far */
    unsigned ring_mask;
    bool running, failed;
    uint64_t stalled_rounds, preemptions; /* since the last progress of any thread */
    uint64_t switches;                    /* turns of threads */
    uint64_t ended;                       /* threads */
    enum end_reason end;                  /* it is to end; set by watch.cpp */
};

extern struct launch current_launch;
extern struct block *current_block;
extern struct thread *current_thread;
extern std::vector<struct block *> active_blocks; /* resident and unfinished blocks */

/* Does a kernel's code run, and not the emulator's own? Only then may a signal handler switch
 * threads. */
extern volatile bool in_kernel_code;
static inline void enter_scheduler(void)
{
    in_kernel_code = false;
    asm volatile("" ::: "memory");
}
static inline void leave_scheduler(void)
{
    asm volatile("" ::: "memory");
    in_kernel_code = true;
}

/* Random bits from the seed. */
uint64_t random_bits(void);
static inline uint32_t random_below(uint32_t n)
{
    return (uint32_t)(((random_bits() >> 32) * n) >> 32);
}

static inline unsigned current_index(void)
{
    return threadIdx.x;
}

/* Makes a thread runnable in its block's next round. */
static inline void make_ready(struct block *block, unsigned thread_index)
{
    block->threads[thread_index].state = THREAD_READY;
    block->ring[block->tail++ & current_launch.ring_mask] = (uint16_t)thread_index;
}

/* Fills the block's empty ring with all its threads, in a new order. */
void make_all_ready(struct block *block);

/* Makes the running thread wait until another makes it ready. */
void wait_as(enum thread_state state, struct source_place place);

/* Gives other threads a turn before the running one goes on. */
void let_others_run(void);

/* Ends the launch from within a thread; never returns to that thread. */
[[noreturn]] void abandon_launch(void);

/* Ends the process if a device function is called outside a kernel. */
void require_kernel(const char *function, struct source_place place);

/* Runs a checked launch. Returns false if it failed, with a description of the reason. */
bool emulator_run(const struct emulator_launch_request *request);

/* watch.cpp: begins to watch the current launch, and the settings; NULL: nothing is watched. */
void watch_launch(void);
const struct emulator_watch *current_watch(void);

/* guards.cpp: device memory between zones. memory_guards_hold() describes a zone of the current
 * device that was written, and restores it. */
void *allocate_guarded(size_t bytes);
void free_guarded(void *memory);
bool memory_guards_hold(const char *kernel);

/* guards.cpp: the first byte of a zone that is not as it was; NULL: none. Not by memcmp(), which a
 * sanitizer would watch. */
const char *first_change(const char *zone, int bytes, unsigned char byte);

/* collectives.cpp: shuffles and reductions of values, and the lane that a shuffle reads. */
static inline bool is_shuffle(enum collective_op op)
{
    return op >= COLLECTIVE_SHFL && op <= COLLECTIVE_SHFL_XOR;
}
static inline bool is_reduction(enum collective_op op)
{
    return op >= COLLECTIVE_ADD && op <= COLLECTIVE_XOR;
}
unsigned shuffle_source(enum collective_op op, unsigned lane,
                        const struct collective_operand *operand);

/* plain_cuda.cpp: the shared array of the running block that lies right before an address, or holds
 * it. */
struct shared_place {
    const char *name;
    size_t bytes, offset; /* of the array, and of the address in it */
};
bool find_shared_array(const void *address, struct shared_place *place);

/* runtime.cpp: how many such blocks fit on a multiprocessor, and on the device. */
unsigned blocks_per_multiprocessor(unsigned block, size_t shared_bytes);
uint64_t blocks_per_device(unsigned block, size_t shared_bytes);

/* failure.cpp: writes the text of emulator_error_detail(). The last four are of no
 * running launch; the others mark it as failed. */
void describe_stuck_block(const struct block *block);
void describe_stuck_warp(const struct block *block, unsigned warp_index);
void describe_no_progress(void);
void describe_call(const struct block *block, const char *kind, const char *text,
                   struct source_place place);
void describe_failure(const struct block *block, const char *kind, const char *text);
void describe_end(void);
void describe_fault(const char *kind, bool has_address, const void *address, bool known);
void describe_illegal_launch(const struct emulator_launch_request *request, const char *text);
void describe_illegal_size(const char *call, size_t bytes, size_t there);
void describe_copy_direction(const char *kind, bool to, bool of_host);
void describe_illegal_free(void);
void describe_default_stream(const struct emulator_launch_request *request);
void describe_damage(const char *kernel, const char *address, const struct extent *extent);
void clear_failure(void);

/* What a sanitizer found, in a kernel or in what calls kernels. Only the first of a launch is
 * described. `place` is FILE:LINE, or empty. Without an address, buffers nearby are not named. */
void describe_access(const char *kind, const char *how, size_t bytes, const void *address,
                     const char *place);
void describe_undefined(const char *kind, struct source_place place, const char *what);

} // namespace emulator_cuda
