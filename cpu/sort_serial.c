/* sort_serial: the C library's sort.
 * Source:  C library, qsort.
 * Relies:  on a total order: NaN, which is less than nothing and greater than
 *          nothing, would leave qsort free to do anything. Floats are compared by
 *          their bits. */
#include "../bench/algorithm.h"

#include <stdlib.h>
#include <string.h>

#define DEFINE_COMPARISON(T)                                    \
    static int compare_##T(const void *left, const void *right) \
    {                                                           \
        const T a = *(const T *)left, b = *(const T *)right;    \
        return (a > b) - (a < b);                               \
    }

DEFINE_COMPARISON(int32_t)
DEFINE_COMPARISON(uint32_t)
DEFINE_COMPARISON(int64_t)
DEFINE_COMPARISON(uint64_t)

/* The bits of a float as a signed number of the same order: those of a negative
 * one but for the sign are turned around. */
static int compare_f32(const void *left, const void *right)
{
    int32_t a, b;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    a ^= a < 0 ? INT32_MAX : 0;
    b ^= b < 0 ? INT32_MAX : 0;
    return (a > b) - (a < b);
}

static int compare_f64(const void *left, const void *right)
{
    int64_t a, b;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    a ^= a < 0 ? INT64_MAX : 0;
    b ^= b < 0 ? INT64_MAX : 0;
    return (a > b) - (a < b);
}

static void run(const struct call *call)
{
    static int (*const compare[TYPE_COUNT])(const void *, const void *) = {
        [TYPE_I32] = compare_int32_t,  [TYPE_U32] = compare_uint32_t, [TYPE_I64] = compare_int64_t,
        [TYPE_U64] = compare_uint64_t, [TYPE_F32] = compare_f32,      [TYPE_F64] = compare_f64,
    };
    const size_t bytes = element_bytes(call->problem.type);
    memcpy(call->output, call->input, call->problem.n * bytes);
    qsort(call->output, call->problem.n, bytes, compare[call->problem.type]);
}

const struct algorithm cpu_sort_serial = {
    .name = "serial",
    .op = OP_SORT,
    .family = FAMILY_OWN,
    .summary = "a copy, then the C library's qsort on one CPU thread",
    .source = "C library",
    .run = run,
};
