/* own_call: calls a function of the user's on a device. */
#include "own_call.h"

#include "../base/stdout.h"
#include "../own_algorithm.h"

#include "../../kernels/launch_log.cuh"

#ifndef __CUDACC__
#include "../../emulator/emulator.h"
#include "../../emulator/plain_cuda.h"
#endif

namespace SCANBENCH_BACKEND
{

#ifdef __CUDACC__

static const struct scanbench_entry *entry_to_call(const struct problem *problem)
{
    return own_entry(problem);
}

/* Work on the default stream, where the function may put all of it, comes after what the queue has
 * and before what it gets next. */
class ordered
{
  public:
    ordered(queue *queue, const struct scanbench_entry *entry)
        : queue_(queue), needed_(!entry->only_enqueues)
    {
        wait_for(queue_->stream, cudaStreamLegacy);
    }
    ~ordered()
    {
        wait_for(cudaStreamLegacy, queue_->stream);
    }

  private:
    enum { MOST_DEVICES = 64 };
    void wait_for(cudaStream_t first, cudaStream_t second)
    {
        static cudaEvent_t events[MOST_DEVICES];
        if (!needed_ || queue_->device >= MOST_DEVICES)
            return;
        cudaEvent_t &event = events[queue_->device];
        if (event == nullptr)
            succeeded(queue_, "event", cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        succeeded(queue_, "event", cudaEventRecord(event, first));
        succeeded(queue_, "event", cudaStreamWaitEvent(second, event, 0));
    }
    queue *queue_;
    bool needed_;
};

#else

/* What the emulator tells of a launch, as launch() does of ours. */
static void note_launch(void *context, const plain_launch_notice *notice, bool after)
{
    queue *its = static_cast<queue *>(context);
    launch_shape shape = {notice->blocks, notice->threads};
    shape.shared_bytes = notice->shared_bytes;
    if (!after && its->log != nullptr)
        record_launch(its, notice->kernel, notice->name, shape);
    if (its->mark != nullptr)
        its->mark(its);
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
    ordered(queue *queue, const struct scanbench_entry *entry)
    {
        plain_set_listener(note_launch, queue, entry->only_enqueues ? nullptr : queue->stream);
        emulator_close_margins(true);
    }
    ~ordered()
    {
        emulator_close_margins(false);
        plain_set_listener(nullptr, nullptr, nullptr);
    }
};

#endif

static void run_own(const struct call *call)
{
    queue *queue = queue_of(call);
    const struct scanbench_entry *entry = entry_to_call(&call->problem);
    char error[160] = "";
    if (queue->error[0] != '\0')
        return;
    const struct scanbench_call own = {
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
    redirect_stdout();
    {
        const ordered with_default_stream(queue, entry);
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
