/* verify: checks the result of a run, its input and the guard zones. */
#include "verify.h"

#include "../base/errors.h"
#include "../operations.h"
#include "chunk_reduction.h"
#include "guard.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void format_element(enum element_type type, uint64_t bits, char *text, size_t size)
{
    const uint64_t sign = sign_bit(type);
    switch (type_class(type)) {
    case TYPE_SIGNED:
        snprintf(text, size, "%" PRId64, (int64_t)((bits ^ sign) - sign));
        break;
    case TYPE_UNSIGNED:
        snprintf(text, size, "%" PRIu64, bits);
        break;
    case TYPE_FLOAT: /* enough digits to distinguish it from all other values */
        snprintf(text, size, "%.*g", 2 + (int)((fraction_bits(type) + 1) * 0.30103),
                 bits_to_float(type, bits));
        break;
    }
}

/* Is it what the output holds before a run? Narrow elements may have that value by themselves. */
static bool is_unwritten(enum element_type type, uint64_t bits)
{
    const size_t bytes = element_bytes(type);
    return bytes >= 4 && bits == POISON_BYTE * (UINT64_MAX / 0xFF >> (64 - 8 * bytes));
}

static void describe(struct verdict *verdict, const char *what, int64_t index,
                     enum element_type type, uint64_t got, const char *at_least, uint64_t wanted)
{
    char got_text[40], wanted_text[40];
    format_element(type, got, got_text, sizeof got_text);
    format_element(type, wanted, wanted_text, sizeof wanted_text);
    snprintf(verdict->reason, sizeof verdict->reason, "%s[%" PRId64 "]: got %s, wanted %s%s%s",
             what, index, got_text, at_least, wanted_text,
             strcmp(what, "output") == 0 && is_unwritten(type, got) ? " (as if nothing was written)"
                                                                    : "");
    verdict->passed = false;
}

/* Reads elements index-1 and index, as far as they exist. */
static const char *read_pair(struct device *device, enum element_type type, const void *array,
                             int64_t index, uint64_t pair[2])
{
    const size_t bytes = element_bytes(type);
    const int64_t first = index > 0 ? index - 1 : 0;
    unsigned char raw[16];
    const char *why = device->can->read(device, raw, (const char *)array + (size_t)first * bytes,
                                        (size_t)(index - first + 1) * bytes);
    pair[0] = element_load(type, raw, 0);
    pair[1] = element_load(type, raw, (uint64_t)(index - first));
    return why;
}

/* The element that compaction keeps at this index, found by a search from the start. */
static uint64_t kept_element(const struct input *input, int64_t index)
{
    for (uint64_t i = 0; i < input->n; i++) {
        const uint64_t element = input_element(input, i);
        if (element_is_kept(input->type, element) && index-- == 0)
            return element;
    }
    return 0;
}

/* What the operator makes of a segment, by the definition. */
static uint64_t segment_sum(const struct input *input, uint64_t segment)
{
    uint64_t sum = sum_of_none(input);
    const uint64_t end = segment_begin(input, segment + 1);
    for (uint64_t i = segment_begin(input, segment); i < end; i++)
        sum = apply_to(input, sum, i);
    return element_narrow(input->type, sum);
}

static const char *check_elements(struct device *device, struct check check, const char *what,
                                  struct verdict *verdict)
{
    int64_t index;
    const char *why = device->can->first_wrong(device, &check, &index);
    if (why != NULL || index == NO_INDEX)
        return why;

    uint64_t pair[2];
    const enum element_type type = check.input.type;
    why = read_pair(device, type, check.array, index, pair);
    if (why != NULL)
        return why;
    const uint64_t wanted = check.kind == CHECK_KEPT ? kept_element(&check.input, index)
                            : check.kind == CHECK_SUMS
                                ? segment_sum(&check.input, (uint64_t)index)
                                : check_wanted(&check, (uint64_t)index, pair[0]);
    describe(verdict, what, index, type, pair[1], check.kind == CHECK_ORDER ? "at least " : "",
             wanted);
    return NULL;
}

/* ---- the right elements, in the wrong order ---- */

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Is the array a permutation of the elements that it should hold: of all, or of those that are
 * kept? */
static const char *compare_sorted(struct device *device, const struct check *check, uint64_t count,
                                  bool *permuted)
{
    const struct input *input = &check->input;
    const size_t bytes = element_bytes(input->type);
    unsigned char *raw = allocate_or_die(NULL, count * bytes + 1);
    uint64_t *got = allocate_or_die(NULL, (count + 1) * sizeof *got);
    uint64_t *wanted = allocate_or_die(NULL, (count + 1) * sizeof *wanted), found = 0;
    const char *why = device->can->read(device, raw, check->array, count * bytes);
    for (uint64_t i = 0; i < input->n && found < count; i++) {
        const uint64_t element = input_element(input, i);
        if (check->kind != CHECK_KEPT || element_is_kept(input->type, element))
            wanted[found++] = element;
    }
    for (uint64_t i = 0; i < count && why == NULL; i++)
        got[i] = element_load(input->type, raw, i);
    qsort(got, count, sizeof *got, compare_numbers);
    qsort(wanted, count, sizeof *wanted, compare_numbers);
    *permuted = why == NULL && memcmp(got, wanted, count * sizeof *got) == 0;
    free(wanted);
    free(got);
    free(raw);
    return why;
}

/* After a check has failed: says so if all `count` elements are there. More of them are not looked
 * at, nor are slices, which elements leave. */
static const char *look_for_other_order(struct device *device, const struct check *check,
                                        uint64_t count, struct verdict *verdict)
{
    enum { MOST_SORTED = 1 << 20 };
    const size_t length = strlen(verdict->reason);
    bool permuted = false;
    if (check->input.n > MOST_SORTED || check->input.before > 0 || check->input.after > 0)
        return NULL;
    const char *why = compare_sorted(device, check, count, &permuted);
    if (permuted)
        snprintf(verdict->reason + length, sizeof verdict->reason - length,
                 "; the right elements, %s",
                 check->kind == CHECK_KEPT ? "in another order" : "not in order");
    return why;
}

/* Checks the count, the kept elements, and that nothing was written after them. */
static const char *check_compact(struct device *device, struct check check,
                                 const struct buffer *count, struct verdict *verdict)
{
    uint64_t got = 0, wanted;
    const char *why = device->can->count_kept(device, &check.input, &wanted);
    if (why == NULL)
        why = device->can->read(device, &got, count->data, sizeof got);
    if (why != NULL)
        return why;
    verdict->written = wanted;
    if (got != wanted) {
        snprintf(verdict->reason, sizeof verdict->reason,
                 "count: got %" PRIu64 ", wanted %" PRIu64 "%s", got, wanted,
                 is_unwritten(TYPE_U64, got) ? " (as if nothing was written)" : "");
        verdict->passed = false;
        return NULL;
    }
    check.kind = CHECK_KEPT;
    why = check_elements(device, check, "output", verdict);
    if (why == NULL && !verdict->passed)
        why = look_for_other_order(device, &check, wanted, verdict);
    if (why != NULL || !verdict->passed)
        return why;
    check.kind = CHECK_POISON;
    check.from = wanted;
    return check_elements(device, check, "written after the last kept element: output", verdict);
}

static void describe_pair(const struct check *check, int64_t index, uint64_t key, uint64_t before,
                          uint64_t value, struct verdict *verdict)
{
    const struct input *input = &check->input;
    char key_text[40], wanted_text[40];
    int used = snprintf(verdict->reason, sizeof verdict->reason,
                        "values[%" PRId64 "]: got %" PRIu64 ", ", index, value);
    char *rest = verdict->reason + used;
    const size_t size = sizeof verdict->reason - (size_t)used;
    verdict->passed = false;
    if (value >= input->n) {
        snprintf(rest, size, "wanted an index below %" PRIu64, input->n);
    } else if (input_element(input, value) != key) {
        format_element(input->type, key, key_text, sizeof key_text);
        format_element(input->type, input_element(input, value), wanted_text, sizeof wanted_text);
        snprintf(rest, size, "the index of key %s, but with key %s", wanted_text, key_text);
    } else {
        snprintf(rest, size, "after %" PRIu64 " of the same key: not stable", before);
    }
}

/* Checks that keys and values are pairs of the input, each of them once. */
static const char *check_pairs(struct device *device, struct check check, struct verdict *verdict)
{
    const struct input indices = index_input(check.value_type, check.input.n);
    int64_t index;
    check.kind = CHECK_PAIRS;
    const char *why = device->can->first_wrong(device, &check, &index);
    if (why != NULL)
        return why;
    if (index != NO_INDEX) {
        uint64_t keys[2], values[2];
        why = read_pair(device, check.input.type, check.array, index, keys);
        if (why == NULL)
            why = read_pair(device, indices.type, check.values, index, values);
        if (why == NULL)
            describe_pair(&check, index, keys[1], values[0], values[1], verdict);
        return why;
    }
    struct digest got, wanted;
    why = device->can->digest(device, &indices, check.values, &got);
    if (why == NULL)
        why = device->can->digest(device, &indices, NULL, &wanted);
    if (why == NULL && (got.sum != wanted.sum || got.parity != wanted.parity)) {
        snprintf(verdict->reason, sizeof verdict->reason, "values: not every index once");
        verdict->passed = false;
    }
    return why;
}

/* Checks that the output is in order and a permutation of the input. */
static const char *check_sort(struct device *device, struct check check, const struct buffer *count,
                              struct verdict *verdict)
{
    (void)count;
    check.kind = CHECK_ORDER;
    const char *why = check_elements(device, check, "output", verdict);
    if (why == NULL && !verdict->passed)
        why = look_for_other_order(device, &check, check.input.n, verdict);
    if (why != NULL || !verdict->passed)
        return why;
    why = device->can->digest(device, &check.input, check.array, &verdict->got);
    if (why == NULL)
        why = device->can->digest(device, &check.input, NULL, &verdict->wanted);
    if (why != NULL || check.values == NULL)
        return why;
    judge_digests(verdict);
    return verdict->passed ? check_pairs(device, check, verdict) : NULL;
}

void judge_digests(struct verdict *verdict)
{
    const struct digest *got = &verdict->got, *wanted = &verdict->wanted;
    if (!verdict->passed || (got->sum == wanted->sum && got->parity == wanted->parity))
        return;
    snprintf(verdict->reason, sizeof verdict->reason,
             "output: in order, but not a permutation of the input");
    verdict->passed = false;
}

/* Checks the one element that there is without segments. */
static const char *check_sum(struct device *device, struct check check, struct verdict *verdict)
{
    const enum element_type type = check.input.type;
    uint64_t got[2], wanted;
    const char *why = device->can->reduce_input(device, &check.input, &wanted);
    if (why == NULL)
        why = read_pair(device, type, check.array, 0, got);
    if (why != NULL)
        return why;
    wanted = element_narrow(type, wanted);
    if (!element_equal(type, got[0], wanted))
        describe(verdict, "output", 0, type, got[0], "", wanted);
    return NULL;
}

/* Checks the sums, and that nothing was written after them. */
static const char *check_reduce(struct device *device, struct check check,
                                const struct buffer *count, struct verdict *verdict)
{
    (void)count;
    check.kind = CHECK_SUMS;
    const char *why = check.input.segments.form == SEGMENTS_NONE
                          ? check_sum(device, check, verdict)
                          : check_elements(device, check, "output", verdict);
    if (why != NULL || !verdict->passed)
        return why;
    check.kind = CHECK_POISON;
    check.from = verdict->written;
    return check_elements(device, check, "written after the sum: output", verdict);
}

/* After a check has failed: says so if it is the other kind of scan. A slice does not know the kind
 * of those before it. */
static const char *look_for_other_kind(struct device *device, struct check check,
                                       struct verdict *verdict)
{
    const size_t length = strlen(verdict->reason);
    const bool inclusive = check.scan == KIND_EXCLUSIVE;
    int64_t index;
    if (check.input.before > 0 || check.input.after > 0)
        return NULL;
    check.scan = inclusive ? KIND_INCLUSIVE : KIND_EXCLUSIVE;
    const char *why = device->can->first_wrong(device, &check, &index);
    if (why == NULL && index == NO_INDEX)
        snprintf(verdict->reason + length, sizeof verdict->reason - length,
                 "; right for the %s scan", inclusive ? "inclusive" : "exclusive");
    return why;
}

/* Checks each element against its predecessor. */
static const char *check_scan(struct device *device, struct check check, const struct buffer *count,
                              struct verdict *verdict)
{
    (void)count;
    check.kind = CHECK_SCAN;
    const char *why = check_elements(device, check, "output", verdict);
    return why == NULL && !verdict->passed ? look_for_other_kind(device, check, verdict) : why;
}

typedef const char *check_function(struct device *device, struct check check,
                                   const struct buffer *count, struct verdict *verdict);

static check_function *const check_of[OPERATION_COUNT] = {
#define OPERATION(NAME, name, ...) [OP_##NAME] = check_##name,
#include "../operations.def"
};

/* Checks that values are still, or have been copied as, the indices of their keys. */
static const char *check_indices(struct device *device, const struct problem *problem,
                                 const struct input *input, const struct buffer *values,
                                 const char *what, struct verdict *verdict)
{
    const struct input all = index_input(problem->values, input->before + input->n + input->after);
    const struct check check = {.kind = CHECK_INPUT,
                                .input = input_slice(&all, input->before, input->before + input->n),
                                .array = values->data};
    return values->data != NULL ? check_elements(device, check, what, verdict) : NULL;
}

static const char *check_output(struct device *device, const struct problem *problem,
                                enum result result, const struct input *input, struct seam seam,
                                const struct workspace *workspace, struct verdict *verdict)
{
    const struct check check = {.kind = CHECK_INPUT,
                                .scan = problem->kind,
                                .zeros_equal = result == RESULT_ZEROS_EQUAL,
                                .input = *input,
                                .second = second_input(input),
                                .array = workspace->output.data,
                                .follows = seam.follows,
                                .before = seam.before,
                                .values = workspace->output_values.data,
                                .value_type = problem->values,
                                .stable = problem->stable};
    if (result == RESULT_NOTHING)
        return NULL;
    if (result == RESULT_COPY) {
        const char *why = check_elements(device, check, "output", verdict);
        if (why != NULL || !verdict->passed)
            return why;
        return check_indices(device, problem, input, &workspace->output_values, "values", verdict);
    }
    verdict->written = result_elements(problem);
    return check_of[problem->op](device, check, &workspace->count, verdict);
}

static const char *check_neighbourhood(struct device *device, enum element_type type,
                                       const struct buffer *buffer, const char *what,
                                       struct verdict *verdict)
{
    if (buffer->data == NULL)
        return NULL;
    bool damaged;
    struct guard_damage damage;
    const char *why = device->can->check_guards(device, buffer, &damaged, &damage);
    if (why != NULL || !damaged)
        return why;

    /* The index of the element, past the buffer's end or before 0. */
    const int64_t bytes = (int64_t)element_bytes(type);
    const int64_t zone_start = damaged_zone_start(&damage, buffer->bytes);
    const int64_t in_zone = (damage.offset - zone_start) / bytes;
    unsigned char guard[8];
    memset(guard, GUARD_BYTE, sizeof guard);
    char text[64];
    snprintf(text, sizeof text, "written %s %s: %s", damage.offset >= 0 ? "after" : "before", what,
             what);
    describe(verdict, text, zone_start / bytes + in_zone, type,
             element_load(type, damage.found, (uint64_t)(in_zone % (8 / bytes))), "",
             element_load(type, guard, 0));
    return NULL;
}

const char *verify_slice(struct device *device, const struct problem *problem, enum result result,
                         const struct input *input, struct seam seam,
                         const struct workspace *workspace, struct verdict *verdict)
{
    *verdict = (struct verdict){.passed = true, .written = problem->n};
    const struct check unchanged = {
        .kind = CHECK_INPUT, .input = *input, .array = workspace->input.data};
    const struct input second = second_input(input);
    const struct check second_unchanged = {
        .kind = CHECK_INPUT, .input = second, .array = workspace->second.data};
    const char *why = check_output(device, problem, result, input, seam, workspace, verdict);
    if (why == NULL && verdict->passed)
        why = check_elements(device, unchanged, "input changed: input", verdict);
    if (why == NULL && verdict->passed && workspace->second.data != NULL)
        why =
            check_elements(device, second_unchanged, "second input changed: second input", verdict);
    if (why == NULL && verdict->passed)
        why = check_indices(device, problem, input, &workspace->input_values,
                            "input changed: input values", verdict);

    const struct {
        const char *name;
        const struct buffer *buffer;
        enum element_type type;
    } all[WORKSPACE_BUFFERS] = {
        {"output", &workspace->output, problem->type},
        {"input", &workspace->input, problem->type},
        {"scratch", &workspace->scratch, problem->type},
        {"count", &workspace->count, problem->type},
        {"second input", &workspace->second, second.type},
        {"values", &workspace->output_values, index_input(problem->values, 0).type},
        {"input values", &workspace->input_values, index_input(problem->values, 0).type},
    };
    for (int b = 0; b < WORKSPACE_BUFFERS && why == NULL && verdict->passed; b++)
        why = check_neighbourhood(device, all[b].type, all[b].buffer, all[b].name, verdict);
    return why;
}

const char *verify(struct device *device, const struct problem *problem, enum result result,
                   const struct input *input, const struct workspace *workspace,
                   struct verdict *verdict)
{
    if (device->can->verify_slices != NULL)
        return device->can->verify_slices(device, problem, result, input, workspace, verdict);
    const char *why =
        verify_slice(device, problem, result, input, (struct seam){0}, workspace, verdict);
    judge_digests(verdict);
    return why;
}
