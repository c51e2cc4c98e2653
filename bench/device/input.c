#include "input.h"

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
        .keep = spec->keep,
    };
}

const char *input_unsuited(const struct input *input)
{
    const bool is_unsigned = input->type == TYPE_U32 || input->type == TYPE_U64;
    if (is_unsigned && input->shape == INPUT_SIGNED)
        return "an unsigned type has no negative values";
    const bool is_float = input->type == TYPE_F32 || input->type == TYPE_F64;
    if (!is_float || input->op != OP_SCAN || input->n == 0)
        return NULL;

    const double exact = input->type == TYPE_F32 ? 0x1p24 : 0x1p53;
    double largest_sum = 0;
    switch (input->shape) {
    case INPUT_UNIFORM: /* differences of a bounded walk: see elements.h */
        largest_sum = 2.0 * (double)input->max;
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
    return input->type == TYPE_F32
               ? "sums may pass 2^24, above which f32 is not exact in any order"
               : "sums may pass 2^53, above which f64 is not exact in any order";
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

/* Shapes that no seed changes give way to a random one. */
struct input other_input(const struct input *input)
{
    struct input other = *input;
    other.seed += OTHER_SEED;
    other.keep = input->keep < 0.5 ? 0.75 : 0.25; /* other counts, too */
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
