/* algorithm.h: the interface between an algorithm and the harness.
 *
 * It is the only harness header that an algorithm's file includes. It knows nothing of options,
 * plans, timing or reports, and includes libc only.
 *
 * An algorithm is one file that ends with a `struct algorithm`, and one line of algorithms.def.
 * The runner owns every buffer, times run() and checks its result; run() only does the work. */
#ifndef SCANBENCH_BENCH_ALGORITHM_H
#define SCANBENCH_BENCH_ALGORITHM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Marks host code that kernels call as well. */
#ifdef __CUDACC__
#define HOST_DEVICE __host__ __device__
#else
#define HOST_DEVICE
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum operation {
#define OPERATION(NAME, ...) OP_##NAME,
#include "operations.def"
#undef OPERATION
    OPERATION_COUNT
};

enum element_type {
#define TYPE(NAME, ...) TYPE_##NAME,
#include "types.def"
#undef TYPE
    TYPE_COUNT
};

/* How elements are ordered and added. */
enum type_class { TYPE_SIGNED, TYPE_UNSIGNED, TYPE_FLOAT };

enum scan_kind { KIND_EXCLUSIVE, KIND_INCLUSIVE, KIND_COUNT };

/* Where an algorithm can run. The emulator runs the GPU's kernels on the CPU. */
enum device_kind {
#define DEVICE(NAME, ...) DEVICE_##NAME,
#include "devices.def"
#undef DEVICE
    DEVICE_KIND_COUNT
};

/* Who wrote it: scanbench; a library; or neither, if it only marks the limit of memory (memcpy)
 * or of a launch (empty). */
enum family { FAMILY_OWN, FAMILY_LIBRARY, FAMILY_CEILING };

/* What run() leaves in the output: the operation's result or, for a ceiling, a copy of the
 * input or nothing. The check depends on it. */
enum result { RESULT_OF_OPERATION, RESULT_COPY, RESULT_NOTHING };

/* The vector instructions of a CPU algorithm, narrowest first. AUTO is the widest set that the
 * CPU has; a problem always names a definite one. */
enum simd_path { SIMD_AUTO, SIMD_PORTABLE, SIMD_AVX2, SIMD_AVX512, SIMD_PATH_COUNT };

/* What an algorithm may ask about the device it is about to run on. Zero if the device has no
 * such thing. */
struct device_limits {
    enum device_kind kind;
    const char *name;       /* as the device reports it */
    int compute_capability; /* 90 for sm_90 */
    int multiprocessors;    /* on the CPU: default number of threads, one per processor */
    int threads_per_multiprocessor;
    int blocks_per_multiprocessor;
    size_t shared_bytes_per_block; /* with opt-in */
    size_t shared_bytes_per_multiprocessor;
    size_t cache_bytes;       /* last-level cache */
    enum simd_path best_simd; /* on the CPU: the widest it supports */
};

struct algorithm;

/* One problem, as the user asked for it. */
struct problem {
    enum operation op;
    enum element_type type;
    enum scan_kind kind; /* scan only */
    uint64_t n;          /* elements of the input */
    unsigned block;      /* GPU: threads per block, a power of two, 32..1024; else 0 */
    unsigned threads;    /* CPU: worker threads; else 0 */
    enum simd_path simd; /* CPU: which vector instructions, never AUTO; else 0 */
    double kept_share;   /* compaction: expected fraction of elements kept, 0 to 1; else 0 */
    double max_time_ms;  /* the user's limit on the time for this row */
    const struct algorithm *scan; /* the scan that the algorithm is built on: its `over` */
    const struct device_limits *device;
};

/* One call of an algorithm. Buffers are aligned to at least 256 bytes, do not overlap, and lie
 * in host or device memory, wherever the algorithm runs. */
struct call {
    struct problem problem;
    const void *input;    /* n elements; must not be changed */
    void *output;         /* n elements; only those of the result may be written */
    uint64_t *count;      /* compaction: receives the number of kept elements; else NULL */
    void *scratch;        /* scratch_bytes bytes; NULL if there are none */
    size_t scratch_bytes; /* as returned by the algorithm's scratch_bytes() */
    uint32_t epoch;       /* calls of run() since prepare(), counted from 1 */
    void *queue;          /* GPU: see kernels/launch.cuh; NULL on the CPU */
    void **kept; /* state that prepare() or run() keep between calls; *kept is NULL at first */
};

/* When prepare() sets up scratch: before the timed runs, or in each of them. */
enum scratch_state { SCRATCH_KEPT, SCRATCH_FRESH, SCRATCH_STATE_COUNT };

/* Traits: properties of run() that the timer and the options depend on. */
enum {
    TRAIT_SYNCHRONISES = 1 << 0, /* waits for the device, or allocates, inside run() */
    TRAIT_HAS_BLOCK = 1 << 1,    /* obeys problem.block */
    TRAIT_HAS_THREADS = 1 << 2,  /* obeys problem.threads */
    TRAIT_NO_SORT = 1 << 3,      /* too slow a scan for sorting, which needs one per bit */
    TRAIT_HAS_SIMD = 1 << 4,     /* obeys problem.simd */
};

/* The reason of a library that was not installed when the program was built, followed by what
 * to install. Such an algorithm has no run(). */
#define NOT_IN_BUILD "not in this build: install "

struct algorithm {
    const char *name; /* as --algo takes it; the table's row has the same name */
    enum operation op;
    enum family family;
    enum result result;
    unsigned traits;
    unsigned default_block; /* threads per block for --block=auto; 0 without TRAIT_HAS_BLOCK */
    const char *summary;    /* one line, for --list */
    const char *source;     /* paper, book or library it comes from */
    /* The library it calls and its version, as "CUB 3.0.1"; NULL if it calls none. */
    const char *(*library_version)(void);
    const struct algorithm *over; /* the scan it is built on, set by the table; else NULL */

    /* Returns NULL if run() can solve this problem, else the reason, which becomes the row's
     * `reason`. NULL: every problem is supported. */
    const char *(*supports)(const struct problem *problem);

    /* Returns the bytes of scratch that run() needs. NULL: none. */
    size_t (*scratch_bytes)(const struct problem *problem);

    /* Sets up scratch before a series of run()s, untimed. May be NULL. */
    void (*prepare)(const struct call *call);

    /* Does the work, or on a GPU enqueues it. It does not allocate, wait or print, except as
     * the traits say. GPU errors stay with the queue. */
    void (*run)(const struct call *call);

    /* Untimed, before checking: copies results left elsewhere, such as a count on the host,
     * into the call's buffers. May be NULL. */
    void (*hand_over)(const struct call *call);

    /* Frees *call->kept after the last call of a problem; not called if that is NULL. The
     * device may be lost by then: freeing its memory fails, and nothing else may be done with
     * it. NULL if nothing is kept. */
    void (*release)(const struct call *call);
};

/* Defines library_version() for a file that calls a library; the arguments are those of
 * printf(). */
#define LIBRARY_VERSION(...)                      \
    static const char *library_version(void)      \
    {                                             \
        static char text[64];                     \
        snprintf(text, sizeof text, __VA_ARGS__); \
        return text;                              \
    }

HOST_DEVICE static inline size_t element_bytes(enum element_type type)
{
    switch (type) {
#define TYPE(NAME, name, T, ...) \
    case TYPE_##NAME:            \
        return sizeof(T);
#include "types.def"
#undef TYPE
    default:
        __builtin_unreachable();
    }
}

HOST_DEVICE static inline enum type_class type_class(enum element_type type)
{
    switch (type) {
#define TYPE(NAME, name, T, SUM, CLASS, LARGEST) \
    case TYPE_##NAME:                            \
        return TYPE_##CLASS;
#include "types.def"
#undef TYPE
    default:
        return TYPE_UNSIGNED;
    }
}

/* The bytes that the operation must move at least, whatever the algorithm: it reads each
 * element once and writes the `written` elements of its result. */
static inline double operation_bytes(const struct problem *problem, uint64_t written)
{
    return ((double)problem->n + (double)written) * (double)element_bytes(problem->type);
}

#ifdef __cplusplus
}
#endif
#endif
