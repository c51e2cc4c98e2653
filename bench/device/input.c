/* input: the shapes of input data, and which of them allow an exact check. */
#include "input.h"

#include "../operations.h"
#include "../types.h"

#include <math.h>

enum { OTHER_SEED = 1000003 };

struct input make_input(const struct input_spec *spec, const struct problem *problem)
{
    return (struct input){
        .op = problem->op,
        .type = problem->type,
        .shape = spec->shape,
        .n = problem->n,
        .max = spec->max,
        .seed = spec->seed,
        .sparse = operation_has(problem->op, HAS_KEEP),
        .keep = spec->keep,
    };
}

struct input input_slice(const struct input *input, uint64_t start, uint64_t end)
{
    struct input slice = *input;
    slice.n = end - start;
    slice.before = input->before + start;
    slice.after = input->after + input->n - end;
    return slice;
}

/* The largest sum of the steps of a walk within 0..max (see elements.h). A sum of neighbours is
 * the difference of two positions. In any other order the sums are a random walk whose steps
 * have a standard deviation of 0.41 max; after n steps it exceeds seven times its standard
 * deviation once in 10^11. */
static double largest_sum_of_steps(const struct input *input)
{
    const double max = (double)input->max;
    if (!operation_has(input->op, SUMS_IN_ANY_ORDER))
        return 2 * max;
    return fmax(2, 7 * 0.41 * sqrt((double)input->n)) * max;
}

const char *input_unsuited(const struct input *input)
{
    const enum type_class class = type_class(input->type);
    if (class == TYPE_UNSIGNED && input->shape == INPUT_SIGNED)
        return "an unsigned type has no negative values";
    if (class != TYPE_FLOAT || !operation_has(input->op, HAS_SUMS) || input->n == 0)
        return NULL;

    const double exact = ldexp(1, fraction_bits(input->type) + 1);
    double largest_sum = 0;
    switch (input->shape) {
    case INPUT_UNIFORM:
        largest_sum = largest_sum_of_steps(input);
        break;
    case INPUT_ONES:
        largest_sum = (double)input->n;
        break;
    case INPUT_ALTERNATING:
    case INPUT_SORTED:
    case INPUT_REVERSED:
    case INPUT_SIGNED:
        largest_sum = (double)input->n * (double)input->max;
        break;
    case INPUT_SPECIAL:
        return "sums of NaN, infinities and extremes depend on the order of additions";
    case INPUT_ZEROS:
    case INPUT_SHAPE_COUNT:
        break;
    }
    if (largest_sum <= exact)
        return NULL;
    return element_bytes(input->type) == sizeof(float)
               ? "sums may exceed 2^24, above which f32 is not exact in every order"
               : "sums may exceed 2^53, above which f64 is not exact in every order";
}

double kept_share(const struct input *input)
{
    const double max = (double)input->max;
    switch (input->shape) {
    case INPUT_UNIFORM:
        return input->keep;
    case INPUT_ONES:
        return 1;
    case INPUT_ALTERNATING:
        return 0.5;
    case INPUT_SORTED:
    case INPUT_REVERSED:
        return max / (max + 1); /* a ramp through max + 1 values */
    case INPUT_SIGNED:
        return 1 - 1 / (2 * max + 1);
    case INPUT_SPECIAL:
        return 0.75;
    default:
        return 0;
    }
}

/* Shapes that do not depend on the seed are replaced by a random one. */
struct input other_input(const struct input *input)
{
    struct input other = *input;
    other.seed += OTHER_SEED;
    other.keep = input->keep < 0.5 ? 0.75 : 0.25; /* changes the count as well */
    if (input->shape != INPUT_SIGNED && input->shape != INPUT_SPECIAL)
        other.shape = INPUT_UNIFORM;
    if (input->max == 0 || input_unsuited(&other) != NULL)
        other.max = 1;
    return other;
}

const char *input_shape_name(enum input_shape shape)
{
    static const char *const names[INPUT_SHAPE_COUNT] = {
        [INPUT_UNIFORM] = "uniform", [INPUT_ONES] = "ones",
        [INPUT_ZEROS] = "zeros",     [INPUT_ALTERNATING] = "alternating",
        [INPUT_SORTED] = "sorted",   [INPUT_REVERSED] = "reversed",
        [INPUT_SIGNED] = "signed",   [INPUT_SPECIAL] = "special",
    };
    return names[shape];
}
