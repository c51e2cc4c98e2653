/* input_test: the input of the algorithms, and which of it can be checked exactly. */
#include "../../bench/device/input_elements.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { N = 100000 };

static struct input make(enum operation op, enum element_type type, enum input_shape shape,
                         uint64_t max)
{
    const struct input_spec spec = {.shape = shape, .max = max, .keep = 0.75, .seed = 7};
    const struct problem problem = {.op = op, .type = type, .n = N};
    return make_input(&spec, &problem);
}

/* The element as a number. */
static double value(const struct input *input, uint64_t i)
{
    const uint64_t bits = input_element(input, i);
    const uint64_t sign = sign_bit(input->type);
    switch (type_class(input->type)) {
    case TYPE_SIGNED:
        return (double)(int64_t)((bits ^ sign) - sign);
    case TYPE_UNSIGNED:
        return (double)bits;
    default:
        return bits_to_float(input->type, bits);
    }
}

static void the_same_seed_makes_the_same_data(void **state)
{
    (void)state;
    for (int type = 0; type < TYPE_COUNT; type++) {
        const struct input a = make(OP_SCAN, type, INPUT_UNIFORM, 1000), b = a;
        struct input other = a;
        other.seed++;
        unsigned differ = 0;
        for (uint64_t i = 0; i < 1000; i++) {
            assert_int_equal(input_element(&a, i), input_element(&b, i));
            differ += input_element(&a, i) != input_element(&other, i);
        }
        assert_true(differ > 900);
    }
}

static uint64_t count_differences(const struct input *a, const struct input *b)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < a->n; i++)
        count += input_element(a, i) != input_element(b, i);
    return count;
}

static void a_nudge_changes_one_element(void **state)
{
    (void)state;
    for (int op = 0; op < OPERATION_COUNT; op++)
        for (int shape = 0; shape < INPUT_SHAPE_COUNT; shape++) {
            const struct input base = make(op, TYPE_I32, shape, 1000);
            const struct input nudged = nudged_input(&base, 5), again = nudged_input(&nudged, 5);
            const bool same = shape == INPUT_ONES || shape == INPUT_ZEROS;
            /* Hardly any neighbours differ. */
            if (shape == INPUT_ALL_BUT_ONE)
                continue;
            assert_int_equal(count_differences(&base, &nudged), !same);
            assert_int_equal(count_differences(&nudged, &again), same ? 0 : 2);
            if (same)
                continue;
            const uint64_t i = nudged.nudged - 1;
            assert_int_equal(input_element(&nudged, i), input_element(&base, i + 1));
            const struct input slice = input_slice(&nudged, i, i + 1);
            assert_int_equal(input_element(&slice, 0), input_element(&nudged, i));
        }
}

static void a_nudge_of_too_few_or_of_sums_at_their_limit_changes_nothing(void **state)
{
    (void)state;
    struct input few = make(OP_SCAN, TYPE_I32, INPUT_UNIFORM, 1000);
    for (few.n = 0; few.n < 2; few.n++)
        assert_int_equal(nudged_input(&few, 5).nudged, 0);
    const struct input limit = make(OP_SCAN, TYPE_F32, INPUT_UNIFORM, 1 << 23);
    assert_null(input_unsuited(&limit));
    assert_int_equal(nudged_input(&limit, 5).nudged, 0);
    const struct input below = make(OP_SCAN, TYPE_F32, INPUT_UNIFORM, 1 << 20);
    assert_int_not_equal(nudged_input(&below, 5).nudged, 0);
}

static void varied_data_is_other_data_of_the_same_kind(void **state)
{
    (void)state;
    for (int shape = 0; shape < INPUT_SHAPE_COUNT; shape++) {
        const struct input base = make(OP_SORT, TYPE_I32, shape, 1000);
        const struct input a = varied_input(&base, 1), b = varied_input(&base, 2);
        assert_int_equal(a.shape, shape);
        assert_null(input_unsuited(&a));
        if (shape == INPUT_ONES || shape == INPUT_ZEROS)
            assert_int_equal(count_differences(&a, &b), 0);
        else
            assert_true(count_differences(&a, &b) > 0);
    }
}

static void an_element_does_not_depend_on_n(void **state)
{
    (void)state;
    const struct input all = make(OP_SCAN, TYPE_U64, INPUT_UNIFORM, 1000);
    struct input few = all;
    few.n = 10;
    for (uint64_t i = 0; i < few.n; i++)
        assert_int_equal(input_element(&all, i), input_element(&few, i));
}

/* Chi-square over the values 0..max: with 50 values 49 degrees of freedom, of
 * which 99.9 % stay below 85.4 (and above 23.98). */
static void uniform_is_uniform(void **state)
{
    (void)state;
    for (int type = TYPE_I32; type <= TYPE_F64; type++) {
        const enum operation op = is_float(type) ? OP_SORT : OP_SCAN;
        const struct input input = make(op, type, INPUT_UNIFORM, 49);
        unsigned seen[50] = {0};
        for (uint64_t i = 0; i < N; i++) {
            const double v = value(&input, i);
            assert_true(v >= 0 && v <= 49 && v == floor(v));
            seen[(int)v]++;
        }
        double chi_square = 0;
        for (int v = 0; v < 50; v++)
            chi_square += pow(seen[v] - N / 50.0, 2) / (N / 50.0);
        if (chi_square < 20 || chi_square > 95)
            fail_msg("chi square of %d, type %d", (int)chi_square, type);
    }
}

/* Neighbours are uncorrelated: the correlation of 10^5 pairs stays below four standard errors. */
static void neighbours_are_independent(void **state)
{
    (void)state;
    const struct input input = make(OP_SCAN, TYPE_U32, INPUT_UNIFORM, 49);
    const double mean = 24.5, variance = (50.0 * 50 - 1) / 12;
    double sum = 0;
    for (uint64_t i = 0; i + 1 < N; i++)
        sum += (value(&input, i) - mean) * (value(&input, i + 1) - mean);
    assert_true(fabs(sum / (N - 1) / variance) < 4 / sqrt(N));
}

static void the_largest_value_may_be_all_there_is(void **state)
{
    (void)state;
    const struct input input = make(OP_SCAN, TYPE_U64, INPUT_UNIFORM, UINT64_MAX);
    unsigned upper = 0;
    for (uint64_t i = 0; i < N; i++)
        upper += input_element(&input, i) > UINT64_MAX / 2;
    assert_in_range(upper, N / 2 - 1000, N / 2 + 1000);
    const struct input one = make(OP_SCAN, TYPE_I32, INPUT_UNIFORM, 1);
    unsigned ones = 0;
    for (uint64_t i = 0; i < N; i++)
        ones += value(&one, i) == 1;
    assert_in_range(ones, N / 2 - 1000, N / 2 + 1000);
}

/* Elements and sums of a scan whose sums are wider: floats hold all, elements only the former. */
static void a_walk_with_a_tide_rises_above_what_elements_hold(void **state)
{
    (void)state;
    for (int type = TYPE_F16; type <= TYPE_BF16; type++)
        for (uint64_t max = 49; max <= largest_value(type); max += largest_value(type) - 49) {
            const struct input input = make(OP_SCAN, type, INPUT_UNIFORM, max);
            const struct input nudged = nudged_input(&input, 5);
            double sum = 0, sum_of_nudged = 0, lowest = 0, highest = 0;
            unsigned inexact = 0;
            for (uint64_t i = 0; i < N; i++) {
                const double v = value(&input, i);
                assert_true(v == floor(v) && fabs(v) <= (double)max + TIDE);
                sum += v;
                sum_of_nudged += value(&nudged, i);
                assert_int_equal(sum_of_walk(&input, 0, i + 1), float_to_bits(type, sum));
                assert_int_equal(sum_of_walk(&nudged, 0, i + 1),
                                 float_to_bits(type, sum_of_nudged));
                inexact += bits_to_float(type, float_to_bits(type, sum)) != sum;
                lowest = fmin(lowest, sum);
                highest = fmax(highest, sum);
            }
            assert_true(highest - lowest <= (double)max + TIDE * TIDE_TURN);
            assert_true(highest <= 65504);
            assert_true(inexact > N / 2);
        }
}

static void halves_are_rounded_to_the_nearest(void **state)
{
    (void)state;
    static const struct {
        float number;
        uint16_t f16, bf16;
    } cases[] = {
        {0, 0, 0},
        {-0.0f, 0x8000, 0x8000},
        {1, 0x3C00, 0x3F80},
        {-2, 0xC000, 0xC000},
        {2049, 0x6800, 0x4500}, /* a tie in f16, to the even one below */
        {2051, 0x6802, 0x4500}, /* and to the one above */
        {257, 0x5C04, 0x4380},  /* the same in bf16 */
        {259, 0x5C0C, 0x4382},
        {65504, 0x7BFF, 0x4780}, /* the largest f16 */
        {65519, 0x7BFF, 0x4780},
        {65520, 0x7C00, 0x4780}, /* nearer to 2^16, which f16 has not */
        {0x1p-24f, 1, 0x3380},   /* the least f16 above 0 */
        {0x1p-25f, 0, 0x3300},
        {0x1.8p-24f, 2, 0x33C0},
        {INFINITY, 0x7C00, 0x7F80},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        assert_int_equal(narrow_f16(cases[c].number).bits, cases[c].f16);
        assert_int_equal(narrow_bf16(cases[c].number).bits, cases[c].bf16);
    }
    assert_true(isnan(widen_f16(narrow_f16(NAN))) && isnan(widen_bf16(narrow_bf16(NAN))));
    for (uint32_t bits = 0; bits <= UINT16_MAX; bits++) {
        const f16 x = {.bits = (uint16_t)bits};
        const bf16 y = {.bits = (uint16_t)bits};
        if (!isnan(widen_f16(x)))
            assert_int_equal(narrow_f16(widen_f16(x)).bits, bits);
        if (!isnan(widen_bf16(y)))
            assert_int_equal(narrow_bf16(widen_bf16(y)).bits, bits);
    }
}

/* Every sum of neighbouring elements of a walk is bounded, so floats add them exactly in any
 * order. */
static void a_float_scan_walks_within_bounds(void **state)
{
    (void)state;
    for (int type = TYPE_F32; type <= TYPE_F64; type++) {
        const struct input input = make(OP_SCAN, type, INPUT_UNIFORM, 49);
        double sum = 0, lowest = 0, highest = 0;
        unsigned negative = 0;
        for (uint64_t i = 0; i < N; i++) {
            const double v = value(&input, i);
            assert_true(v == floor(v) && fabs(v) <= 49);
            negative += v < 0;
            sum += v;
            lowest = fmin(lowest, sum);
            highest = fmax(highest, sum);
        }
        /* The largest such sum is the difference between the walk's highest and lowest
         * position. */
        assert_true(highest - lowest <= 49);
        assert_true(highest - lowest >= 40);
        assert_in_range(negative, N / 4, 3 * N / 4);
    }
}

static void compaction_keeps_the_fraction(void **state)
{
    (void)state;
    static const double keeps[] = {0, 0.1, 0.5, 0.75, 1};
    for (int type = 0; type < TYPE_COUNT; type++)
        for (size_t k = 0; k < sizeof keeps / sizeof *keeps; k++) {
            struct input input = make(OP_COMPACT, type, INPUT_UNIFORM, 49);
            input.keep = keeps[k];
            unsigned kept = 0;
            for (uint64_t i = 0; i < N; i++) {
                const double v = value(&input, i);
                assert_true(v >= 0 && v <= 49);
                kept += v != 0;
            }
            assert_true(fabs(kept - keeps[k] * N) <= 4 * sqrt(keeps[k] * (1 - keeps[k]) * N));
        }
}

static void sorted_and_reversed_are_monotone(void **state)
{
    (void)state;
    static const uint64_t maxima[] = {1, 49, 1000000};
    for (int type = 0; type < TYPE_COUNT; type++)
        for (int m = 0; m < 3 && maxima[m] <= largest_value(type); m++) {
            const struct input up = make(OP_SORT, type, INPUT_SORTED, maxima[m]);
            const struct input down = make(OP_SORT, type, INPUT_REVERSED, maxima[m]);
            for (uint64_t i = 0; i + 1 < N; i++) {
                assert_true(value(&up, i) <= value(&up, i + 1));
                assert_true(value(&down, i) >= value(&down, i + 1));
            }
            for (uint64_t i = 0; i < N; i++)
                assert_true(value(&up, i) == value(&down, N - 1 - i));
            assert_true(value(&up, 0) == 0);
            assert_true(value(&up, N - 1) <= (double)maxima[m]);
            assert_true(value(&up, N - 1) >= (double)maxima[m] * 0.99);
        }
}

static void signed_values_lie_on_both_sides_of_zero(void **state)
{
    (void)state;
    for (int type = 0; type < TYPE_COUNT; type++) {
        const struct input input = make(OP_SORT, type, INPUT_SIGNED, 3);
        if (type_class(type) == TYPE_UNSIGNED) {
            assert_non_null(strstr(input_unsuited(&input), "no negative values"));
            continue;
        }
        assert_null(input_unsuited(&input));
        unsigned seen[7] = {0};
        for (uint64_t i = 0; i < N; i++) {
            const double v = value(&input, i);
            assert_true(v >= -3 && v <= 3 && v == floor(v));
            seen[(int)v + 3]++;
        }
        for (int v = 0; v < 7; v++)
            assert_in_range(seen[v], N / 7 - 700, N / 7 + 700);
    }
}

static void signed_values_reach_the_extremes(void **state)
{
    (void)state;
    static const struct {
        enum element_type type;
        uint64_t max;
    } cases[] = {{TYPE_I32, INT32_MAX},
                 {TYPE_I64, INT64_MAX},
                 {TYPE_F32, (uint64_t)1 << 23},
                 {TYPE_F64, (uint64_t)1 << 52}};
    for (int c = 0; c < 4; c++) {
        const struct input input = make(OP_SORT, cases[c].type, INPUT_SIGNED, cases[c].max);
        const double max = (double)cases[c].max;
        double least = 0, most = 0;
        for (uint64_t i = 0; i < N; i++) {
            const double v = value(&input, i);
            assert_true(v >= -max && v <= max && v == floor(v));
            least = fmin(least, v);
            most = fmax(most, v);
        }
        assert_true(least < -0.99 * max && most > 0.99 * max);
    }
}

static void constant_shapes(void **state)
{
    (void)state;
    for (int type = 0; type < TYPE_COUNT; type++) {
        const struct input ones = make(OP_SCAN, type, INPUT_ONES, 49);
        const struct input zeros = make(OP_SCAN, type, INPUT_ZEROS, 49);
        const struct input alternating = make(OP_SCAN, type, INPUT_ALTERNATING, 49);
        for (uint64_t i = 0; i < 100; i++) {
            assert_true(value(&ones, i) == 1);
            assert_true(value(&zeros, i) == 0);
            assert_true(value(&alternating, i) == (i % 2 ? 0 : 49));
        }
    }
}

static void special_has_the_extremes(void **state)
{
    (void)state;
    for (int type = 0; type < TYPE_COUNT; type++) {
        const struct input input = make(OP_SORT, type, INPUT_SPECIAL, 49);
        const double values = ldexp(1, 8 * (int)element_bytes(type)); /* of an integer */
        const bool is_signed = type_class(type) == TYPE_SIGNED;
        bool nan = false, plus = false, minus = false, least = false, most = false;
        for (uint64_t i = 0; i < 1000; i++) {
            const double v = value(&input, i);
            nan |= isnan(v);
            plus |= isinf(v) && v > 0;
            minus |= isinf(v) && v < 0;
            least |= v == (is_signed ? -values / 2 : 0);
            most |= v == (is_signed ? values / 2 - 1 : values - 1); /* as a double rounds it */
        }
        assert_true(least);
        if (is_float(type))
            assert_true(nan && plus && minus);
        else
            assert_true(most && !nan);
    }
}

/* ---- shapes that are hard on a sort ---- */

/* A bit is set in the and of k uniform words with probability 2^-k. */
static void an_and_has_fewer_bits(void **state)
{
    (void)state;
    static const enum input_shape shapes[] = {INPUT_UNIFORM, INPUT_AND_2, INPUT_AND_3,
                                              INPUT_AND_4,   INPUT_AND_5, INPUT_AND_6};
    for (int words = 1; words <= 6; words++) {
        const struct input input = make(OP_SORT, TYPE_U32, shapes[words - 1], UINT32_MAX);
        unsigned of_bit[32] = {0};
        for (uint64_t i = 0; i < N; i++)
            for (int b = 0; b < 32; b++)
                of_bit[b] += input_element(&input, i) >> b & 1;
        const double share = ldexp(1, -words), deviation = sqrt(N * share * (1 - share));
        for (int b = 0; b < 32; b++)
            assert_true(fabs(of_bit[b] - N * share) < 5 * deviation);
    }
}

/* The sum of four uniform numbers from 0 to 1 is below 1 with probability 1/24. */
static void normal_is_dense_in_the_middle(void **state)
{
    (void)state;
    static const uint64_t maxima[] = {9999, UINT32_MAX, UINT64_MAX};
    static const double shares[] = {1 / 24., 11 / 24., 11 / 24., 1 / 24.};
    for (int m = 0; m < 3; m++) {
        const struct input input = make(OP_SORT, TYPE_U64, INPUT_NORMAL, maxima[m]);
        const uint64_t quarter = maxima[m] / 4 + 1;
        unsigned in_quarter[4] = {0};
        for (uint64_t i = 0; i < N; i++) {
            assert_true(input_element(&input, i) <= maxima[m]);
            in_quarter[input_element(&input, i) / quarter]++;
        }
        for (int q = 0; q < 4; q++) {
            const double deviation = sqrt(N * shares[q] * (1 - shares[q]));
            assert_true(fabs(in_quarter[q] - N * shares[q]) < 5 * deviation);
        }
    }
}

static void few_are_sixteen(void **state)
{
    (void)state;
    static const uint64_t maxima[] = {15, 49, UINT32_MAX, UINT64_MAX};
    for (int m = 0; m < 4; m++) {
        const struct input input = make(OP_SORT, TYPE_U64, INPUT_FEW, maxima[m]);
        uint64_t seen[16] = {0};
        unsigned count[16] = {0}, distinct = 0;
        for (uint64_t i = 0; i < N; i++) {
            unsigned v = 0;
            while (v < distinct && seen[v] != input_element(&input, i))
                v++;
            assert_true(v < 16);
            if (v == distinct)
                seen[distinct++] = input_element(&input, i);
            count[v]++;
        }
        assert_int_equal(distinct, 16);
        bool none = false, most = false;
        for (unsigned v = 0; v < 16; v++) {
            assert_in_range(count[v], N / 16 - 400, N / 16 + 400);
            none |= seen[v] == 0;
            most |= seen[v] == maxima[m];
        }
        assert_true(none && most);
    }
}

/* Among ranks 1..r, rank k has the probability 1/k over the r-th harmonic number. */
static void zipf_is_harmonic(void **state)
{
    (void)state;
    static const uint64_t maxima[] = {1, 49, 63, 1000};
    for (int m = 0; m < 4; m++) {
        const struct input input = make(OP_SORT, TYPE_I32, INPUT_ZIPF, maxima[m]);
        unsigned seen[1001] = {0};
        double harmonic = 0;
        for (uint64_t i = 0; i < N; i++) {
            assert_true(value(&input, i) <= (double)maxima[m]);
            seen[(int)value(&input, i)]++;
        }
        for (uint64_t v = 0; v <= maxima[m]; v++)
            harmonic += 1.0 / (double)(v + 1);
        for (uint64_t v = 0; v <= maxima[m]; v++) {
            const double share = 1.0 / (double)(v + 1) / harmonic;
            assert_true(fabs(seen[v] - N * share) < 5 * sqrt(N * share * (1 - share)));
        }
    }
}

static void zipf_reaches_far(void **state)
{
    (void)state;
    const struct input input = make(OP_SORT, TYPE_U64, INPUT_ZIPF, UINT64_MAX);
    unsigned below_half = 0, in_top_octave = 0;
    for (uint64_t i = 0; i < N; i++) {
        below_half += input_element(&input, i) < UINT32_MAX;
        in_top_octave += input_element(&input, i) >> 63 != 0;
    }
    assert_in_range(below_half, N / 2, N / 2 + N / 50);
    assert_in_range(in_top_octave, N / 64 - 200, N / 64 + 200);
}

static void nearly_sorted_has_one_in_a_hundred_out_of_place(void **state)
{
    (void)state;
    const struct input nearly = make(OP_SORT, TYPE_U32, INPUT_NEARLY_SORTED, UINT32_MAX);
    const struct input sorted = make(OP_SORT, TYPE_U32, INPUT_SORTED, UINT32_MAX);
    unsigned displaced = 0;
    for (uint64_t i = 0; i < N; i++)
        displaced += value(&nearly, i) != value(&sorted, i);
    assert_in_range(displaced, N / 100 - 130, N / 100 + 130);
}

static void all_but_one_are_zero(void **state)
{
    (void)state;
    uint64_t places[3] = {0};
    for (uint64_t seed = 0; seed < 3; seed++)
        for (int type = 0; type < TYPE_COUNT; type++) {
            struct input input = make(OP_SORT, type, INPUT_ALL_BUT_ONE, 49);
            input.seed = seed;
            double sum = 0;
            for (uint64_t i = 0; i < N; i++) {
                assert_true(value(&input, i) == 0 || value(&input, i) == 49);
                sum += value(&input, i);
                if (value(&input, i) != 0)
                    places[seed] = i;
            }
            assert_true(sum == 49);
        }
    assert_true(places[0] != places[1] && places[1] != places[2]);
}

/* What auto and the plan of a run expect of compaction. */
static void the_kept_share_is_about_right(void **state)
{
    (void)state;
    for (int shape = 0; shape < INPUT_SHAPE_COUNT; shape++) {
        const struct input input = make(OP_COMPACT, TYPE_I32, shape, 49);
        unsigned kept = 0;
        for (uint64_t i = 0; i < N; i++)
            kept += element_is_kept(TYPE_I32, input_element(&input, i));
        /* More of the special values are 0 for some types than for others. */
        const double most_off = shape == INPUT_SPECIAL ? N / 7.0 : N / 100.0;
        if (fabs(kept - kept_share(&input) * N) > most_off)
            fail_msg("%s: %u kept", input_shape_name(shape), kept);
    }
}

/* Drawn floats are added exactly in any order, whatever is drawn. Where they are not added, they
 * are the drawn values themselves. */
static void every_drawn_shape_walks(void **state)
{
    (void)state;
    static const enum input_shape shapes[] = {INPUT_UNIFORM, INPUT_AND_2, INPUT_AND_6,
                                              INPUT_NORMAL,  INPUT_FEW,   INPUT_ZIPF};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const struct input scan = make(OP_SCAN, TYPE_F32, shapes[s], 49);
        const struct input sort = make(OP_SORT, TYPE_F32, shapes[s], 49);
        const struct input_spec spec = {.shape = shapes[s], .max = 49, .seed = 7};
        const struct problem of_max = {
            .op = OP_SCAN, .type = TYPE_F32, .n = N, .binary_operator = OPERATOR_MAX};
        const struct input largest = make_input(&spec, &of_max);
        double sum = 0;
        assert_null(input_unsuited(&scan));
        for (uint64_t i = 0; i < N; i++) {
            sum += value(&scan, i);
            assert_true(fabs(sum) <= 49);
            assert_true(value(&sort, i) >= 0 && value(&sort, i) <= 49);
            assert_true(value(&largest, i) == value(&sort, i));
        }
    }
}

/* ---- segments ---- */

static struct input with_segments(enum segment_form form, enum segment_lengths lengths,
                                  uint64_t length, uint64_t n)
{
    const struct input_spec spec = {
        .shape = INPUT_UNIFORM, .max = 49, .seed = 7, .segments = {form, lengths, length}};
    const struct problem problem = {
        .op = OP_SCAN, .type = TYPE_I32, .n = n, .segments = form, .segment_length = length};
    return make_input(&spec, &problem);
}

/* Segments follow each other without a gap, each with an element, and know their elements. */
static void expect_segments(const struct input *input)
{
    const uint64_t n = input->n, count = segment_count(&input->segments, n);
    uint64_t segment = 0;
    assert_int_equal(segment_begin(input, 0), 0);
    assert_int_equal(segment_begin(input, count), n);
    for (uint64_t i = 0; i < n; i++) {
        const bool begins = i == 0 || i == segment_begin(input, segment + 1);
        segment += begins && i > 0;
        if (segment_of(input, i) != segment || begins_segment(input, i) != begins)
            fail_msg("form %d, lengths %d of %d, n = %d: element %d", input->segments.form,
                     input->segments.lengths, (int)input->segments.length, (int)n, (int)i);
    }
    assert_int_equal(segment, n > 0 ? count - 1 : 0);
}

static void segments_divide_the_array(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 1, 2, 31, 64, 65, 1000, 6400, 6401, 50000};
    static const uint64_t lengths[] = {1, 2, 7, 64, 100, 1000, 100000};
    for (int form = SEGMENTS_ROWS; form < SEGMENT_FORM_COUNT; form++)
        for (int skewed = 0; skewed < (form == SEGMENTS_ROWS ? 1 : 2); skewed++)
            for (int s = 0; s < 10; s++)
                for (int l = 0; l < 7; l++) {
                    const struct input input = with_segments(
                        form, skewed ? LENGTHS_SKEWED : LENGTHS_UNIFORM, lengths[l], sizes[s]);
                    expect_segments(&input);
                }
}

/* Uniform lengths are near the mean, and differ. Of skewed ones, one of 64 is long. */
static void lengths_of_segments(void **state)
{
    (void)state;
    enum { LENGTH = 10, ELEMENTS = 64000 };
    const struct input uniform = with_segments(SEGMENTS_OFFSETS, LENGTHS_UNIFORM, LENGTH, ELEMENTS);
    const struct input skewed = with_segments(SEGMENTS_KEYS, LENGTHS_SKEWED, LENGTH, ELEMENTS);
    unsigned of_one = 0, long_ones = 0, seen[2 * LENGTH] = {0};
    for (uint64_t s = 0; s < ELEMENTS / LENGTH; s++) {
        const uint64_t length = segment_begin(&uniform, s + 1) - segment_begin(&uniform, s);
        assert_in_range(length, 1, 2 * LENGTH - 1);
        seen[length]++;
        const uint64_t of_skewed = segment_begin(&skewed, s + 1) - segment_begin(&skewed, s);
        of_one += of_skewed == 1;
        long_ones += of_skewed == SKEWED_GROUP * LENGTH - (SKEWED_GROUP - 1);
    }
    for (int length = 1; length < 2 * LENGTH; length++)
        assert_true(seen[length] > 0);
    assert_int_equal(long_ones, ELEMENTS / LENGTH / SKEWED_GROUP);
    assert_int_equal(of_one, ELEMENTS / LENGTH - long_ones);
}

static void segments_depend_on_the_seed(void **state)
{
    (void)state;
    for (int skewed = 0; skewed < 2; skewed++) {
        const struct input a =
            with_segments(SEGMENTS_OFFSETS, skewed ? LENGTHS_SKEWED : LENGTHS_UNIFORM, 50, 50000);
        const struct input b = varied_input(&a, 99);
        unsigned differ = 0;
        for (uint64_t s = 0; s < 1000; s++)
            differ += segment_begin(&a, s) != segment_begin(&b, s);
        /* Of skewed ones, those between the two places of the long one: every third. */
        assert_true(differ > 250);
    }
}

static void the_second_input_holds_offsets_or_keys(void **state)
{
    (void)state;
    const struct input by_offsets = with_segments(SEGMENTS_OFFSETS, LENGTHS_UNIFORM, 7, 5003);
    const struct input offsets = second_input(&by_offsets);
    assert_int_equal(offsets.type, TYPE_U64);
    assert_int_equal(offsets.n, 716);
    for (uint64_t s = 0; s < offsets.n; s++)
        assert_int_equal(input_element(&offsets, s), segment_begin(&by_offsets, s));
    assert_int_equal(input_element(&offsets, 715), 5003);

    const struct input by_keys = with_segments(SEGMENTS_KEYS, LENGTHS_UNIFORM, 7, 5003);
    const struct input keys = second_input(&by_keys);
    assert_int_equal(keys.type, TYPE_U32);
    assert_int_equal(keys.n, 5003);
    unsigned one_bit = 0;
    for (uint64_t i = 1; i < keys.n; i++) {
        const uint64_t differ = input_element(&keys, i) ^ input_element(&keys, i - 1);
        assert_int_equal(differ != 0, begins_segment(&by_keys, i));
        one_bit += differ != 0 && (differ & (differ - 1)) == 0;
    }
    assert_true(one_bit >= 357);

    const struct input rows = with_segments(SEGMENTS_ROWS, LENGTHS_UNIFORM, 7, 5003);
    assert_int_equal(second_input(&rows).n, 0);
}

/* ---- recurrences ---- */

static struct input of_recurrence(enum element_type type, enum input_shape shape, uint64_t max)
{
    const struct input_spec spec = {.shape = shape, .max = max, .seed = 7};
    const struct problem problem = {
        .op = OP_SCAN, .type = type, .binary_operator = OPERATOR_RECURRENCE, .n = N};
    return make_input(&spec, &problem);
}

static void the_second_input_of_a_recurrence_is_another(void **state)
{
    (void)state;
    for (int type = 0; type < TYPE_COUNT; type++) {
        const struct input a = of_recurrence(type, INPUT_UNIFORM, 200), b = second_input(&a);
        assert_int_equal(b.type, type);
        assert_int_equal(b.n, N);
        assert_true(count_differences(&a, &b) > N * 9 / 10);
        const struct input other = second_input(&(struct input){0});
        assert_int_equal(other.n, 0);
    }
}

static void floats_of_a_recurrence_are_below_1(void **state)
{
    (void)state;
    static const uint64_t maxima[] = {1, 49, (uint64_t)1 << 23};
    for (int m = 0; m < 3; m++)
        for (int is_signed = 0; is_signed < 2; is_signed++) {
            const struct input a =
                of_recurrence(TYPE_F32, is_signed ? INPUT_SIGNED : INPUT_UNIFORM, maxima[m]);
            double least = 1, most = -1;
            assert_null(input_unsuited(&a));
            for (uint64_t i = 0; i < N; i++) {
                least = fmin(least, value(&a, i));
                most = fmax(most, value(&a, i));
            }
            assert_true(most < 1 && most >= 0.5);
            assert_true(is_signed ? least > -1 && least <= -0.5 : least >= 0 && least < 0.01);
        }
    const struct input ones = of_recurrence(TYPE_F64, INPUT_ONES, 49);
    assert_non_null(input_unsuited(&ones));
    const struct input whole = of_recurrence(TYPE_U64, INPUT_ONES, 49);
    assert_null(input_unsuited(&whole));
    assert_int_equal(input_element(&whole, 5), 1);
}

static void products_of_small_types_wrap(void **state)
{
    (void)state;
    assert_int_equal(element_recur(TYPE_U16, 0xFFFF, 0xFFFF, 1), 2);
    assert_int_equal(element_recur(TYPE_I16, 0xFFFF, 0xFFFF, 0xFFFF), 0);
    assert_int_equal(element_recur(TYPE_U8, 0xFF, 0xFF, 1), 2);
}

/* ---- rising and falling ---- */

static void a_noisy_ramp_has_a_new_largest_in_places(void **state)
{
    (void)state;
    for (int type = 0; type < TYPE_COUNT; type++)
        for (int falling = 0; falling < 2; falling++) {
            const struct input input =
                make(OP_SCAN, type, falling ? INPUT_FALLING : INPUT_RISING, largest_value(type));
            unsigned records = 0;
            double most = -INFINITY;
            for (uint64_t i = 0; i < N; i++) {
                const double height = falling ? -value(&input, i) : value(&input, i);
                records += height > most;
                most = fmax(most, height);
            }
            /* Some types have fewer values, of which nearly each is a record. */
            assert_true(records >= fmin((double)N / 10, 0.75 * (double)largest_value(type)));
            assert_true(records < N / 2);
        }
}

static const char *why_unsuited(enum operation op, enum element_type type, enum input_shape shape,
                                uint64_t max, uint64_t n)
{
    struct input input = make(op, type, shape, max);
    input.n = n;
    return input_unsuited(&input);
}

static void integers_are_always_exact(void **state)
{
    (void)state;
    for (int type = 0; type < TYPE_COUNT; type++)
        for (int shape = 0; shape < INPUT_SHAPE_COUNT && !is_float(type); shape++)
            if (shape != INPUT_SIGNED || type_class(type) == TYPE_SIGNED)
                assert_null(why_unsuited(OP_SCAN, type, shape, UINT32_MAX, (uint64_t)1 << 35));
}

static void floats_are_exact_up_to_their_mantissa(void **state)
{
    (void)state;
    const uint64_t f32 = (uint64_t)1 << 24, f64 = (uint64_t)1 << 53;
    assert_null(why_unsuited(OP_SCAN, TYPE_F32, INPUT_UNIFORM, 49, (uint64_t)1 << 35));
    assert_null(why_unsuited(OP_SCAN, TYPE_F32, INPUT_UNIFORM, f32 / 2, 10));
    assert_non_null(why_unsuited(OP_SCAN, TYPE_F32, INPUT_UNIFORM, f32 / 2 + 1, 10));
    /* Sums of any elements: the deviation of a random walk, many times over. */
    assert_null(why_unsuited(OP_REDUCE, TYPE_F32, INPUT_UNIFORM, 49, (uint64_t)1 << 33));
    assert_non_null(why_unsuited(OP_REDUCE, TYPE_F32, INPUT_UNIFORM, 49, (uint64_t)1 << 35));
    assert_null(why_unsuited(OP_REDUCE, TYPE_F64, INPUT_UNIFORM, 49, (uint64_t)1 << 35));
    assert_null(why_unsuited(OP_SCAN, TYPE_F32, INPUT_ONES, 49, f32));
    assert_non_null(why_unsuited(OP_SCAN, TYPE_F32, INPUT_ONES, 49, f32 + 1));
    assert_null(why_unsuited(OP_SCAN, TYPE_F64, INPUT_ONES, 49, f32 + 1));
    assert_null(why_unsuited(OP_SCAN, TYPE_F32, INPUT_ZEROS, 49, (uint64_t)1 << 35));
    assert_null(why_unsuited(OP_SCAN, TYPE_F32, INPUT_SORTED, 16, f32 / 16));
    assert_non_null(why_unsuited(OP_SCAN, TYPE_F32, INPUT_SORTED, 49, f32));
    assert_non_null(why_unsuited(OP_SCAN, TYPE_F64, INPUT_REVERSED, f64, 49));
    assert_null(why_unsuited(OP_SCAN, TYPE_F32, INPUT_SIGNED, 16, f32 / 16));
    assert_non_null(why_unsuited(OP_SCAN, TYPE_F32, INPUT_SIGNED, 49, f32));
}

static void the_reason_says_what_is_wrong(void **state)
{
    (void)state;
    const char *f32 = why_unsuited(OP_SCAN, TYPE_F32, INPUT_ONES, 49, (uint64_t)1 << 25);
    const char *f64 = why_unsuited(OP_SCAN, TYPE_F64, INPUT_SORTED, 49, (uint64_t)1 << 50);
    const char *special = why_unsuited(OP_SCAN, TYPE_F64, INPUT_SPECIAL, 49, 10);
    assert_non_null(strstr(f32, "2^24"));
    assert_non_null(strstr(f32, "f32"));
    assert_non_null(strstr(f64, "2^53"));
    assert_non_null(strstr(special, "NaN"));
    /* A sort adds nothing, nor does an empty array. */
    assert_null(why_unsuited(OP_SORT, TYPE_F32, INPUT_SPECIAL, 49, 10));
    assert_null(why_unsuited(OP_SCAN, TYPE_F32, INPUT_SPECIAL, 49, 0));
}

static void additions_wrap(void **state)
{
    (void)state;
    assert_int_equal(element_add(TYPE_I32, 0x7FFFFFFF, 1), 0x80000000);
    assert_int_equal(element_add(TYPE_U32, 0xFFFFFFFF, 2), 1);
    assert_int_equal(element_add(TYPE_U64, UINT64_MAX, 2), 1);
    assert_true(bits_to_float(TYPE_F32, element_add(TYPE_F32, float_to_bits(TYPE_F32, 1),
                                                    float_to_bits(TYPE_F32, -3))) == -2);
    assert_true(bits_to_float(TYPE_F64, element_add(TYPE_F64, float_to_bits(TYPE_F64, 1),
                                                    float_to_bits(TYPE_F64, -3))) == -2);
}

static void zeros_of_both_signs_are_equal(void **state)
{
    (void)state;
    assert_true(
        element_equal(TYPE_F32, float_to_bits(TYPE_F32, 0.0f), float_to_bits(TYPE_F32, -0.0f)));
    assert_true(
        element_equal(TYPE_F64, float_to_bits(TYPE_F64, 0.0), float_to_bits(TYPE_F64, -0.0)));
    assert_false(element_equal(TYPE_F32, float_to_bits(TYPE_F32, 1),
                               float_to_bits(TYPE_F32, nextafterf(1, 2))));
    assert_false(element_equal(TYPE_I32, 0, 0x80000000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_seed_makes_the_same_data),
        cmocka_unit_test(a_nudge_changes_one_element),
        cmocka_unit_test(a_nudge_of_too_few_or_of_sums_at_their_limit_changes_nothing),
        cmocka_unit_test(varied_data_is_other_data_of_the_same_kind),
        cmocka_unit_test(an_element_does_not_depend_on_n),
        cmocka_unit_test(uniform_is_uniform),
        cmocka_unit_test(neighbours_are_independent),
        cmocka_unit_test(the_largest_value_may_be_all_there_is),
        cmocka_unit_test(a_float_scan_walks_within_bounds),
        cmocka_unit_test(a_walk_with_a_tide_rises_above_what_elements_hold),
        cmocka_unit_test(halves_are_rounded_to_the_nearest),
        cmocka_unit_test(compaction_keeps_the_fraction),
        cmocka_unit_test(sorted_and_reversed_are_monotone),
        cmocka_unit_test(signed_values_lie_on_both_sides_of_zero),
        cmocka_unit_test(signed_values_reach_the_extremes),
        cmocka_unit_test(constant_shapes),
        cmocka_unit_test(special_has_the_extremes),
        cmocka_unit_test(an_and_has_fewer_bits),
        cmocka_unit_test(normal_is_dense_in_the_middle),
        cmocka_unit_test(few_are_sixteen),
        cmocka_unit_test(zipf_is_harmonic),
        cmocka_unit_test(zipf_reaches_far),
        cmocka_unit_test(nearly_sorted_has_one_in_a_hundred_out_of_place),
        cmocka_unit_test(all_but_one_are_zero),
        cmocka_unit_test(the_kept_share_is_about_right),
        cmocka_unit_test(every_drawn_shape_walks),
        cmocka_unit_test(segments_divide_the_array),
        cmocka_unit_test(lengths_of_segments),
        cmocka_unit_test(segments_depend_on_the_seed),
        cmocka_unit_test(the_second_input_holds_offsets_or_keys),
        cmocka_unit_test(the_second_input_of_a_recurrence_is_another),
        cmocka_unit_test(floats_of_a_recurrence_are_below_1),
        cmocka_unit_test(products_of_small_types_wrap),
        cmocka_unit_test(a_noisy_ramp_has_a_new_largest_in_places),
        cmocka_unit_test(integers_are_always_exact),
        cmocka_unit_test(floats_are_exact_up_to_their_mantissa),
        cmocka_unit_test(the_reason_says_what_is_wrong),
        cmocka_unit_test(additions_wrap),
        cmocka_unit_test(zeros_of_both_signs_are_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
