/* cuda_measure: runs algorithms and measures their time. */
#include "cuda_device.cuh"

#include "../../timing/clock.h"
#include "look.h"

namespace SCANBENCH_BACKEND
{

constexpr double WAKE_UP_MS = 300;

/* Resets lines that a kernel asked the L2 to keep. Otherwise they would still be there in the
 * next cold sample, and in the hot samples of the next algorithm. */
static void forget_lines(cuda_device *device)
{
    if (device->work.lines_kept)
        succeeded(&device->work, "caches", forget_kept_lines());
    device->work.lines_kept = false;
}

static void set_up_scratch(const struct trial *trial)
{
    trial->call->epoch = 0;
    if (trial->algorithm->prepare != nullptr)
        trial->algorithm->prepare(trial->call);
}

static void fill_with_poison(cuda_device *device, void *data, size_t bytes)
{
    if (data != nullptr && bytes > 0)
        succeeded(&device->work, "poison",
                  cudaMemsetAsync(data, POISON_BYTE, bytes, device->work.stream));
}

static void prepare(cuda_device *device, const struct trial *trial)
{
    forget_lines(device);
    trial->call->queue = static_cast<queue *>(&device->work);
    fill_with_poison(device, trial->call->scratch, trial->call->scratch_bytes);
    set_up_scratch(trial);
}

const char *prepare_series(cuda_device *device, const struct trial *trial)
{
    prepare(device, trial);
    return finish(device, "prepare");
}

static void run(const struct trial *trial)
{
    if (trial->scratch == SCRATCH_FRESH)
        set_up_scratch(trial);
    trial->call->epoch++;
    trial->algorithm->run(trial->call);
}

const char *run_again(cuda_device *device, const struct trial *trial)
{
    run(trial);
    return finish(device, "run");
}

static void put_caches_into(cuda_device *device, enum cache_state state)
{
    if (state != CACHE_HOT)
        forget_lines(device);
    succeeded(&device->work, "caches", set_cache_state(&device->timer, state));
}

static void hold(cuda_device *device)
{
    succeeded(&device->work, "hold", hold_stream(&device->timer));
}

/* An idle GPU lowers its clocks and needs some time at work to raise them again. Times taken
 * before that would be too long. Done once per device. */
static void wake_up(cuda_device *device)
{
    const double start = clock_ms();
    while (device_runs_asynchronously && !device->awake && clock_ms() - start < WAKE_UP_MS) {
        put_caches_into(device, CACHE_COLD);
        cudaStreamSynchronize(device->work.stream);
    }
    device->awake = true;
}

/* ---- what a run leaves ---- */

/* Scratch that prepare() sets up in each run is poisoned as well. */
static void clear_results(cuda_device *device, const struct trial *trial)
{
    const struct view view = view_of(trial);
    if (trial->cache == CACHE_HOT) {
        poison_places(device, view);
        return;
    }
    fill_with_poison(device, view.output, view_bytes(&view));
    fill_with_poison(device, view.values, view.n * value_bytes(view.value_type));
    fill_with_poison(device, view.count, sizeof *view.count);
    if (trial->scratch == SCRATCH_FRESH)
        fill_with_poison(device, trial->call->scratch, trial->call->scratch_bytes);
}

const char *look_now(cuda_device *device, const struct trial *trial, bool whole, struct look *look)
{
    queue_look(device, view_of(trial), whole, 0);
    return read_looks(device, look, 1);
}

/* prepare() and run(), with the time of the latter. */
static const char *call_once(cuda_device *device, const struct trial *trial, bool with_probe,
                             struct launch_log *log, double *wall_ms, enum stream_use *use)
{
    log->count = 0;
    *use = STREAM_OWN;
    const char *why = prepare_series(device, trial);
    if (why != nullptr)
        return why;
    const cudaStream_t probe = with_probe ? start_probe() : nullptr;
    /* The log takes a few microseconds per launch, which is nothing compared to loading a
     * kernel's code. */
    device->work.log = log;
    const double start = clock_ms();
    why = run_again(device, trial);
    *wall_ms = clock_ms() - start;
    device->work.log = nullptr;
    *use = end_probe(probe, &device->work);
    return why;
}

const char *first_call(cuda_device *device, const struct trial *trial, struct launch_log *log,
                       double *wall_ms)
{
    /* One that synchronises may wait for the default stream itself. */
    const bool with_probe = !(trial->algorithm->traits & TRAIT_SYNCHRONISES);
    enum stream_use use;
    wake_up(device);
    restart_orders(); /* so that a row shows the same, whichever ran before it */
    const char *why = call_once(device, trial, with_probe, log, wall_ms, &use);
    if (use == STREAM_DEFAULT)
        return "run: uses the default stream, which is neither timed nor waited for";
    if (use == STREAM_OWN)
        return why;
    device->work.error[0] = '\0';
    return call_once(device, trial, false, log, wall_ms, &use);
}

static void record(cuda_device *device, cudaEvent_t event)
{
    succeeded(&device->work, "event", cudaEventRecord(event, device->work.stream));
}

/* Queues `count` samples while the stream is held once, releases it, and reads the times. Each is
 * looked at once its time is taken: all elements unless that would change what the caches hold. */
static const char *measure_once_held(cuda_device *device, const struct trial *trial,
                                     double *time_ms, struct look *looks, unsigned count)
{
    gpu_timer *timer = &device->timer;
    const struct view view = view_of(trial);
    clear_results(device, trial);
    put_caches_into(device, trial->cache);
    if (trial->queued)
        hold(device);
    for (unsigned i = 0; i < count; i++) {
        /* Recorded twice after a kernel of ours: the first waits until that has ended, as the run
         * would otherwise do within its time. */
        if (i > 0)
            record(device, timer->start[i]);
        record(device, timer->start[i]);
        struct work_span span = {timer->start[i], timer->stop[i], false};
        device->work.span = &span;
        run(trial);
        device->work.span = nullptr;
        if (!span.taken)
            record(device, timer->stop[i]);
        queue_look(device, view, trial->cache != CACHE_HOT, i);
        if (i + 1 < count)
            poison_places(device, view);
    }
    if (trial->queued)
        let_go(timer);
    const char *why = finish(device, "run");
    if (why == nullptr)
        why = read_looks(device, looks, count);
    for (unsigned i = 0; i < count && why == nullptr; i++) {
        float elapsed_ms = 0;
        const cudaError_t error =
            cudaEventElapsedTime(&elapsed_ms, timer->start[i], timer->stop[i]);
        if (error != cudaSuccess)
            why = because(device, "cannot read the timer", error);
        time_ms[i] = elapsed_ms;
    }
    return why;
}

const char *measure(cuda_device *device, const struct trial *trial, double *time_ms,
                    struct look *looks, unsigned count)
{
    static_assert(MAX_TURN_SAMPLES <= (int)TIMER_EVENT_PAIRS, "one event pair per sample");
    if (trial->cache == CACHE_HOT) {
        run(trial);
        return measure_once_held(device, trial, time_ms, looks, count);
    }
    const char *why = nullptr;
    for (unsigned i = 0; i < count && why == nullptr; i++)
        why = measure_once_held(device, trial, &time_ms[i], &looks[i], 1);
    return why;
}

static void mark_queue(queue *queue)
{
    succeeded(queue, "event", mark(&static_cast<marked_queue *>(queue)->marks, queue->stream));
}

const char *measure_launches(cuda_device *device, const struct trial *trial, double *time_ms,
                             unsigned count)
{
    prepare(device, trial);
    if (trial->cache == CACHE_HOT)
        run(trial);
    succeeded(&device->work, "event", start_marks(&device->work.marks, 2 * (size_t)count));
    put_caches_into(device, trial->cache);
    if (trial->queued)
        hold(device);
    device->work.mark = mark_queue;
    run(trial);
    device->work.mark = nullptr;
    if (trial->queued)
        let_go(&device->timer);
    const char *why = finish(device, "run");
    if (why == nullptr && device->work.marks.marked < 2 * (size_t)count)
        return "a run launched fewer kernels than the one before";
    for (unsigned i = 0; i < count && why == nullptr; i++)
        why = marked_ms(device, 2 * i, 2 * i + 1, &time_ms[i]);
    return why;
}

static void copy(cuda_device *device, void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    succeeded(&device->work, "copy", cudaMemcpyAsync(to, from, bytes, kind, device->work.stream));
}

/* Copies compaction's count back as well, without which the result could not be read; unless
 * the algorithm already has it on the host and hands it over later. */
static void copy_back(cuda_device *device, const struct trial *trial, void *host_output,
                      uint64_t written)
{
    const struct call *call = trial->call;
    if (call->count != nullptr && trial->algorithm->hand_over == nullptr)
        copy(device, &device->copied_count, call->count, sizeof device->copied_count,
             cudaMemcpyDeviceToHost);
    const size_t bytes = written * element_bytes(call->problem.type);
    copy(device, host_output, call->output, bytes, cudaMemcpyDeviceToHost);
    if (call->output_values != nullptr)
        copy(device, static_cast<char *>(host_output) + bytes, call->output_values,
             written * value_bytes(call->problem.values), cudaMemcpyDeviceToHost);
}

/* The elements, after them the values of pairs or the second input. */
static void copy_in(cuda_device *device, const struct call *call, const void *host_input)
{
    const size_t bytes = call->problem.n * element_bytes(call->problem.type);
    const char *rest = static_cast<const char *>(host_input) + bytes;
    copy(device, const_cast<void *>(call->input), host_input, bytes, cudaMemcpyHostToDevice);
    if (call->input_values != nullptr)
        copy(device, const_cast<void *>(call->input_values), rest,
             call->problem.n * value_bytes(call->problem.values), cudaMemcpyHostToDevice);
    if (call->second != nullptr)
        copy(device, const_cast<void *>(call->second), rest, second_bytes(&call->problem),
             cudaMemcpyHostToDevice);
}

/* The stream is not held, since a copy of pageable memory waits for the device. */
const char *measure_copies(cuda_device *device, const struct trial *trial, const void *host_input,
                           void *host_output, uint64_t written, double *whole_ms, double *h2d_ms,
                           double *d2h_ms)
{
    const char *why = prepare_series(device, trial);
    if (why != nullptr)
        return why;
    succeeded(&device->work, "event", start_marks(&device->work.marks, 4));
    mark_queue(&device->work);
    copy_in(device, trial->call, host_input);
    mark_queue(&device->work);
    run(trial);
    mark_queue(&device->work);
    copy_back(device, trial, host_output, written);
    mark_queue(&device->work);
    why = finish(device, "copies");
    if (why == nullptr)
        why = marked_ms(device, 0, 3, whole_ms);
    if (why == nullptr)
        why = marked_ms(device, 0, 1, h2d_ms);
    if (why == nullptr)
        why = marked_ms(device, 2, 3, d2h_ms);
    return why;
}

const char *run_many(cuda_device *device, const struct trial *trial, unsigned count)
{
    prepare(device, trial);
    for (unsigned i = 0; i < count; i++)
        run(trial);
    return finish(device, "run");
}

const char *measure_wall(cuda_device *device, const struct trial *trial, double *wall_ms)
{
    prepare(device, trial);
    put_caches_into(device, trial->cache);
    const char *why = finish(device, "prepare");
    const double start = clock_ms();
    run(trial);
    if (why == nullptr)
        why = finish(device, "run");
    *wall_ms = clock_ms() - start;
    return why;
}

/* ---- as a member of a team ---- */

void attach(cuda_device *device, struct call *call, struct launch_log *log)
{
    forget_lines(device);
    call->queue = static_cast<queue *>(&device->work);
    device->work.log = log;
}

void apply(cuda_device *, void (*function)(const struct call *), const struct call *call)
{
    const kernel_watch watch(&call->problem, true);
    function(call);
}

void get_ready(cuda_device *device, const struct trial *trial)
{
    wake_up(device);
    clear_results(device, trial);
    succeeded(&device->work, "event", start_marks(&device->work.marks, MOST_MARKS));
    put_caches_into(device, trial->cache);
    if (trial->queued)
        hold(device);
}

void release_held(cuda_device *device)
{
    let_go(&device->timer);
}

void mark_now(cuda_device *device)
{
    mark_queue(&device->work);
}

const char *marked_ms(cuda_device *device, unsigned from, unsigned to, double *ms)
{
    const cudaError_t error = time_between(&device->work.marks, from, to, ms);
    return error == cudaSuccess ? nullptr : because(device, "cannot read the timer", error);
}

const char *finish_run(cuda_device *device)
{
    return finish(device, "run");
}

} // namespace SCANBENCH_BACKEND
