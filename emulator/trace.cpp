/* trace.cpp: notes what each thread reads and writes, and in which step. */
#include "trace.h"
#include "scheduler.h"

#include <algorithm>
#include <string.h>
#include <unordered_map>

inline namespace emulator_cuda
{

/* Where a block's threads are. */
struct block_progress {
    uint32_t barriers;
    std::vector<uint32_t> collectives; /* of each thread since the last barrier */
};

/* A store that was told, but not made yet. */
struct pending_store {
    struct traced_request *request;
    unsigned lane;
    const void *address;
};

static bool tracing; /* launches from here on are traced */
static struct trace trace;
static size_t allocations; /* that the harness did not describe */
static std::unordered_map<const struct block *, block_progress> progress;
static std::vector<pending_store> pending;
static uint64_t accesses; /* so far */

static void set_lane(std::vector<unsigned char> &values, unsigned lane, const void *value,
                     size_t bytes)
{
    values.resize(EMULATOR_WARP_SIZE * bytes);
    memcpy(&values[lane * bytes], value, bytes);
}

/* One thread runs at a time, so at the next event of any thread the stores before it are made. */
static void note_stores(void)
{
    for (const pending_store &store : pending) {
        set_lane(store.request->value, store.lane, store.address, store.request->bytes);
    }
    pending.clear();
}

static block_progress *progress_of(const struct block *block)
{
    block_progress *found = &progress[block];
    found->collectives.resize(block->threads.size());
    return found;
}

/* --- Which memory ------------------------------------------------------------- */

static size_t find_region(trace_space space, const std::string &name, uintptr_t base)
{
    const size_t launch = trace.launches.size() - 1;
    for (size_t r = 0; r < trace.regions.size(); r++)
        if (trace.regions[r].space == space && trace.regions[r].launch == launch &&
            trace.regions[r].name == name)
            return r;
    trace.regions.push_back({name, space, base, 0, launch, ""});
    return trace.regions.size() - 1;
}

static size_t shared_region(uintptr_t address, size_t *offset)
{
    const struct block *block = current_block;
    struct shared_place place;
    *offset = address - (uintptr_t)block->shared;
    if (*offset < current_launch.request.shared_bytes)
        return find_region(TRACE_SHARED, "shared", address - *offset);
    if (!find_shared_array((const void *)address, &place))
        place = {"shared", 0, address - (uintptr_t)block->static_shared};
    *offset = place.offset;
    return find_region(TRACE_SHARED, place.name, address - *offset);
}

/* Memory that the harness did not describe is what the traced code has allocated. */
static size_t new_allocation(uintptr_t address)
{
    for (const struct emulated_device *device : all_devices())
        for (const auto &[complement, extent] : device->memory) {
            const uintptr_t base = ~extent.complement;
            if (address - base >= extent.bytes)
                continue;
            char name[32];
            snprintf(name, sizeof name, "memory %zu", ++allocations);
            trace.regions.push_back({name, TRACE_GLOBAL, base, extent.bytes, 0, ""});
        }
    return trace.regions.size() - 1;
}

static size_t global_region(uintptr_t address, size_t *offset)
{
    size_t found = trace.regions.size();
    for (size_t r = trace.regions.size(); r-- > 0;)
        if (trace.regions[r].space == TRACE_GLOBAL &&
            address - trace.regions[r].base < trace.regions[r].bytes)
            found = r;
    if (found == trace.regions.size())
        found = new_allocation(address);
    *offset = address - trace.regions[found].base;
    return found;
}

/* --- Which request ------------------------------------------------------------ */

static bool is_alike(const traced_request &a, const traced_request &b)
{
    return a.kind == b.kind && a.place == b.place && a.region == b.region && a.bytes == b.bytes;
}

/* The request of other lanes that this lane's access belongs to: one after its latest. Else a new
 * one, right there. */
static struct traced_request *request_of(struct warp_step *step, unsigned lane,
                                         const traced_request &access)
{
    auto after = step->requests.begin();
    if (step->latest[lane])
        while (&*after++ != step->latest[lane])
            continue;
    const auto found =
        std::find_if(after, step->requests.end(), [&](const traced_request &request) {
            return is_alike(request, access) && !(request.lanes >> lane & 1);
        });
    if (found != step->requests.end())
        return &*found;
    return &*step->requests.insert(after, access);
}

/* Does a thread that waits read the same again? */
static bool is_repeated(const warp_step *step, unsigned lane, const traced_request &access,
                        size_t offset, const void *value)
{
    const struct traced_request *latest = step->latest[lane];
    return access.kind == TRACE_LOAD && latest && is_alike(*latest, access) &&
           latest->offset[lane] == offset &&
           memcmp(&latest->value[lane * access.bytes], value, access.bytes) == 0;
}

static warp_step *step_of(const struct block *block, unsigned thread)
{
    const block_progress *at = progress_of(block);
    auto &steps = trace.launches.back().steps;
    return &steps[{at->barriers, at->collectives[thread]}]
                 [{block->index, thread / EMULATOR_WARP_SIZE}];
}

static struct traced_request *join(struct warp_step *step, unsigned lane,
                                   const traced_request &access)
{
    struct traced_request *request = request_of(step, lane, access);
    step->latest[lane] = request;
    request->lanes |= 1u << lane;
    request->offset[lane] = access.offset[0];
    request->when[lane] = ++accesses;
    return request;
}

static void add_access(const traced_request &access, uintptr_t address)
{
    const void *memory = (const void *)address;
    const unsigned thread = current_index(), lane = thread % EMULATOR_WARP_SIZE;
    struct warp_step *step = step_of(current_block, thread);
    if (is_repeated(step, lane, access, access.offset[0], memory))
        return;
    struct traced_request *request = join(step, lane, access);
    if (access.kind == TRACE_ATOMIC)
        set_lane(request->before, lane, memory, access.bytes);
    if (access.kind == TRACE_LOAD || access.kind == TRACE_BULK_LOAD)
        set_lane(request->value, lane, memory, access.bytes);
    else
        pending.push_back({request, lane, memory});
}

/* --- What is told ------------------------------------------------------------- */

static const trace_kind kind_of[] = {[EMULATOR_ACCESS_LOAD] = TRACE_LOAD,
                                     [EMULATOR_ACCESS_STORE] = TRACE_STORE,
                                     [EMULATOR_ACCESS_ATOMIC] = TRACE_ATOMIC,
                                     [EMULATOR_ACCESS_BULK_LOAD] = TRACE_BULK_LOAD,
                                     [EMULATOR_ACCESS_BULK_STORE] = TRACE_BULK_LOAD};

/* An object of several words is copied by several instructions; a bulk copy is one. */
static void trace_access(const struct memory_access *told)
{
    note_stores();
    traced_request access = {.kind = kind_of[told->kind], .caller = told->caller};
    access.place = place_of(told);
    uintptr_t address = told->address;
    for (size_t bytes = told->bytes; bytes > 0; access.place++) {
        access.bytes = told->kind == EMULATOR_ACCESS_BULK_LOAD
                           ? bytes
                           : widest_access_bytes(address, bytes, told->bytes);
        access.region = told->space == MEMORY_SHARED ? shared_region(address, &access.offset[0])
                                                     : global_region(address, &access.offset[0]);
        add_access(access, address);
        address += access.bytes;
        bytes -= access.bytes;
    }
}

static void trace_barrier(struct block *block)
{
    note_stores();
    block_progress *at = progress_of(block);
    at->barriers++;
    std::fill(at->collectives.begin(), at->collectives.end(), 0);
}

/* All blocks go on with the same step. */
static void trace_launch_barrier(bool)
{
    note_stores();
    uint32_t latest = 0;
    for (const struct block *block : active_blocks)
        latest = std::max(latest, progress_of(block)->barriers);
    for (const struct block *block : active_blocks) {
        block_progress *at = progress_of(block);
        at->barriers = latest + 1;
        std::fill(at->collectives.begin(), at->collectives.end(), 0);
    }
}

/* Registers are as wide as the elements, and at least a word. */
static size_t register_bytes(void)
{
    return trace.type.ends_with("64") ? sizeof(uint64_t) : sizeof(uint32_t);
}

/* What each lane of a collective gives, in the step before it, and receives, in the step after. */
static void trace_registers(const struct block *block, const struct warp *warp, unsigned mask,
                            enum collective_op op, bool received)
{
    const unsigned first = (unsigned)(warp - block->warps.data()) * EMULATOR_WARP_SIZE;
    traced_request registers = {.kind = TRACE_GIVE, .bytes = register_bytes()};
    registers.region = find_region(TRACE_REGISTERS, "registers", 0);
    if (received)
        registers.kind = is_shuffle(op) ? TRACE_SHUFFLE : TRACE_REDUCE;
    for (unsigned rest = mask; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        const unsigned source =
            registers.kind == TRACE_SHUFFLE ? shuffle_source(op, lane, &warp->operand[lane]) : lane;
        const uint64_t given = warp->operand[lane].value;
        registers.offset[0] = (first + source) * registers.bytes;
        struct traced_request *request = join(step_of(block, first + lane), lane, registers);
        set_lane(request->value, lane, received ? &warp->result[lane] : &given, request->bytes);
        if (registers.kind == TRACE_REDUCE)
            set_lane(request->before, lane, &given, request->bytes);
    }
}

/* Votes are no step: what lanes have read before one they still hold, and nothing is drawn. */
static void trace_collective(struct block *block, struct warp *warp, unsigned mask,
                             enum collective_op op)
{
    note_stores();
    const size_t first = (size_t)(warp - block->warps.data()) * EMULATOR_WARP_SIZE;
    const bool passes_values = is_shuffle(op) || is_reduction(op);
    if (!passes_values && op != COLLECTIVE_SYNC)
        return;
    block_progress *at = progress_of(block);
    uint32_t latest = 0;
    if (passes_values)
        trace_registers(block, warp, mask, op, false);
    for (unsigned rest = mask; rest; rest &= rest - 1)
        latest = std::max(latest, at->collectives[first + (size_t)__builtin_ctz(rest)]);
    for (unsigned rest = mask; rest; rest &= rest - 1)
        at->collectives[first + (size_t)__builtin_ctz(rest)] = latest + 1;
    if (passes_values)
        trace_registers(block, warp, mask, op, true);
}

static void trace_end_of_block(struct block *block)
{
    note_stores();
    progress.erase(block);
}

/* Like a counted launch, a traced one has an order of its own, whatever the seed. */
static bool begin_traced_launch(uint64_t *random_state)
{
    if (!tracing)
        return false;
    *random_state = trace.launches.size();
    const struct emulator_launch_request *request = &current_launch.request;
    trace.launches.push_back(
        {request->name, request->grid, request->block, request->shared_bytes, {}});
    return true;
}

static void end_traced_launch(void)
{
    note_stores();
    progress.clear(); /* of a launch that failed, some are left */
}

const struct access_observer tracing_observer = {
    .begin_launch = begin_traced_launch,
    .access = trace_access,
    .barrier = trace_barrier,
    .launch_barrier = trace_launch_barrier,
    .collective = trace_collective,
    .end_block = trace_end_of_block,
    .end_launch = end_traced_launch,
};

} // namespace emulator_cuda

void emulator_start_tracing(const struct emulator_array *arrays, size_t count, const char *type)
{
    trace = {};
    trace.type = type;
    for (size_t a = 0; a < count; a++)
        if (arrays[a].bytes > 0)
            trace.regions.push_back({arrays[a].name, TRACE_GLOBAL, (uintptr_t)arrays[a].data,
                                     arrays[a].bytes, 0, arrays[a].type ? arrays[a].type : ""});
    allocations = 0;
    tracing = true;
}

void emulator_stop_tracing(void)
{
    tracing = false;
}

void emulator_write_trace(FILE *out)
{
    write_trace(&trace, out);
}
