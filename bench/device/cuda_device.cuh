/* cuda_device.cuh: an open GPU or, compiled for the emulator, an open emulator, shared by the
 * files of this backend. */
#pragma once

#include "backend.h"

#include "../../kernels/devices/team_queue.cuh"
#include "../../kernels/launch.cuh"
#include "../../timing/gpu_marks.cuh"
#include "../../timing/gpu_timer.cuh"

struct view;

namespace SCANBENCH_BACKEND
{

/* A queue that can time its launches one by one. */
struct marked_queue : team_queue {
    gpu_marks marks;
};

/* One word on the device per chunk of an input. */
struct chunk_words {
    unsigned long long *d_words;
    uint64_t capacity;
};

struct cuda_device : ::device {
    int index;
    size_t cache_bytes;
    int multiprocessors;
    char pci_bus_id[32];
    marked_queue work;
    gpu_timer timer;
    bool awake;
    unsigned long long *d_found; /* result of a check: one or two words */
    struct look *d_looks;        /* what was seen after each sample of a series */
    chunk_words starts, sums;
    uint64_t copied_count;               /* receives a copy of compaction's count */
    unsigned char zones[2][GUARD_BYTES]; /* copies of a buffer's guard zones */
};

enum { HARNESS_BLOCK = 256 };

/* Enough blocks to fill the device, or to have one thread per element. */
inline launch_shape harness_shape(const cuda_device *device, uint64_t n)
{
    const uint64_t full = 16u * (uint64_t)device->multiprocessors,
                   needed = ceil_div(n, HARNESS_BLOCK);
    return {.blocks = needed < full ? needed : full, .threads = HARNESS_BLOCK};
}

/* Stores and returns the reason of a failure. */
const char *because(cuda_device *device, const char *what, cudaError_t error);

/* Waits for all queued work. Returns NULL, or its first error. */
const char *finish(cuda_device *device, const char *what);

/* While an algorithm's kernels run in the emulator: a kernel that faults or never ends, or that is
 * launched on the default stream, fails, and so does any when the program is interrupted. A GPU
 * has no use for it. */
class kernel_watch
{
  public:
    kernel_watch(const struct problem *problem, bool own_streams_only);
    ~kernel_watch();
    kernel_watch(const kernel_watch &) = delete;
};

/* Tells the emulator what part of an allocation is the buffer's. */
void describe_buffer(const struct buffer *buffer);

/* Has the emulator's orders of blocks and threads begin anew. */
void restart_orders();

/* cuda_probe.cu: does the algorithm that runs between these calls use the default stream? */
enum stream_use {
    STREAM_OWN,
    STREAM_DEFAULT,
    STREAM_UNKNOWN, /* the probe made the algorithm fail */
};
cudaStream_t start_probe();
enum stream_use end_probe(cudaStream_t probe, const queue *queue);

/* cuda_memory.cu */
size_t free_memory_bytes(cuda_device *device);
const char *allocate(cuda_device *device, size_t bytes, struct buffer *buffer);
void release(cuda_device *device, struct buffer *buffer);
const char *read_device(cuda_device *device, void *host, const void *data, size_t bytes);
const char *poison(cuda_device *device, const struct buffer *buffer);
const char *write_guards(cuda_device *device, const struct buffer *buffer);
const char *resize(cuda_device *device, struct buffer *buffer, size_t bytes);
const char *check_guards(cuda_device *device, const struct buffer *buffer, bool *damaged,
                         struct guard_damage *damage);
const char *allocate_host(cuda_device *device, size_t bytes, bool pinned, void **memory);
void release_host(cuda_device *device, void *memory, bool pinned);

/* cuda_check.cu */
const char *fill_input(cuda_device *device, const struct input *input, void *array);
const char *first_wrong(cuda_device *device, const struct check *check, int64_t *index);
const char *count_kept(cuda_device *device, const struct input *input, uint64_t *count);
const char *reduce_input(cuda_device *device, const struct input *input, uint64_t *bits);
const char *digest_of(cuda_device *device, const struct input *input, const void *array,
                      struct digest *digest);

/* cuda_look.cu */
void poison_places(cuda_device *device, const struct view &view);
void queue_look(cuda_device *device, const struct view &view, bool whole, unsigned sample);
const char *read_looks(cuda_device *device, struct look *looks, unsigned count);

/* cuda_measure.cu */
const char *first_call(cuda_device *device, const struct trial *trial, struct launch_log *log,
                       double *wall_ms);
const char *run_again(cuda_device *device, const struct trial *trial);
const char *prepare_series(cuda_device *device, const struct trial *trial);
const char *measure(cuda_device *device, const struct trial *trial, double *time_ms,
                    struct look *looks, unsigned count);
const char *look_now(cuda_device *device, const struct trial *trial, bool whole, struct look *look);
const char *measure_launches(cuda_device *device, const struct trial *trial, double *time_ms,
                             unsigned count);
const char *measure_copies(cuda_device *device, const struct trial *trial, const void *host_input,
                           void *host_output, uint64_t written, double *whole_ms, double *h2d_ms,
                           double *d2h_ms);
const char *measure_wall(cuda_device *device, const struct trial *trial, double *wall_ms);
const char *run_many(cuda_device *device, const struct trial *trial, unsigned count);
void attach(cuda_device *device, struct call *call, struct launch_log *log);
void apply(cuda_device *device, void (*function)(const struct call *), const struct call *call);
void get_ready(cuda_device *device, const struct trial *trial);
void release_held(cuda_device *device);
void mark_now(cuda_device *device);
const char *marked_ms(cuda_device *device, unsigned from, unsigned to, double *ms);
const char *finish_run(cuda_device *device);

/* cuda_counts.cu */
#if defined(EMULATOR_COUNTS) || defined(__CUDACC__)
const char *count_accesses(cuda_device *device, const struct trial *trial,
                           struct memory_counts *counts, unsigned most, unsigned *launches,
                           const char **why_not);
#endif
#ifdef EMULATOR_COUNTS
size_t count_lines(cuda_device *device, const struct line_counts **lines);
const char *find_races(cuda_device *device, const struct trial *trial, bool *found);
const char *trace_accesses(cuda_device *device, const struct trial *trial, FILE *out);
#endif

} // namespace SCANBENCH_BACKEND
