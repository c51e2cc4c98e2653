/* input.h: the input of every algorithm, as a pure function of the index.
 *
 * element(i) depends only on the specification and i. So host and device make the same array,
 * and any element can be made again to check that an algorithm left its input alone. */
#pragma once

#include "../algorithm.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum input_shape {
#define INPUT(NAME, ...) INPUT_##NAME,
#include "../inputs.def"
    INPUT_SHAPE_COUNT,
    /* Not for users: element i is */
    INPUT_INDICES = INPUT_SHAPE_COUNT, /* i */
    INPUT_OFFSETS,                     /* where segment i begins */
    INPUT_KEYS,                        /* the key of the segment of element i */
};

/* How the lengths of segments at offsets, or by keys, vary around their mean. */
enum segment_lengths {
    LENGTHS_UNIFORM, /* from 1 to twice the mean */
    LENGTHS_SKEWED,  /* of each SKEWED_GROUP segments one has nearly all elements, the others one */
};
enum { SKEWED_GROUP = 64 };

/* How arrays are divided into segments: into as many as there are rows of the same mean length. */
struct segmentation {
    enum segment_form form;
    enum segment_lengths lengths; /* rows have all the same */
    uint64_t length;              /* elements of a row, or the mean; 0: no segments */
};

enum { TYPED_BYTES = 128 }; /* of a number as the user typed it, for the report */

/* The input that the user asked for. */
struct input_spec {
    enum input_shape shape;
    uint64_t max; /* largest value */
    double keep;  /* compaction: fraction of nonzero elements */
    uint64_t seed;
    struct segmentation segments;
    char max_text[TYPED_BYTES]; /* empty: not given */
    char keep_text[TYPED_BYTES];
    char segments_text[TYPED_BYTES];
};

/* The input of one problem: all that input_element() (input_elements.h) needs. */
struct input {
    enum operation op;
    enum element_type type;
    enum binary_operator binary_operator;
    enum input_shape shape;
    uint64_t n;
    uint64_t before, after; /* of a slice: elements of the whole array on either side of it */
    uint64_t max;
    uint64_t seed;
    bool sparse;    /* some elements are zero: compaction keeps */
    double keep;    /* the others, about this fraction */
    bool plain;     /* drawn floats are from 0..max; else the steps of a walk there */
    bool fractions; /* floats are divided by max + 1 */
    bool tides;     /* the walk follows a tide: its sums are rounded */
    struct segmentation segments;
    uint64_t segmented_n; /* elements of the array that is divided into segments */
    uint64_t nudged; /* 1 + the index of an element that equals its successor instead; 0: none */
};

struct input make_input(const struct input_spec *spec, const struct problem *problem);

/* The values of n pairs: their indices. */
struct input index_input(enum value_type values, uint64_t n);

/* How many segments n elements have; 0: they are not divided. */
uint64_t segment_count(const struct segmentation *segments, uint64_t n);

/* The second input of the same problem, which goes with this one: what a call has in `second`. n is
 * 0 if there is none. */
struct input second_input(const struct input *input);

/* A slice of an input: elements `start` to `end` - 1. */
struct input input_slice(const struct input *input, uint64_t start, uint64_t end);

/* Another input of the same problem, whose sums and counts almost always differ: any result an
 * algorithm kept from the first is wrong for it. */
struct input other_input(const struct input *input);

/* The same kind of input with other data, which depends on `random`. */
struct input varied_input(const struct input *input, uint64_t random);

/* The input with one element changed, which `random` selects: the one that equals its successor
 * is another one. The same input where that changes nothing, as where all elements are equal, or
 * where floating-point sums could become inexact. */
struct input nudged_input(const struct input *input, uint64_t random);

/* The approximate fraction of the input that compaction keeps, from 0 to 1. */
double kept_share(const struct input *input);

/* Returns NULL, or why there is no such input, or why results for it could not be checked
 * exactly: a floating-point scan is exact in any order of additions only while every partial
 * sum is an integer that the type holds, up to 2^24 for f32 and 2^53 for f64. */
const char *input_unsuited(const struct input *input);

const char *input_shape_name(enum input_shape shape);

#ifdef __cplusplus
}
#endif
