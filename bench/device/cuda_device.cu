/* cuda_device: opens, describes and resets a GPU or, compiled for the emulator, an emulator. */
#include "cuda_device.cuh"

#include "../../kernels/device_limits.cuh"
#include "../base/errors.h"

#include <algorithm>
#include <exception>
#include <new>
#include <type_traits>
#include <unistd.h>
#ifdef __CUDACC__
#include "gpu_side.cuh"
#else
#include "emulator_side.cuh"
#endif

#define BACKEND_JOIN(backend) backend##_backend
#define BACKEND_NAME(backend) BACKEND_JOIN(backend)

namespace SCANBENCH_BACKEND
{

/* Called when a library throws an exception that nobody can catch. */
[[noreturn]] static void end_of_library()
{
    complain("a library ended the program; earlier rows are kept");
    _exit(EXIT_ERROR);
}

/* Makes C++ end the program as C does: with one line and exit 1. Installed before all other
 * initialisers, since those allocate too. */
__attribute__((constructor(101))) static void end_with_one_line()
{
    std::set_new_handler(out_of_memory);
    std::set_terminate(end_of_library);
}

/* ---- errors ---- */

const char *because(cuda_device *device, const char *what, cudaError_t error)
{
    const char *detail = kernel_error_detail();
    if (detail[0] == '\0')
        detail = cudaGetErrorString(error);
    snprintf(device->reason, sizeof device->reason, "%s: %s", what, detail);
    return device->reason;
}

const char *finish(cuda_device *device, const char *what)
{
    const cudaError_t error = cudaStreamSynchronize(device->work.stream);
    if (kernel_error_detail()[0] != '\0')
        return because(device, what, cudaErrorLaunchFailure);
    if (device->work.error[0] != '\0') {
        snprintf(device->reason, sizeof device->reason, "%s", device->work.error);
        return device->reason;
    }
    return error == cudaSuccess ? nullptr : because(device, what, error);
}

/* ---- opening ---- */

static bool is_current(const cuda_device *device)
{
    int current = -1;
    cudaGetDevice(&current);
    return current == device->index;
}

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

/* Clocks and similar facts, which some drivers do not report: then 0. */
static void describe_clocks(int index, struct device_info *info)
{
    cudaError_t ignored = cudaSuccess;
    info->clock_mhz = attribute(cudaDevAttrClockRate, index, &ignored) / 1e3;
    info->memory_clock_mhz = attribute(cudaDevAttrMemoryClockRate, index, &ignored) / 1e3;
    info->memory_bus_bits = attribute(cudaDevAttrGlobalMemoryBusWidth, index, &ignored);
    if (!SIMULATED)
        snprintf(info->ecc, sizeof info->ecc, "%s",
                 attribute(cudaDevAttrEccEnabled, index, &ignored) != 0 ? "on" : "off");
    /* Two transfers per clock, bits to bytes, MHz to GB/s. */
    info->peak_gb_s = 2 * info->memory_clock_mhz * info->memory_bus_bits / 8 / 1e3;
    cudaGetLastError();
}

static cudaError_t describe(int index, struct device_info *info, struct device_limits *limits)
{
    *info = {};
    cudaDeviceProp properties;
    cudaError_t error = cudaGetDeviceProperties(&properties, index);
    if (error == cudaSuccess)
        error = read_limits(index, limits);
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
    info->compute_capability = 10 * properties.major + properties.minor;
    info->multiprocessors = limits->multiprocessors;
    info->threads_per_block = attribute(cudaDevAttrMaxThreadsPerBlock, index, &error);
    info->threads_per_multiprocessor = limits->threads_per_multiprocessor;
    info->blocks_per_multiprocessor = limits->blocks_per_multiprocessor;
    info->warp_size = attribute(cudaDevAttrWarpSize, index, &error);
    info->shared_bytes_per_block_optin = limits->shared_bytes_per_block;
    info->shared_bytes_per_multiprocessor = limits->shared_bytes_per_multiprocessor;
    info->registers_per_block = attribute(cudaDevAttrMaxRegistersPerBlock, index, &error);
    info->registers_per_multiprocessor =
        attribute(cudaDevAttrMaxRegistersPerMultiprocessor, index, &error);
    info->grid_blocks = (uint64_t)attribute(cudaDevAttrMaxGridDimX, index, &error);
    info->cache_bytes = limits->cache_bytes;
    describe_clocks(index, info);
    return error;
}

/* Sets up what the harness itself needs on the device. */
static cudaError_t set_up(cuda_device *device)
{
    device->work.device = device->index;
    cudaError_t error = cudaStreamCreateWithFlags(&device->work.stream, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithPriority(&device->work.beside, cudaStreamNonBlocking, -1);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&device->work.reached, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = open_timer(&device->timer, device->work.stream, device->cache_bytes);
    if (error == cudaSuccess)
        error = cudaMalloc(&device->d_found, 2 * sizeof *device->d_found);
    if (error == cudaSuccess)
        error = cudaMalloc(&device->d_looks, MAX_TURN_SAMPLES * sizeof *device->d_looks);
    if (error == cudaSuccess)
        error = cudaMemset(device->d_looks, 0, MAX_TURN_SAMPLES * sizeof *device->d_looks);
    return error;
}

static void close_device(cuda_device *device)
{
    cudaFree(device->d_found);
    cudaFree(device->d_looks);
    cudaFree(device->starts.d_words);
    cudaFree(device->sums.d_words);
    close_timer(&device->timer);
    destroy_marks(&device->work.marks);
    if (device->work.reached != nullptr)
        cudaEventDestroy(device->work.reached);
    if (device->work.beside != nullptr)
        cudaStreamDestroy(device->work.beside);
    if (device->work.stream != nullptr)
        cudaStreamDestroy(device->work.stream);
    delete device;
}

static const char *open_current(cuda_device *device, uint64_t seed, struct device_info *info,
                                struct device_limits *limits)
{
    cudaError_t error = cudaSetDevice(device->index);
    if (error != cudaSuccess)
        return because(device, "cannot use the device", error);
    seed_device(seed);
    error = describe(device->index, info, limits);
    if (error != cudaSuccess)
        return because(device, "cannot read the device's properties", error);
    device->cache_bytes = info->cache_bytes;
    device->multiprocessors = std::max(1, info->multiprocessors);
    memcpy(device->pci_bus_id, info->pci_bus_id, sizeof device->pci_bus_id);
    error = set_up(device);
    return error == cudaSuccess ? nullptr : because(device, "cannot set up the device", error);
}

/* If opening fails, there is no device to hold the reason. */
static const char *open_device(int index, uint64_t seed, struct device_info *info,
                               struct device_limits *limits, struct device **opened)
{
    static char reason[sizeof opened[0]->reason];
    cuda_device *device = new cuda_device();
    device->can = &BACKEND_NAME(SCANBENCH_BACKEND);
    device->index = index;
    const char *why = open_current(device, seed, info, limits);
    if (why != nullptr) {
        snprintf(reason, sizeof reason, "%s", why);
        close_device(device);
        cudaGetLastError(); /* cleared, since it is reported */
        return reason;
    }
    *opened = device;
    return nullptr;
}

/* A kernel's error stays with its context, so the context is replaced by a new one, which has
 * nothing of the old. Never resets the context of another device. */
static enum recovery reset_device(cuda_device *device)
{
    if (is_current(device) && cudaDeviceReset() == cudaSuccess) {
        cuda_device fresh = {};
        fresh.can = device->can;
        fresh.index = device->index;
        fresh.cache_bytes = device->cache_bytes;
        fresh.multiprocessors = device->multiprocessors;
        memcpy(fresh.pci_bus_id, device->pci_bus_id, sizeof fresh.pci_bus_id);
        *device = fresh;
        if (set_up(device) == cudaSuccess)
            return DEVICE_RESET;
    }
    cudaGetLastError();
    return DEVICE_LOST;
}

static enum recovery recover(cuda_device *device)
{
    device->work.error[0] = '\0';
    cudaGetLastError();
    if (cudaStreamSynchronize(device->work.stream) != cudaSuccess)
        return reset_device(device);
    forget_kernel_error(); /* of a launch that was refused */
    return DEVICE_USABLE;
}

/* Lets kernels of this device load from and store to the memory of the other. */
static const char *reach(cuda_device *device, ::device *opened)
{
    const cuda_device *other = static_cast<cuda_device *>(opened);
    int can = 0;
    cudaError_t error = cudaDeviceCanAccessPeer(&can, device->index, other->index);
    if (error == cudaSuccess && can == 0)
        return "the system gives them no peer access";
    if (error == cudaSuccess)
        error = cudaDeviceEnablePeerAccess(other->index, 0);
    if (error == cudaSuccess)
        return nullptr;
    cudaGetLastError(); /* cleared, since it is reported */
    return error == cudaErrorPeerAccessAlreadyEnabled
               ? nullptr
               : because(device, "cannot enable peer access", error);
}

/* ---- queries of the driver ---- */

static struct gpu_state read_state(cuda_device *device)
{
    return read_gpu_state(device->pci_bus_id);
}

static double read_energy_mj(cuda_device *device)
{
    return read_gpu_energy_mj(device->pci_bus_id);
}

/* ---- the table ---- */

/* Several devices may be open; makes this one the current device. */
static cudaError_t make_current(const cuda_device *device)
{
    return is_current(device) ? cudaSuccess : cudaSetDevice(device->index);
}

template <auto Function> struct of_device;

/* Wraps a function of this backend for the table. */
template <class Result, class... P, Result (*Function)(cuda_device *, P...)>
struct of_device<Function> {
    static Result call(::device *opened, P... parameters)
    {
        cuda_device *device = static_cast<cuda_device *>(opened);
        const cudaError_t error = make_current(device);
        if constexpr (std::is_same_v<Result, const char *>)
            if (error != cudaSuccess)
                return because(device, "cannot use the device", error);
        return Function(device, parameters...);
    }
};

template <auto Function> struct of_trial;

/* The same for one that runs an algorithm. One that synchronises may wait for the default stream
 * itself. */
template <class... P, const char *(*Function)(cuda_device *, const struct trial *, P...)>
struct of_trial<Function> {
    static const char *call(::device *opened, const struct trial *trial, P... parameters)
    {
        const kernel_watch watch(&trial->call->problem,
                                 !(trial->algorithm->traits & TRAIT_SYNCHRONISES));
        return of_device<Function>::call(opened, trial, parameters...);
    }
};

} // namespace SCANBENCH_BACKEND

using namespace SCANBENCH_BACKEND;

/* A store to host memory: choosing the device first would part the starts of a team's members. */
static void let_go_at_once(struct device *opened)
{
    release_held(static_cast<cuda_device *>(opened));
}

static const struct member_functions as_member = {
    .reach = of_device<reach>::call,
    .attach = of_device<attach>::call,
    .apply = of_device<apply>::call,
    .get_ready = of_device<get_ready>::call,
    .let_go = let_go_at_once,
    .mark = of_device<mark_now>::call,
    .marked_ms = of_device<marked_ms>::call,
    .finish = of_device<finish_run>::call,
};

extern "C" const struct backend BACKEND_NAME(SCANBENCH_BACKEND) = {
    .kind = KIND,
    .numbered = !SIMULATED,
    .has_blocks = true,
    .simulated = SIMULATED,
    .in_host_memory = SIMULATED,
    .has_own_time = device_runs_asynchronously,
    .hides_latency = !SIMULATED,
    .one_cache = !SIMULATED,
    .core_bytes_per_cycle = CORE_BYTES_PER_CYCLE,
    .device_count = device_count,
    .set_device_count = set_device_count,
    .read_pci_bus_id = SIMULATED ? nullptr : read_pci_bus_id,
    .open = open_device,
    .close = of_device<close_device>::call,
    .free_memory_bytes = of_device<free_memory_bytes>::call,
    .allocate = of_device<allocate>::call,
    .release = of_device<release>::call,
    .read = of_device<read_device>::call,
    .fill_input = of_device<fill_input>::call,
    .poison = of_device<poison>::call,
    .write_guards = of_device<write_guards>::call,
    .resize = of_device<resize>::call,
    .check_guards = of_device<check_guards>::call,
    .first_wrong = of_device<first_wrong>::call,
    .count_kept = of_device<count_kept>::call,
    .reduce_input = of_device<reduce_input>::call,
    .digest = of_device<digest_of>::call,
    .first_call = of_trial<first_call>::call,
    .run_again = of_trial<run_again>::call,
    .prepare = of_trial<prepare_series>::call,
    .measure = of_trial<measure>::call,
    .look = of_device<look_now>::call,
    .allocations = SIMULATED ? of_device<allocations>::call : nullptr,
    .measure_launches = of_trial<measure_launches>::call,
#if defined(EMULATOR_COUNTS) || defined(__CUDACC__)
    .count = of_trial<count_accesses>::call,
#endif
#ifdef EMULATOR_COUNTS
    .count_lines = of_device<count_lines>::call,
    .find_races = of_trial<find_races>::call,
    .trace = of_trial<trace_accesses>::call,
#endif
    .allocate_host = of_device<allocate_host>::call,
    .release_host = of_device<release_host>::call,
    .measure_copies = of_trial<measure_copies>::call,
    .measure_wall = of_trial<measure_wall>::call,
    .run_many = of_trial<run_many>::call,
    .read_driver = SIMULATED ? nullptr : read_gpu_driver,
    .read_state = SIMULATED ? nullptr : of_device<read_state>::call,
    .read_energy_mj = SIMULATED ? nullptr : of_device<read_energy_mj>::call,
    .recover = of_device<recover>::call,
    .as_member = &as_member,
};
