/* backend.h: the runner's interface to a device.
 *
 * A backend is a kind of device: what all devices of the kind can do, as values and functions.
 * There are three: the CPU, the GPU, and the emulator, which is the GPU's source compiled for
 * the CPU. A device is what open() returns; it points to its backend: device->can->read(device,
 * ...). Several devices may be open at once, and one thread uses them in turns. A device owns
 * memory, fills and checks arrays in place, and takes timed samples of an algorithm. It knows
 * nothing of options, plans or reports.
 *
 * Functions that return `const char *` return NULL, or the reason they failed, which is valid
 * until the device's next call. */
#pragma once

#include "../../timing/cache_state.h"
#include "../../timing/gpu_state.h"
#include "../algorithm.h"
#include "../launch_log.h"
#include "input.h"

#include <stdbool.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A block of device memory between two guard zones of GUARD_BYTES each, as large as the largest
 * tile, so that a tile written to the wrong place is noticed. */
struct buffer {
    void *data;
    size_t bytes;     /* in use: the zone after the block begins here */
    size_t allocated; /* the largest `bytes` can be */
};

enum { GUARD_BYTES = 64 << 10, GUARD_BYTE = 0xA5, POISON_BYTE = 0x5C };

/* Facts about a device, printed by --device-info and repeated in each row. Empty or 0: unknown. */
struct device_info {
    char name[128];
    char pci_bus_id[32];
    char runtime[32]; /* cuda_13.0 */
    int compute_capability;
    int multiprocessors;
    int threads_per_block;
    int threads_per_multiprocessor;
    int blocks_per_multiprocessor;
    int warp_size;
    size_t shared_bytes_per_block;
    size_t shared_bytes_per_block_optin;
    size_t shared_bytes_per_multiprocessor;
    int registers_per_block;
    int registers_per_multiprocessor;
    uint64_t grid_blocks;
    size_t cache_bytes;        /* size of the last-level cache */
    size_t l1_bytes, l2_bytes; /* CPU: per core */
    int cores;                 /* CPU: physical cores */
    char simd[64];             /* CPU: its vector extensions */
    size_t memory_bytes;
    double clock_mhz;
    double memory_clock_mhz;
    int memory_bus_bits;
    char ecc[4];      /* ECC of its memory: on, off */
    double peak_gb_s; /* theoretical memory bandwidth */
};

enum check_kind {
    CHECK_INPUT, /* the input is unchanged */
    CHECK_SCAN,  /* out[0], and out[i] - out[i-1], compared with the regenerated input */
    CHECK_KEPT,  /* the elements that compaction keeps, in order */
    CHECK_SUMS,  /* what the operator makes of each segment */
    CHECK_ORDER, /* no element is less than its predecessor */
    CHECK_PAIRS, /* each value is the index of its key; if stable, equal keys are in order */
    CHECK_POISON /* nothing was written from element `from` on */
};

/* One check of every element of an array, in parallel if the device is. */
struct check {
    enum check_kind kind;
    enum scan_kind scan;
    struct input input;
    struct input second; /* of a recurrence; else n is 0 */
    const void *array;   /* the array to check, of input.n elements */
    uint64_t from;       /* CHECK_POISON only */
    bool zeros_equal;    /* CHECK_ORDER: 0 may come before -0 */
    bool follows;        /* the array continues another, whose last element is `before` */
    uint64_t before;
    const void *values; /* of a sort of pairs; else NULL */
    enum value_type value_type;
    bool stable;
};

/* A digest of a multiset of elements, independent of their order: the sum and the exclusive or
 * of two strong hashes of each. If one element is lost, or overwritten by a copy of another,
 * both change. */
struct digest {
    uint64_t sum, parity;
};

enum { NO_INDEX = -1 };

struct guard_damage;

enum { MAX_TURN_SAMPLES = 16 };

/* The state of the device after a failure. */
enum recovery {
    DEVICE_USABLE, /* as before, with all its buffers */
    DEVICE_RESET,  /* usable, but every buffer is gone and must not be released */
    DEVICE_LOST,   /* all further calls will fail */
};

enum { LOOK_PLACES = 16 };

/* What a run left in its results: the elements at some places (look.h), the count of a
 * compaction, and a digest of all elements in their order, 0 if it was not taken. */
struct look {
    uint64_t element[LOOK_PLACES];
    uint64_t value[LOOK_PLACES];
    uint64_t count;
    uint64_t whole;
};

/* What is run and timed: an algorithm with its buffers, and the conditions. */
struct trial {
    const struct algorithm *algorithm;
    struct call *call;
    enum cache_state cache;     /* state of the caches when a sample begins */
    enum scratch_state scratch; /* fresh: each run() includes prepare() */
    bool queued; /* the device starts once all work is queued, which excludes the host's latency */
    uint64_t places; /* seed of the places that are looked at after each sample */
};

struct backend;

/* An open device. Its backend stores its own data after these fields. */
struct device {
    const struct backend *can;
    char reason[256]; /* reason of the last failure */
};

struct memory_counts;
struct line_counts;
struct verdict;
struct workspace;

/* What a device does as a member of a team (team_device.h), where work of several devices is queued
 * before any of it is timed. */
struct member_functions {
    /* Lets the device use the memory of another one of its kind. Returns NULL, or why it cannot. */
    const char *(*reach)(struct device *device, struct device *other);

    /* Divides what several processes of a host would all use among them. NULL: there is no such
     * thing. */
    void (*share)(struct device *device, struct device_info *info, struct device_limits *limits);

    /* Sets call->queue. Launches are recorded in `log` from here on; NULL: they are not. */
    void (*attach)(struct device *device, struct call *call, struct launch_log *log);

    /* Calls prepare() or run() of an algorithm. */
    void (*apply)(struct device *device, void (*function)(const struct call *),
                  const struct call *call);

    /* Poisons the results, as measure() does, puts the caches into their state and forgets earlier
     * marks. With trial->queued, nothing that is queued from here on starts before let_go(). */
    void (*get_ready)(struct device *device, const struct trial *trial);
    void (*let_go)(struct device *device);

    /* Marks a time in the device's work, MOST_MARKS at most, and reads the time between two marks
     * once the work is finished. */
    void (*mark)(struct device *device);
    const char *(*marked_ms)(struct device *device, unsigned from, unsigned to, double *ms);

    /* Waits for all queued work. */
    const char *(*finish)(struct device *device);
};

enum { MOST_MARKS = 64 };

/* How the time of a team's run was spent. */
struct team_times {
    double whole_ms;
    double exchange_ms;   /* longest time of a member in exchanges beside which it does no work,
                             waiting included; NAN: no exchange is apart from the work */
    double imbalance_pct; /* by how much the longest work of a member exceeds the mean of all */
};

struct backend {
    enum device_kind kind;

    /* ---- known before a device is open ---- */

    bool numbered;       /* there may be several, numbered for users: gpu0, gpu1 */
    bool has_threads;    /* its algorithms use problem.threads */
    bool has_simd;       /* its algorithms use problem.simd */
    bool has_blocks;     /* its algorithms launch kernels with problem.block threads per block */
    bool simulated;      /* slow, and its times mean nothing for the device it simulates */
    bool in_host_memory; /* its memory is that of the host, shared with other such devices */

    /* ---- how far its times and data sheet can be trusted ---- */

    bool has_own_time;           /* device time is measured separately from the host's wall time */
    bool hides_latency;          /* trial.queued excludes the host's latency from device time */
    bool one_cache;              /* device_info.cache_bytes is the whole last-level cache */
    double core_bytes_per_cycle; /* most that a multiprocessor can move; 0: unknown */

    /* The number of such devices. If 0, `why` is the reason. */
    int (*device_count)(const char **why);

    /* Creates emulated devices up to this number. NULL: it cannot. */
    void (*set_device_count)(int count);

    /* Reads the PCI bus id of device `index`, by which the driver knows it; empty: unknown. NULL if
     * there is no such driver. */
    void (*read_pci_bus_id)(char *text, int size, int index);

    /* Opens device `index`, to be closed with close(). */
    const char *(*open)(int index, uint64_t seed, struct device_info *info,
                        struct device_limits *limits, struct device **device);
    void (*close)(struct device *device);

    size_t (*free_memory_bytes)(struct device *device);

    /* The bytes that measuring takes on top of `bytes` of buffers. NULL: none. */
    size_t (*extra_bytes)(struct device *device, enum cache_state cache, size_t bytes);

    const char *(*allocate)(struct device *device, size_t bytes, struct buffer *buffer);
    void (*release)(struct device *device, struct buffer *buffer);

    /* Copies from device memory to host memory. */
    const char *(*read)(struct device *device, void *host, const void *data, size_t bytes);

    const char *(*fill_input)(struct device *device, const struct input *input, void *array);
    const char *(*poison)(struct device *device, const struct buffer *buffer);

    /* Fills the guard zones of a buffer. allocate() and resize() do so too. */
    const char *(*write_guards)(struct device *device, const struct buffer *buffer);

    /* Changes the bytes in use, up to those allocated: the zone after the buffer moves to its
     * new end. */
    const char *(*resize)(struct device *device, struct buffer *buffer, size_t bytes);

    /* Were the guard zones of a buffer overwritten? (guard.h) */
    const char *(*check_guards)(struct device *device, const struct buffer *buffer, bool *damaged,
                                struct guard_damage *damage);

    /* Finds the first index at which the check fails, or NO_INDEX. CHECK_KEPT requires an
     * earlier count_kept() of the same input. CHECK_SUMS has an array of one element per segment.
     */
    const char *(*first_wrong)(struct device *device, const struct check *check, int64_t *index);

    /* Counts the elements of the regenerated input that compaction keeps. */
    const char *(*count_kept)(struct device *device, const struct input *input, uint64_t *count);

    /* Combines all elements of the regenerated input with element_apply(): first runs of
     * neighbours, then their results from left to right. */
    const char *(*reduce_input)(struct device *device, const struct input *input, uint64_t *bits);

    /* Computes the digest of the array or, if that is NULL, of the regenerated input. */
    const char *(*digest)(struct device *device, const struct input *input, const void *array,
                          struct digest *digest);

    /* Returns NULL, or why that many CPU threads are unavailable. NULL if no algorithm uses
     * threads. */
    const char *(*threads_missing)(struct device *device, unsigned threads);

    /* Calls prepare(), then run() once: returns wall time and the launches. */
    const char *(*first_call)(struct device *device, const struct trial *trial,
                              struct launch_log *log, double *wall_ms);

    /* Runs once more, untimed and without prepare(): scratch still holds what earlier calls
     * left there. */
    const char *(*run_again)(struct device *device, const struct trial *trial);

    /* Poisons scratch and calls prepare(), before measure(). */
    const char *(*prepare)(struct device *device, const struct trial *trial);

    /* Takes `count` timed run()s, MAX_TURN_SAMPLES at most: device time, or wall time on the CPU.
     * Before each run the results are poisoned and the caches are put into their state; hot: one
     * untimed run() first, then all back to back, poisoned at the places looked at alone. After
     * each run its results are looked at: looks[i]. */
    const char *(*measure)(struct device *device, const struct trial *trial, double *time_ms,
                           struct look *looks, unsigned count);

    /* Looks at the results as they are; `whole`: with the digest of all elements. */
    const char *(*look)(struct device *device, const struct trial *trial, bool whole,
                        struct look *look);

    /* The number of allocations on the device that have not been freed. NULL: unknown. */
    size_t (*allocations)(struct device *device);

    /* What the untimed runs since the last call have touched that they must not: memory beyond a
     * buffer, or the input with a write, even if all is as before. NULL: nothing; or no such
     * function: nobody can tell. */
    const char *(*touched)(struct device *device);

    /* Calls prepare(), then one run() whose first `count` launches are timed one by one, with
     * the caches prepared as in measure(). NULL if nothing is launched. */
    const char *(*measure_launches)(struct device *device, const struct trial *trial,
                                    double *time_ms, unsigned count);

    /* Calls prepare(), then run(), untimed, once or as often as counting takes, and counts what its
     * launches do to memory: of the first `most`, and how many of these there were. What the device
     * does not count is UNKNOWN_COUNT. `why_not`: why nothing was counted of a run that succeeded;
     * NULL if it was. NULL if it cannot count. */
    const char *(*count)(struct device *device, const struct trial *trial,
                         struct memory_counts *counts, unsigned most, unsigned *launches,
                         const char **why_not);

    /* What all launches of the last count() did, by kernel and line of its source: kernels in the
     * order of their first launches. Returns how many there are, valid until the next count(). NULL
     * if it cannot tell. */
    size_t (*count_lines)(struct device *device, const struct line_counts **lines);

    /* Calls prepare(), then run() once, untimed, and fails at the first two accesses of its
     * launches that nothing orders: then `found`. NULL if it cannot tell. */
    const char *(*find_races)(struct device *device, const struct trial *trial, bool *found);

    /* Calls prepare(), then run() once, untimed, and writes what its launches read and wrote, step
     * by step, as members of a JSON object (emulator.h). NULL if it cannot trace. */
    const char *(*trace)(struct device *device, const struct trial *trial, FILE *out);

    /* Allocates host memory as a user of the device would have it. NULL, like the next two, if
     * host and device share their memory. */
    const char *(*allocate_host)(struct device *device, size_t bytes, bool pinned, void **memory);
    void (*release_host)(struct device *device, void *memory, bool pinned);

    /* Calls prepare(), then copies the input to the device, calls run(), and copies `written`
     * elements of the result back. Returns the total time and the times of the copies. */
    const char *(*measure_copies)(struct device *device, const struct trial *trial,
                                  const void *host_input, void *host_output, uint64_t written,
                                  double *whole_ms, double *h2d_ms, double *d2h_ms);

    /* Measures the wall time from the call of run() until its result is ready. */
    const char *(*measure_wall)(struct device *device, const struct trial *trial, double *wall_ms);

    /* Calls prepare(), makes `count` run()s back to back, and waits for them. NULL: never needed.
     */
    const char *(*run_many)(struct device *device, const struct trial *trial, unsigned count);

    /* Queries of the driver: its version, whether the device is throttled, and the energy used
     * so far in mJ, NAN if unknown. NULL if there is no such driver. */
    void (*read_driver)(char *text, size_t size);
    struct gpu_state (*read_state)(struct device *device);
    double (*read_energy_mj)(struct device *device);

    /* Recovers from a failure, which is cleared if the device can be used again. */
    enum recovery (*recover)(struct device *device);

    /* NULL: the device cannot be a member of a team. */
    const struct member_functions *as_member;

    /* ---- of a team only, else NULL ---- */

    /* Allocates n elements, divided into slices. allocate() gives every member all bytes. */
    const char *(*allocate_slices)(struct device *device, uint64_t n, size_t element_bytes,
                                   struct buffer *buffer);

    /* verify() (verify.h) of every slice and of the seams between them. */
    const char *(*verify_slices)(struct device *device, const struct problem *problem,
                                 enum result result, const struct input *input,
                                 const struct workspace *workspace, struct verdict *verdict);

    /* As measure(), for one run whose exchanges are timed. */
    const char *(*measure_exchange)(struct device *device, const struct trial *trial,
                                    struct team_times *times);

    /* The same number in all processes, though each measured its own: process 0's. */
    double (*agree)(struct device *device, double number);
};

/* The GPU's is a stub in builds without CUDA. */
#define DEVICE(NAME, name, BACKEND) extern const struct backend BACKEND;
#include "../devices.def"

#ifdef __cplusplus
}
#endif
