/* gpu_profiler: loads CUPTI with dlopen(), and reads counters with its Range Profiler. */
#include "gpu_profiler.h"

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <dlfcn.h>

/* In CUDA 12.6 and newer, if the toolkit has CUPTI. */
#if __has_include(<cupti_range_profiler.h>)

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>

static const char *const metrics[PROFILED_COUNT] = {
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "smsp__sass_inst_executed_op_shared.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
};

enum { MOST_PASSES = 64, REASON_BYTES = 256 };

static char reason[REASON_BYTES];

/* ---- the library ---- */

/* The functions in use. */
#define EACH_FUNCTION(X)                            \
    X(cuptiGetResultString)                         \
    X(cuptiDeviceGetChipName)                       \
    X(cuptiProfilerInitialize)                      \
    X(cuptiProfilerHostInitialize)                  \
    X(cuptiProfilerHostDeinitialize)                \
    X(cuptiProfilerHostConfigAddMetrics)            \
    X(cuptiProfilerHostGetConfigImageSize)          \
    X(cuptiProfilerHostGetConfigImage)              \
    X(cuptiProfilerHostEvaluateToGpuValues)         \
    X(cuptiRangeProfilerEnable)                     \
    X(cuptiRangeProfilerDisable)                    \
    X(cuptiRangeProfilerGetCounterDataSize)         \
    X(cuptiRangeProfilerCounterDataImageInitialize) \
    X(cuptiRangeProfilerSetConfig)                  \
    X(cuptiRangeProfilerStart)                      \
    X(cuptiRangeProfilerStop)                       \
    X(cuptiRangeProfilerPushRange)                  \
    X(cuptiRangeProfilerPopRange)                   \
    X(cuptiRangeProfilerDecodeData)                 \
    X(cuptiRangeProfilerGetCounterDataInfo)         \
    X(cuptiRangeProfilerCounterDataGetRangeInfo)

#define MEMBER(name) decltype(&::name) name;
static struct {
    EACH_FUNCTION(MEMBER)
} cupti;
#undef MEMBER

/* The toolkit's folders are not among the system's as a rule. */
static void *open_library(void)
{
    const char *const home = getenv("CUDA_HOME");
    const char *const toolkits[] = {home != nullptr ? home : SCANBENCH_TOOLKIT, SCANBENCH_TOOLKIT,
                                    "/usr/local/cuda"};
    const char *const folders[] = {"extras/CUPTI/lib64", "lib64", "lib"};
    char path[1024], name[32];
    snprintf(name, sizeof name, "libcupti.so.%d", CUDART_VERSION / 1000);
    void *library = dlopen(name, RTLD_NOW);
    for (const char *toolkit : toolkits)
        for (const char *folder : folders) {
            snprintf(path, sizeof path, "%s/%s/%s", toolkit, folder, name);
            if (library == nullptr)
                library = dlopen(path, RTLD_NOW);
        }
    return library;
}

static const char *load_library(void)
{
    void *library = open_library();
    if (library == nullptr)
        return "CUPTI, which comes with the CUDA Toolkit, is not found; CUDA_HOME says where it is";
#define FIND(name)                                                              \
    cupti.name = reinterpret_cast<decltype(cupti.name)>(dlsym(library, #name)); \
    if (cupti.name == nullptr)                                                  \
        return "CUPTI is too old: it lacks " #name;
    EACH_FUNCTION(FIND)
#undef FIND
    return nullptr;
}

/* Why the function failed; NULL if it did not. */
static const char *failure(const char *function, CUptiResult result)
{
    const char *name = nullptr;
    if (result == CUPTI_SUCCESS)
        return nullptr;
    if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
        return "the driver lets only root read the GPU's counters "
               "(NVreg_RestrictProfilingToAdminUsers)";
    cupti.cuptiGetResultString(result, &name);
    snprintf(reason, sizeof reason, "%s failed: %s", function, name != nullptr ? name : "unknown");
    return reason;
}

#define CALL(function, parameters) failure(#function, cupti.function(parameters))

/* Declares the parameters of a function, which begin with their size. */
#define DECLARE_PARAMETERS(function, name, ...) \
    function##_Params name = {.structSize = function##_Params_STRUCT_SIZE, ##__VA_ARGS__}

/* ---- a device's counters ---- */

/* What the counters of one device are read by. */
struct profiler {
    int device;
    CUpti_Profiler_Host_Object *host;
    std::vector<uint8_t> config;

    /* While launches are counted: */
    CUpti_RangeProfiler_Object *target;
    std::vector<uint8_t> data;
    unsigned launches; /* to count */
    unsigned marks;    /* in this pass, two per launch */
    const char *wrong; /* of the marks; NULL: nothing */
};

static struct profiler *in_pass; /* NULL: no pass is running */

static const char *make_host(struct profiler *profiler)
{
    DECLARE_PARAMETERS(CUpti_Device_GetChipName, chip, .deviceIndex = (size_t)profiler->device);
    const char *why = CALL(cuptiDeviceGetChipName, &chip);
    if (why != nullptr)
        return why;
    DECLARE_PARAMETERS(CUpti_Profiler_Host_Initialize, host,
                       .profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER,
                       .pChipName = chip.pChipName);
    why = CALL(cuptiProfilerHostInitialize, &host);
    profiler->host = host.pHostObject;
    return why;
}

static void free_profiler(struct profiler *profiler)
{
    DECLARE_PARAMETERS(CUpti_Profiler_Host_Deinitialize, host, .pHostObject = profiler->host);
    if (profiler->host != nullptr)
        cupti.cuptiProfilerHostDeinitialize(&host);
    delete profiler;
}

static const char *add_metrics(const struct profiler *profiler)
{
    DECLARE_PARAMETERS(CUpti_Profiler_Host_ConfigAddMetrics, add, .pHostObject = profiler->host,
                       .ppMetricNames = const_cast<const char **>(metrics),
                       .numMetrics = PROFILED_COUNT);
    return CALL(cuptiProfilerHostConfigAddMetrics, &add);
}

static const char *make_config(struct profiler *profiler)
{
    DECLARE_PARAMETERS(CUpti_Profiler_Host_GetConfigImageSize, size, .pHostObject = profiler->host);
    const char *why = CALL(cuptiProfilerHostGetConfigImageSize, &size);
    if (why != nullptr)
        return why;
    profiler->config.resize(size.configImageSize);
    DECLARE_PARAMETERS(CUpti_Profiler_Host_GetConfigImage, image, .pHostObject = profiler->host,
                       .configImageSize = profiler->config.size(),
                       .pConfigImage = profiler->config.data());
    return CALL(cuptiProfilerHostGetConfigImage, &image);
}

/* The runtime has it, and the program is not linked with the driver. */
static const char *current_context(CUcontext *context)
{
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    enum { SINCE_CUDA = 4000 };
    if (cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &function, SINCE_CUDA,
                                         cudaEnableDefault, &found) != cudaSuccess ||
        function == nullptr ||
        reinterpret_cast<CUresult (*)(CUcontext *)>(function)(context) != CUDA_SUCCESS)
        return "the driver does not tell the current context";
    return nullptr;
}

static const char *enable(struct profiler *profiler)
{
    DECLARE_PARAMETERS(CUpti_RangeProfiler_Enable, range);
    const char *why = current_context(&range.ctx);
    if (why == nullptr)
        why = CALL(cuptiRangeProfilerEnable, &range);
    profiler->target = range.pRangeProfilerObject;
    return why;
}

static void disable(struct profiler *profiler)
{
    DECLARE_PARAMETERS(CUpti_RangeProfiler_Disable, range,
                       .pRangeProfilerObject = profiler->target);
    cupti.cuptiRangeProfilerDisable(&range);
    profiler->target = nullptr;
}

static const char *make_data(struct profiler *profiler)
{
    DECLARE_PARAMETERS(
        CUpti_RangeProfiler_GetCounterDataSize, size, .pRangeProfilerObject = profiler->target,
        .pMetricNames = const_cast<const char **>(metrics), .numMetrics = PROFILED_COUNT,
        .maxNumOfRanges = profiler->launches, .maxNumRangeTreeNodes = profiler->launches);
    const char *why = CALL(cuptiRangeProfilerGetCounterDataSize, &size);
    if (why != nullptr)
        return why;
    profiler->data.assign(size.counterDataSize, 0);
    DECLARE_PARAMETERS(CUpti_RangeProfiler_CounterDataImage_Initialize, image,
                       .pRangeProfilerObject = profiler->target,
                       .counterDataSize = profiler->data.size(),
                       .pCounterData = profiler->data.data());
    return CALL(cuptiRangeProfilerCounterDataImageInitialize, &image);
}

/* Ranges are pushed and popped here, and the work is done again here. */
static const char *configure(const struct profiler *profiler)
{
    DECLARE_PARAMETERS(CUpti_RangeProfiler_SetConfig, set, .pRangeProfilerObject = profiler->target,
                       .configSize = profiler->config.size(), .pConfig = profiler->config.data(),
                       .counterDataImageSize = profiler->data.size(),
                       .pCounterDataImage = const_cast<uint8_t *>(profiler->data.data()),
                       .range = CUPTI_UserRange, .replayMode = CUPTI_UserReplay,
                       .maxRangesPerPass = profiler->launches, .numNestingLevels = 1,
                       .minNestingLevel = 1, .passIndex = 0, .targetNestingLevel = 1);
    return CALL(cuptiRangeProfilerSetConfig, &set);
}

/* ---- passes ---- */

static const char *mark_launch(const struct profiler *profiler, unsigned launch, bool begins)
{
    char name[16];
    snprintf(name, sizeof name, "%u", launch);
    DECLARE_PARAMETERS(CUpti_RangeProfiler_PushRange, push,
                       .pRangeProfilerObject = profiler->target, .pRangeName = name);
    DECLARE_PARAMETERS(CUpti_RangeProfiler_PopRange, pop, .pRangeProfilerObject = profiler->target);
    return begins ? CALL(cuptiRangeProfilerPushRange, &push)
                  : CALL(cuptiRangeProfilerPopRange, &pop);
}

/* Nothing else runs while the range begins and ends. An error of the device's stays there for those
 * who wait next. */
void mark_profiled(void)
{
    if (in_pass == nullptr)
        return;
    const unsigned launch = in_pass->marks / 2;
    const bool begins = in_pass->marks++ % 2 == 0;
    cudaDeviceSynchronize();
    if (launch < in_pass->launches && in_pass->wrong == nullptr)
        in_pass->wrong = mark_launch(in_pass, launch, begins);
}

/* Does the work once. */
static const char *make_pass(struct profiler *profiler, bool (*work)(void *), void *context,
                             bool *worked, bool *last)
{
    DECLARE_PARAMETERS(CUpti_RangeProfiler_Start, start, .pRangeProfilerObject = profiler->target);
    DECLARE_PARAMETERS(CUpti_RangeProfiler_Stop, stop, .pRangeProfilerObject = profiler->target);
    const char *why = CALL(cuptiRangeProfilerStart, &start);
    if (why != nullptr)
        return why;
    profiler->marks = 0;
    in_pass = profiler;
    *worked = work(context);
    in_pass = nullptr;
    why = CALL(cuptiRangeProfilerStop, &stop);
    *last = stop.isAllPassSubmitted != 0;
    return profiler->wrong != nullptr ? profiler->wrong : why;
}

static const char *make_passes(struct profiler *profiler, bool (*work)(void *), void *context,
                               bool *worked)
{
    bool last = false;
    for (int pass = 0; pass < MOST_PASSES && !last; pass++) {
        const char *why = make_pass(profiler, work, context, worked, &last);
        if (why != nullptr || !*worked)
            return why;
    }
    if (!last)
        return "the counters take too many passes";
    DECLARE_PARAMETERS(CUpti_RangeProfiler_DecodeData, decode,
                       .pRangeProfilerObject = profiler->target);
    return CALL(cuptiRangeProfilerDecodeData, &decode);
}

/* ---- the counts ---- */

static const char *read_launch(const struct profiler *profiler, size_t range,
                               double (*counts)[PROFILED_COUNT])
{
    DECLARE_PARAMETERS(CUpti_RangeProfiler_CounterData_GetRangeInfo, info,
                       .pCounterDataImage = profiler->data.data(),
                       .counterDataImageSize = profiler->data.size(), .rangeIndex = range,
                       .rangeDelimiter = "/");
    const char *why = CALL(cuptiRangeProfilerCounterDataGetRangeInfo, &info);
    if (why != nullptr)
        return why;
    const unsigned long launch = strtoul(info.rangeName, nullptr, 10);
    if (launch >= profiler->launches)
        return "CUPTI counted a launch that was not made";
    DECLARE_PARAMETERS(CUpti_Profiler_Host_EvaluateToGpuValues, values,
                       .pHostObject = profiler->host, .pCounterDataImage = profiler->data.data(),
                       .counterDataImageSize = profiler->data.size(), .rangeIndex = range,
                       .ppMetricNames = const_cast<const char **>(metrics),
                       .numMetrics = PROFILED_COUNT, .pMetricValues = counts[launch]);
    return CALL(cuptiProfilerHostEvaluateToGpuValues, &values);
}

static const char *read_launches(const struct profiler *profiler, double (*counts)[PROFILED_COUNT])
{
    DECLARE_PARAMETERS(CUpti_RangeProfiler_GetCounterDataInfo, info,
                       .pCounterDataImage = profiler->data.data(),
                       .counterDataImageSize = profiler->data.size());
    const char *why = CALL(cuptiRangeProfilerGetCounterDataInfo, &info);
    if (why == nullptr && info.numTotalRanges != profiler->launches) {
        snprintf(reason, sizeof reason, "CUPTI counted %zu of %u launches", info.numTotalRanges,
                 profiler->launches);
        why = reason;
    }
    for (size_t range = 0; range < profiler->launches && why == nullptr; range++)
        why = read_launch(profiler, range, counts);
    return why;
}

static const char *profile(struct profiler *profiler, bool (*work)(void *), void *context,
                           double (*counts)[PROFILED_COUNT])
{
    bool worked = false;
    profiler->wrong = nullptr;
    const char *why = make_data(profiler);
    if (why == nullptr)
        why = configure(profiler);
    if (why == nullptr)
        why = make_passes(profiler, work, context, &worked);
    return why != nullptr || !worked ? why : read_launches(profiler, counts);
}

/* ---- the interface ---- */

/* Loads the library, once. */
static const char *initialize(void)
{
    static bool tried;
    static const char *why;
    if (tried)
        return why;
    tried = true;
    why = load_library();
    if (why != nullptr)
        return why;
    DECLARE_PARAMETERS(CUpti_Profiler_Initialize, parameters);
    static char kept[REASON_BYTES];
    why = CALL(cuptiProfilerInitialize, &parameters);
    if (why != nullptr) {
        snprintf(kept, sizeof kept, "%s", why);
        why = kept;
    }
    return why;
}

/* The profiler of the current device, made when it is first asked for. */
static const char *profiler_of_device(struct profiler **found)
{
    static std::vector<struct profiler *> all;
    int device = 0;
    if (cudaGetDevice(&device) != cudaSuccess)
        return "there is no current device";
    for (struct profiler *profiler : all)
        if (profiler->device == device) {
            *found = profiler;
            return nullptr;
        }
    struct profiler *made = new struct profiler();
    made->device = device;
    const char *why = make_host(made);
    if (why == nullptr)
        why = add_metrics(made);
    if (why == nullptr)
        why = make_config(made);
    if (why != nullptr) {
        free_profiler(made);
        return why;
    }
    all.push_back(made);
    *found = made;
    return nullptr;
}

const char *profile_launches(bool (*work)(void *context), void *context, unsigned launches,
                             double (*counts)[PROFILED_COUNT])
{
    struct profiler *profiler;
    const char *why = initialize();
    if (why == nullptr)
        why = profiler_of_device(&profiler);
    if (why != nullptr)
        return why;
    if (launches > MOST_PROFILED_LAUNCHES)
        return "CUPTI counts no more than 1024 launches";
    profiler->launches = launches;
    why = enable(profiler);
    if (why != nullptr)
        return why;
    why = profile(profiler, work, context, counts);
    disable(profiler);
    return why;
}

#else

const char *profile_launches(bool (*)(void *), void *, unsigned, double (*)[PROFILED_COUNT])
{
    return "this build knows no Range Profiler, which the CUPTI of CUDA 12.6 and newer has";
}

void mark_profiled(void)
{
}

#endif
