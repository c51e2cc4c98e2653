/* own_call: calls a function of the user's on a device. */
#include "own_call.h"

#include "../base/stdout.h"
#include "../own_algorithm.h"

#include "../../kernels/launch_log.cuh"

#ifdef __CUDACC__
#include <cxxabi.h>
#include <stdlib.h>
#include <string.h>
#else
#include "../../emulator/emulator.h"
#include "../../emulator/plain_cuda.h"
#endif

namespace SCANBENCH_BACKEND
{

/* Who hears of the launches of a call. */
struct listener {
    queue *its;
    bool host_form;        /* what is timed is the work from the first launch to the last */
    const void *arrays[2]; /* input and output */
};

/* Before and after a launch on some stream of the file's, on which the events are recorded. */
static void mark_launch(const struct listener *listener, cudaStream_t stream, bool after)
{
    queue *its = listener->its;
    if (its->mark != nullptr) {
        const cudaStream_t own = its->stream;
        its->stream = stream;
        its->mark(its);
        its->stream = own;
    }
    if (its->span == nullptr || !listener->host_form)
        return;
    if (after)
        succeeded(its, "event", cudaEventRecord(its->span->end, stream));
    else if (!its->span->taken)
        succeeded(its, "event", cudaEventRecord(its->span->begin, stream));
    its->span->taken = true;
}

#ifdef __CUDACC__

/* "scan_tiles", where the name stands for "void my::scan_tiles<128>(int const*, int*)". */
static void readable_name(const char *mangled, char *name, size_t size)
{
    int status = 0;
    char *text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
    const char *start = text != nullptr ? text : mangled;
    if (strncmp(start, "void ", 5) == 0)
        start += 5;
    const size_t length = strcspn(start, "<(");
    for (size_t i = 0; i < length; i++)
        if (start[i] == ':')
            mangled = start + i + 1;
    if (mangled < start || mangled > start + length)
        mangled = start;
    snprintf(name, size, "%.*s", (int)(start + length - mangled), mangled);
    free(text);
}

static void wait_for(queue *queue, cudaStream_t first, cudaStream_t second)
{
    enum { MOST_DEVICES = 64 };
    static cudaEvent_t events[MOST_DEVICES];
    if (first == second || queue->device >= MOST_DEVICES)
        return;
    cudaEvent_t &event = events[queue->device];
    if (event == nullptr)
        succeeded(queue, "event", cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    succeeded(queue, "event", cudaEventRecord(event, first));
    succeeded(queue, "event", cudaStreamWaitEvent(second, event, 0));
}

/* What the file tells of a launch, as launch() does of ours. */
static void note_launch(void *context, const struct scanbench_launch *heard)
{
    const auto *listener = static_cast<const struct listener *>(context);
    queue *its = listener->its;
    if (!heard->after && its->log != nullptr) {
        launch_shape shape = {heard->blocks, heard->threads};
        shape.shared_bytes = heard->shared_bytes;
        char name[sizeof launch_record::kernel];
        readable_name(heard->kernel, name, sizeof name);
        if (struct launch_record *record = next_record(its, name, shape)) {
            record->registers = heard->registers;
            record->static_shared_bytes = heard->static_shared_bytes;
            record_occupancy(record, heard->blocks_per_multiprocessor);
        }
    }
    mark_launch(listener, static_cast<cudaStream_t>(heard->stream), heard->after != 0);
}

static const struct scanbench_entry *entry_to_call(const struct problem *problem)
{
    return own_entry(problem);
}

/* Work on the default stream, where the function may put all of it, comes after what the queue has
 * and before what it gets next. */
class ordered
{
  public:
    ordered(const struct listener *listener, const struct scanbench_entry *entry)
        : queue_(listener->its), needed_(!entry->only_enqueues)
    {
        if (needed_)
            wait_for(queue_, queue_->stream, cudaStreamLegacy);
    }
    ~ordered()
    {
        if (needed_)
            wait_for(queue_, cudaStreamLegacy, queue_->stream);
    }

  private:
    queue *queue_;
    bool needed_;
};

static void hear_launches(struct scanbench_call *call, struct listener *listener)
{
    call->hear = note_launch;
    call->listener = listener;
}

#else

/* What the emulator tells of a launch, as launch() does of ours. */
static void note_launch(void *context, const plain_launch_notice *notice, bool after)
{
    const auto *listener = static_cast<const struct listener *>(context);
    queue *its = listener->its;
    launch_shape shape = {notice->blocks, notice->threads};
    shape.shared_bytes = notice->shared_bytes;
    if (!after && its->log != nullptr)
        record_launch(its, notice->kernel, notice->name, shape);
    if (listener->host_form)
        emulator_hide_from_kernel(listener->arrays, !after);
    mark_launch(listener, its->stream, after);
}

static const struct scanbench_entry *entry_to_call(const struct problem *problem)
{
    return emulator_finds_races() ? own_observed_entry(problem) : own_entry(problem);
}

/* Hears of launches meanwhile, and keeps the function within its arrays if a sanitizer watches. The
 * default stream is the queue's own, unless the function says that it uses no other: then it is an
 * error, as on a GPU. */
class ordered
{
  public:
    ordered(struct listener *listener, const struct scanbench_entry *entry) : listener_(listener)
    {
        plain_set_listener(note_launch, listener,
                           entry->only_enqueues ? nullptr : listener->its->stream);
        if (listener->host_form)
            emulator_lend_to_host(listener->arrays, true);
        emulator_close_margins(true);
        emulator_hide_from_host(true);
    }
    ~ordered()
    {
        emulator_hide_from_host(false);
        if (listener_->host_form) {
            emulator_hide_from_kernel(listener_->arrays, false); /* a launch may have failed */
            emulator_lend_to_host(listener_->arrays, false);
        }
        emulator_close_margins(false);
        plain_set_listener(nullptr, nullptr, nullptr);
    }

  private:
    const struct listener *listener_;
};

/* The emulator hears them by itself. */
static void hear_launches(struct scanbench_call *, struct listener *)
{
}

#endif

static void run_own(const struct call *call)
{
    queue *queue = queue_of(call);
    const struct scanbench_entry *entry = entry_to_call(&call->problem);
    char error[160] = "";
    if (queue->error[0] != '\0')
        return;
    struct scanbench_call own = {
        .input = call->input,
        .output = call->output,
        .n = call->problem.n,
        .count = call->count,
        .scratch = call->scratch,
        .scratch_bytes = call->scratch_bytes,
        .block = call->problem.block,
        .inclusive = call->problem.kind == KIND_INCLUSIVE,
        .stream = queue->stream,
        .error = error,
        .error_bytes = sizeof error,
    };
    struct listener listener = {queue, entry->host_form != 0, {call->input, call->output}};
    hear_launches(&own, &listener);
    redirect_stdout();
    {
        const ordered with_default_stream(&listener, entry);
        entry->run(&own);
    }
    if (error[0] != '\0')
        fail(queue, entry->name, error);
}

} // namespace SCANBENCH_BACKEND

#ifdef __CUDACC__
extern "C" void gpu_run_own(const struct call *call)
{
    gpu::run_own(call);
}

extern "C" int gpu_compute_capability(void)
{
    int major = 0, minor = 0;
    if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) != cudaSuccess ||
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0) != cudaSuccess)
        return 0;
    return 10 * major + minor;
}
#else
extern "C" void emulated_run_own(const struct call *call)
{
    emulated::run_own(call);
}
#endif
