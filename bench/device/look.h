/* look.h: what a timed run left in its results, seen at places that no algorithm can foresee.
 *
 * A full check after every sample would take longer than the samples. So the results are poisoned
 * before each sample, and after it the elements at a few places are noted; the last sample of a
 * series is then checked in full, and what was noted of the others must be the same. A run that
 * did no work, or only a part of it, leaves poison at one of the places. */
#pragma once

#include "../operations.h"
#include "backend.h"
#include "elements.h"
#include "random.h"

/* What is looked at: the results of one call. */
struct view {
    void *output, *values;
    uint64_t *count;
    enum element_type type;
    enum value_type value_type;
    uint64_t n;      /* elements of the result; for compaction an upper bound */
    uint64_t places; /* seed of the places */
};

/* n is 0 if the run has no result. */
static inline struct view view_of(const struct trial *trial)
{
    const struct call *call = trial->call;
    const struct problem *problem = &call->problem;
    const enum result result = trial->algorithm->result;
    const bool nothing = result == RESULT_NOTHING || call->output == NULL;
    return (struct view){
        .output = call->output,
        .values = call->output_values,
        .count = result == RESULT_OF_OPERATION ? call->count : NULL,
        .type = problem->type,
        .value_type = problem->values,
        .n = nothing                 ? 0
             : result == RESULT_COPY ? problem->n
                                     : result_elements(problem),
        .places = trial->places,
    };
}

HOST_DEVICE static inline enum element_type value_element(enum value_type values)
{
    return values == VALUES_U64 ? TYPE_U64 : TYPE_U32;
}

static inline size_t view_bytes(const struct view *view)
{
    return view->n * element_bytes(view->type);
}

/* The k-th place: the last element, then random ones; all of them where they are few. */
HOST_DEVICE static inline uint64_t look_place(const struct view *view, unsigned k)
{
    if (k == 0)
        return view->n - 1;
    if (view->n <= LOOK_PLACES)
        return k < view->n ? k - 1 : view->n - 1;
    return scale_random(random_bits(view->places, k), view->n);
}

HOST_DEVICE static inline uint64_t poison_bits(enum element_type type)
{
    return POISON_BYTE * (UINT64_MAX / 0xFF >> (64 - 8 * element_bytes(type)));
}

/* Notes what is at the k-th place. */
HOST_DEVICE static inline void look_at(const struct view *view, unsigned k, struct look *look)
{
    const uint64_t place = look_place(view, k);
    look->element[k] = element_load(view->type, view->output, place);
    look->value[k] = view->values != NULL
                         ? element_load(value_element(view->value_type), view->values, place)
                         : 0;
    if (k == 0) {
        look->count = view->count != NULL ? *view->count : 0;
        look->whole = 0;
    }
}

HOST_DEVICE static inline void poison_place(const struct view *view, unsigned k)
{
    const uint64_t place = look_place(view, k);
    element_store(view->type, view->output, place, poison_bits(view->type));
    if (view->values != NULL)
        element_store(value_element(view->value_type), view->values, place,
                      poison_bits(value_element(view->value_type)));
    if (k == 0 && view->count != NULL)
        *view->count = poison_bits(TYPE_U64);
}

/* The share of element i in a digest of all elements in their order. */
HOST_DEVICE static inline uint64_t placed_digest(const struct view *view, uint64_t i)
{
    return random_bits(element_load(view->type, view->output, i), i);
}
