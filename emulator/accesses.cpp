/* accesses.cpp: which memory an access is to, and who is told of it. */
#include "accesses.h"
#include "sanitizer.h"
#include "scheduler.h"
#include "source_lines.h"

#include <algorithm>
#include <vector>

inline namespace emulator_cuda
{

enum { MOST_CALLS = 33, MOST_ACCESS_BYTES = 16 };

bool emulator_observes_accesses;

static const struct access_observer *const all_observers[] = {
    &application_observer, &counting_observer, &race_observer, &tracing_observer};
static std::vector<const struct access_observer *> observers; /* of the running launch */

/* --- Which memory ----------------------------------------------------------- */

struct range {
    uintptr_t begin, end;
};

static std::vector<range> allocations; /* by address */
static range latest_hit;

static void list_allocations(void)
{
    allocations.clear();
    latest_hit = {};
    for (const struct emulated_device *device : all_devices())
        for (const auto &[complement, extent] : device->memory)
            allocations.push_back({~extent.complement, ~extent.complement + extent.bytes});
    std::sort(allocations.begin(), allocations.end(),
              [](const range &a, const range &b) { return a.begin < b.begin; });
}

static bool is_global(uintptr_t address)
{
    if (address - latest_hit.begin < latest_hit.end - latest_hit.begin)
        return true;
    const auto after =
        std::upper_bound(allocations.begin(), allocations.end(), address,
                         [](uintptr_t a, const range &range) { return a < range.begin; });
    if (after == allocations.begin() || address >= after[-1].end)
        return false;
    latest_hit = after[-1];
    return true;
}

static bool lies_in(uintptr_t address, const char *start, size_t bytes)
{
    return address - (uintptr_t)start < bytes;
}

/* The stack of the running thread stands for its registers. */
static bool is_on_stack(uintptr_t address)
{
    const struct fiber *fiber = current_thread->fiber;
    return lies_in(address, fiber->stack, fiber->stack_bytes);
}

/* What else a thread reads and writes is its own stack, and what a GPU has in constant memory or in
 * special registers. */
static memory_space space_of(uintptr_t address)
{
    if (is_on_stack(address))
        return MEMORY_OTHER;
    const struct block *block = current_block;
    if (lies_in(address, block->shared, current_launch.request.shared_bytes) ||
        lies_in(address, block->static_shared, block->static_shared_bytes))
        return MEMORY_SHARED;
    return is_global(address) ? MEMORY_GLOBAL : MEMORY_OTHER;
}

/* --- Which place ------------------------------------------------------------ */

[[gnu::no_sanitize_address]] int calls_of(const struct memory_access *access, uintptr_t *calls,
                                          int most)
{
    const uintptr_t *frame = access->frame;
    const uintptr_t end = (uintptr_t)current_thread->fiber->main_frame;
    int count = 0;
    calls[count++] = (uintptr_t)access->caller;
    while (count < most) {
        const uintptr_t next = frame[0];
        if (next <= (uintptr_t)frame || next >= end || next % sizeof next != 0)
            break;
        frame = (const uintptr_t *)next;
        calls[count++] = frame[1];
    }
    return count;
}

/* Without the calls, all that comes through one function which is not inlined would be one place.
 */
uint64_t place_of(const struct memory_access *access)
{
    uintptr_t calls[MOST_CALLS];
    const int count = calls_of(access, calls, MOST_CALLS);
    uint64_t place = 0;
    for (int i = 0; i < count; i++)
        place = hash_with(place, calls[i]);
    return place;
}

/* An object of several words is accessed by several instructions. */
size_t widest_access_bytes(uintptr_t address, size_t left, size_t whole)
{
    size_t width = MOST_ACCESS_BYTES;
    while (width > left || whole % width != 0 || address % width != 0)
        width /= 2;
    return width;
}

/* --- Who is told ------------------------------------------------------------- */

/* A source that is checked has two builds. A sanitizer that watches the one knows where the other,
 * whose accesses come here, would destroy what is not the kernel's. */
static void end_if_outside(const struct memory_access *access)
{
    const void *address = (const void *)access->address;
    uintptr_t calls[MOST_CALLS];
    char place[160] = "";
    if (is_on_stack(access->address) || !is_poisoned(address, access->bytes))
        return;
    find_line(calls, calls_of(access, calls, MOST_CALLS), place, sizeof place);
    describe_poisoned_access(address, access->bytes, access->kind != EMULATOR_ACCESS_LOAD, place);
    abandon_launch();
}

[[gnu::noinline]] void note_access(const void *at, size_t bytes, emulator_access_kind kind,
                                   const void *caller, bool is_volatile)
{
    enter_scheduler();
    const uintptr_t address = (uintptr_t)at;
    const struct memory_access access = {
        address,
        bytes,
        kind,
        space_of(address),
        is_volatile,
        caller,
        static_cast<const uintptr_t *>(__builtin_frame_address(0))};
    const bool orders = kind == EMULATOR_ACCESS_ATOMIC || is_volatile;
    if ((access.space != MEMORY_OTHER || orders) && bytes > 0)
        for (const struct access_observer *observer : observers)
            observer->access(&access);
    end_if_outside(&access);
    leave_scheduler();
}

void emulator_note_access(emulator_access_kind kind, const void *address, size_t bytes)
{
    note_access(address, bytes, kind, __builtin_return_address(0));
}

void emulator_note_ordering(ordering kind, const void *address)
{
    enter_scheduler();
    for (const struct access_observer *observer : observers)
        if (observer->order)
            observer->order(kind, address);
    leave_scheduler();
}

void begin_observed_launch(uint64_t *random_state)
{
    observers.clear();
    for (const struct access_observer *observer : all_observers)
        if (observer->begin_launch(random_state))
            observers.push_back(observer);
    emulator_observes_accesses = !observers.empty();
    if (emulator_observes_accesses)
        list_allocations();
}

void observe_barrier(struct block *block)
{
    for (const struct access_observer *observer : observers)
        if (observer->barrier)
            observer->barrier(block);
}

void observe_launch_barrier(bool waits)
{
    for (const struct access_observer *observer : observers)
        if (observer->launch_barrier)
            observer->launch_barrier(waits);
}

void observe_collective(struct block *block, struct warp *warp, unsigned mask, collective_op op)
{
    for (const struct access_observer *observer : observers)
        if (observer->collective)
            observer->collective(block, warp, mask, op);
}

void observe_end_of_block(struct block *block)
{
    for (const struct access_observer *observer : observers)
        if (observer->end_block)
            observer->end_block(block);
}

void end_observed_launch(void)
{
    emulator_observes_accesses = false;
    for (const struct access_observer *observer : observers)
        if (observer->end_launch)
            observer->end_launch();
}

} // namespace emulator_cuda
