/* plan: turns options into groups of entries to measure. */
#include "plan.h"

#include "../base/errors.h"
#include "../cli/check_preset.h"
#include "../cli/option_rules.h"
#include "../device/operators.h"
#include "../operations.h"
#include "../types.h"
#include "check_plan.h"
#include "group_entries.h"
#include "placement.h"

#include <stdio.h>
#include <stdlib.h>

enum { USUAL_MAX = 49 };

/* A plan that is being made. */
struct planning {
    const struct options *options; /* of the current pass */
    const struct machine *machine;
    struct placement devices;
    struct plan *plan;
};

/* Is this combination asked for? Axes that an operation lacks have one value. */
static bool is_asked(const struct options *options, const struct plan_group *group)
{
    const enum operation op = group->op;
    const enum binary_operator id = group->binary_operator;
    return options->operations[op] && options->types[group->type] &&
           operator_takes(id, group->type) &&
           (operation_has(op, HAS_OPERATOR) ? options->operators[id] && operator_is_of(id, op)
                                            : id == OPERATOR_SUM) &&
           (operation_has(op, HAS_KIND) ? options->kinds[group->kind]
                                        : group->kind == KIND_EXCLUSIVE) &&
           (operation_has(op, HAS_VALUES) ? options->values[group->values]
                                          : group->values == VALUES_NONE);
}

/* The largest value of an input if none was given: a small one, so that few sums wrap around. It
 * is the type's largest for sorts, where small values would favour algorithms that skip unused
 * bits; for max and min, whose results would soon all be the same; and for recurrences, which
 * multiply. */
static uint64_t default_max(const struct plan_group *group)
{
    const enum binary_operator id = group->binary_operator;
    return operation_has(group->op, DEPENDS_ON_BITS) || operator_has(id, ORDERS) ||
                   operator_has(id, HAS_TWO_INPUTS)
               ? largest_value(group->type)
               : USUAL_MAX;
}

/* Is this shape of the input asked for, or the operator's own where none is? */
static bool is_asked_shape(const struct options *options, enum binary_operator id, int shape)
{
    return options->input_given ? options->inputs[shape]
                                : (enum input_shape)shape == operator_facts(id)->input;
}

/* ---- The groups, from an axis that differs last to one that differs first ---- */

static void add_group(const struct planning *planning, struct plan_group group)
{
    struct plan *plan = planning->plan;
    group.entries = NULL; /* each group has its own */
    group.entry_count = 0;
    if (is_worth_checking(planning->options, &group))
        fill_group(planning->options, planning->machine, &group);
    if (group.entry_count == 0) {
        free(group.entries);
        return;
    }
    APPEND(plan->groups, plan->group_count, group);
}

/* Adds the groups of one size, on all devices. */
static void add_devices(const struct planning *planning, struct plan_group group, size_t size)
{
    const struct options *options = planning->options;
    for (size_t d = 0; d < planning->devices.count; d++)
        for (int cache = 0; cache < CACHE_STATE_COUNT; cache++) {
            if (!options->cache[cache])
                continue;
            group.device = planning->devices.devices[d];
            group.n = backend_of(group.device.kind)->simulated ? options->simulated_sizes.n[size]
                                                               : options->sizes.n[size];
            group.cache = (enum cache_state)cache;
            group.reference = group.device.members == 0 && has_teams(options);
            add_group(planning, group);
        }
}

/* Adds the groups of all segments and sizes. */
static void add_segments(const struct planning *planning, struct plan_group group)
{
    const struct options *options = planning->options;
    const bool segmented = operation_has(group.op, HAS_SEGMENTS);
    struct input_spec *input = &group.input;
    for (size_t s = 0; s < (segmented ? options->segments_count : 1); s++) {
        if (segmented) {
            input->segments = options->segments[s].value;
            snprintf(input->segments_text, sizeof input->segments_text, "%s",
                     options->segments[s].text);
        }
        for (size_t size = 0; size < options->sizes.count; size++)
            add_devices(planning, group, size);
    }
}

/* Adds the groups of one shape of the input: of all largest values and all fractions kept. */
static void add_values(const struct planning *planning, struct plan_group group)
{
    const struct options *options = planning->options;
    const size_t maxima = options->max_count > 0 ? options->max_count : 1;
    const size_t keeps = operation_has(group.op, HAS_KEEP) ? options->keep_count : 1;
    struct input_spec *input = &group.input;
    for (size_t m = 0; m < maxima; m++)
        for (size_t k = 0; k < keeps; k++) {
            input->max = m < options->max_count ? options->maxima[m].value : default_max(&group);
            snprintf(input->max_text, sizeof input->max_text, "%s", options->maxima[m].text);
            input->keep = options->keeps[k].value;
            snprintf(input->keep_text, sizeof input->keep_text, "%s", options->keeps[k].text);
            add_segments(planning, group);
        }
}

/* Adds the groups of one problem, for all shapes of the input. */
static void add_inputs(const struct planning *planning, struct plan_group group)
{
    const struct options *options = planning->options;
    if (!is_asked(options, &group))
        return;
    for (int shape = 0; shape < INPUT_SHAPE_COUNT; shape++) {
        group.input = (struct input_spec){.shape = (enum input_shape)shape, .seed = options->seed};
        if (is_asked_shape(options, group.binary_operator, shape))
            add_values(planning, group);
    }
}

/* The last digit of a number to this base, which it loses. */
static int take_digit(int *number, int base)
{
    const int digit = *number % base;
    *number /= base;
    return digit;
}

/* Adds the groups of all problems, numbered so that operations differ last. */
static void add_problems(const struct planning *planning)
{
    const int count = OPERATION_COUNT * TYPE_COUNT * OPERATOR_COUNT * KIND_COUNT * VALUE_TYPE_COUNT;
    for (int problem = 0; problem < count; problem++) {
        struct plan_group group = {0};
        int rest = problem;
        group.values = (enum value_type)take_digit(&rest, VALUE_TYPE_COUNT);
        group.kind = (enum scan_kind)take_digit(&rest, KIND_COUNT);
        group.binary_operator = (enum binary_operator)take_digit(&rest, OPERATOR_COUNT);
        group.type = (enum element_type)take_digit(&rest, TYPE_COUNT);
        group.op = (enum operation)rest;
        add_inputs(planning, group);
    }
}

/* ---- The plan ---- */

static bool runs_anything(const struct plan_group *group)
{
    bool any = false;
    for (size_t e = 0; e < group->entry_count; e++)
        any |= group->entries[e].printed && group->entries[e].algorithm != NULL;
    return any;
}

/* Without a GPU, GPU algorithms run in the emulator up to a limit on n. Above it, they are an
 * error if they were named, and left out otherwise. */
static int check_emulator(const struct options *options, const struct machine *machine,
                          struct plan *plan)
{
    if (options->device_count > 0 || machine->gpu_count > 0)
        return EXIT_OK;
    bool emulated = false, left_out = false;
    size_t kept = 0;
    for (size_t g = 0; g < plan->group_count; g++) {
        struct plan_group *group = &plan->groups[g];
        const bool too_large =
            backend_of(group->device.kind)->simulated && group->n > EMULATOR_LARGEST_UNASKED;
        if (too_large && options->algo_word_count > 0) {
            complain("--n=%llu: %s, and above 2^20 GPU algorithms are emulated only on request: "
                     "--device=emulator, or a smaller --n",
                     (unsigned long long)group->n, machine->why_none);
            return EXIT_UNUSABLE;
        }
        left_out |= too_large;
        if (too_large) {
            free(group->entries);
            continue;
        }
        emulated |= backend_of(group->device.kind)->simulated && runs_anything(group);
        plan->groups[kept++] = *group;
    }
    plan->group_count = kept;
    plan->why_none = machine->why_none;
    if (left_out)
        plan->without_gpu =
            "GPU algorithms are left out above n = 2^20; --device=emulator runs them";
    else if (emulated)
        plan->without_gpu = "GPU algorithms run in the emulator; results are verified, but times "
                            "are not those of a GPU";
    return EXIT_OK;
}

void tell_of_plan(const struct options *options, const struct plan *plan)
{
    if (plan->without_gpu != NULL && !options->quiet)
        complain("%s: %s", plan->why_none, plan->without_gpu);
}

int make_plan(const struct options *options, const struct machine *machine, struct plan *plan)
{
    struct planning planning = {.machine = machine, .plan = plan};
    *plan = (struct plan){0};
    int code = place_plan(options, machine, &planning.devices);
    if (code != EXIT_OK)
        return code;
    for (int pass = 0; pass < CHECK_PASSES; pass++) {
        struct options part = *options;
        planning.options = &part;
        if (narrow_to_pass(&part, (enum check_pass)pass))
            add_problems(&planning);
    }
    code = check_emulator(options, machine, plan);
    if (code != EXIT_OK)
        free_plan(plan);
    return code;
}

void free_plan(struct plan *plan)
{
    for (size_t g = 0; g < plan->group_count; g++)
        free(plan->groups[g].entries);
    free(plan->groups);
    *plan = (struct plan){0};
}
