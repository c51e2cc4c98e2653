/* scanbench.h: prefix sums and other scans, linear recurrences, compaction and sort by the fastest
 * algorithms of scanbench.
 *
 * NAME
 *   libscanbench - scan, compact and sort arrays on an NVIDIA GPU or on the CPU
 *
 * SYNOPSIS
 *   scanbench_handle *handle;
 *   if (scanbench_create_gpu(&handle, 0) == SCANBENCH_OK) {
 *       scanbench_exclusive_sum(handle, SCANBENCH_I32, d_in, d_out, n, stream);
 *       scanbench_destroy(handle);
 *   }
 *
 * ARRAYS
 *   n counts elements, never bytes; it may be 0, and exceed 2^32. Arrays lie in memory of the
 *   handle's device. They need the alignment of an element; those aligned to 16 bytes are faster.
 *   Input and output are the same array or do not overlap at all. The input is not changed,
 *   unless it is the output as well.
 *
 * HANDLES
 *   A handle owns the scratch memory that algorithms need. It is for one call at a time: the
 *   calls of one handle are issued by one thread at a time, and on the GPU run one after another,
 *   on one stream or on streams that wait for each other. Different handles are independent, on
 *   one GPU too; see docs/library.md for what that means.
 *
 * ASYNCHRONY
 *   On the GPU, calls enqueue their work in the stream and return; results are complete when the
 *   stream has reached that point. A stream is a cudaStream_t; NULL is the default stream. Calls
 *   can be captured in CUDA graphs. On the CPU, calls return when their work is done, and the
 *   stream is NULL.
 *
 *   A call that needs more scratch memory than the handle has allocates it, which may wait for
 *   the device. scanbench_reserve() does that beforehand. During capture nothing is allocated.
 *
 * ERRORS
 *   Every function returns a status, and prints nothing. If it is not SCANBENCH_OK, nothing was
 *   enqueued unless it is SCANBENCH_ERROR_CUDA, and the handle can be used again. Errors of
 *   kernels, such as an array that is shorter than n, are found by CUDA later, as for any kernel.
 *
 * PROCESSES AND THREADS
 *   Threads of the CPU are started by the first call that needs them, and stay. A child of fork()
 *   starts its own. Handles and their results stay valid in it, except a handle that another thread
 *   was using at that time. Handles of a GPU cannot be used in the child; CUDA does not allow it.
 *
 *   The library stays loaded after dlclose(), since its threads may still run in it. A plugin
 *   with the static library inside needs the same: link it with -Wl,-z,nodelete, as pkg-config
 *   --static and the CMake target say.
 *
 *   A call on the CPU needs up to SCANBENCH_STACK_BYTES of the calling thread's stack.
 *
 * ABI
 *   Programs that were linked with an earlier version of the same major number run with this one.
 *   Enumerators keep their values. */
#ifndef SCANBENCH_H
#define SCANBENCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCANBENCH_VERSION_MAJOR 1
#define SCANBENCH_VERSION_MINOR 0
#define SCANBENCH_VERSION_PATCH 0
#define SCANBENCH_VERSION \
    (SCANBENCH_VERSION_MAJOR * 10000 + SCANBENCH_VERSION_MINOR * 100 + SCANBENCH_VERSION_PATCH)

#if defined(__GNUC__)
#define SCANBENCH_API __attribute__((visibility("default")))
#else
#define SCANBENCH_API
#endif

/* The most threads of a handle of the CPU. */
#define SCANBENCH_MAX_THREADS 4096

/* A thread with a stack of this size can call every function with a handle of the CPU. */
#define SCANBENCH_STACK_BYTES (1 << 20)

typedef struct scanbench_handle scanbench_handle;

/* Types of elements. Sums of integers wrap; so do those of signed ones. */
typedef enum scanbench_type {
    SCANBENCH_I32 = 0,
    SCANBENCH_U32 = 1,
    SCANBENCH_I64 = 2,
    SCANBENCH_U64 = 3,
    SCANBENCH_F32 = 4,
    SCANBENCH_F64 = 5,
    /* Not for sorts of pairs. */
    SCANBENCH_U8 = 6,
    SCANBENCH_I8 = 7,
    SCANBENCH_I16 = 8,
    SCANBENCH_U16 = 9,
    SCANBENCH_F16 = 10, /* added as floats, and rounded once */
    SCANBENCH_BF16 = 11
} scanbench_type;

/* What scanbench_reserve() is for. */
typedef enum scanbench_operation {
    SCANBENCH_SUM = 0,              /* exclusive and inclusive, of one row */
    SCANBENCH_COMPACT = 1,          /* of nonzero elements */
    SCANBENCH_SORT = 2,             /* of keys; for pairs there is scanbench_reserve_pairs() */
    SCANBENCH_SCAN = 3,             /* scanbench_scan(), whatever its operator, kind and rows */
    SCANBENCH_LINEAR_RECURRENCE = 4 /* of one row and of many */
} scanbench_operation;

/* What a scan combines elements by. Of floats with a NaN among them, max and min are unspecified.
 */
typedef enum scanbench_operator {
    SCANBENCH_OPERATOR_SUM = 0,
    SCANBENCH_OPERATOR_MAX = 1,
    SCANBENCH_OPERATOR_MIN = 2,
    SCANBENCH_OPERATOR_XOR = 3 /* of the bits of integers */
} scanbench_operator;

typedef enum scanbench_kind { SCANBENCH_EXCLUSIVE = 0, SCANBENCH_INCLUSIVE = 1 } scanbench_kind;

typedef enum scanbench_status {
    SCANBENCH_OK = 0,
    SCANBENCH_ERROR_NULL = 1,      /* a pointer is NULL that must not be */
    SCANBENCH_ERROR_TYPE = 2,      /* no such type, operator, kind, operation or size of values, or
                                      not a type of the operation */
    SCANBENCH_ERROR_SIZE = 3,      /* n elements are more than can be addressed */
    SCANBENCH_ERROR_ALIGNMENT = 4, /* a pointer is not aligned to its elements */
    SCANBENCH_ERROR_OVERLAP = 5,   /* an output or the count overlaps another array, and is not its
                                      own input */
    SCANBENCH_ERROR_DEVICE = 6,    /* the handle's device is not the current one */
    SCANBENCH_ERROR_STREAM = 7,    /* a handle of the CPU was given a stream */
    SCANBENCH_ERROR_SCRATCH = 8,   /* more scratch is needed than was reserved before capture */
    SCANBENCH_ERROR_MEMORY = 9,    /* scratch memory cannot be allocated */
    SCANBENCH_ERROR_UNSUPPORTED = 10, /* no algorithm of this device takes such a call:
                                         scanbench_error() says for which types there is one */
    SCANBENCH_ERROR_NO_DEVICE = 11,   /* there is no such GPU, or this build has no CUDA */
    SCANBENCH_ERROR_CUDA = 12,        /* the CUDA runtime reported an error */
    SCANBENCH_ERROR_THREADS = 13      /* more threads than SCANBENCH_MAX_THREADS */
} scanbench_status;

/* The version of the library that is running; compare it with SCANBENCH_VERSION. */
SCANBENCH_API int scanbench_version(void);

/* One line of text, for any status; never NULL. */
SCANBENCH_API const char *scanbench_status_text(scanbench_status status);

/* What went wrong in the handle's last call: which argument is wrong, its value and what would be
 * right, or the message of the CUDA runtime; "" if nothing did. Valid until the handle's next
 * call. */
SCANBENCH_API const char *scanbench_error(const scanbench_handle *handle);

/* Creates a handle for a GPU, by its index in the CUDA runtime. It does not become the current
 * device; later calls are made while it is. */
SCANBENCH_API scanbench_status scanbench_create_gpu(scanbench_handle **handle, int device);

/* Creates a handle for the CPU, with a number of threads, at most SCANBENCH_MAX_THREADS; 0:
 * one per processor. */
SCANBENCH_API scanbench_status scanbench_create_cpu(scanbench_handle **handle, unsigned threads);

/* Frees the handle and its scratch memory, which waits for the device. Graphs that captured a
 * call of it must not be launched any more. NULL is allowed. */
SCANBENCH_API void scanbench_destroy(scanbench_handle *handle);

/* Allocates the scratch memory for calls of an operation with n elements, or with fewer. May
 * wait for the device. Calls in place may allocate more. After SCANBENCH_ERROR_MEMORY the handle
 * has none: what was reserved before is given back first. */
SCANBENCH_API scanbench_status scanbench_reserve(scanbench_handle *handle,
                                                 scanbench_operation operation, scanbench_type type,
                                                 uint64_t n);

/* The same, for scanbench_sort_pairs() with values of value_bytes bytes. */
SCANBENCH_API scanbench_status scanbench_reserve_pairs(scanbench_handle *handle,
                                                       scanbench_type type, size_t value_bytes,
                                                       uint64_t n);

/* The bytes of scratch memory that the handle holds. */
SCANBENCH_API size_t scanbench_scratch_bytes(const scanbench_handle *handle);

/* output[i] = input[0] + ... + input[i - 1]; output[0] = 0. */
SCANBENCH_API scanbench_status scanbench_exclusive_sum(scanbench_handle *handle,
                                                       scanbench_type type, const void *input,
                                                       void *output, uint64_t n, void *stream);

/* output[i] = input[0] + ... + input[i]. */
SCANBENCH_API scanbench_status scanbench_inclusive_sum(scanbench_handle *handle,
                                                       scanbench_type type, const void *input,
                                                       void *output, uint64_t n, void *stream);

/* Scans each row of `row` elements by itself; 0, or n and more: all n elements are one row. The
 * last row may be shorter. With x for the operator, in each row
 *
 *   inclusive   output[i] = input[0] x ... x input[i]
 *   exclusive   output[i] = input[0] x ... x input[i - 1]
 *
 * and the first element of an exclusive scan is the operator's identity: 0 for sums and xor; for
 * max the lowest and for min the highest element of the type, of floats an infinity.
 *
 * On the CPU there is every operator for every type, with rows and without. On a GPU, max, min and
 * xor are there for elements of 4 and 8 bytes in one row, and rows for sums of 4 bytes. All else is
 * SCANBENCH_ERROR_UNSUPPORTED, but xor of floats SCANBENCH_ERROR_TYPE. */
SCANBENCH_API scanbench_status scanbench_scan(scanbench_handle *handle, scanbench_operator op,
                                              scanbench_type type, scanbench_kind kind,
                                              const void *input, void *output, uint64_t n,
                                              uint64_t row, void *stream);

/* h[i] = a[i] * h[i - 1] + b[i], where h is 0 before the first element of each row; rows are those
 * of scanbench_scan(). h may be a, or b, or both. Floats are rounded in another order than that of
 * the definition. Products of consecutive elements of a are computed, too, and must not overflow:
 * they may become an infinity, and h NaN.
 *
 * On the CPU: every type but F16 and BF16. On a GPU: elements of 4 bytes, in one row. All else is
 * SCANBENCH_ERROR_UNSUPPORTED. */
SCANBENCH_API scanbench_status scanbench_linear_recurrence(scanbench_handle *handle,
                                                           scanbench_type type, const void *a,
                                                           const void *b, void *h, uint64_t n,
                                                           uint64_t row, void *stream);

/* Writes the elements that are not 0, in their order, and their number to *count; -0 is 0, NaN is
 * not. Output has room for all n elements; those past the count are left as they are. `count` lies
 * outside of both arrays, in memory of the device or of the host. In pageable host memory it is
 * complete when the call returns, which then waits; else when the stream has reached that point. */
SCANBENCH_API scanbench_status scanbench_compact_nonzero(scanbench_handle *handle,
                                                         scanbench_type type, const void *input,
                                                         void *output, uint64_t *count, uint64_t n,
                                                         void *stream);

/* Sorts keys in ascending order. -0 comes before 0, and NaN lies beyond the infinity of its sign.
 * More than 2^14 keys of 2 bytes need a GPU that gives a block 128 KiB of shared memory:
 * SCANBENCH_ERROR_UNSUPPORTED. */
SCANBENCH_API scanbench_status scanbench_sort_keys(scanbench_handle *handle, scanbench_type type,
                                                   const void *input, void *output, uint64_t n,
                                                   void *stream);

/* Sorts keys of 4 or 8 bytes as scanbench_sort_keys() does, and moves their values with them:
 * output_values[i] belongs to output[i]. A value is any value_bytes bytes, 4 or 8, and has that
 * alignment. Keys and values may each be in place or not; neither output overlaps an array of the
 * other kind.
 *
 * On a GPU the sort is stable: pairs with equal keys keep their order. On the CPU it is so too,
 * unless keys and values have 4 bytes each: pairs with equal keys are then in the order of their
 * values, as unsigned numbers. For values that are indices, that is the same. */
SCANBENCH_API scanbench_status scanbench_sort_pairs(scanbench_handle *handle, scanbench_type type,
                                                    const void *input, void *output,
                                                    size_t value_bytes, const void *input_values,
                                                    void *output_values, uint64_t n, void *stream);

#ifdef __cplusplus
}
#endif
#endif
