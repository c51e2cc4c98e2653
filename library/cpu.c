/* cpu: what a handle does on the CPU. */
#define _GNU_SOURCE /* MADV_HUGEPAGE, sched_getaffinity */
#include "handle.h"

#include "../bench/base/thread_pool.h"
#include "../bench/cpu_features.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096, HUGE_PAGE_BYTES = 2 << 20 };

#define ALGORITHM(where, op_name) DECLARE_##where(op_name)
#define DECLARE_CPU(op_name) extern const struct algorithm cpu_##op_name;
#define DECLARE_GPU(op_name)
#include "algorithms.def"

static const struct algorithm *const algorithms[] = {
#define ALGORITHM(where, op_name) LIST_##where(op_name)
#define LIST_CPU(op_name) &cpu_##op_name,
#define LIST_GPU(op_name)
#include "algorithms.def"
    NULL,
};

static struct resolved choose(const struct problem *problem)
{
    struct resolved first = {0};
    for (const struct algorithm *const *a = algorithms; *a != NULL; a++) {
        const struct algorithm *algorithm = *a;
        if (algorithm->op != problem->op || why_unsupported(algorithm, problem) != NULL)
            continue;
        if (!problem->in_place || works_in_place(algorithm, problem))
            return (struct resolved){.algorithm = algorithm};
        if (first.algorithm == NULL)
            first.algorithm = algorithm;
    }
    return first;
}

/* How many processors this process may use. */
static unsigned processor_count(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        return (unsigned)CPU_COUNT(&allowed);
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

_Static_assert(SCANBENCH_MAX_THREADS <= MOST_PARTS, "more threads than parts of a job");

static scanbench_status open_cpu(scanbench_handle *handle, unsigned threads)
{
    const unsigned wanted = threads > 0 ? threads : processor_count();
    if (threads > SCANBENCH_MAX_THREADS)
        return SCANBENCH_ERROR_THREADS;
    handle->threads = wanted < SCANBENCH_MAX_THREADS ? wanted : SCANBENCH_MAX_THREADS;
    handle->limits.multiprocessors = (int)handle->threads;
    handle->limits.best_simd = best_simd_path();
    handle->limits.rounds_help = prefetching_in_rounds_helps();
    return SCANBENCH_OK;
}

static void close_cpu(scanbench_handle *handle)
{
    (void)handle;
}

/* Sorts jump about in their scratch, which costs a TLB miss each with small pages. */
static scanbench_status allocate(scanbench_handle *handle, size_t bytes, void **memory)
{
    const bool huge = bytes >= HUGE_PAGE_BYTES;
    if (posix_memalign(memory, huge ? HUGE_PAGE_BYTES : PAGE_BYTES, bytes) != 0)
        return refuse(handle, SCANBENCH_ERROR_MEMORY, "cannot allocate %zu bytes of scratch memory",
                      bytes);
    if (huge)
        madvise(*memory, bytes, MADV_HUGEPAGE);
    return SCANBENCH_OK;
}

static void release(scanbench_handle *handle, void *memory)
{
    (void)handle;
    free(memory);
}

static scanbench_status enter(scanbench_handle *handle, void *stream, bool *capturing)
{
    *capturing = false;
    if (stream != NULL)
        return refuse(handle, SCANBENCH_ERROR_STREAM,
                      "stream is %p: for a handle of the CPU it must be NULL", stream);
    return SCANBENCH_OK;
}

static scanbench_status place_count(scanbench_handle *handle, uint64_t *count, uint64_t **place)
{
    (void)handle;
    *place = count;
    return SCANBENCH_OK;
}

static scanbench_status copy(scanbench_handle *handle, void *to, const void *from, size_t bytes,
                             void *stream)
{
    (void)handle;
    (void)stream;
    memcpy(to, from, bytes);
    return SCANBENCH_OK;
}

static scanbench_status run(scanbench_handle *handle, const struct algorithm *algorithm,
                            struct call *call, bool prepare, void *stream)
{
    (void)handle;
    (void)stream;
    if (prepare && algorithm->prepare != NULL)
        algorithm->prepare(call);
    algorithm->run(call);
    return SCANBENCH_OK;
}

const struct side cpu_side = {
    .kind = DEVICE_CPU,
    .open = open_cpu,
    .close = close_cpu,
    .allocate = allocate,
    .release = release,
    .enter = enter,
    .choose = choose,
    .place_count = place_count,
    .copy = copy,
    .run = run,
};
