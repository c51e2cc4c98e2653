/* collectives.cpp: barriers and warp intrinsics. The last thread to arrive does the work of all
 * and releases them. */
#include "scheduler.h"

#include <time.h>

inline namespace emulator_cuda
{

/* --- The block's barrier ---------------------------------------------------- */

static bool same_place(struct source_place a, struct source_place b)
{
    return a.line == b.line && (a.file == b.file || strcmp(a.file, b.file) == 0);
}

[[gnu::noinline]] static void open_barrier(struct block *block)
{
    if (emulator_observes_accesses)
        observe_barrier(block);
    block->result = block->votes;
    block->votes = {0, 1, 0};
    block->arrived = 0;
    for (struct thread &thread : block->threads)
        thread.state = THREAD_READY;
    make_all_ready(block);
}

static struct barrier_votes barrier(const char *function, int predicate, struct source_place place)
{
    require_kernel(function, place);
    enter_scheduler();
    struct block *block = current_block;
    block->progressed = true;
    block->votes.count += predicate != 0;
    block->votes.all &= predicate != 0;
    block->votes.any |= predicate != 0;
    if (block->arrived++ == 0)
        block->barrier_place = place;
    else if (!same_place(place, block->barrier_place))
        block->barrier_mismatch = true;

    if (block->arrived == current_launch.request.block) {
        if (block->barrier_mismatch) {
            current_thread->state = THREAD_IN_BARRIER;
            current_thread->place = place;
            describe_stuck_block(block);
            abandon_launch();
        }
        open_barrier(block);
        wait_as(THREAD_READY, place); /* waits for its turn in the new order */
    } else {
        wait_as(THREAD_IN_BARRIER, place);
    }
    leave_scheduler();
    /* The next barrier cannot complete before this thread has reached it. */
    return block->result;
}

void __syncthreads(const char *file, int line)
{
    barrier("__syncthreads", 0, {file, line});
}

int __syncthreads_count(int predicate, const char *file, int line)
{
    return barrier("__syncthreads_count", predicate, {file, line}).count;
}

int __syncthreads_and(int predicate, const char *file, int line)
{
    return barrier("__syncthreads_and", predicate, {file, line}).all;
}

int __syncthreads_or(int predicate, const char *file, int line)
{
    return barrier("__syncthreads_or", predicate, {file, line}).any;
}

/* --- Warps ------------------------------------------------------------------ */

enum : uint64_t { INACTIVE_LANE_VALUE = 0xCBCBCBCBCBCBCBCBu };

static unsigned lowest_lane(unsigned set)
{
    return (unsigned)__builtin_ctz(set);
}

/* The lane that a shuffle reads, by PTX's rules: a lane whose source is outside its segment of
 * `width` lanes reads itself. */
unsigned shuffle_source(enum collective_op op, unsigned lane,
                        const struct collective_operand *operand)
{
    const unsigned first = lane & ~(operand->width - 1);
    const unsigned last = first + operand->width - 1;
    const unsigned distance = operand->lane & 31;
    unsigned source;
    switch (op) {
    case COLLECTIVE_SHFL_UP:
        return lane >= first + distance ? lane - distance : lane;
    case COLLECTIVE_SHFL_DOWN:
        source = lane + distance;
        break;
    case COLLECTIVE_SHFL_XOR:
        source = lane ^ distance;
        break;
    default:
        return first | (distance & (operand->width - 1));
    }
    return source <= last ? source : lane;
}

static void shuffle(struct warp *warp, enum collective_op op, unsigned mask)
{
    for (unsigned rest = mask; rest; rest &= rest - 1) {
        const unsigned lane = lowest_lane(rest);
        const unsigned source = shuffle_source(op, lane, &warp->operand[lane]);
        warp->result[lane] = mask >> source & 1 ? warp->operand[source].value : INACTIVE_LANE_VALUE;
    }
}

static void match_any(struct warp *warp, unsigned mask)
{
    for (unsigned rest = mask; rest;) {
        const uint64_t value = warp->operand[lowest_lane(rest)].value;
        unsigned equal = 0;
        for (unsigned others = rest; others; others &= others - 1)
            if (warp->operand[lowest_lane(others)].value == value)
                equal |= others & -others;
        for (unsigned lanes = equal; lanes; lanes &= lanes - 1)
            warp->result[lowest_lane(lanes)] = equal;
        rest &= ~equal;
    }
}

static unsigned combine(enum collective_op op, unsigned a, unsigned b)
{
    switch (op) {
    case COLLECTIVE_ADD:
        return a + b;
    case COLLECTIVE_MIN_SIGNED:
        return (int)b < (int)a ? b : a;
    case COLLECTIVE_MAX_SIGNED:
        return (int)b > (int)a ? b : a;
    case COLLECTIVE_MIN_UNSIGNED:
        return b < a ? b : a;
    case COLLECTIVE_MAX_UNSIGNED:
        return b > a ? b : a;
    case COLLECTIVE_AND:
        return a & b;
    case COLLECTIVE_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

/* The result of a vote or reduction, the same for all lanes. */
static uint64_t reduce(const struct warp *warp, enum collective_op op, unsigned mask)
{
    const uint64_t first = warp->operand[lowest_lane(mask)].value;
    unsigned set = 0, result = (unsigned)first;
    bool equal = true;
    for (unsigned rest = mask; rest; rest &= rest - 1) {
        const uint64_t value = warp->operand[lowest_lane(rest)].value;
        set |= value ? rest & -rest : 0;
        equal = equal && value == first;
        if (rest != mask)
            result = combine(op, result, (unsigned)value);
    }
    switch (op) {
    case COLLECTIVE_SYNC:
        return 0;
    case COLLECTIVE_BALLOT:
        return set;
    case COLLECTIVE_ANY:
        return set != 0;
    case COLLECTIVE_ALL:
        return set == mask;
    case COLLECTIVE_MATCH_ALL:
        return equal ? mask : 0;
    default:
        return result;
    }
}

[[gnu::noinline]] static void compute(struct warp *warp, enum collective_op op, unsigned mask)
{
    if (is_shuffle(op)) {
        shuffle(warp, op, mask);
    } else if (op == COLLECTIVE_MATCH_ANY) {
        match_any(warp, mask);
    } else {
        const uint64_t result = reduce(warp, op, mask);
        for (unsigned rest = mask; rest; rest &= rest - 1)
            warp->result[lowest_lane(rest)] = result;
    }
}

/* Finds the collective of this mask in which other lanes wait, or starts a new one. */
static unsigned find_pending(struct warp *warp, enum collective_op op, unsigned mask,
                             struct source_place place)
{
    for (unsigned rest = warp->pending_set; rest; rest &= rest - 1) {
        const unsigned slot = lowest_lane(rest);
        if (warp->pending[slot].mask == mask)
            return slot;
    }
    const unsigned slot = lowest_lane(~warp->pending_set); /* at most 31 other lanes wait */
    warp->pending_set |= 1u << slot;
    warp->pending[slot] = {mask, 0, op, place};
    return slot;
}

static void release_lanes(struct block *block, unsigned warp_index, unsigned lanes)
{
    /* An odd stride visits all 32 lanes, starting at a random one. */
    const uint64_t bits = random_bits();
    unsigned lane = (unsigned)bits & 31;
    const unsigned stride = (unsigned)(bits >> 32) | 1;
    for (int i = 0; i < EMULATOR_WARP_SIZE; i++, lane = (lane + stride) & 31)
        if (lanes >> lane & 1)
            make_ready(block, warp_index * EMULATOR_WARP_SIZE + lane);
}

static void check_collective(enum collective_op op, unsigned mask, unsigned lane, unsigned width,
                             struct source_place place)
{
    const char *wrong = NULL;
    if (!(mask >> lane & 1))
        wrong = "the mask does not name the calling lane";
    else if (is_shuffle(op) && (width - 1 > 31 || (width & (width - 1))))
        wrong = "the width of a shuffle is a power of two, 1 to 32";
    if (!wrong)
        return;
    describe_call(current_block, "illegal warp collective", wrong, place);
    abandon_launch();
}

uint64_t emulator_collective(collective_op op, unsigned mask, collective_operand operand,
                             const char *file, int line)
{
    const struct source_place place = {file, line};
    require_kernel("a warp collective", place);
    enter_scheduler();
    struct block *block = current_block;
    const unsigned index = current_index();
    const unsigned lane = index % EMULATOR_WARP_SIZE, warp_index = index / EMULATOR_WARP_SIZE;
    struct warp *warp = &block->warps[warp_index];
    check_collective(op, mask, lane, operand.width, place);

    const unsigned slot = find_pending(warp, op, mask, place);
    struct pending_collective *pending = &warp->pending[slot];
    if (pending->op != op || (op != COLLECTIVE_SYNC && !same_place(place, pending->place))) {
        current_thread->state = THREAD_IN_COLLECTIVE;
        current_thread->place = place;
        describe_stuck_warp(block, warp_index);
        abandon_launch();
    }
    warp->operand[lane] = operand;
    pending->arrived |= 1u << lane;
    block->progressed = true;
    if (pending->arrived != mask) {
        wait_as(THREAD_IN_COLLECTIVE, place);
        leave_scheduler();
        return warp->result[lane];
    }
    warp->pending_set &= ~(1u << slot);
    compute(warp, op, mask);
    if (emulator_observes_accesses)
        observe_collective(block, warp, mask, op);
    release_lanes(block, warp_index, mask & ~(1u << lane));
    leave_scheduler();
    if (emulator_operations_to_yield <= 0) /* it has gone on without a switch for too long */
        emulator_preempt();
    return warp->result[lane];
}

/* --- Copies that a thread waits for ------------------------------------------- */

void emulator_store_later(void *to, const void *value, size_t bytes)
{
    struct late_store store = {to, 0, bytes};
    memcpy(&store.value, value, bytes);
    enter_scheduler();
    current_thread->late_stores.push_back(store);
    leave_scheduler();
}

void wait_for_copies()
{
    enter_scheduler();
    for (const struct late_store &store : current_thread->late_stores)
        memcpy(store.to, &store.value, store.bytes);
    current_thread->late_stores.clear();
    leave_scheduler();
}

/* --- The rest --------------------------------------------------------------- */

void __trap(const char *file, int line)
{
    require_kernel("__trap", {file, line});
    describe_call(current_block, "trap", "the kernel stopped itself", {file, line});
    abandon_launch();
}

long long clock64(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

} // namespace emulator_cuda
