/* plain_cuda.cpp: launches of grids and blocks of three dimensions, static shared memory, and
 * barriers of a grid, for CUDA sources as they are written. */
#include "scheduler.h"

#include "plain_cuda.h"
#include "sanitizer.h"

#include <string.h>

#undef threadIdx
#undef blockIdx

inline namespace emulator_cuda
{

enum {
    SHARED_ARENA_BYTES = 64 * 1024,
    SHARED_GAP_BYTES = 64,
    SHARED_GAP_BYTE = 0xA5,
    SHARED_ALIGNMENT = 128,
    MOST_GRID_Y_Z = 65535,
    MOST_BLOCK_Z = 64,
};

/* --- Static shared memory ------------------------------------------------------ */

struct placed_variable {
    const plain_shared_variable *variable;
    size_t offset;
};

/* The static shared memory of one resident block. Where a variable lies is decided when the first
 * thread comes to it, since what a kernel uses is not known before it runs. */
struct shared_arena {
    char *memory;
    size_t used, bytes;    /* `bytes` of variables, without gaps */
    uint64_t launch;       /* for which `placed` holds */
    unsigned begun, ended; /* threads of the block */
    std::vector<placed_variable> placed;
};

/* One for each resident block. Never destroyed, so that a leak check does not report them. */
static std::unordered_map<const struct block *, shared_arena> &arenas =
    *new std::unordered_map<const struct block *, shared_arena>();

static shared_arena *arena_of_block(void)
{
    static const struct block *block; /* of the call before; blocks are never destroyed */
    static shared_arena *arena;
    if (block == current_block)
        return arena;
    block = current_block;
    arena = &arenas[block];
    if (!arena->memory)
        arena->memory = (char *)aligned_alloc(SHARED_ALIGNMENT, SHARED_ARENA_BYTES);
    if (!arena->memory) {
        perror("scanbench: emulator: no memory for shared memory");
        abort();
    }
    current_block->static_shared = arena->memory;
    current_block->static_shared_bytes = SHARED_ARENA_BYTES;
    return arena;
}

static void poison(const shared_arena *arena, const placed_variable &placed)
{
    char *start = arena->memory + placed.offset;
    if (asan_runtime.unpoison)
        asan_runtime.unpoison(start, placed.variable->bytes + SHARED_GAP_BYTES);
    memset(start, EMULATOR_SHARED_POISON, placed.variable->bytes);
    memset(start + placed.variable->bytes, SHARED_GAP_BYTE, SHARED_GAP_BYTES);
    if (asan_runtime.poison)
        asan_runtime.poison(start + placed.variable->bytes, SHARED_GAP_BYTES);
}

static void begin_thread(void)
{
    shared_arena *arena = arena_of_block();
    if (arena->launch != current_launch.number) {
        arena->launch = current_launch.number;
        arena->placed.clear();
        arena->used = arena->bytes = 0;
        arena->begun = 0;
    }
    if (arena->begun == current_launch.request.block)
        arena->begun = 0;
    if (arena->begun++ > 0)
        return;
    arena->ended = 0;
    for (const placed_variable &placed : arena->placed)
        poison(arena, placed);
}

static const char *file_of(const plain_shared_variable *variable)
{
    const char *slash = strrchr(variable->file, '/');
    return slash ? slash + 1 : variable->file;
}

static void end_thread(void)
{
    shared_arena *arena = arena_of_block();
    if (++arena->ended < current_launch.request.block)
        return;
    for (const placed_variable &placed : arena->placed) {
        const char *gap = arena->memory + placed.offset + placed.variable->bytes;
        if (!first_change(gap, SHARED_GAP_BYTES, SHARED_GAP_BYTE))
            continue;
        char text[160];
        snprintf(text, sizeof text, "something wrote past the end of %.40s (%.60s:%d)",
                 placed.variable->name, file_of(placed.variable), placed.variable->line);
        enter_scheduler();
        describe_failure(current_block, "shared memory out of bounds", text);
        abandon_launch();
    }
}

bool find_shared_array(const void *address, struct shared_place *place)
{
    const auto arena = arenas.find(current_block);
    if (arena == arenas.end() || !arena->second.memory)
        return false;
    for (const placed_variable &placed : arena->second.placed) {
        const size_t offset = (size_t)((const char *)address - arena->second.memory);
        const size_t bytes = placed.variable->bytes;
        if (offset < placed.offset || offset >= placed.offset + bytes + SHARED_GAP_BYTES)
            continue;
        *place = {placed.variable->name, bytes, offset - placed.offset};
        return true;
    }
    return false;
}

void *plain_shared(const plain_shared_variable *variable)
{
    require_kernel("a __shared__ variable", {variable->file, variable->line});
    shared_arena *arena = arena_of_block();
    for (const placed_variable &placed : arena->placed)
        if (placed.variable == variable)
            return arena->memory + placed.offset;
    const size_t alignment = std::max<size_t>(variable->alignment, 16);
    const size_t offset = (arena->used + alignment - 1) / alignment * alignment;
    if (arena->bytes + variable->bytes > EMULATOR_SHARED_BYTES ||
        offset + variable->bytes + SHARED_GAP_BYTES > SHARED_ARENA_BYTES) {
        char text[128];
        snprintf(text, sizeof text,
                 "with %.40s, the kernel has %zu bytes of static shared memory, where %d are "
                 "allowed",
                 variable->name, arena->bytes + variable->bytes, (int)EMULATOR_SHARED_BYTES);
        enter_scheduler();
        describe_call(current_block, "too much shared memory", text,
                      {variable->file, variable->line});
        abandon_launch();
    }
    const placed_variable placed = {variable, offset};
    arena->placed.push_back(placed);
    arena->bytes += variable->bytes;
    arena->used = offset + variable->bytes + SHARED_GAP_BYTES;
    poison(arena, placed);
    return arena->memory + offset;
}

/* --- A launch -------------------------------------------------------------------- */

static void (*listener)(void *, const plain_launch_notice *, bool after);
static void *listener_context;
static cudaStream_t stream_by_default;

void plain_set_listener(void (*function)(void *, const plain_launch_notice *, bool), void *context,
                        cudaStream_t default_stream)
{
    listener = function;
    listener_context = context;
    stream_by_default = default_stream;
}

/* Runs one thread from beginning to end. */
static void run_thread(const void *closure)
{
    const auto *self = static_cast<const plain_closure *>(closure);
    blockDim = self->block;
    gridDim = self->grid;
    enter_scheduler();
    begin_thread();
    leave_scheduler();
    self->body(self);
    end_thread();
}

static uint64_t volume(dim3 size)
{
    return (uint64_t)size.x * size.y * size.z;
}

/* The scheduler knows one dimension. */
static const char *what_is_illegal(const plain_configuration &shape)
{
    if (shape.grid.y > MOST_GRID_Y_Z || shape.grid.z > MOST_GRID_Y_Z)
        return "more than 65535 blocks in the grid's y or z";
    return shape.block.z > MOST_BLOCK_Z ? "more than 64 threads in the block's z" : NULL;
}

cudaError_t plain_submit(const plain_configuration &configuration, const char *name,
                         const void *kernel, plain_closure *closure, size_t closure_bytes)
{
    closure->grid = configuration.grid;
    closure->block = configuration.block;
    const struct emulator_launch_request request = {
        .kernel = kernel,
        .name = name,
        .grid = volume(configuration.grid),
        .block = (unsigned)std::min<uint64_t>(volume(configuration.block), UINT32_MAX),
        .shared_bytes = configuration.shared_bytes,
        .residency = configuration.cooperative ? EMULATOR_ALL_RESIDENT : EMULATOR_IN_TURN,
        .run = run_thread,
        .closure = closure,
        .closure_bytes = closure_bytes,
        .stream = configuration.stream ? configuration.stream : stream_by_default,
        .file = configuration.file,
        .line = configuration.line,
        .illegal = what_is_illegal(configuration),
    };
    const plain_launch_notice notice = {name, kernel, request.grid, request.block,
                                        request.shared_bytes};
    if (listener)
        listener(listener_context, &notice, false);
    const cudaError_t error = emulator_submit(&request);
    if (listener)
        listener(listener_context, &notice, true);
    return error;
}

/* --- Barriers of the grid ---------------------------------------------------------- */

bool plain_is_cooperative(void)
{
    return current_launch.request.residency == EMULATOR_ALL_RESIDENT;
}

void plain_grid_sync(const char *file, int line)
{
    require_kernel("grid.sync", {file, line});
    if (!plain_is_cooperative()) {
        enter_scheduler();
        describe_call(current_block, "grid barrier",
                      "the launch is not cooperative: cudaLaunchCooperativeKernel", {file, line});
        abandon_launch();
    }
    struct cluster_barrier *barrier = &current_launch.cluster;
    const uint32_t phase = barrier->phase;
    current_block->progressed = true;
    if (++barrier->arrived == current_launch.request.grid * current_launch.request.block) {
        barrier->arrived = 0;
        barrier->phase++;
        if (emulator_observes_accesses)
            observe_launch_barrier(true);
        return;
    }
    while (barrier->phase == phase)
        spin_wait(file, line);
}

/* --- More of the runtime ------------------------------------------------------------ */

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width_bytes, size_t height, cudaMemcpyKind kind)
{
    cudaError_t error = cudaSuccess;
    for (size_t row = 0; row < height && error == cudaSuccess; row++)
        error = cudaMemcpy((char *)to + row * to_pitch, (const char *)from + row * from_pitch,
                           width_bytes, kind);
    return error;
}

cudaError_t cudaMemset2D(void *to, size_t pitch, int byte, size_t width_bytes, size_t height)
{
    cudaError_t error = cudaSuccess;
    for (size_t row = 0; row < height && error == cudaSuccess; row++)
        error = cudaMemset((char *)to + row * pitch, byte, width_bytes);
    return error;
}

} // namespace emulator_cuda
