/* backend.h: a device as the runner sees it.
 *
 * A backend is a kind of device: what all of the kind can do, as values and functions.
 * There are three: the CPU, the GPU, and the emulator, which is the GPU's source
 * compiled for the CPU. A device is what open() hands out, and says itself what it can
 * do: device->can->read(device, ...). Several may be open at once, and used in turns by
 * one thread. A device owns memory, makes and checks arrays where they lie, and takes
 * timed samples of an algorithm; it knows nothing of options, plans or reports.
 *
 * Functions that return `const char *` return NULL, or the reason they failed,
 * which stands until the device's next call. */
#ifndef SCANBENCH_BENCH_DEVICE_BACKEND_H
#define SCANBENCH_BENCH_DEVICE_BACKEND_H

#include "../../timing/cache_state.h"
#include "../../timing/gpu_state.h"
#include "../algorithm.h"
#include "../launch_log.h"
#include "input.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A block of the device's memory between two guard zones, GUARD_BYTES each: as much as
 * the largest tile, so that one that is written in the wrong place is seen. */
struct buffer {
    void *data;
    size_t bytes;     /* in use: the zone behind begins here */
    size_t allocated; /* bytes, and more never */
};

enum { GUARD_BYTES = 64 << 10, GUARD_BYTE = 0xA5, POISON_BYTE = 0x5C };

/* What --device-info prints and each row repeats. Empty or 0: unknown. */
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
    size_t cache_bytes;        /* of the last level */
    size_t l1_bytes, l2_bytes; /* CPU: of one core */
    int cores;                 /* CPU: without hyper-threads */
    char simd[64];             /* CPU: its vector extensions */
    size_t memory_bytes;
    double clock_mhz;
    double memory_clock_mhz;
    int memory_bus_bits;
    char ecc[4];      /* of its memory: on, off */
    double peak_gb_s; /* theoretical bandwidth of the memory */
};

enum check_kind {
    CHECK_INPUT, /* the input still is what was filled in */
    CHECK_SCAN,  /* out[0], and out[i] - out[i-1], against the input made anew */
    CHECK_KEPT,  /* what compaction keeps of the input, in order */
    CHECK_ORDER, /* no element is less than the one before it */
    CHECK_POISON /* nothing was written from element `from` on */
};

/* One check of an array: every element, in parallel where the device is. */
struct check {
    enum check_kind kind;
    enum scan_kind scan;
    struct input input;
    const void *array; /* the array looked at, input.n elements */
    uint64_t from;     /* CHECK_POISON only */
};

/* What a set of elements is known by, whatever their order: the sum and the
 * exclusive or of two strong hashes of each. One element lost, or two made into
 * one, changes both. */
struct digest {
    uint64_t sum, parity;
};

enum { NO_INDEX = -1 };

struct guard_damage;

enum { MAX_TURN_SAMPLES = 16 };

/* What became of the device after a failure. */
enum recovery {
    DEVICE_USABLE, /* as it was, with all its buffers */
    DEVICE_RESET,  /* usable, but every buffer is gone: forget it, do not release it */
    DEVICE_LOST,   /* every further call will fail */
};

/* What is run and timed: an algorithm with its buffers, and under which conditions. */
struct trial {
    const struct algorithm *algorithm;
    struct call *call;
    enum cache_state cache;     /* what the caches hold when a sample begins */
    enum scratch_state scratch; /* fresh: prepare() is part of every run() */
    bool queued; /* the device starts only when all is queued: the host's latency stays out */
};

struct backend;

/* An open device. Its backend keeps what else it needs after these. */
struct device {
    const struct backend *can;
    char reason[256]; /* of the last failure */
};

struct backend {
    enum device_kind kind;

    /* ---- what is known before a device is open ---- */

    bool numbered;    /* there may be several, which users tell apart: gpu0, gpu1 */
    bool has_threads; /* its algorithms run on problem.threads threads */
    bool has_simd;    /* its algorithms take problem.simd */
    bool has_blocks;  /* its algorithms launch kernels, in blocks of problem.block threads */
    bool simulated;   /* slow, and its times say nothing of what it stands for */

    /* ---- what its times and data sheet are good for ---- */

    bool has_own_time;           /* device time is measured; the host's wall time is another */
    bool hides_latency;          /* trial.queued keeps the host's latency out of device time */
    bool one_cache;              /* device_info.cache_bytes are all there are of the last level */
    double core_bytes_per_cycle; /* that a multiprocessor moves at most; 0: not known */

    /* How many such devices there are. 0: `why` says why there is none. */
    int (*device_count)(const char **why);

    /* Opens device `index`, which close() gives back. */
    const char *(*open)(int index, uint64_t seed, struct device_info *info,
                        struct device_limits *limits, struct device **device);
    void (*close)(struct device *device);

    size_t (*free_memory_bytes)(struct device *device);
    const char *(*allocate)(struct device *device, size_t bytes, struct buffer *buffer);
    void (*release)(struct device *device, struct buffer *buffer);

    /* Copies from the device's memory to the host's. */
    const char *(*read)(struct device *device, void *host, const void *data, size_t bytes);

    const char *(*fill_input)(struct device *device, const struct input *input, void *array);
    const char *(*poison)(struct device *device, const struct buffer *buffer);

    /* Fills the zones beside a buffer; allocate() and resize() do it too. */
    const char *(*write_guards)(struct device *device, const struct buffer *buffer);

    /* Puts fewer bytes to use, or again as many as were allocated: the zone
     * behind the buffer moves to its new end. */
    const char *(*resize)(struct device *device, struct buffer *buffer, size_t bytes);

    /* Was the neighbourhood of a buffer written to? (guard.h) */
    const char *(*check_guards)(struct device *device, const struct buffer *buffer, bool *damaged,
                                struct guard_damage *damage);

    /* The first index at which the check fails, or NO_INDEX. For CHECK_KEPT call
     * count_kept() of the same input before. */
    const char *(*first_wrong)(struct device *device, const struct check *check, int64_t *index);

    /* How many elements of the input compaction keeps, counted anew. */
    const char *(*count_kept)(struct device *device, const struct input *input, uint64_t *count);

    /* The sum of all elements of the input, made anew, by element_add() in some order:
     * runs of neighbours are summed by themselves, then their sums, from left to right. */
    const char *(*sum_input)(struct device *device, const struct input *input, uint64_t *bits);

    /* Of the array, or, where that is NULL, of the input made anew. */
    const char *(*digest)(struct device *device, const struct input *input, const void *array,
                          struct digest *digest);

    /* NULL, or why there cannot be so many CPU threads. NULL where no algorithm has any. */
    const char *(*threads_missing)(struct device *device, unsigned threads);

    /* Runs once, untimed, after prepare(): wall time, and what was launched. */
    const char *(*first_call)(struct device *device, const struct trial *trial,
                              struct launch_log *log, double *wall_ms);

    /* Runs once more, untimed and without prepare(): what the calls before left in
     * scratch is there still. */
    const char *(*run_again)(struct device *device, const struct trial *trial);

    /* prepare(), then `count` timed run()s, MAX_TURN_SAMPLES at most: device time,
     * or wall time on the CPU. The caches are put into their state before each;
     * hot: one untimed run() first, then back to back. */
    const char *(*measure)(struct device *device, const struct trial *trial, double *time_ms,
                           unsigned count);

    /* prepare(), then one run() whose first `count` launches are timed one by one;
     * caches as above. NULL where nothing is launched. */
    const char *(*measure_launches)(struct device *device, const struct trial *trial,
                                    double *time_ms, unsigned count);

    /* The host's memory, as a user of the device would have it. NULL, with the next
     * two, where host and device share their memory. */
    const char *(*allocate_host)(struct device *device, size_t bytes, bool pinned, void **memory);
    void (*release_host)(struct device *device, void *memory, bool pinned);

    /* prepare(), then copies the input to the device, calls run(), and copies
     * `written` elements of the result back: the time of all, and of the copies. */
    const char *(*measure_copies)(struct device *device, const struct trial *trial,
                                  const void *host_input, void *host_output, uint64_t written,
                                  double *whole_ms, double *h2d_ms, double *d2h_ms);

    /* Wall time from the call of run() until its result is ready. */
    const char *(*measure_wall)(struct device *device, const struct trial *trial, double *wall_ms);

    /* `count` run()s back to back, waited for. NULL where their energy is not known. */
    const char *(*run_many)(struct device *device, const struct trial *trial, unsigned count);

    /* What the driver says: its own version, whether the device is held below its
     * clocks, and the energy it has used so far in mJ, NAN if unknown. NULL where there
     * is no such driver. */
    void (*read_driver)(char *text, size_t size);
    struct gpu_state (*read_state)(struct device *device);
    double (*read_energy_mj)(struct device *device);

    /* After a failure, which is forgotten if the device can be used again. */
    enum recovery (*recover)(struct device *device);
};

#define DEVICE(NAME, name, BACKEND) extern const struct backend BACKEND;
#include "../devices.def"
#undef DEVICE

#ifdef __cplusplus
}
#endif
#endif
