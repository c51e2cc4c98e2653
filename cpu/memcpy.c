/* memcpy: the memory ceiling of all operations: the faster of the C library's memcpy and a copy
 * with non-temporal stores, each with at most as many threads as its row says.
 *
 * Which one is faster depends on the CPU, the size and the contents of the caches. Both are
 * tried at first, and every 32nd call tries the slower one again, which is too rare to move a
 * median. */
#include "stream_copy.h"
#include "threads.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>

enum { FIRST_TRIES = 4, RETRY_EACH = 32, LEAST_BYTES_A_THREAD = 4096 };

enum way { WAY_MEMCPY, WAY_STREAM, WAY_COUNT };

/* The times of both copies for one size and number of threads. Measurements with different
 * numbers of threads take turns, so each number has its own entry. */
struct finding {
    const void *input;
    size_t bytes;
    unsigned threads;
    uint64_t calls;
    double recent_ns[WAY_COUNT][2]; /* times of the last two calls; 0: none yet */
};

enum { FINDINGS = 64 };

static struct finding findings[FINDINGS];

struct copy {
    const struct call *call;
    size_t bytes, value_bytes; /* of all keys, of all values */
    enum way way;
};

static void copy_share(const struct copy *copy, char *out, const char *in, size_t bytes,
                       unsigned part, unsigned parts)
{
    const size_t most = (bytes / parts + LEAST_BYTES_A_THREAD) & -LEAST_BYTES_A_THREAD;
    const size_t start = part * most < bytes ? part * most : bytes;
    const size_t left = bytes - start;
    if (copy->way == WAY_STREAM)
        stream_copy(out + start, in + start, left < most ? left : most,
                    copy->call->problem.device->best_simd);
    else
        memcpy(out + start, in + start, left < most ? left : most);
}

static void copy_part(void *context, unsigned part, unsigned parts)
{
    const struct copy *copy = context;
    const struct call *call = copy->call;
    copy_share(copy, call->output, call->input, copy->bytes, part, parts);
    if (copy->value_bytes > 0)
        copy_share(copy, call->output_values, call->input_values, copy->value_bytes, part, parts);
}

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static struct finding *finding_for(const struct call *call, size_t bytes)
{
    const unsigned threads = call->problem.threads;
    struct finding *found = &findings[threads % FINDINGS];
    if (found->input != call->input || found->bytes != bytes || found->threads != threads)
        *found = (struct finding){.input = call->input, .bytes = bytes, .threads = threads};
    return found;
}

static double nanoseconds_of(const struct finding *found, enum way way)
{
    const double a = found->recent_ns[way][0], b = found->recent_ns[way][1];
    return a < b ? a : b;
}

static enum way choose_way(const struct finding *found)
{
    if (found->calls < FIRST_TRIES)
        return found->calls % WAY_COUNT;
    const bool streaming = nanoseconds_of(found, WAY_STREAM) < nanoseconds_of(found, WAY_MEMCPY);
    return streaming == (found->calls % RETRY_EACH != 0) ? WAY_STREAM : WAY_MEMCPY;
}

static void run(const struct call *call)
{
    const struct problem *p = &call->problem;
    struct copy copy = {.call = call,
                        .bytes = p->n * element_bytes(p->type),
                        .value_bytes = p->n * value_bytes(p->values)};
    struct finding *found = finding_for(call, copy.bytes + copy.value_bytes);
    copy.way = choose_way(found);
    const double start = now_ns();
    run_on_threads(p->device, useful_threads(p->threads, copy.bytes + copy.value_bytes), copy_part,
                   &copy);
    found->recent_ns[copy.way][0] = found->recent_ns[copy.way][1];
    found->recent_ns[copy.way][1] = now_ns() - start;
    found->calls++;
}

const struct algorithm cpu_memcpy = {
    .name = "memcpy",
    .family = FAMILY_CEILING,
    .result = RESULT_COPY,
    .traits = TRAIT_HAS_THREADS | TRAIT_PAIRS,
    /* --list prints it for the GPU's row, too. */
    .summary =
        "copy within the device's memory; on a CPU the faster of memcpy and non-temporal stores",
    .source = "C library",
    .run = run,
};
