/* algorithm.h: the interface between an algorithm and the harness.
 *
 * It is the only harness header that an algorithm's file includes. It knows nothing of options,
 * plans, timing or reports, and includes libc only.
 *
 * An algorithm is one file that ends with a `struct algorithm`, and one line of algorithms.def.
 * The runner owns every buffer, times run() and checks its result; run() only does the work. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Marks host code that kernels call as well. */
#ifdef __CUDACC__
#define HOST_DEVICE __host__ __device__
#else
#define HOST_DEVICE
#endif

/* f16, bf16, and what their sums are. */
#include "half.h"

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

/* What a scan or a reduction combines elements with. The recurrence is
 * h[i] = a[i] * h[i-1] + b[i] with h[-1] = 0: a is the input, b the second input, h the result. */
enum binary_operator {
#define OPERATOR(NAME, ...) OPERATOR_##NAME,
#include "operators.def"
    OPERATOR_COUNT
};

/* Numbers each pair of an operator and a type, for the cases of a switch. */
#define OPERAND_ID(id, type) ((int)(id) * (int)TYPE_COUNT + (int)(type))

/* How elements are ordered and added. */
enum type_class { TYPE_SIGNED, TYPE_UNSIGNED, TYPE_FLOAT };

enum scan_kind { KIND_EXCLUSIVE, KIND_INCLUSIVE, KIND_COUNT };

/* How an array is divided into segments, each of which is scanned or reduced by itself: into rows
 * of one length; at given offsets; where neighbouring keys differ. */
enum segment_form {
    SEGMENTS_NONE,
    SEGMENTS_ROWS,
    SEGMENTS_OFFSETS,
    SEGMENTS_KEYS,
    SEGMENT_FORM_COUNT
};

/* Values that a sort moves with the keys. Together they are pairs. */
enum value_type { VALUES_NONE, VALUES_U32, VALUES_U64, VALUE_TYPE_COUNT };

/* Where an algorithm can run. The emulator runs the GPU's kernels on the CPU. */
enum device_kind {
#define DEVICE(NAME, ...) DEVICE_##NAME,
#include "devices.def"
#undef DEVICE
    DEVICE_KIND_COUNT
};

/* Who wrote it: scanbench; a library; neither, if it only marks the limit of memory (memcpy) or of
 * a launch (empty); or the user. */
enum family { FAMILY_OWN, FAMILY_LIBRARY, FAMILY_CEILING, FAMILY_USER };

/* What run() leaves in the output: the operation's result or, for a ceiling, a copy of the
 * input or nothing. The check depends on it. */
enum result {
    RESULT_OF_OPERATION, /* of a sort: -0 before 0 */
    RESULT_ZEROS_EQUAL,  /* the same, but 0 and -0 in any order, as a library sorts them */
    RESULT_COPY,
    RESULT_NOTHING
};

/* The vector instructions of a CPU algorithm, narrowest first. AUTO is the widest set that the
 * CPU has; a problem always names a definite one. */
enum simd_path { SIMD_AUTO, SIMD_PORTABLE, SIMD_AVX2, SIMD_AVX512, SIMD_PATH_COUNT };

/* What an algorithm may ask about the device it is about to run on. Zero if the device has no
 * such thing. */
struct device_limits {
    enum device_kind kind;
    const char *name;       /* as the device reports it */
    int compute_capability; /* 90 for sm_90; of the kernels, if they are compiled for less */
    int multiprocessors;    /* on the CPU: default number of threads, one per processor */
    int threads_per_multiprocessor;
    int blocks_per_multiprocessor;
    size_t shared_bytes_per_block; /* with opt-in */
    size_t shared_bytes_per_multiprocessor;
    int cluster_blocks;       /* the most of one thread-block cluster, a multiprocessor for each */
    size_t cache_bytes;       /* last-level cache */
    enum simd_path best_simd; /* on the CPU: the widest it supports */
    bool rounds_help;         /* on the CPU: cpu/prefetch.h */
    /* CPU: a cpu_set_t. Each thread is pinned to one of its processors. NULL: no thread is
     * pinned. */
    const void *pinned_to;
    unsigned members;     /* devices of the team; 0: one device by itself */
    unsigned processes;   /* that these devices belong to */
    const char *no_peers; /* why they cannot store in each other's memory; NULL: they can */
};

struct algorithm;

/* One problem, as the user asked for it. */
struct problem {
    enum operation op;
    enum element_type type;
    enum binary_operator binary_operator; /* scan and reduction; else OPERATOR_SUM */
    enum scan_kind kind;                  /* scan only */
    enum segment_form segments;           /* scan and reduction; else SEGMENTS_NONE */
    uint64_t segment_length; /* elements of a row, the last of which may be shorter; of other
                                segments the mean; 0: no segments */
    uint64_t segment_count;  /* 0: no segments */
    enum value_type values;  /* sort only */
    bool stable;             /* pairs with equal keys must keep their order */
    uint64_t n;              /* elements of the input */
    unsigned block;          /* GPU: threads per block, a power of two, 32..1024; else 0 */
    unsigned threads;        /* CPU: worker threads; else 0 */
    enum simd_path simd;     /* CPU: which vector instructions, never AUTO; else 0 */
    double kept_share;       /* compaction: expected fraction of elements kept, 0 to 1; else 0 */
    double max_time_ms;      /* the user's limit on the time for this row */
    const struct algorithm *algorithm; /* what is to solve it, if the user wrote that, or in a team:
                                          scratch_bytes() and prepare() need it as well as run() */
    bool unaligned; /* the arrays are aligned to their elements only: TRAIT_UNALIGNED */
    bool in_place;  /* the output may be the input: TRAIT_IN_PLACE. Only the library asks for it */
    const struct algorithm *scan;  /* the scan that the algorithm is built on: its `over` */
    const struct algorithm *local; /* in a team: what works within a slice; else NULL */
    uint64_t whole_n;              /* in a team: elements of all slices */
    const struct device_limits *device;
};

/* One call of an algorithm. Buffers are aligned to at least 256 bytes, unless the problem says
 * otherwise, do not overlap, unless the algorithm's traits allow that, and lie in host or device
 * memory, wherever the algorithm runs. */
struct call {
    struct problem problem;
    const void *input; /* n elements; must not be changed */
    void *output;      /* n elements; only those of the result may be written */
    uint64_t *count;   /* compaction: receives the number of kept elements, followed in a
                          team by the number of those in earlier slices; else NULL */
    /* A second input, which must not be changed, or NULL. Recurrence: the b of each element.
     * Segments at offsets: segment_count + 1 offsets as uint64_t, from 0 to n. Segments by keys:
     * n keys as uint32_t. */
    const void *second;
    const void *input_values; /* sort of pairs: n values, which must not be changed; else NULL */
    void *output_values;      /* in the order of their keys */
    void *scratch;            /* scratch_bytes bytes; NULL if there are none */
    size_t scratch_bytes;     /* as returned by the algorithm's scratch_bytes() */
    uint32_t epoch;           /* calls of run() since prepare(), counted from 1; 0 for the scan that
                                 another algorithm is built on */
    void *queue;              /* GPU: see kernels/launch.cuh; NULL on the CPU */
    void **kept; /* state that prepare() or run() keep between calls; *kept is NULL at first */
    /* Sort within a team: how the keys are partitioned already, in device memory
     * (kernels/sort/key_parts.cuh), or NULL. An algorithm may ignore it. */
    const struct key_parts *parts;
};

/* Several devices that share one array, and how they exchange data: see engine.h. */
struct team;
struct engine;

/* The first place in scratch after `bytes` where an array may begin. */
static inline size_t next_place(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* When prepare() sets up scratch: before the timed runs, or in each of them. */
enum scratch_state { SCRATCH_KEPT, SCRATCH_FRESH, SCRATCH_STATE_COUNT };

/* Traits: properties of run() that the timer and the options depend on. */
enum {
    TRAIT_SYNCHRONISES = 1 << 0, /* waits for the device, or allocates, inside run() */
    TRAIT_HAS_BLOCK = 1 << 1,    /* obeys problem.block */
    TRAIT_HAS_THREADS = 1 << 2,  /* obeys problem.threads */
    TRAIT_NO_SORT = 1 << 3,      /* too slow a scan for sorting, which needs one per bit */
    TRAIT_HAS_SIMD = 1 << 4,     /* obeys problem.simd */
    TRAIT_PAIRS = 1 << 5,        /* obeys problem.values: a sort of pairs, too */
    TRAIT_STABLE = 1 << 6,       /* a sort that keeps the order of pairs with equal keys */
    /* What a program that calls it may do, though scanbench's own buffers never need it. */
    TRAIT_UNALIGNED = 1 << 7,          /* obeys problem.unaligned */
    TRAIT_IN_PLACE = 1 << 8,           /* the output may be the input */
    TRAIT_INCLUSIVE_IN_PLACE = 1 << 9, /* the same, for inclusive scans only */
    TRAIT_LASTING_SCRATCH = 1 << 10,   /* after one prepare(), scratch serves all problems but
                                          segments at offsets, and all algorithms with this trait,
                                          in turns */
    TRAIT_HAS_RUNS = 1 << 11,          /* of a team: calls engine->exchange_runs() */
    TRAIT_ALLOCATES_ONE = 1 << 12,     /* on the CPU: see TRAIT_ALLOCATES() */
    TRAIT_ALLOCATES_MASK = 15 * TRAIT_ALLOCATES_ONE,
    TRAIT_SEGMENTS_ONLY = 1 << 16,    /* a scan of segments alone */
    TRAIT_PAIRS_ONLY = 1 << 17,       /* a sort of pairs alone */
    TRAIT_NARROW_KEYS_ONLY = 1 << 18, /* a sort of TYPES_OF_NARROW_KEYS alone */
    TRAIT_OPENMP = 1 << 19,           /* runs on threads of OpenMP */
};

/* The trait of a CPU algorithm that allocates by itself, inside run(): at most this number of
 * arrays, from 1 to 15, each as large as the input with its values. What the C library keeps for
 * later counts, too. */
#define TRAIT_ALLOCATES(arrays) ((arrays)*TRAIT_ALLOCATES_ONE)

/* The reason of a library that was not installed when the program was built, followed by what
 * to install. Such an algorithm has no run(). */
#define NOT_IN_BUILD "not in this build: install "

/* Sets of types: bit TYPE_I32 is i32. */
enum {
#define TYPE(NAME, name, T, ...) TYPE_BIT_##NAME = 1 << TYPE_##NAME,
#include "types.def"
#define TYPE(NAME, name, T, ...) +(sizeof(T) == 4) * TYPE_BIT_##NAME
    TYPES_OF_4_BYTES =
#include "types.def"
        ,
#define TYPE(NAME, name, T, ...) +(sizeof(T) >= 4) * TYPE_BIT_##NAME
    TYPES_OF_4_AND_8_BYTES =
#include "types.def"
        ,
/* Their sums are wider than they are, and rounded to them once. */
#define TYPE(NAME, name, T, SUM, ...) +(sizeof(SUM) > sizeof(T)) * TYPE_BIT_##NAME
    TYPES_OF_WIDE_SUMS =
#include "types.def"
        ,
#define TYPE(NAME, name, T, ...) +(sizeof(T) < 4) * TYPE_BIT_##NAME
    TYPES_OF_NARROW_KEYS =
#include "types.def"
        , ALL_TYPES = (1 << TYPE_COUNT) - 1, TYPES_OF_OWN_SUMS = ALL_TYPES & ~TYPES_OF_WIDE_SUMS
};

struct algorithm {
    const char *name; /* as --algo takes it; the table's row has the same name */
    enum operation op;
    enum family family;
    enum result result;
    unsigned traits;
    unsigned wide_sum_types;         /* of TYPES_OF_WIDE_SUMS, those that it scans or reduces */
    unsigned operator_types;         /* for which it takes operators other than sum */
    unsigned recurrence_types;       /* for which it solves linear recurrences */
    unsigned segment_types;          /* for which it takes segments, which it sums */
    unsigned segment_operator_types; /* for which it does so under its other operators, too */
    unsigned narrow_key_types;       /* of TYPES_OF_NARROW_KEYS, those that it sorts */
    unsigned default_block; /* threads per block for --block=auto; 0 without TRAIT_HAS_BLOCK */
    const char *summary;    /* one line, for --list */
    const char *source;     /* paper, book or library it comes from */
    /* The library it calls and its version, as "CUB 3.0.1"; NULL if it calls none. */
    const char *(*library_version)(void);
    const struct algorithm *over; /* the scan it is built on, set by the table; else NULL */
    const struct engine *engine;  /* of a team's algorithm, set by the table; else NULL */

    /* Returns NULL if run() can solve this problem, else the reason, which becomes the row's
     * `reason`. NULL: every problem is supported. */
    const char *(*supports)(const struct problem *problem);

    /* Returns the bytes of scratch that run() needs; any number for a problem that is not
     * supported. NULL: none. */
    size_t (*scratch_bytes)(const struct problem *problem);

    /* Sets up scratch before a series of run()s, untimed. May be NULL. */
    void (*prepare)(const struct call *call);

    /* Does the work, or on a GPU enqueues it. It does not allocate, wait or print, except as
     * the traits say. GPU errors stay with the queue. */
    void (*run)(const struct call *call);

    /* In place of run(): does or enqueues the work of all members of a team in this process. */
    void (*run_slices)(const struct team *team);

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

/* Where part `member` of n elements begins, if `size` threads or devices share them: parts are
 * contiguous, in order, and differ in length by one element at most. */
HOST_DEVICE static inline uint64_t slice_start(uint64_t n, unsigned size, unsigned member)
{
    return n / size * member + (member < n % size ? member : n % size);
}

static inline uint64_t longest_slice(uint64_t n, unsigned size)
{
    return n / size + (n % size != 0);
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
#define TYPE(NAME, name, T, SUM, CLASS, ...) \
    case TYPE_##NAME:                        \
        return TYPE_##CLASS;
#include "types.def"
#undef TYPE
    default:
        return TYPE_UNSIGNED;
    }
}

/* 0 without values. */
HOST_DEVICE static inline size_t value_bytes(enum value_type values)
{
    return values == VALUES_NONE ? 0 : values == VALUES_U32 ? sizeof(uint32_t) : sizeof(uint64_t);
}

/* The elements of the second input and their type. 0: there is none. */
static inline uint64_t second_count(const struct problem *problem)
{
    if (problem->binary_operator == OPERATOR_RECURRENCE || problem->segments == SEGMENTS_KEYS)
        return problem->n;
    return problem->segments == SEGMENTS_OFFSETS ? problem->segment_count + 1 : 0;
}

static inline enum element_type second_type(const struct problem *problem)
{
    if (problem->binary_operator == OPERATOR_RECURRENCE)
        return problem->type;
    return problem->segments == SEGMENTS_OFFSETS ? TYPE_U64 : TYPE_U32;
}

static inline uint64_t second_bytes(const struct problem *problem)
{
    return second_count(problem) * element_bytes(second_type(problem));
}

/* The bytes that `written` elements take, each with its value if it has one. */
static inline double bytes_with_values(const struct problem *problem, uint64_t written)
{
    return (double)written * (double)(element_bytes(problem->type) + value_bytes(problem->values));
}

/* The bytes that the operation must move at least, whatever the algorithm: it reads each element of
 * its inputs once and writes the `written` elements of its result. */
static inline double operation_bytes(const struct problem *problem, uint64_t written)
{
    return bytes_with_values(problem, problem->n) + bytes_with_values(problem, written) +
           (double)second_bytes(problem);
}

/* The bytes that a copy of the input moves, without the second input. */
static inline double copied_bytes(const struct problem *problem)
{
    return 2 * bytes_with_values(problem, problem->n);
}

/* Returns NULL, or why nothing solves such a problem. */
static inline const char *why_unsolvable(const struct problem *problem)
{
    if (problem->values != VALUES_NONE && (TYPES_OF_NARROW_KEYS >> problem->type & 1))
        return "values move with keys of 4 and 8 bytes only";
    if (problem->segments == SEGMENTS_NONE)
        return NULL;
    if (problem->binary_operator == OPERATOR_RECURRENCE && problem->segments != SEGMENTS_ROWS)
        return "a recurrence has its second array to itself: of segments it takes rows only";
    if (problem->op == OP_REDUCE && problem->segments == SEGMENTS_KEYS)
        return "segments by keys are scanned only; a reduction takes rows and offsets";
    return NULL;
}

/* Returns NULL, or why the algorithm does not take the type of sums or keys, the operator or the
 * segments. */
static inline const char *why_not_combined(const struct algorithm *algorithm,
                                           const struct problem *problem)
{
    const struct {
        bool asked;
        unsigned types;
        const char *never, *not_of_this_type;
    } features[] = {
        {(algorithm->traits & TRAIT_SEGMENTS_ONLY) && problem->segments == SEGMENTS_NONE, 0,
         "scans segments only: --segments=rows:L", NULL},
        {(algorithm->traits & TRAIT_PAIRS_ONLY) && problem->values == VALUES_NONE, 0,
         "sorts pairs: msd sorts keys", NULL},
        {(algorithm->traits & TRAIT_NARROW_KEYS_ONLY) != 0, TYPES_OF_NARROW_KEYS, NULL,
         "sorts keys of 8 and 16 bits only"},
        {problem->op == OP_SORT && (TYPES_OF_NARROW_KEYS >> problem->type & 1),
         algorithm->narrow_key_types, "sorts keys of 4 and 8 bytes only",
         "is not compiled for keys of this type"},
        {problem->segments != SEGMENTS_NONE, algorithm->segment_types, "takes no segments",
         "segments are not compiled for this type"},
        {(problem->op == OP_SCAN || problem->op == OP_REDUCE) &&
             (TYPES_OF_WIDE_SUMS >> problem->type & 1),
         algorithm->wide_sum_types, "does not keep sums of this type in f32, to be rounded once",
         "sums in f32 are not compiled for this type"},
        {problem->segments != SEGMENTS_NONE && problem->binary_operator != OPERATOR_SUM,
         algorithm->segment_operator_types, "segments are summed only: --operator=sum",
         "segments are summed only, for this type"},
        {problem->binary_operator == OPERATOR_RECURRENCE, algorithm->recurrence_types,
         "solves no recurrences", "recurrences are not compiled for this type"},
        {problem->binary_operator != OPERATOR_SUM &&
             problem->binary_operator != OPERATOR_RECURRENCE,
         algorithm->operator_types, "computes sums only",
         "operators other than sum are not compiled for this type"},
    };
    for (size_t f = 0; f < sizeof features / sizeof *features; f++)
        if (features[f].asked && !(features[f].types >> problem->type & 1))
            return features[f].types == 0 ? features[f].never : features[f].not_of_this_type;
    return NULL;
}

/* Does it leave the operation's result? A ceiling does not, whatever the operation is. */
static inline bool is_solver(const struct algorithm *algorithm)
{
    return algorithm->result != RESULT_COPY && algorithm->result != RESULT_NOTHING;
}

/* Returns NULL if the algorithm can solve this problem, else the reason. */
static inline const char *why_unsupported(const struct algorithm *algorithm,
                                          const struct problem *problem)
{
    const char *why = why_unsolvable(problem);
    if (why == NULL && problem->values != VALUES_NONE && !(algorithm->traits & TRAIT_PAIRS))
        why = "sorts keys alone, without values";
    if (why == NULL && is_solver(algorithm))
        why = why_not_combined(algorithm, problem);
    if (why == NULL && algorithm->supports != NULL)
        why = algorithm->supports(problem);
    return why;
}

#ifdef __cplusplus
}
#endif
