/* cpu_device: opens and describes the CPU. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "cpu_device.h"

#include "../cpu_features.h"
#include "../base/errors.h"
#include "cpu_threads.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FALLBACK_CACHE_BYTES = 64 << 20 };

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

/* The number of physical cores of all sockets; 0 if /proc/cpuinfo does not say. */
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

void cpu_find_first(struct cpu_device *cpu)
{
    int processor = 0;
    CPU_ZERO(&cpu->first);
    while (processor < CPU_SETSIZE && !CPU_ISSET(processor, &cpu->allowed))
        processor++;
    if (processor < CPU_SETSIZE)
        CPU_SET(processor, &cpu->first);
}

static void find_processors(struct cpu_device *cpu)
{
    if (sched_getaffinity(0, sizeof cpu->allowed, &cpu->allowed) != 0)
        CPU_ZERO(&cpu->allowed);
    cpu_find_first(cpu);
}

/* The default number of threads of an algorithm. The loops of this backend may use fewer
 * because of OMP_NUM_THREADS, but never more than useful. */
static int default_threads(struct cpu_device *cpu, int processors)
{
    const int threads = (int)openmp_threads((unsigned)processors);
    cpu->threads = omp_get_max_threads() < threads ? omp_get_max_threads() : threads;
    return threads;
}

/* Returns NULL, or why that many threads are unavailable. */
static const char *threads_missing(struct device *device, unsigned threads)
{
    const unsigned most = startable_threads(threads);
    if (most == threads)
        return NULL;
    snprintf(device->reason, sizeof device->reason,
             "the system starts at most %u threads (memory, ulimit -u, pids.max)", most);
    return device->reason;
}

static const char *open_cpu(int index, uint64_t seed, struct device_info *info,
                            struct device_limits *limits, struct device **device)
{
    (void)index;
    (void)seed;
    struct cpu_device *cpu = allocate_or_die(NULL, sizeof *cpu);
    *cpu = (struct cpu_device){.device.can = &cpu_backend};
    *info = (struct device_info){0};
    read_model_name(info->name, sizeof info->name);
    find_processors(cpu);
    info->multiprocessors = CPU_COUNT(&cpu->allowed) > 0 ? CPU_COUNT(&cpu->allowed)
                                                         : (int)sysconf(_SC_NPROCESSORS_ONLN);
    info->cache_bytes = cpu->cache_bytes = last_level_cache_bytes();
    info->cores = count_cores();
    info->l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE);
    info->l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE);
    list_simd(info->simd, sizeof info->simd);
    info->memory_bytes = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    *limits = (struct device_limits){
        .multiprocessors = default_threads(cpu, info->multiprocessors),
        .cache_bytes = info->cache_bytes,
        .best_simd = best_simd_path(),
        .rounds_help = prefetching_in_rounds_helps(),
        .pinned_to = &cpu->allowed,
    };
    *device = &cpu->device;
    return NULL;
}

static void close_cpu(struct device *device)
{
    free(cpu_of(device)->sweep);
    free(device);
}

static enum recovery recover(struct device *device)
{
    (void)device;
    return DEVICE_USABLE;
}

const struct backend cpu_backend = {
    .kind = DEVICE_CPU,
    .has_threads = true,
    .has_simd = true,
    .in_host_memory = true,
    .device_count = device_count,
    .open = open_cpu,
    .close = close_cpu,
    .free_memory_bytes = cpu_free_memory_bytes,
    .extra_bytes = cpu_extra_bytes,
    .allocate = cpu_allocate,
    .release = cpu_release,
    .read = cpu_read,
    .fill_input = cpu_fill_input,
    .poison = cpu_poison,
    .write_guards = cpu_write_guards,
    .resize = cpu_resize,
    .check_guards = cpu_check_guards,
    .first_wrong = cpu_first_wrong,
    .count_kept = cpu_count_kept,
    .reduce_input = cpu_reduce_input,
    .digest = cpu_digest,
    .threads_missing = threads_missing,
    .first_call = cpu_first_call,
    .run_again = cpu_run_again,
    .prepare = cpu_prepare,
    .measure = cpu_measure,
    .look = cpu_look,
    .touched = cpu_touched,
    .measure_wall = cpu_measure_wall,
    .recover = recover,
    .as_member = &cpu_as_member,
};
