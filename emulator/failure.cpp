/* failure.cpp: describes a failure in one line: the kernel, the block, and where its threads
 * are. Threads at the same place form a group, printed as ranges. */
#include "races.h"
#include "runtime.h"
#include "scheduler.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

inline namespace emulator_cuda
{

enum {
    RANGES_SHOWN = 3, /* ranges per group */
    GROUPS_SHOWN = 4, /* groups per block */
};

__attribute__((format(printf, 1, 2))) static void append(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = current_device()->failure;
    const size_t length = strlen(text);
    vsnprintf(text + length, FAILURE_BYTES - length, format, arguments);
    va_end(arguments);
}

static void begin(const char *kind)
{
    clear_failure();
    current_launch.failed = true;
    append("%s in %s", kind, current_launch.request.name);
}

static void append_place(struct source_place place)
{
    const char *slash = strrchr(place.file, '/');
    append("%s:%d", slash ? slash + 1 : place.file, place.line);
}

/* Does the state include a place? Other states are described without one. */
static bool has_place(enum thread_state state)
{
    return state != THREAD_READY && state != THREAD_EXITED;
}

static bool same_group(const struct thread *a, const struct thread *b)
{
    if (a->state != b->state)
        return false;
    return !has_place(a->state) ||
           (a->place.line == b->place.line && strcmp(a->place.file, b->place.file) == 0);
}

static void append_mask(const struct block *block, unsigned index)
{
    const struct warp *warp = &block->warps[index / EMULATOR_WARP_SIZE];
    for (unsigned slot = 0; slot < EMULATOR_WARP_SIZE; slot++)
        if (warp->pending_set >> slot & 1 &&
            warp->pending[slot].arrived >> (index % EMULATOR_WARP_SIZE) & 1)
            append(" (mask 0x%08x)", warp->pending[slot].mask);
}

static void append_state(const struct block *block, unsigned index, bool many)
{
    const struct thread *thread = &block->threads[index];
    switch (thread->state) {
    case THREAD_READY:
        append(many ? " are running" : " is running");
        return;
    case THREAD_EXITED:
        append(many ? " have exited" : " has exited");
        return;
    case THREAD_SPINNING:
        append(many ? " spin at " : " spins at ");
        break;
    case THREAD_IN_BARRIER:
        append(many ? " wait at " : " waits at ");
        break;
    case THREAD_IN_COLLECTIVE:
        append(many ? " wait in a warp collective at " : " waits in a warp collective at ");
        break;
    }
    append_place(thread->place);
    if (thread->state == THREAD_IN_COLLECTIVE)
        append_mask(block, index);
}

/* Appends "threads 0-31, 64-95 wait at x.cu:41": the threads from `first` up to `end` that are
 * at the same place as `first`. */
static void append_group(const struct block *block, unsigned first, unsigned end)
{
    const std::vector<struct thread> &threads = block->threads;
    unsigned count = 0, ranges = 0;
    for (unsigned i = first; i < end; i++)
        count += same_group(&threads[i], &threads[first]);
    append(count == 1 ? "thread " : "threads ");
    for (unsigned i = first; i < end; i++) {
        if (!same_group(&threads[i], &threads[first]))
            continue;
        const unsigned from = i;
        while (i + 1 < end && same_group(&threads[i + 1], &threads[first]))
            i++;
        if (ranges++ == RANGES_SHOWN) {
            append(", ... (%u in all)", count);
            break;
        }
        append(ranges > 1 ? ", %u" : "%u", from);
        if (i > from)
            append("-%u", i);
    }
    append_state(block, first, count > 1);
}

static void append_threads(const struct block *block, unsigned begin, unsigned end)
{
    unsigned groups = 0;
    for (unsigned i = begin; i < end; i++) {
        bool seen = false;
        for (unsigned j = begin; j < i && !seen; j++)
            seen = same_group(&block->threads[i], &block->threads[j]);
        if (seen)
            continue;
        if (groups++ == GROUPS_SHOWN) {
            append("; ...");
            break;
        }
        append(groups > 1 ? "; " : ": ");
        append_group(block, i, end);
    }
}

static bool any_thread(const struct block *block, enum thread_state state)
{
    for (const struct thread &thread : block->threads)
        if (thread.state == state)
            return true;
    return false;
}

void describe_stuck_block(const struct block *block)
{
    begin(any_thread(block, THREAD_IN_COLLECTIVE) ? "divergent warp collective"
                                                  : "divergent barrier");
    append(", block %u", block->index);
    append_threads(block, 0, (unsigned)block->threads.size());
}

void describe_stuck_warp(const struct block *block, unsigned warp_index)
{
    const unsigned first = warp_index * EMULATOR_WARP_SIZE;
    const unsigned end = min(first + EMULATOR_WARP_SIZE, block->threads.size());
    begin("divergent warp collective");
    append(", block %u", block->index);
    append_threads(block, first, end);
}

void describe_no_progress(void)
{
    const struct block *spinning = active_blocks[0];
    for (const struct block *block : active_blocks)
        if (block->index < spinning->index)
            spinning = block;
    begin("deadlock");
    append(", block %u", spinning->index);
    append_threads(spinning, 0, (unsigned)spinning->threads.size());
    append("; of %llu blocks %zu are resident", (unsigned long long)current_launch.request.grid,
           active_blocks.size());
    const uint64_t waiting = current_launch.request.grid - current_launch.started;
    if (waiting)
        append(" and %llu wait for a slot", (unsigned long long)waiting);
}

void describe_call(const struct block *block, const char *kind, const char *what,
                   struct source_place place)
{
    begin(kind);
    append(", block %u, thread %u at ", block->index, threadIdx.x);
    append_place(place);
    append(": %s", what);
}

/* Appends the thread that runs, or ran last, and where it last waited. */
static void append_current_thread(void)
{
    const struct block *its_own = current_block;
    for (const struct block *block : active_blocks) /* it may have given way to another block */
        if (current_thread >= block->threads.data() &&
            current_thread < block->threads.data() + block->threads.size())
            its_own = block;
    append(", block %u, thread %u", its_own->index,
           (unsigned)(current_thread - its_own->threads.data()));
    if (!current_thread->place.file)
        return;
    append(" (last at ");
    append_place(current_thread->place);
    append(")");
}

void describe_end(void)
{
    if (current_launch.end == END_STOPPED) {
        begin("interrupted");
        append_current_thread();
        return;
    }
    begin("time limit");
    append_current_thread();
    append(": no thread of %llu blocks has ended in the last %g s",
           (unsigned long long)current_launch.request.grid, current_watch()->limit_ms / 1e3);
}

/* An access that begins in the buffer ends after it. */
static void append_place_near(size_t distance, bool after, size_t bytes)
{
    if (distance == 0 && !after)
        append("beyond the end of a buffer of %zu bytes", bytes);
    else if (distance == 0)
        append("right past the end of a buffer of %zu bytes", bytes);
    else
        append("%zu bytes %s a buffer of %zu bytes", distance,
               after ? "past the end of" : "before the start of", bytes);
    if (distance >> 31 != 0)
        append("; has an int in the index exceeded 2^31?");
}

/* Appends where an address is, from the buffer that is nearest to it, if that can be the one that
 * the kernel meant. */
static void append_distance(const void *address)
{
    const uintptr_t at = (uintptr_t)address;
    constexpr uintptr_t FARTHEST_BYTES = (uintptr_t)1 << 36;
    uintptr_t least = FARTHEST_BYTES;
    size_t bytes = 0;
    bool after = false;
    for (const struct emulated_device *device : all_devices())
        for (const auto &[object, extent] : device->memory) {
            const uintptr_t start = ~extent.complement, end = start + extent.bytes;
            const uintptr_t distance = at < start ? start - at : at >= end ? at - end : 0;
            if (distance >= least)
                continue;
            least = distance;
            bytes = extent.bytes;
            after = at >= end;
        }
    if (least == FARTHEST_BYTES)
        return;
    append(", ");
    append_place_near(least, after, bytes);
}

void describe_fault(const char *kind, bool has_address, const void *address, bool known)
{
    enum { NULL_PAGE_BYTES = 4096 };
    const bool overflow = has_address && fiber_overflows(current_thread->fiber, address);
    begin(overflow ? "stack overflow" : kind);
    append_current_thread();
    if (!has_address || overflow)
        return;
    if (!known)
        append(": an address that no memory has, or that is not aligned");
    else if ((uintptr_t)address < NULL_PAGE_BYTES)
        append(": null pointer, address 0x%llx", (unsigned long long)(uintptr_t)address);
    else {
        append(": address 0x%llx", (unsigned long long)(uintptr_t)address);
        append_distance(address);
    }
}

void describe_failure(const struct block *block, const char *kind, const char *what)
{
    begin(kind);
    append(", block %u: %s", block->index, what);
}

static void append_place_of_launch(const struct emulator_launch_request *request)
{
    if (request->file == NULL)
        return;
    append(" at ");
    append_place({request->file, request->line});
}

/* Begins the description of a call that is refused. The first of several that nobody has asked
 * about stays, as it is to be mended first: then this returns false. */
static bool begin_illegal(const char *what)
{
    static const char start[] = "illegal ";
    if (latched_error() && strncmp(current_device()->failure, start, strlen(start)) == 0)
        return false;
    clear_failure();
    append("%s%s", start, what);
    return true;
}

void describe_illegal_launch(const struct emulator_launch_request *request, const char *what)
{
    if (!begin_illegal("launch of "))
        return;
    append("%s", request->name);
    append_place_of_launch(request);
    append(": %s", what);
}

void describe_illegal_size(const char *call, size_t bytes, size_t there)
{
    if (!begin_illegal(call))
        return;
    if (bytes > SIZE_MAX / 2)
        append(" of %td bytes: is a count negative or not initialised?", (std::ptrdiff_t)bytes);
    else
        append(" of %zu bytes: the memory has only %zu from there on", bytes, there);
}

void describe_copy_direction(const char *kind, bool to, bool of_host)
{
    if (begin_illegal("cudaMemcpy: "))
        append("%s %s memory of the %s", kind, to ? "to" : "from", of_host ? "host" : "device");
}

void describe_illegal_free(void)
{
    if (current_device()->failure[0] == '\0') /* else memory is freed after something worse */
        append("illegal cudaFree: the pointer is not one of cudaMalloc, or was freed before");
}

void describe_default_stream(const struct emulator_launch_request *request)
{
    clear_failure();
    append("launches %s", request->name);
    append_place_of_launch(request);
    append(" on the default stream, which is neither timed nor waited for");
}

/* Appends where an address is in the shared memory of the running block. Returns false if it is not
 * there. */
static bool append_shared_place(const char *address)
{
    struct shared_place place;
    const size_t bytes = current_launch.request.shared_bytes;
    if (find_shared_array(address, &place))
        append(", %zu bytes from the start of the shared array %s, which has %zu", place.offset,
               place.name, place.bytes);
    else if ((size_t)(address - current_block->shared_arena) < current_block->shared_room)
        append(", %td bytes from the start of the launch's shared memory, which has %zu",
               address - current_block->shared, bytes);
    else
        return false;
    return true;
}

/* Begins the description of something that a sanitizer found. Returns false if there is one. */
static bool begin_finding(const char *kind)
{
    if (current_device()->failure[0] != '\0')
        return false;
    append("%s", kind);
    if (!current_launch.running) {
        append(" outside kernels");
        return true;
    }
    current_launch.failed = true;
    append(" in %s, block %u, thread %u", current_launch.request.name, current_block->index,
           threadIdx.x);
    return true;
}

void describe_access(const char *kind, const char *how, size_t bytes, const void *address,
                     const char *place)
{
    if (!begin_finding(kind))
        return;
    append("%s%s: %s of %zu bytes", place[0] != '\0' ? " at " : "", place, how, bytes);
    if (!address)
        return;
    if (!current_launch.running || !append_shared_place((const char *)address))
        append_distance(address);
}

void describe_undefined(const char *kind, struct source_place place, const char *what)
{
    if (!begin_finding(kind))
        return;
    append(" at ");
    append_place(place);
    append(": %s", what);
}

/* Appends "word 12 of temp". */
static void append_racing_word(const struct race *race)
{
    struct shared_place place;
    const bool whole = race->bytes == WORD_BYTES;
    const char *unit = whole ? "word" : "byte";
    const size_t unit_bytes = whole ? WORD_BYTES : 1;
    if (race->space == MEMORY_SHARED && find_shared_array(race->address, &place)) {
        append("%s %zu of %s", unit, place.offset / unit_bytes, place.name);
        return;
    }
    if (race->space == MEMORY_SHARED) {
        append("%s %zu of the launch's shared memory", unit,
               (size_t)(race->address - current_block->shared) / unit_bytes);
        return;
    }
    for (const struct emulated_device *device : all_devices())
        for (const auto &[object, extent] : device->memory) {
            const size_t offset = (size_t)(race->address - (const char *)~extent.complement);
            if (offset < extent.bytes)
                append("%s %zu of a buffer of %zu bytes", unit, offset / unit_bytes, extent.bytes);
        }
}

static void append_racing_access(const struct racing_access *access, bool with_block)
{
    append("thread %u ", access->thread);
    if (with_block)
        append("of block %u ", access->block);
    append(access->writes ? "wrote " : "read ");
}

void describe_race(const struct race *race)
{
    const struct racing_access *first = &race->first, *second = &race->second;
    const bool same_block = first->block == second->block;
    begin(race->space == MEMORY_SHARED ? "race on shared memory" : "race on global memory");
    if (same_block)
        append(", block %u", first->block);
    append(": ");
    append_racing_access(first, !same_block);
    append_racing_word(race);
    append("%s%s, ", first->place[0] ? " at " : "", first->place);
    append_racing_access(second, !same_block);
    append("it%s%s, and ", second->place[0] ? " at " : "", second->place);
    if (!same_block)
        append("nothing orders the two blocks");
    else if (first->thread / EMULATOR_WARP_SIZE == second->thread / EMULATOR_WARP_SIZE)
        append("no __syncwarp() or barrier lies between");
    else
        append("no barrier lies between");
}

void describe_damage(const char *kernel, const char *address, const struct extent *extent)
{
    const char *start = (const char *)~extent->complement, *end = start + extent->bytes;
    clear_failure();
    append("wrote outside of an array in %s: ", kernel);
    append_place_near((size_t)(address < start ? start - address : address - end), address >= start,
                      extent->bytes);
}

void clear_failure(void)
{
    current_device()->failure[0] = '\0';
}

} // namespace emulator_cuda

const char *emulator_error_detail(void)
{
    return emulator_cuda::current_device()->failure;
}
