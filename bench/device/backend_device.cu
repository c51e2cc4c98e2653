/* backend_device: the GPU, and, compiled for the emulator, the emulator. */
#include "backend.h"

#include "../../kernels/launch.cuh"
#include "../../timing/clock.h"
#include "../../timing/gpu_marks.cuh"
#include "../../timing/gpu_timer.cuh"
#include "check.h"
#include "../errors.h"
#include "guard.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>
#include <unistd.h>
#include <vector>
#ifndef __CUDACC__
#include "../../emulator/emulator.h"
#endif

namespace SCANBENCH_BACKEND
{

/* A library that throws where nobody can catch. */
[[noreturn]] static void end_of_library()
{
    complain("a library ended the program; the rows before are kept");
    _exit(EXIT_ERROR);
}

/* Where C++ ends a program, it does so as C does: with one line and exit 1. Set before all
 * other initialisers, as those allocate too. */
__attribute__((constructor(101))) static void end_with_one_line()
{
    std::set_new_handler(out_of_memory);
    std::set_terminate(end_of_library);
}

enum { HARNESS_BLOCK = 256 };
constexpr double WAKE_UP_MS = 300;

/* ---- where the GPU and the emulator differ ---- */

#ifdef __CUDACC__

constexpr enum device_kind KIND = DEVICE_GPU;
static void seed_device(uint64_t)
{
}
static const char *kernel_error_detail()
{
    return "";
}
static bool is_driver_missing(cudaError_t error)
{
    return error == cudaErrorInsufficientDriver;
}

static void read_pci_bus_id(char *text, int size, int index)
{
    if (cudaDeviceGetPCIBusId(text, size, index) != cudaSuccess)
        text[0] = '\0';
}

#else

constexpr enum device_kind KIND = DEVICE_EMULATOR;
static void seed_device(uint64_t seed)
{
    emulator_set_seed(seed);
}
static const char *kernel_error_detail()
{
    return emulator_error_detail();
}
static bool is_driver_missing(cudaError_t)
{
    return false;
}
static void read_pci_bus_id(char *text, int, int)
{
    text[0] = '\0';
}

#endif

static struct {
    int index;
    size_t cache_bytes;
    queue work;
    gpu_timer timer;
    gpu_marks marks;
    int multiprocessors;
    bool awake;
    unsigned long long *d_found;  /* the result of a check: one word or two */
    unsigned long long *d_chunks; /* a word a chunk of the input, for compaction's check */
    uint64_t chunk_capacity;
    unsigned char zones[2][GUARD_BYTES]; /* copies of the zones beside a buffer */
    char reason[256];
} device;

/* ---- kernels of the harness ---- */

__global__ void fill_input_kernel(struct input input, void *array)
{
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = global_thread(); i < input.n; i += threads)
        element_store(input.type, array, i, input_element(&input, i));
}

__global__ void first_wrong_kernel(struct check check, unsigned long long *first_wrong)
{
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = check.from + global_thread(); i < check.input.n; i += threads)
        if (!check_passes(&check, i)) {
            atomicMin(first_wrong, (unsigned long long)i);
            return;
        }
}

__global__ void count_kept_kernel(struct input input, unsigned long long *kept)
{
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t c = global_thread(); c < chunk_count(&input); c += threads)
        kept[c] = kept_in_chunk(&input, c);
}

__global__ void first_wrong_kept_kernel(struct check check, const unsigned long long *starts,
                                        unsigned long long *first_wrong)
{
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t c = global_thread(); c < chunk_count(&check.input); c += threads) {
        uint64_t at = starts[c];
        const int64_t wrong = first_wrong_of_chunk(&check, c, &at);
        if (wrong != NO_INDEX)
            atomicMin(first_wrong, (unsigned long long)wrong);
    }
}

__global__ void digest_kernel(struct input input, const void *array, unsigned long long *words)
{
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    struct digest digest = {0, 0};
    for (uint64_t i = global_thread(); i < input.n; i += threads)
        digest_element(&digest, array != nullptr ? element_load(input.type, array, i)
                                                 : input_element(&input, i));
    atomicAdd(&words[0], (unsigned long long)digest.sum);
    atomicXor(&words[1], (unsigned long long)digest.parity);
}

/* Enough blocks to fill the device, or to give each element a thread. */
static launch_shape harness_shape(uint64_t n)
{
    const uint64_t full = 16u * (uint64_t)device.multiprocessors;
    return {.blocks = std::min(ceil_div(n, HARNESS_BLOCK), full), .threads = HARNESS_BLOCK};
}

/* ---- errors ---- */

static const char *because(const char *what, cudaError_t error)
{
    const char *detail = kernel_error_detail();
    if (detail[0] == '\0')
        detail = cudaGetErrorString(error);
    snprintf(device.reason, sizeof device.reason, "%s: %s", what, detail);
    return device.reason;
}

/* Waits for all that was queued; NULL, or the first error of any of it. */
static const char *finish(const char *what)
{
    const cudaError_t error = cudaStreamSynchronize(device.work.stream);
    if (kernel_error_detail()[0] != '\0')
        return because(what, cudaErrorLaunchFailure);
    if (device.work.error[0] != '\0') {
        snprintf(device.reason, sizeof device.reason, "%s", device.work.error);
        return device.reason;
    }
    return error == cudaSuccess ? nullptr : because(what, error);
}

/* ---- opening ---- */

static int device_count(const char **why)
{
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    cudaGetLastError();
    if (error != cudaSuccess && error != cudaErrorNoDevice && !is_driver_missing(error))
        *why = cudaGetErrorString(error);
    else
        *why = "no GPU found";
    return error == cudaSuccess ? count : 0;
}

/* A limit of the device; 0 with the first `error`. */
static int attribute(cudaDeviceAttr which, int index, cudaError_t *error)
{
    int value = 0;
    const cudaError_t problem = cudaDeviceGetAttribute(&value, which, index);
    if (*error == cudaSuccess)
        *error = problem;
    return problem == cudaSuccess ? value : 0;
}

/* Clocks and the like, which some drivers do not tell: then 0. */
static void describe_clocks(int index, struct device_info *info)
{
    cudaError_t ignored = cudaSuccess;
    info->clock_mhz = attribute(cudaDevAttrClockRate, index, &ignored) / 1e3;
    info->memory_clock_mhz = attribute(cudaDevAttrMemoryClockRate, index, &ignored) / 1e3;
    info->memory_bus_bits = attribute(cudaDevAttrGlobalMemoryBusWidth, index, &ignored);
    info->ecc = attribute(cudaDevAttrEccEnabled, index, &ignored) != 0;
    /* Two transfers a clock, bits to bytes, MHz to GB/s. */
    info->peak_gb_s = 2 * info->memory_clock_mhz * info->memory_bus_bits / 8 / 1e3;
    cudaGetLastError();
}

/* A limit that is not known would be taken for none: then the device is not used. */
static cudaError_t describe(int index, struct device_info *info)
{
    *info = {};
    cudaDeviceProp properties;
    cudaError_t error = cudaGetDeviceProperties(&properties, index);
    if (error != cudaSuccess)
        return error;
    snprintf(info->name, sizeof info->name, "%.*s", (int)sizeof info->name - 1, properties.name);
    info->memory_bytes = properties.totalGlobalMem;
    info->shared_bytes_per_block = properties.sharedMemPerBlock;
    read_pci_bus_id(info->pci_bus_id, sizeof info->pci_bus_id, index);
    int runtime = 0;
    if (cudaRuntimeGetVersion(&runtime) == cudaSuccess && runtime > 0)
        snprintf(info->runtime, sizeof info->runtime, "cuda_%d.%d", runtime / 1000,
                 runtime % 1000 / 10);
    info->compute_capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor, index, &error) +
                               attribute(cudaDevAttrComputeCapabilityMinor, index, &error);
    info->multiprocessors = attribute(cudaDevAttrMultiProcessorCount, index, &error);
    info->threads_per_block = attribute(cudaDevAttrMaxThreadsPerBlock, index, &error);
    info->threads_per_multiprocessor =
        attribute(cudaDevAttrMaxThreadsPerMultiProcessor, index, &error);
    info->blocks_per_multiprocessor =
        attribute(cudaDevAttrMaxBlocksPerMultiprocessor, index, &error);
    info->warp_size = attribute(cudaDevAttrWarpSize, index, &error);
    info->shared_bytes_per_block_optin =
        (size_t)attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, index, &error);
    info->shared_bytes_per_multiprocessor =
        (size_t)attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, index, &error);
    info->registers_per_block = attribute(cudaDevAttrMaxRegistersPerBlock, index, &error);
    info->registers_per_multiprocessor =
        attribute(cudaDevAttrMaxRegistersPerMultiprocessor, index, &error);
    info->grid_blocks = (uint64_t)attribute(cudaDevAttrMaxGridDimX, index, &error);
    info->cache_bytes = (size_t)attribute(cudaDevAttrL2CacheSize, index, &error);
    describe_clocks(index, info);
    return error;
}

static void close_device(void)
{
    cudaFree(device.d_found);
    cudaFree(device.d_chunks);
    close_timer(&device.timer);
    destroy_marks(&device.marks);
    if (device.work.stream != nullptr)
        cudaStreamDestroy(device.work.stream);
    device = {};
}

/* Closes what was opened, and forgets the error, once it is told. */
static const char *cannot_open(const char *what, cudaError_t error)
{
    close_device();
    cudaGetLastError();
    return because(what, error);
}

/* What the harness itself needs on the device. */
static cudaError_t set_up_device(int index, const struct device_info *info)
{
    device = {};
    device.index = index;
    device.cache_bytes = info->cache_bytes;
    device.multiprocessors = std::max(1, info->multiprocessors);
    cudaError_t error = cudaSetDevice(index);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&device.work.stream, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = open_timer(&device.timer, device.work.stream, info->cache_bytes);
    if (error == cudaSuccess)
        error = cudaMalloc(&device.d_found, 2 * sizeof *device.d_found);
    return error;
}

static const char *open_device(int index, uint64_t seed, struct device_info *info,
                               struct device_limits *limits)
{
    device = {};
    cudaError_t error = cudaSetDevice(index);
    if (error != cudaSuccess)
        return cannot_open("cannot use the device", error);
    seed_device(seed);
    error = describe(index, info);
    if (error != cudaSuccess)
        return cannot_open("cannot look at the device", error);
    *limits = (struct device_limits){
        .compute_capability = info->compute_capability,
        .multiprocessors = info->multiprocessors,
        .threads_per_multiprocessor = info->threads_per_multiprocessor,
        .blocks_per_multiprocessor = info->blocks_per_multiprocessor,
        .shared_bytes_per_block = info->shared_bytes_per_block_optin,
        .shared_bytes_per_multiprocessor = info->shared_bytes_per_multiprocessor,
        .cache_bytes = info->cache_bytes,
    };
    error = set_up_device(index, info);
    return error == cudaSuccess ? nullptr : cannot_open("cannot set up the device", error);
}

/* An error of a kernel stays with the context: it takes another one, on which nothing of
 * the first is left. */
static enum recovery reset_device()
{
    struct device_info info = {};
    info.cache_bytes = device.cache_bytes;
    info.multiprocessors = device.multiprocessors;
    const int index = device.index;
    if (cudaDeviceReset() == cudaSuccess) {
        device = {};
        if (set_up_device(index, &info) == cudaSuccess)
            return DEVICE_RESET;
    }
    cudaGetLastError();
    return DEVICE_LOST;
}

static enum recovery recover(void)
{
    device.work.error[0] = '\0';
    cudaGetLastError();
    return cudaStreamSynchronize(device.work.stream) == cudaSuccess ? DEVICE_USABLE
                                                                    : reset_device();
}

/* ---- memory ---- */

/* Where nobody knows, allocating will tell. */
static size_t free_memory_bytes(void)
{
    size_t free_bytes = 0, total = 0;
    return cudaMemGetInfo(&free_bytes, &total) == cudaSuccess ? free_bytes : SIZE_MAX;
}

static const char *write_guards(const struct buffer *buffer)
{
    unsigned char *data = static_cast<unsigned char *>(buffer->data);
    unsigned char *zones[2] = {data - GUARD_BYTES, data + buffer->bytes};
    cudaError_t error = cudaSuccess;
    for (int z = 0; z < 2 && error == cudaSuccess; z++) {
        if (!device_runs_asynchronously)
            GUARD_UNPOISON(zones[z]);
        error = cudaMemsetAsync(zones[z], GUARD_BYTE, GUARD_BYTES, device.work.stream);
        if (!device_runs_asynchronously)
            GUARD_POISON(zones[z]);
    }
    return error == cudaSuccess ? nullptr : because("cannot write guards", error);
}

static const char *allocate(size_t bytes, struct buffer *buffer)
{
    unsigned char *base = nullptr;
    cudaError_t error = cudaMalloc(&base, guarded_bytes(bytes));
    if (error != cudaSuccess) {
        cudaGetLastError();
        return because("cannot allocate", error);
    }
    *buffer = {.data = base + GUARD_BYTES, .bytes = bytes, .allocated = bytes};
    return write_guards(buffer);
}

static const char *resize(struct buffer *buffer, size_t bytes)
{
    if (!device_runs_asynchronously)
        guard_open_rest(buffer);
    buffer->bytes = bytes;
    const char *why = write_guards(buffer);
    if (!device_runs_asynchronously)
        guard_close_rest(buffer);
    return why;
}

static void release(struct buffer *buffer)
{
    if (buffer->data == nullptr)
        return;
    unsigned char *base = static_cast<unsigned char *>(buffer->data) - GUARD_BYTES;
    if (!device_runs_asynchronously) {
        GUARD_UNPOISON(base);
        guard_open_rest(buffer);
    }
    cudaFree(base);
    *buffer = {};
}

static const char *read_device(void *host, const void *data, size_t bytes)
{
    if (bytes == 0)
        return nullptr;
    const cudaError_t error = cudaMemcpy(host, data, bytes, cudaMemcpyDeviceToHost);
    return error == cudaSuccess ? nullptr : because("cannot read from the device", error);
}

static const char *allocate_host(size_t bytes, bool pinned, void **memory)
{
    const size_t at_least_one = std::max<size_t>(bytes, 1);
    if (!pinned)
        *memory = malloc(at_least_one);
    else if (cudaHostAlloc(memory, at_least_one, cudaHostAllocDefault) != cudaSuccess)
        *memory = nullptr;
    if (*memory != nullptr)
        return nullptr;
    cudaGetLastError();
    return pinned ? "cannot allocate page-locked memory of the host"
                  : "cannot allocate memory of the host";
}

static void release_host(void *memory, bool pinned)
{
    if (pinned)
        cudaFreeHost(memory);
    else
        free(memory);
}

static const char *check_guards(const struct buffer *buffer, bool *damaged,
                                struct guard_damage *damage)
{
    unsigned char *data = static_cast<unsigned char *>(buffer->data);
    unsigned char *zones[2] = {data - GUARD_BYTES, data + buffer->bytes};
    for (int z = 0; z < 2; z++) {
        if (!device_runs_asynchronously)
            GUARD_UNPOISON(zones[z]);
        const char *why = read_device(device.zones[z], zones[z], GUARD_BYTES);
        if (!device_runs_asynchronously)
            GUARD_POISON(zones[z]);
        if (why != nullptr)
            return why;
    }
    *damaged = guard_damaged(device.zones[0], device.zones[1], buffer->bytes, damage);
    return nullptr;
}

/* ---- data ---- */

static const char *fill_input(const struct input *input, void *array)
{
    launch<fill_input_kernel>(&device.work, harness_shape(input->n), *input, array);
    return finish("cannot fill the input");
}

static const char *poison(const struct buffer *buffer)
{
    if (buffer->bytes == 0)
        return nullptr;
    const cudaError_t error =
        cudaMemsetAsync(buffer->data, POISON_BYTE, buffer->bytes, device.work.stream);
    return error == cudaSuccess ? nullptr : because("cannot poison the output", error);
}

static const char *first_wrong(const struct check *check, int64_t *index)
{
    unsigned long long found = 0;
    succeeded(&device.work, "check",
              cudaMemsetAsync(device.d_found, 0xFF, sizeof found, device.work.stream));
    if (check->kind == CHECK_KEPT)
        launch<first_wrong_kept_kernel>(&device.work, harness_shape(chunk_count(&check->input)),
                                        *check, device.d_chunks, device.d_found);
    else
        launch<first_wrong_kernel>(&device.work, harness_shape(check->input.n), *check,
                                   device.d_found);
    const char *why = finish("cannot check the result");
    if (why == nullptr)
        why = read_device(&found, device.d_found, sizeof found);
    *index = found == ~0ull ? (int64_t)NO_INDEX : (int64_t)found;
    return why;
}

/* Room for a word for each chunk of the input. */
static const char *reserve_chunks(uint64_t chunks)
{
    if (chunks <= device.chunk_capacity)
        return nullptr;
    cudaFree(device.d_chunks);
    device.d_chunks = nullptr;
    device.chunk_capacity = 0;
    const cudaError_t error = cudaMalloc(&device.d_chunks, chunks * sizeof *device.d_chunks);
    if (error != cudaSuccess) {
        cudaGetLastError();
        return because("cannot allocate for the check", error);
    }
    device.chunk_capacity = chunks;
    return nullptr;
}

/* Leaves in d_chunks how many elements the chunks before each one keep, for
 * first_wrong(): the sums are made on the host, so that no scan of ours is
 * judged by a scan of ours. */
static const char *count_kept(const struct input *input, uint64_t *count)
{
    const uint64_t chunks = chunk_count(input);
    const char *why = reserve_chunks(chunks);
    if (why != nullptr)
        return why;
    launch<count_kept_kernel>(&device.work, harness_shape(chunks), *input, device.d_chunks);
    why = finish("cannot count the elements to keep");
    std::vector<unsigned long long> starts(chunks);
    const size_t bytes = chunks * sizeof starts[0];
    if (why == nullptr)
        why = read_device(starts.data(), device.d_chunks, bytes);
    *count = 0;
    for (unsigned long long &start : starts) {
        const unsigned long long kept = start;
        start = *count;
        *count += kept;
    }
    if (why != nullptr || bytes == 0)
        return why;
    /* On the stream that reads it next: another's copy may still be under way. */
    const cudaError_t error = cudaMemcpyAsync(device.d_chunks, starts.data(), bytes,
                                              cudaMemcpyHostToDevice, device.work.stream);
    return error == cudaSuccess ? nullptr : because("cannot write to the device", error);
}

static const char *digest_of(const struct input *input, const void *array, struct digest *digest)
{
    unsigned long long words[2] = {0, 0};
    succeeded(&device.work, "check",
              cudaMemsetAsync(device.d_found, 0, sizeof words, device.work.stream));
    launch<digest_kernel>(&device.work, harness_shape(input->n), *input, array, device.d_found);
    const char *why = finish("cannot check the result");
    if (why == nullptr)
        why = read_device(words, device.d_found, sizeof words);
    *digest = {words[0], words[1]};
    return why;
}

/* ---- running and timing ---- */

/* What a kernel asked the L2 to keep would be there in the next cold sample, and in the
 * hot ones of the algorithm whose turn is next. */
static void forget_lines()
{
    if (device.work.lines_kept)
        succeeded(&device.work, "caches", forget_kept_lines());
    device.work.lines_kept = false;
}

static void prepare(const struct trial *trial)
{
    forget_lines();
    trial->call->queue = &device.work;
    trial->call->epoch = 0;
    if (trial->algorithm->prepare != nullptr)
        trial->algorithm->prepare(trial->call);
}

static void run(const struct trial *trial)
{
    trial->call->epoch++;
    trial->algorithm->run(trial->call);
}

static void put_caches_into(enum cache_state state)
{
    if (state != CACHE_HOT)
        forget_lines();
    succeeded(&device.work, "caches", set_cache_state(&device.timer, state));
}

static void hold()
{
    succeeded(&device.work, "hold", hold_stream(&device.timer));
}

/* An idle GPU lowers its clocks, and needs some time at work to raise them: what is
 * measured before that would be too slow. Once a device. */
static void wake_up()
{
    const double start = clock_ms();
    while (device_runs_asynchronously && !device.awake && clock_ms() - start < WAKE_UP_MS) {
        put_caches_into(CACHE_COLD);
        cudaStreamSynchronize(device.work.stream);
    }
    device.awake = true;
}

static const char *first_call(const struct trial *trial, struct launch_log *log, double *wall_ms)
{
    log->count = 0;
    wake_up();
    prepare(trial);
    const char *why = finish("prepare");
    if (why != nullptr)
        return why;
    /* The log takes some microseconds a launch, next to loading a kernel's code
     * nothing. */
    device.work.log = log;
    const double start = clock_ms();
    run(trial);
    why = finish("run");
    *wall_ms = clock_ms() - start;
    device.work.log = nullptr;
    return why;
}

static const char *run_again(const struct trial *trial)
{
    run(trial);
    return finish("run");
}

/* Queues and reads back `count` samples that lie between one hold and its end. */
static const char *measure_once_held(const struct trial *trial, double *time_ms, unsigned count)
{
    gpu_timer *timer = &device.timer;
    put_caches_into(trial->cache);
    if (trial->queued)
        hold();
    for (unsigned i = 0; i < count; i++) {
        succeeded(&device.work, "event", cudaEventRecord(timer->start[i], device.work.stream));
        run(trial);
        succeeded(&device.work, "event", cudaEventRecord(timer->stop[i], device.work.stream));
    }
    if (trial->queued)
        let_go(timer);
    const char *why = finish("run");
    for (unsigned i = 0; i < count && why == nullptr; i++) {
        float elapsed_ms = 0;
        const cudaError_t error =
            cudaEventElapsedTime(&elapsed_ms, timer->start[i], timer->stop[i]);
        if (error != cudaSuccess)
            why = because("cannot read the timer", error);
        time_ms[i] = elapsed_ms;
    }
    return why;
}

static const char *measure(const struct trial *trial, double *time_ms, unsigned count)
{
    static_assert(MAX_TURN_SAMPLES <= (int)TIMER_EVENT_PAIRS, "one event pair a sample");
    prepare(trial);
    if (trial->cache == CACHE_HOT) {
        run(trial);
        return measure_once_held(trial, time_ms, count);
    }
    const char *why = nullptr;
    for (unsigned i = 0; i < count && why == nullptr; i++)
        why = measure_once_held(trial, &time_ms[i], 1);
    return why;
}

static void mark_now(queue *queue)
{
    succeeded(queue, "event", mark(&device.marks, queue->stream));
}

static const char *measure_launches(const struct trial *trial, double *time_ms, unsigned count)
{
    prepare(trial);
    if (trial->cache == CACHE_HOT)
        run(trial);
    succeeded(&device.work, "event", start_marks(&device.marks, 2 * (size_t)count));
    put_caches_into(trial->cache);
    if (trial->queued)
        hold();
    device.work.mark = mark_now;
    run(trial);
    device.work.mark = nullptr;
    if (trial->queued)
        let_go(&device.timer);
    const char *why = finish("run");
    if (why == nullptr && device.marks.marked < 2 * (size_t)count)
        return "a run launched fewer kernels than the one before";
    for (unsigned i = 0; i < count && why == nullptr; i++) {
        const cudaError_t error =
            time_between(&device.marks, 2 * (size_t)i, 2 * (size_t)i + 1, &time_ms[i]);
        if (error != cudaSuccess)
            why = because("cannot read the timer", error);
    }
    return why;
}

/* Compaction's count goes back as well: without it nobody could read the result. Unless
 * the algorithm has it on the host, and hands it over later. */
static void copy_back(const struct trial *trial, void *host_output, uint64_t written)
{
    static uint64_t count;
    if (trial->call->count != nullptr && trial->algorithm->hand_over == nullptr)
        succeeded(&device.work, "copy",
                  cudaMemcpyAsync(&count, trial->call->count, sizeof count, cudaMemcpyDeviceToHost,
                                  device.work.stream));
    succeeded(&device.work, "copy",
              cudaMemcpyAsync(host_output, trial->call->output,
                              written * element_bytes(trial->call->problem.type),
                              cudaMemcpyDeviceToHost, device.work.stream));
}

/* The stream is not held: a copy of pageable memory waits for the device. */
static const char *measure_copies(const struct trial *trial, const void *host_input,
                                  void *host_output, uint64_t written, double *whole_ms,
                                  double *h2d_ms, double *d2h_ms)
{
    const size_t bytes = trial->call->problem.n * element_bytes(trial->call->problem.type);
    prepare(trial);
    succeeded(&device.work, "event", start_marks(&device.marks, 4));
    const char *why = finish("prepare");
    if (why != nullptr)
        return why;
    mark_now(&device.work);
    succeeded(&device.work, "copy",
              cudaMemcpyAsync(const_cast<void *>(trial->call->input), host_input, bytes,
                              cudaMemcpyHostToDevice, device.work.stream));
    mark_now(&device.work);
    run(trial);
    mark_now(&device.work);
    copy_back(trial, host_output, written);
    mark_now(&device.work);
    why = finish("copies");
    if (why != nullptr)
        return why;
    cudaError_t error = time_between(&device.marks, 0, 3, whole_ms);
    if (error == cudaSuccess)
        error = time_between(&device.marks, 0, 1, h2d_ms);
    if (error == cudaSuccess)
        error = time_between(&device.marks, 2, 3, d2h_ms);
    return error == cudaSuccess ? nullptr : because("cannot read the timer", error);
}

static const char *run_many(const struct trial *trial, unsigned count)
{
    prepare(trial);
    for (unsigned i = 0; i < count; i++)
        run(trial);
    return finish("run");
}

static const char *measure_wall(const struct trial *trial, double *wall_ms)
{
    prepare(trial);
    put_caches_into(trial->cache);
    const char *why = finish("prepare");
    const double start = clock_ms();
    run(trial);
    if (why == nullptr)
        why = finish("run");
    *wall_ms = clock_ms() - start;
    return why;
}

} // namespace SCANBENCH_BACKEND

#define BACKEND_JOIN(backend) backend##_backend
#define BACKEND_NAME(backend) BACKEND_JOIN(backend)

extern "C" const struct backend BACKEND_NAME(SCANBENCH_BACKEND) = {
    .kind = SCANBENCH_BACKEND::KIND,
    .device_count = SCANBENCH_BACKEND::device_count,
    .open = SCANBENCH_BACKEND::open_device,
    .close = SCANBENCH_BACKEND::close_device,
    .free_memory_bytes = SCANBENCH_BACKEND::free_memory_bytes,
    .allocate = SCANBENCH_BACKEND::allocate,
    .release = SCANBENCH_BACKEND::release,
    .read = SCANBENCH_BACKEND::read_device,
    .fill_input = SCANBENCH_BACKEND::fill_input,
    .poison = SCANBENCH_BACKEND::poison,
    .write_guards = SCANBENCH_BACKEND::write_guards,
    .resize = SCANBENCH_BACKEND::resize,
    .check_guards = SCANBENCH_BACKEND::check_guards,
    .first_wrong = SCANBENCH_BACKEND::first_wrong,
    .count_kept = SCANBENCH_BACKEND::count_kept,
    .digest = SCANBENCH_BACKEND::digest_of,
    .first_call = SCANBENCH_BACKEND::first_call,
    .run_again = SCANBENCH_BACKEND::run_again,
    .measure = SCANBENCH_BACKEND::measure,
    .measure_launches = SCANBENCH_BACKEND::measure_launches,
    .allocate_host = SCANBENCH_BACKEND::allocate_host,
    .release_host = SCANBENCH_BACKEND::release_host,
    .measure_copies = SCANBENCH_BACKEND::measure_copies,
    .measure_wall = SCANBENCH_BACKEND::measure_wall,
    .run_many = SCANBENCH_BACKEND::run_many,
    .recover = SCANBENCH_BACKEND::recover,
};
