/* algorithm.h: what a scanbench algorithm is.
 *
 * This is the one header of the harness that an algorithm's file includes. It
 * knows nothing of options, plans, timing or reports, and includes libc only.
 *
 * An algorithm is one file that ends with a `struct algorithm`, and one line of
 * algorithms.def. The runner owns every buffer, times run() and checks its
 * result; run() only does the work. */
#ifndef SCANBENCH_BENCH_ALGORITHM_H
#define SCANBENCH_BENCH_ALGORITHM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Host code that kernels call as well. */
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

/* Who wrote it: scanbench, a library, or nobody, because it only marks what the
 * memory (memcpy) or the launch (empty) allows. */
enum family { FAMILY_OWN, FAMILY_LIBRARY, FAMILY_CEILING };

/* What run() leaves in the output: the operation's result, or, for a ceiling, a
 * copy of the input, or nothing. Each is checked as what it is. */
enum result { RESULT_OF_OPERATION, RESULT_COPY, RESULT_NOTHING };

/* Which vector instructions a CPU algorithm uses, the narrowest first. AUTO is
 * the widest that the CPU has; a problem says which that is. */
enum simd_path { SIMD_AUTO, SIMD_PORTABLE, SIMD_AVX2, SIMD_AVX512, SIMD_PATH_COUNT };

/* What an algorithm may ask of the device it is about to run on. Zero where
 * the device has no such thing. */
struct device_limits {
    enum device_kind kind;
    const char *name;       /* as the device gives it */
    int compute_capability; /* 90 for sm_90 */
    int multiprocessors;    /* on the CPU: threads unless told, one a processor */
    int threads_per_multiprocessor;
    int blocks_per_multiprocessor;
    size_t shared_bytes_per_block; /* with opt-in */
    size_t shared_bytes_per_multiprocessor;
    size_t cache_bytes;       /* last-level cache */
    enum simd_path best_simd; /* on the CPU: the widest it has */
};

struct algorithm;

/* One problem, as the user asked for it. */
struct problem {
    enum operation op;
    enum element_type type;
    enum scan_kind kind;          /* scan only */
    uint64_t n;                   /* elements of the input */
    unsigned block;               /* GPU: threads a block, a power of two, 32..1024; else 0 */
    unsigned threads;             /* CPU: worker threads; else 0 */
    enum simd_path simd;          /* CPU: which vector instructions, never AUTO; else 0 */
    double kept_share;            /* compaction: of the elements, about, from 0 to 1; else 0 */
    double max_time_ms;           /* how long the user would wait for this row */
    const struct algorithm *scan; /* what the algorithm stands on: its `over` */
    const struct device_limits *device;
};

/* One call of an algorithm. Buffers are at least 256-byte aligned, do not
 * overlap, and lie where the algorithm runs: in host or in device memory. */
struct call {
    struct problem problem;
    const void *input;    /* n elements; must not be changed */
    void *output;         /* n elements, of which those of the result are written, and no others */
    uint64_t *count;      /* compaction: where the number of kept elements goes; else NULL */
    void *scratch;        /* scratch_bytes bytes; NULL if there are none */
    size_t scratch_bytes; /* what the algorithm's scratch_bytes() said */
    uint32_t epoch;       /* calls of run() since prepare(), counted from 1 */
    void *queue;          /* GPU: see kernels/launch.cuh; NULL on the CPU */
    void **kept; /* what prepare() or run() keep for the next call; *kept is NULL at first */
};

/* When scratch is set up by prepare(): before the timed runs, or in each of them. */
enum scratch_state { SCRATCH_KEPT, SCRATCH_FRESH, SCRATCH_STATE_COUNT };

/* Traits: what a run() does that the timer has to know of. */
enum {
    TRAIT_SYNCHRONISES = 1 << 0, /* waits for the device, or allocates, inside run() */
    TRAIT_HAS_BLOCK = 1 << 1,    /* obeys problem.block */
    TRAIT_HAS_THREADS = 1 << 2,  /* obeys problem.threads */
    TRAIT_NO_SORT = 1 << 3,      /* a scan too slow for one to be needed for each bit */
    TRAIT_HAS_SIMD = 1 << 4,     /* obeys problem.simd */
};

struct algorithm {
    const char *name; /* as --algo takes it; the table's row says it too */
    enum operation op;
    enum family family;
    enum result result;
    unsigned traits;
    unsigned default_block; /* threads a block for --block=auto; 0 without TRAIT_HAS_BLOCK */
    const char *summary;    /* one line, for --list */
    const char *source;     /* paper, book or library it comes from */
    /* The version of the library it calls, as "CUB 3.0.1"; NULL if it calls none. */
    const char *(*library_version)(void);
    const struct algorithm *over; /* the scan it stands on, set by the table; else NULL */

    /* NULL if run() can do this problem, else the reason why not, as the row's
     * `reason`. May be NULL: everything is supported. */
    const char *(*supports)(const struct problem *problem);

    /* Bytes of scratch run() needs; may be NULL: none. */
    size_t (*scratch_bytes)(const struct problem *problem);

    /* Sets up scratch, untimed, before a series of run()s. May be NULL. */
    void (*prepare)(const struct call *call);

    /* Does the work, or on a GPU enqueues it: no allocation, no waiting, no
     * printing, except as the traits say. Errors of a GPU stay with the queue. */
    void (*run)(const struct call *call);

    /* Brings results that run() left elsewhere to where the call wants them; not timed,
     * before they are looked at. May be NULL. */
    void (*hand_over)(const struct call *call);

    /* Gives back what *call->kept is, after the last call of a problem; not called where
     * that is NULL. The device may be lost by then: memory on it may be freed, which
     * fails, and nothing else. NULL if nothing is kept. */
    void (*release)(const struct call *call);
};

/* Defines library_version() for a file that calls a library, as printf() would write it. */
#define LIBRARY_VERSION(...)                      \
    static const char *library_version(void)      \
    {                                             \
        static char text[64];                     \
        snprintf(text, sizeof text, __VA_ARGS__); \
        return text;                              \
    }

/* Bytes of one element. */
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

/* The bytes the operation itself must move, whatever the algorithm: it reads each
 * element once, and writes `written` elements, those of its result. */
static inline double operation_bytes(const struct problem *problem, uint64_t written)
{
    return ((double)problem->n + (double)written) * (double)element_bytes(problem->type);
}

#ifdef __cplusplus
}
#endif
#endif
