/* backend_cpu: host memory and wall time. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "backend.h"

#include "../../timing/clock.h"
#include "check.h"
#include "cpu_threads.h"
#include "../errors.h"
#include "fenced_memory.h"
#include "guard.h"

#include <errno.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

enum {
    CACHE_LINE_BYTES = 64,
    PAGE_BYTES = 4096,
    HUGE_PAGE_BYTES = 2 << 20,
    FALLBACK_CACHE_BYTES = 64 << 20
};

static struct {
    size_t cache_bytes;
    unsigned char *sweep; /* allocated when first needed */
    cpu_set_t allowed;    /* the processors this process may use, and the first of them */
    cpu_set_t first;
    int threads; /* of the loops here */
    char reason[128];
} cpu = {.threads = 1};

/* ---- opening ---- */

static int device_count(const char **why)
{
    (void)why;
    return 1;
}

/* "model name : ..." of the first processor. */
static void read_model_name(char *name, size_t size)
{
    snprintf(name, size, "CPU");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (file == NULL)
        return;
    char line[256];
    while (fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || colon == NULL)
            continue;
        snprintf(name, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    fclose(file);
}

/* The cores of all sockets, each counted once however many threads it runs; 0 if
 * /proc/cpuinfo does not tell. */
static int count_cores(void)
{
    enum { MOST_CORES = 4096 };
    static unsigned seen[MOST_CORES];
    int count = 0;
    unsigned socket = 0, core = 0;
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "physical id : %u", &socket) == 1 ||
            sscanf(line, "core id : %u", &core) != 1)
            continue;
        const unsigned id = socket << 16 | core;
        int at = 0;
        while (at < count && seen[at] != id)
            at++;
        if (at == count && count < MOST_CORES)
            seen[count++] = id;
    }
    if (file != NULL)
        fclose(file);
    return count;
}

static void list_simd(char *text, size_t size)
{
    text[0] = '\0';
#ifdef __x86_64__
    snprintf(text, size, "SSE2%s%s%s%s%s%s", __builtin_cpu_supports("sse4.2") ? " SSE4.2" : "",
             __builtin_cpu_supports("avx") ? " AVX" : "",
             __builtin_cpu_supports("avx2") ? " AVX2" : "",
             __builtin_cpu_supports("avx512f") ? " AVX-512F" : "",
             __builtin_cpu_supports("avx512bw") ? " AVX-512BW" : "",
             __builtin_cpu_supports("avx512vbmi2") ? " AVX-512VBMI2" : "");
#elif defined(__aarch64__)
    snprintf(text, size, "NEON");
#endif
}

static size_t cache_bytes(int which)
{
    const long bytes = sysconf(which);
    return bytes > 0 ? (size_t)bytes : 0;
}

static size_t last_level_cache_bytes(void)
{
    long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (bytes <= 0)
        bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return bytes > 0 ? (size_t)bytes : FALLBACK_CACHE_BYTES;
}

static enum simd_path best_simd_path(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return SIMD_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        return SIMD_AVX2;
#endif
    return SIMD_PORTABLE;
}

static void find_processors(void)
{
    int processor = 0;
    CPU_ZERO(&cpu.first);
    if (sched_getaffinity(0, sizeof cpu.allowed, &cpu.allowed) != 0)
        CPU_ZERO(&cpu.allowed);
    while (processor < CPU_SETSIZE && !CPU_ISSET(processor, &cpu.allowed))
        processor++;
    if (processor < CPU_SETSIZE)
        CPU_SET(processor, &cpu.first);
}

/* While an algorithm is measured this thread stays on one processor, unless it
 * is a library's: such threads as that starts would have to stay there too. */
static void pin(const struct algorithm *algorithm, bool on)
{
    if (algorithm->family != FAMILY_LIBRARY && CPU_COUNT(&cpu.allowed) > 0)
        sched_setaffinity(0, sizeof cpu.first, on ? &cpu.first : &cpu.allowed);
}

/* The threads that an algorithm has unless it is told another number. The loops here
 * may have fewer by OMP_NUM_THREADS, but never more than help. */
static int default_threads(int processors)
{
    const int threads = (int)openmp_threads((unsigned)processors);
    cpu.threads = omp_get_max_threads() < threads ? omp_get_max_threads() : threads;
    return threads;
}

/* NULL, or why there cannot be so many threads. */
static const char *threads_missing(unsigned threads)
{
    const unsigned most = startable_threads(threads);
    if (most == threads)
        return NULL;
    snprintf(cpu.reason, sizeof cpu.reason,
             "the system starts no more than %u threads (memory, ulimit -u, pids.max)", most);
    return cpu.reason;
}

static const char *open_cpu(int index, uint64_t seed, struct device_info *info,
                            struct device_limits *limits)
{
    (void)index;
    (void)seed;
    *info = (struct device_info){0};
    read_model_name(info->name, sizeof info->name);
    find_processors();
    info->multiprocessors =
        CPU_COUNT(&cpu.allowed) > 0 ? CPU_COUNT(&cpu.allowed) : (int)sysconf(_SC_NPROCESSORS_ONLN);
    info->cache_bytes = cpu.cache_bytes = last_level_cache_bytes();
    info->cores = count_cores();
    info->l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE);
    info->l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE);
    list_simd(info->simd, sizeof info->simd);
    info->memory_bytes = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    *limits = (struct device_limits){
        .multiprocessors = default_threads(info->multiprocessors),
        .cache_bytes = info->cache_bytes,
        .best_simd = best_simd_path(),
    };
    return NULL;
}

static void close_cpu(void)
{
    free(cpu.sweep);
    cpu.sweep = NULL;
}

/* ---- memory ---- */

static size_t free_memory_bytes(void)
{
    unsigned long long kib = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    char line[128];
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
            break;
    if (file != NULL)
        fclose(file);
    if (kib > 0)
        return (size_t)kib * 1024;
    return (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

static const char *write_guards(const struct buffer *buffer)
{
    unsigned char *data = buffer->data;
    GUARD_UNPOISON(data - GUARD_BYTES);
    GUARD_UNPOISON(data + buffer->bytes);
    memset(data - GUARD_BYTES, GUARD_BYTE, GUARD_BYTES);
    memset(data + buffer->bytes, GUARD_BYTE, GUARD_BYTES);
    GUARD_POISON(data - GUARD_BYTES);
    GUARD_POISON(data + buffer->bytes);
    return NULL;
}

/* The first to touch a page decides which memory it lies in. Threads take blocks
 * of an array in turns, so that its pages are touched in turns as well. */
static void touch_pages(unsigned char *data, size_t bytes)
{
#pragma omp parallel for schedule(static, 1) num_threads(cpu.threads)
    for (size_t page = 0; page < bytes; page += HUGE_PAGE_BYTES)
        data[page] = POISON_BYTE;
}

/* Whole huge pages where the array is large: a TLB miss every 4 KiB would be
 * part of every time otherwise. */
static const char *allocate(size_t bytes, struct buffer *buffer)
{
    const bool huge = bytes >= HUGE_PAGE_BYTES;
    void *data = fenced_allocate(bytes, huge ? HUGE_PAGE_BYTES : PAGE_BYTES);
    if (data == NULL) {
        snprintf(cpu.reason, sizeof cpu.reason, "cannot allocate: %s", strerror(errno));
        return cpu.reason;
    }
    if (huge)
        madvise(data, bytes, MADV_HUGEPAGE);
    *buffer = (struct buffer){.data = data, .bytes = bytes, .allocated = bytes};
    touch_pages(buffer->data, bytes);
    return write_guards(buffer);
}

static const char *resize(struct buffer *buffer, size_t bytes)
{
    guard_open_rest(buffer);
    buffer->bytes = bytes;
    write_guards(buffer);
    guard_close_rest(buffer);
    return NULL;
}

static void release(struct buffer *buffer)
{
    if (buffer->data == NULL)
        return;
    unsigned char *data = buffer->data;
    GUARD_UNPOISON(data - GUARD_BYTES);
    guard_open_rest(buffer);
    fenced_release(data);
    *buffer = (struct buffer){0};
}

static const char *read_host(void *host, const void *data, size_t bytes)
{
    memcpy(host, data, bytes);
    return NULL;
}

static const char *check_guards(const struct buffer *buffer, bool *damaged,
                                struct guard_damage *damage)
{
    unsigned char *data = buffer->data;
    GUARD_UNPOISON(data - GUARD_BYTES);
    GUARD_UNPOISON(data + buffer->bytes);
    *damaged = guard_damaged(data - GUARD_BYTES, data + buffer->bytes, buffer->bytes, damage);
    GUARD_POISON(data - GUARD_BYTES);
    GUARD_POISON(data + buffer->bytes);
    return NULL;
}

/* ---- data ---- */

enum { PARALLEL_FROM = 1 << 18 }; /* elements: below, threads cost more than they save */

static const char *fill_input(const struct input *input, void *array)
{
#pragma omp parallel for num_threads(cpu.threads) if (input->n >= PARALLEL_FROM)
    for (uint64_t i = 0; i < input->n; i++)
        element_store(input->type, array, i, input_element(input, i));
    return NULL;
}

static const char *poison(const struct buffer *buffer)
{
    memset(buffer->data, POISON_BYTE, buffer->bytes);
    return NULL;
}

/* Threads check parts of PART chunks each. What a part must be compared with
 * depends on how much the parts before it keep: those are counted first. */
enum { PART = 1024 };

static uint64_t part_count(const struct input *input)
{
    return chunk_count(input) / PART + 1;
}

static uint64_t part_end(const struct input *input, uint64_t part)
{
    const uint64_t end = (part + 1) * PART;
    return end < chunk_count(input) ? end : chunk_count(input);
}

static uint64_t kept_in_part(const struct input *input, uint64_t part)
{
    uint64_t kept = 0;
    for (uint64_t c = part * PART; c < part_end(input, part); c++)
        kept += kept_in_chunk(input, c);
    return kept;
}

static int64_t first_wrong_of_part(const struct check *check, uint64_t part, uint64_t at)
{
    int64_t wrong = NO_INDEX;
    for (uint64_t c = part * PART; c < part_end(&check->input, part) && wrong == NO_INDEX; c++)
        wrong = first_wrong_of_chunk(check, c, &at);
    return wrong;
}

/* The first place where what the input keeps and the array differ; n: nowhere. */
static uint64_t first_wrong_kept(const struct check *check)
{
    const uint64_t parts = part_count(&check->input);
    uint64_t *starts = allocate_or_die(NULL, parts * sizeof *starts);
    uint64_t first = check->input.n, sum = 0;
#pragma omp parallel for num_threads(cpu.threads) if (parts > 1)
    for (uint64_t part = 0; part < parts; part++)
        starts[part] = kept_in_part(&check->input, part);
    for (uint64_t part = 0; part < parts; part++) {
        const uint64_t kept = starts[part];
        starts[part] = sum;
        sum += kept;
    }
#pragma omp parallel for num_threads(cpu.threads) reduction(min : first) if (parts > 1)
    for (uint64_t part = 0; part < parts; part++) {
        const int64_t wrong = first_wrong_of_part(check, part, starts[part]);
        if (wrong != NO_INDEX && (uint64_t)wrong < first)
            first = (uint64_t)wrong;
    }
    free(starts);
    return first;
}

static uint64_t first_wrong_element(const struct check *check)
{
    const uint64_t n = check->input.n;
    uint64_t first = n;
#pragma omp parallel for num_threads(cpu.threads) reduction(min : first) if (n >= PARALLEL_FROM)
    for (uint64_t i = check->from; i < n; i++)
        if (i < first && !check_passes(check, i))
            first = i;
    return first;
}

static const char *first_wrong(const struct check *check, int64_t *index)
{
    const uint64_t first =
        check->kind == CHECK_KEPT ? first_wrong_kept(check) : first_wrong_element(check);
    *index = first < check->input.n ? (int64_t)first : (int64_t)NO_INDEX;
    return NULL;
}

static const char *count_kept(const struct input *input, uint64_t *count)
{
    uint64_t sum = 0;
#pragma omp parallel for num_threads(cpu.threads) reduction(+ : sum) if (input->n >= PARALLEL_FROM)
    for (uint64_t part = 0; part < part_count(input); part++)
        sum += kept_in_part(input, part);
    *count = sum;
    return NULL;
}

static const char *digest_of(const struct input *input, const void *array, struct digest *digest)
{
    uint64_t sum = 0, parity = 0;
#pragma omp parallel for num_threads(cpu.threads) reduction(+ : sum) \
    reduction(^ : parity) if (input->n >= PARALLEL_FROM)
    for (uint64_t i = 0; i < input->n; i++) {
        struct digest one = {0};
        digest_element(&one, array != NULL ? element_load(input->type, array, i)
                                           : input_element(input, i));
        sum += one.sum;
        parity ^= one.parity;
    }
    *digest = (struct digest){.sum = sum, .parity = parity};
    return NULL;
}

/* ---- running and timing ---- */

static void prepare(const struct trial *trial)
{
    watch_fences(trial->algorithm->name);
    trial->call->queue = NULL;
    trial->call->epoch = 0;
    if (trial->algorithm->prepare != NULL)
        trial->algorithm->prepare(trial->call);
}

static double timed_run_ms(const struct trial *trial)
{
    trial->call->epoch++;
    const double start = clock_ms();
    trial->algorithm->run(trial->call);
    return clock_ms() - start;
}

/* Out of every cache, by the instruction for it, where there is one. */
static bool flush_lines(const void *data, size_t bytes)
{
#ifdef __x86_64__
    const char *line = data;
    for (size_t i = 0; i < bytes; i += CACHE_LINE_BYTES)
        _mm_clflush(line + i);
    _mm_mfence();
    return true;
#else
    (void)data;
    (void)bytes;
    return false;
#endif
}

/* Out of every cache by reading more than they hold, or by writing it. Arrays
 * much larger than the caches are swept too: that costs less than flushing each
 * of their lines. */
static void sweep_caches(bool dirty)
{
    const size_t bytes = 2 * cpu.cache_bytes;
    if (cpu.sweep == NULL) {
        cpu.sweep = allocate_or_die(NULL, bytes);
        memset(cpu.sweep, 1, bytes);
    }
    volatile unsigned char *line = cpu.sweep;
    for (size_t i = 0; i < bytes; i += CACHE_LINE_BYTES)
        if (dirty)
            line[i] = (unsigned char)i;
        else
            (void)line[i];
}

static void set_cache_state(const struct trial *trial)
{
    const struct algorithm *algorithm = trial->algorithm;
    const struct call *call = trial->call;
    if (trial->cache == CACHE_HOT)
        return;
    const size_t bytes = call->problem.n * element_bytes(call->problem.type);
    const size_t scratch =
        algorithm->scratch_bytes != NULL ? algorithm->scratch_bytes(&call->problem) : 0;
    if (trial->cache == CACHE_DIRTY || 2 * bytes + scratch > 2 * cpu.cache_bytes ||
        !flush_lines(call->input, bytes)) {
        sweep_caches(trial->cache == CACHE_DIRTY);
        return;
    }
    flush_lines(call->output, bytes);
    flush_lines(call->scratch, scratch);
}

static const char *first_call(const struct trial *trial, struct launch_log *log, double *wall_ms)
{
    prepare(trial);
    log->count = 0;
    *wall_ms = timed_run_ms(trial);
    return NULL;
}

static const char *run_again(const struct trial *trial)
{
    timed_run_ms(trial);
    return NULL;
}

static const char *measure(const struct trial *trial, double *time_ms, unsigned count)
{
    prepare(trial);
    pin(trial->algorithm, true);
    if (trial->cache == CACHE_HOT)
        timed_run_ms(trial);
    for (unsigned i = 0; i < count; i++) {
        set_cache_state(trial);
        time_ms[i] = timed_run_ms(trial);
    }
    pin(trial->algorithm, false);
    return NULL;
}

static const char *measure_wall(const struct trial *trial, double *wall_ms)
{
    return measure(trial, wall_ms, 1);
}

static enum recovery recover(void)
{
    return DEVICE_USABLE;
}

const struct backend cpu_backend = {
    .kind = DEVICE_CPU,
    .device_count = device_count,
    .open = open_cpu,
    .close = close_cpu,
    .free_memory_bytes = free_memory_bytes,
    .allocate = allocate,
    .release = release,
    .read = read_host,
    .fill_input = fill_input,
    .poison = poison,
    .write_guards = write_guards,
    .resize = resize,
    .check_guards = check_guards,
    .first_wrong = first_wrong,
    .count_kept = count_kept,
    .digest = digest_of,
    .first_call = first_call,
    .run_again = run_again,
    .measure = measure,
    .measure_wall = measure_wall,
    .recover = recover,
    .threads_missing = threads_missing,
};
