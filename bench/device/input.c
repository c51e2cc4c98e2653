/* input: the shapes of input data, and which of them allow an exact check. */
#include "input.h"

#include "../operations.h"
#include "operators.h"
#include "../types.h"
#include "input_elements.h"

#include <math.h>

enum { OTHER_SEED = 1000003, SECOND_SEED = 2000003, NUDGE_TRIES = 64 };

/* Is the result a sum, or are there sums in it? */
static bool adds(enum operation op, enum binary_operator id)
{
    return operation_has(op, HAS_OPERATOR) && operator_has(id, ADDS);
}

static bool is_drawn(enum input_shape shape)
{
    switch (shape) {
#define INPUT(...)
#define DRAWN_INPUT(NAME, ...) case INPUT_##NAME:
#include "../inputs.def"
        return true;
    default:
        return false;
    }
}

struct input make_input(const struct input_spec *spec, const struct problem *problem)
{
    const bool summed = adds(problem->op, problem->binary_operator);
    return (struct input){
        .op = problem->op,
        .type = problem->type,
        .binary_operator = problem->binary_operator,
        .shape = spec->shape,
        .n = problem->n,
        .max = spec->max,
        .seed = spec->seed,
        .sparse = operation_has(problem->op, HAS_KEEP),
        .keep = spec->keep,
        .plain = !summed,
        .fractions = operator_has(problem->binary_operator, HAS_TWO_INPUTS),
        .tides = summed && sum_type(problem->type) != problem->type && is_drawn(spec->shape),
        .segments = spec->segments,
        .segmented_n = problem->n,
    };
}

struct input index_input(enum value_type values, uint64_t n)
{
    return (struct input){.op = OP_SORT,
                          .type = values == VALUES_U64 ? TYPE_U64 : TYPE_U32,
                          .shape = INPUT_INDICES,
                          .n = n};
}

uint64_t segment_count(const struct segmentation *segments, uint64_t n)
{
    if (segments->form == SEGMENTS_NONE)
        return 0;
    return n / segments->length + (n % segments->length != 0);
}

struct input second_input(const struct input *input)
{
    struct input second = *input;
    second.nudged = 0;
    if (operator_has(input->binary_operator, HAS_TWO_INPUTS)) {
        second.seed += SECOND_SEED;
        return second;
    }
    const bool keys = input->segments.form == SEGMENTS_KEYS;
    second.type = keys ? TYPE_U32 : TYPE_U64;
    second.shape = keys ? INPUT_KEYS : INPUT_OFFSETS;
    if (input->segments.form == SEGMENTS_OFFSETS)
        second.n = segment_count(&input->segments, input->n) + 1;
    else if (!keys)
        second.n = 0;
    return second;
}

struct input input_slice(const struct input *input, uint64_t start, uint64_t end)
{
    struct input slice = *input;
    slice.n = end - start;
    slice.before = input->before + start;
    slice.after = input->after + input->n - end;
    return slice;
}

/* The largest sum of the steps of a walk within 0..max (input_elements.h). A sum of neighbours is
 * the difference of two positions. In any other order the sums are a random walk whose steps
 * have a standard deviation of 0.44 max at most; after n steps it exceeds seven times its
 * standard deviation once in 10^11. */
static double largest_sum_of_steps(const struct input *input)
{
    const double max = (double)input->max, tide = input->tides ? TIDE * TIDE_TURN : 0;
    if (!operation_has(input->op, IN_ANY_ORDER))
        return 2 * (max + tide);
    return fmax(2, 7 * 0.44 * sqrt((double)input->n)) * max + 2 * tide;
}

static double largest_sum(const struct input *input)
{
    const double n = (double)input->n, max = (double)input->max;
    switch (input->shape) {
#define INPUT(NAME, name, ELEMENT, LARGEST_SUM, ...) \
    case INPUT_##NAME:                               \
        return LARGEST_SUM;
#include "../inputs.def"
    default:
        return 0;
    }
}

static const char *inexact_sums(enum element_type type)
{
    switch (fraction_bits(type)) {
    case 7:
        return "sums may exceed 2^8, above which bf16 is not exact in every order";
    case 10:
        return "sums may exceed 2^11, above which f16 is not exact in every order";
    case 23:
        return "sums may exceed 2^24, above which f32 is not exact in every order";
    default:
        return "sums may exceed 2^53, above which f64 is not exact in every order";
    }
}

const char *input_unsuited(const struct input *input)
{
    const enum type_class class = type_class(input->type);
    if (class == TYPE_UNSIGNED && input->shape == INPUT_SIGNED)
        return "an unsigned type has no negative values";
    if (class != TYPE_FLOAT || !operation_has(input->op, HAS_OPERATOR) || input->n == 0)
        return NULL;
    if (input->fractions)
        return is_drawn(input->shape) || input->shape == INPUT_SIGNED
                   ? NULL
                   : "a recurrence of such floats could grow beyond what the check allows";
    if (!operator_has(input->binary_operator, ADDS))
        return input->shape == INPUT_SPECIAL ? "NaN is neither larger nor smaller than others"
                                             : NULL;

    const double largest = largest_sum(input);
    if (isinf(largest))
        return "sums of NaN, infinities and extremes depend on the order of additions";
    /* Without a tide, a scan is checked from element to element, which must hold each sum. */
    const bool rounds = input->tides || operation_has(input->op, IN_ANY_ORDER);
    const enum element_type type = rounds ? sum_type(input->type) : input->type;
    return largest <= ldexp(1, fraction_bits(type) + 1) ? NULL : inexact_sums(type);
}

double kept_share(const struct input *input)
{
    const double n = (double)input->n, max = (double)input->max;
    switch (input->shape) {
#define INPUT(NAME, name, ELEMENT, LARGEST_SUM, KEPT, meaning) \
    case INPUT_##NAME:                                         \
        return n > 0 ? KEPT : 0;
#include "../inputs.def"
    default:
        return 0;
    }
}

/* Is it made anew by another seed? */
static bool depends_on_seed(enum input_shape shape)
{
    switch (shape) {
    case INPUT_SIGNED:
    case INPUT_SPECIAL:
    case INPUT_RISING:
    case INPUT_FALLING:
        return true;
    default:
        return is_drawn(shape);
    }
}

struct input other_input(const struct input *input)
{
    struct input other = *input;
    other.nudged = 0;
    other.seed += OTHER_SEED;
    other.keep = input->keep < 0.5 ? 0.75 : 0.25; /* changes the count as well */
    if (!depends_on_seed(input->shape))
        other.shape = INPUT_UNIFORM;
    if (input->max == 0 || input_unsuited(&other) != NULL)
        other.max = 1;
    return other;
}

/* Stays exact if one element is replaced by another: sums grow by twice the largest element. */
static bool may_be_nudged(const struct input *input)
{
    struct input larger = *input;
    if (input->max > UINT64_MAX / 4)
        return type_class(input->type) != TYPE_FLOAT || !adds(input->op, input->binary_operator);
    larger.max *= 4;
    return input_unsuited(&larger) == NULL;
}

struct input nudged_input(const struct input *input, uint64_t random)
{
    struct input nudged = *input;
    nudged.nudged = 0;
    for (uint64_t t = 0; t < NUDGE_TRIES && input->n > 1 && may_be_nudged(input); t++) {
        const uint64_t i = scale_random(random_bits(random, t), input->n - 1);
        if (i + 1 == input->nudged || input_element(&nudged, i) == input_element(&nudged, i + 1))
            continue;
        nudged.nudged = i + 1;
        return nudged;
    }
    return *input;
}

struct input varied_input(const struct input *input, uint64_t random)
{
    struct input varied = *input;
    varied.seed = random;
    return nudged_input(&varied, random);
}

const char *input_shape_name(enum input_shape shape)
{
    static const char *const names[INPUT_SHAPE_COUNT] = {
#define INPUT(NAME, name, ...) name,
#include "../inputs.def"
    };
    return names[shape];
}
