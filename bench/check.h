/* check.h: what each element of a result should be, on host and device alike.
 *
 * Scan is checked without a reference array and for any n: each element must
 * differ from the one before it by exactly the input between them, and the
 * first must be right. By induction the whole then is right, and the first
 * index that is not is found whatever the rest looks like. */
#ifndef SCANBENCH_BENCH_CHECK_H
#define SCANBENCH_BENCH_CHECK_H

#include "backend.h"
#include "elements.h"

/* What element i of the checked array should hold, given the one before it. */
HOST_DEVICE static inline uint64_t check_wanted(const struct check *check, uint64_t i,
                                                uint64_t before)
{
    if (check->kind == CHECK_INPUT)
        return input_element(&check->input, i);

    const bool inclusive = check->scan == KIND_INCLUSIVE;
    if (i == 0)
        return inclusive ? input_element(&check->input, 0) : 0;
    return element_add(check->input.type, before,
                       input_element(&check->input, inclusive ? i : i - 1));
}

HOST_DEVICE static inline bool check_passes(const struct check *check, uint64_t i)
{
    const enum element_type type = check->input.type;
    const uint64_t before = i > 0 ? element_load(type, check->array, i - 1) : 0;
    const uint64_t got = element_load(type, check->array, i);
    const uint64_t wanted = check_wanted(check, i, before);
    if (check->kind == CHECK_INPUT)
        return got == wanted;
    return element_equal(type, got, wanted);
}

#endif
