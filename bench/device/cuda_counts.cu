/* cuda_counts: what a run does to memory, by the GPU's own counters, or in the emulator access by
 * access. There, races are found and a run is traced, too. */
#include "cuda_device.cuh"

#include "../names.h"
#include "../operations.h"

#ifdef EMULATOR_COUNTS
#include "../../emulator/emulator.h"
#endif
#ifdef __CUDACC__
#include "../../timing/gpu_profiler.h"
#include "../../timing/memory_counts.h"
#endif

#include <algorithm>
#include <cstring>
#include <vector>

namespace SCANBENCH_BACKEND
{

#ifdef __CUDACC__
/* A run whose launches are counted. */
struct counted_run {
    cuda_device *device;
    const struct trial *trial;
    const char *why; /* it failed */
};

static void mark_counted(queue *)
{
    mark_profiled();
}

static bool run_counted(void *context)
{
    counted_run *counted = static_cast<counted_run *>(context);
    cuda_device *device = counted->device;
    counted->why = prepare_series(device, counted->trial);
    if (counted->why != nullptr)
        return false;
    device->work.mark = mark_counted;
    counted->why = run_again(device, counted->trial);
    device->work.mark = nullptr;
    return counted->why == nullptr;
}

static uint64_t rounded(double count)
{
    return count >= 0 ? (uint64_t)(count + 0.5) : UNKNOWN_COUNT;
}

static void take_profile(const double profile[PROFILED_COUNT], struct memory_counts *counts)
{
    memset(counts, 0xFF, sizeof *counts); /* nothing is known */
    counts->load_requests = rounded(profile[PROFILED_LOAD_REQUESTS]);
    counts->load_sectors = rounded(profile[PROFILED_LOAD_SECTORS]);
    counts->store_requests = rounded(profile[PROFILED_STORE_REQUESTS]);
    counts->store_sectors = rounded(profile[PROFILED_STORE_SECTORS]);
    counts->shared_requests = rounded(profile[PROFILED_SHARED_REQUESTS]);
    counts->bank_conflicts = rounded(profile[PROFILED_BANK_CONFLICTS]);
}

const char *count_accesses(cuda_device *device, const struct trial *trial,
                           struct memory_counts *counts, unsigned most, unsigned *launches,
                           const char **why_not)
{
    counted_run counted = {device, trial, nullptr};
    std::vector<double> profile((size_t)most * PROFILED_COUNT, -1);
    double(*const each)[PROFILED_COUNT] =
        reinterpret_cast<double(*)[PROFILED_COUNT]>(profile.data());
    *launches = 0;
    *why_not = profile_launches(run_counted, &counted, most, each);
    if (counted.why != nullptr || *why_not != nullptr)
        return counted.why;
    for (unsigned i = 0; i < most; i++)
        take_profile(each[i], &counts[i]);
    *launches = most;
    return nullptr;
}
#endif

#ifdef EMULATOR_COUNTS
/* Kernels of the user's take numbers. */
static bool takes_operands(const struct trial *trial)
{
    return trial->algorithm->family == FAMILY_OWN &&
           operation_has(trial->call->problem.op, HAS_OPERATOR);
}

/* Operands that count may go another way through an algorithm than the numbers that they stand for,
 * and need other scratch memory. */
static size_t counted_scratch_bytes(const struct trial *trial)
{
    if (trial->algorithm->scratch_bytes == nullptr)
        return 0;
    emulator_start_counting_applications();
    const size_t bytes = trial->algorithm->scratch_bytes(&trial->call->problem);
    emulator_stop_counting_applications();
    return bytes;
}

/* Counts the applications of an operator in a run with arrays and scratch memory of its own:
 * operands that count want zeros, and leave no result. */
static const char *count_applications(cuda_device *device, const struct trial *trial)
{
    const struct problem *problem = &trial->call->problem;
    const uint64_t most = std::max(problem->n, result_elements(problem));
    const size_t bytes = next_place(most * element_bytes(problem->type));
    const size_t scratch = counted_scratch_bytes(trial);
    char *arrays = nullptr;
    cudaError_t error = cudaMalloc(&arrays, 2 * bytes + scratch);
    if (error == cudaSuccess)
        error = cudaMemset(arrays, 0, 2 * bytes);
    if (error != cudaSuccess)
        return because(device, "cannot allocate memory to count with", error);
    struct call call = *trial->call;
    struct trial counted = *trial;
    counted.call = &call;
    call.input = arrays;
    call.output = arrays + bytes;
    call.scratch = scratch > 0 ? arrays + 2 * bytes : nullptr;
    call.scratch_bytes = scratch;
    if (problem->binary_operator == OPERATOR_RECURRENCE)
        call.second = arrays;
    const char *why = prepare_series(device, &counted);
    if (why == nullptr) {
        emulator_start_counting_applications();
        why = run_again(device, &counted);
        emulator_stop_counting_applications();
    }
    cudaFree(arrays);
    return why;
}

static void take_applications(const struct trial *trial, struct memory_counts *counts,
                              unsigned launches)
{
    const struct application_counts *each = nullptr;
    const bool known =
        takes_operands(trial) && emulator_applications_of_launches(&each) >= launches;
    for (unsigned i = 0; i < launches; i++) {
        counts[i].applications = known ? each[i].applications : UNKNOWN_COUNT;
        counts[i].depth = known ? each[i].depth : UNKNOWN_COUNT;
    }
}

static const char *run_counted(cuda_device *device, const struct trial *trial)
{
    const char *why = prepare_series(device, trial);
    if (why != nullptr)
        return why;
    emulator_start_counting();
    why = run_again(device, trial);
    emulator_stop_counting();
    return why;
}

const char *count_accesses(cuda_device *device, const struct trial *trial,
                           struct memory_counts *counts, unsigned most, unsigned *launches,
                           const char **why_not)
{
    const char *why = nullptr;
    *why_not = nullptr;
    if (takes_operands(trial))
        why = count_applications(device, trial);
    if (why == nullptr)
        why = run_counted(device, trial);
    *launches = (unsigned)std::min<size_t>(most, emulator_counted_launches());
    for (unsigned i = 0; i < *launches; i++)
        counts[i] = *emulator_counts_of_launch(i);
    take_applications(trial, counts, *launches);
    return why;
}

size_t count_lines(cuda_device *, const struct line_counts **lines)
{
    return emulator_counts_of_lines(lines);
}

const char *find_races(cuda_device *device, const struct trial *trial, bool *found)
{
    emulator_find_races(true);
    const char *why = prepare_series(device, trial);
    if (why == nullptr)
        why = run_again(device, trial);
    emulator_find_races(false);
    *found = emulator_found_race();
    return why;
}

/* Gives the buffers of the call the names that algorithm.h has for them. */
static void start_tracing(const struct call *call)
{
    const struct problem *problem = &call->problem;
    const char *type = type_name(problem->type);
    const size_t bytes = problem->n * element_bytes(problem->type);
    const bool pairs = call->input_values != nullptr;
    const char *values = pairs ? value_type_name(problem->values) : nullptr;
    const size_t bytes_of_values = pairs ? problem->n * value_bytes(problem->values) : 0;
    const struct emulator_array arrays[] = {
        {"input", call->input, bytes, type},
        {"second input", call->second, second_bytes(problem), type_name(second_type(problem))},
        {"input values", call->input_values, bytes_of_values, values},
        {"output", call->output, bytes, type},
        {"output values", call->output_values, bytes_of_values, values},
        {"count", call->count, call->count != nullptr ? sizeof *call->count : 0, "u64"},
        {"scratch", call->scratch, call->scratch_bytes, nullptr},
    };
    emulator_start_tracing(arrays, sizeof arrays / sizeof *arrays, type);
}

const char *trace_accesses(cuda_device *device, const struct trial *trial, FILE *out)
{
    const char *why = prepare_series(device, trial);
    if (why != nullptr)
        return why;
    start_tracing(trial->call);
    why = run_again(device, trial);
    emulator_stop_tracing();
    if (why == nullptr)
        emulator_write_trace(out);
    return why;
}
#endif

} // namespace SCANBENCH_BACKEND
