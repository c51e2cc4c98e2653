/* plan: turns options into groups of entries to measure. */
#include "plan.h"

#include "../cli/check_preset.h"
#include "../cli/option_rules.h"
#include "../names.h"
#include "../operations.h"
#include "../device/operators.h"
#include "../base/errors.h"
#include "../base/processes.h"
#include "../types.h"
#include "check_plan.h"

#include <stdio.h>
#include <stdlib.h>

enum { USUAL_MAX = 49 };

/* The devices of a plan, requested or chosen. */
struct placement {
    struct device_choice devices[MAX_DEVICES * (1 + MAX_GPU_COUNTS)];
    size_t count;
};

/* Is the row requested on this kind of device? A row that only a GPU can run is selected on the
 * emulator too; its row there says why it is skipped. */
static bool selected_on(const struct options *options, size_t row, enum device_kind kind)
{
    const bool *on = options->chosen[row].on;
    return on[kind] || (kind == DEVICE_EMULATOR && on[DEVICE_GPU]);
}

/* The device an algorithm runs on by default: the GPU if it has GPU code, else the CPU. */
static struct device_choice home_device(const struct table_row *row, const struct machine *machine)
{
    if (!row->listed_on[DEVICE_GPU])
        return (struct device_choice){.kind = DEVICE_CPU};
    if (machine->gpu_count > 0)
        return (struct device_choice){.kind = DEVICE_GPU};
    return (struct device_choice){.kind = DEVICE_EMULATOR};
}

static bool same_device(struct device_choice a, struct device_choice b)
{
    return a.kind == b.kind && a.index == b.index && a.members == b.members;
}

static void add_device(struct placement *placement, struct device_choice device)
{
    for (size_t i = 0; i < placement->count; i++)
        if (same_device(placement->devices[i], device))
            return;
    if (placement->count < sizeof placement->devices / sizeof *placement->devices)
        placement->devices[placement->count++] = device;
}

/* A team that begins with a device, or on a host of several processes with this one's share: of all
 * GPUs if `members` is 0, and even if there is none, which check_teams() finds. */
static struct device_choice team_from(struct device_choice device, unsigned members,
                                      const struct machine *machine)
{
    if (members == 0)
        members = (unsigned)(machine->gpu_count - device.index) / processes.on_this_host;
    if (members == 0)
        members = 1;
    device.members = members;
    if (backend_of(device.kind)->numbered)
        device.index += (int)(members * processes.number_on_host);
    return device;
}

/* Replaces each device by itself, as a reference, and a team for each number of --gpus. */
static struct placement add_teams(const struct options *options, const struct machine *machine,
                                  const struct placement *alone)
{
    struct placement all = {.count = 0};
    for (size_t d = 0; d < alone->count; d++) {
        const struct device_choice device = alone->devices[d];
        if (options->gpus_count > 0 && !backend_of(device.kind)->has_blocks)
            continue;
        if (processes.count == 1)
            add_device(&all, device);
        for (size_t g = 0; g < options->gpus_count; g++)
            add_device(&all, team_from(device, options->gpus[g], machine));
        if (options->gpus_count == 0)
            add_device(&all, team_from(device, 1, machine));
    }
    return all;
}

/* The devices of the plan: those requested, or the default device of every selected algorithm.
 * A ceiling (memcpy) adds its device only if it is selected alone. */
static struct placement single_devices(const struct options *options, const struct machine *machine)
{
    struct placement all = {.count = 0};
    for (size_t i = 0; i < options->device_count; i++)
        add_device(&all, options->devices[i]);
    if (options->device_count > 0)
        return all;
    for (int ceilings = 0; ceilings < 2; ceilings++)
        for (size_t r = 0; r < table_row_count(); r++) {
            const struct table_row *row = table_row(r);
            const struct device_choice home = home_device(row, machine);
            if (selected_on(options, r, home.kind) && is_ceiling(row) == (ceilings == 1) &&
                (ceilings == 0 || all.count == 0))
                add_device(&all, home);
        }
    return all;
}

static struct placement plan_devices(const struct options *options, const struct machine *machine)
{
    const struct placement alone = single_devices(options, machine);
    return has_teams(options) ? add_teams(options, machine, &alone) : alone;
}

/* Should the row run on this device? Not, unless it was named, without its library. With --device,
 * wherever it has code, and wherever it was named, so that a row says why it has none. */
static bool belongs(const struct options *options, const struct machine *machine,
                    const struct table_row *row, struct device_choice device)
{
    const struct algorithm *algorithm = row->on[device.kind];
    const bool has_code = algorithm != NULL;
    if (device.members > 0 ? !row->of_team && !is_ceiling(row) : row->of_team)
        return false;
    if (has_code && options->algo_word_count == 0 && missing_package(algorithm) != NULL)
        return false;
    if (options->device_count > 0 || is_ceiling(row))
        return has_code;
    if (home_device(row, machine).kind != device.kind)
        return false;
    return has_code || options->algo_word_count > 0;
}

static void add_entry(struct plan_group *group, struct plan_entry entry)
{
    group->entries =
        allocate_or_die(group->entries, (group->entry_count + 1) * sizeof *group->entries);
    group->entries[group->entry_count++] = entry;
}

/* Adds one entry per block size, or per number of threads and vector path, that the algorithm
 * obeys. */
static void add_variants(const struct options *options, struct plan_group *group,
                         const struct plan_entry *base)
{
    const struct algorithm *algorithm = base->algorithm;
    const unsigned traits = algorithm != NULL ? algorithm->traits : 0;
    const size_t variants = traits & TRAIT_HAS_BLOCK     ? options->block_count
                            : traits & TRAIT_HAS_THREADS ? options->thread_count
                                                         : 1;
    for (size_t v = 0; v < variants; v++) {
        struct plan_entry entry = *base;
        if (traits & TRAIT_HAS_BLOCK)
            entry.block = options->blocks[v] ? options->blocks[v] : algorithm->default_block;
        if (backend_of(group->device.kind)->has_threads)
            entry.threads = traits & TRAIT_HAS_THREADS ? options->threads[v] : 1;
        if (!(traits & TRAIT_HAS_SIMD))
            add_entry(group, entry);
        for (int path = 0; path < SIMD_PATH_COUNT && traits & TRAIT_HAS_SIMD; path++) {
            entry.simd = (enum simd_path)path;
            if (options->simd[path])
                add_entry(group, entry);
        }
    }
}

static void add_row(const struct options *options, struct plan_group *group,
                    const struct table_row *row, bool printed)
{
    add_variants(options, group,
                 &(struct plan_entry){.row = row,
                                      .name = row->name,
                                      .algorithm = row->on[group->device.kind],
                                      .printed = printed});
}

/* Adds what works over slices, by each engine that can or that was named. */
static void add_engines(const struct options *options, struct plan_group *group, size_t row)
{
    for (int e = 0; e < ENGINE_COUNT; e++) {
        const struct algorithm *algorithm = table_row(row)->by[e][group->device.kind];
        const bool works = algorithm != NULL && missing_package(algorithm) == NULL;
        if (!options->chosen[row].by[e] || (!works && !options->named) ||
            (algorithm == NULL && options->device_count > 0))
            continue;
        add_variants(options, group,
                     &(struct plan_entry){.row = table_row(row),
                                          .name = engine_name(e),
                                          .algorithm = algorithm,
                                          .printed = true});
    }
}

static void add_once(unsigned number, unsigned *numbers, size_t *count)
{
    for (size_t i = 0; i < *count; i++)
        if (numbers[i] == number)
            return;
    numbers[(*count)++] = number;
}

/* memcpy runs with every number of threads used by another algorithm of the group, so that each
 * is compared with memcpy on as many, and with those of --threads. Without threads, it runs
 * once. */
static void add_memcpy(const struct options *options, struct plan_group *group,
                       const struct table_row *row, bool printed)
{
    const struct algorithm *algorithm = row->on[group->device.kind];
    unsigned threads[2 * MAX_THREADS + 1];
    size_t count = 0;
    if (!printed && group->entry_count == 0)
        return;
    if (algorithm->traits & TRAIT_HAS_THREADS) {
        for (size_t e = 0; e < group->entry_count; e++)
            add_once(group->entries[e].threads, threads, &count);
        for (size_t t = 0; t < options->thread_count && printed; t++)
            if (options->threads[t] != 0 || group->entry_count == 0)
                add_once(options->threads[t], threads, &count);
    } else {
        add_once(backend_of(group->device.kind)->has_threads, threads, &count);
    }
    for (size_t t = 0; t < count; t++)
        add_entry(group, (struct plan_entry){.row = row,
                                             .name = row->name,
                                             .algorithm = algorithm,
                                             .threads = threads[t],
                                             .printed = printed});
}

/* Adds a row to the group of one device beside teams: `auto` for the comparison, and with --gpus=1
 * what was named. */
static void add_reference(const struct options *options, struct plan_group *group,
                          const struct table_row *row, bool chosen)
{
    const bool printed = chosen && asks_for_one_gpu(options) && !is_ceiling(row) &&
                         (row->is_choice || options->algo_word_count > 0);
    if (printed || (row->is_choice && row->on[group->device.kind] != NULL))
        add_row(options, group, row, printed);
}

/* Adds the algorithms of a group in the table's order. memcpy, which is always measured, comes
 * last. */
static void fill_group(const struct options *options, const struct machine *machine,
                       struct plan_group *group)
{
    const struct table_row *memcpy_row = NULL;
    bool memcpy_printed = false;
    for (size_t r = 0; r < table_row_count(); r++) {
        const struct table_row *row = table_row(r);
        if (row->op != group->op)
            continue;
        const bool chosen = selected_on(options, r, group->device.kind) &&
                            belongs(options, machine, row, group->device) &&
                            has_line_to_check(options, group, row);
        if (copies_input(row->on[group->device.kind])) {
            memcpy_row = row;
            memcpy_printed = chosen && !group->reference;
        } else if (group->reference) {
            add_reference(options, group, row, chosen);
        } else if (chosen && row->of_team) {
            add_engines(options, group, r);
        } else if (chosen) {
            add_row(options, group, row, true);
        }
    }
    if (memcpy_row != NULL)
        add_memcpy(options, group, memcpy_row, memcpy_printed);
}

bool copies_input(const struct algorithm *algorithm)
{
    return algorithm != NULL && algorithm->result == RESULT_COPY;
}

bool same_problem(const struct plan_group *a, const struct plan_group *b)
{
    return a->op == b->op && a->type == b->type && a->binary_operator == b->binary_operator &&
           a->kind == b->kind && a->values == b->values && a->input.shape == b->input.shape &&
           a->input.max == b->input.max && a->input.keep == b->input.keep &&
           a->input.segments.form == b->input.segments.form &&
           a->input.segments.lengths == b->input.segments.lengths &&
           a->input.segments.length == b->input.segments.length && a->n == b->n &&
           a->device.kind == b->device.kind;
}

static void add_group(struct plan *plan, struct plan_group group)
{
    if (group.entry_count == 0) {
        free(group.entries);
        return;
    }
    plan->groups = allocate_or_die(plan->groups, (plan->group_count + 1) * sizeof *plan->groups);
    plan->groups[plan->group_count++] = group;
}

static void add_groups_of_size(const struct options *options, const struct machine *machine,
                               const struct placement *devices, struct plan_group base, size_t size,
                               struct plan *plan)
{
    for (size_t d = 0; d < devices->count; d++)
        for (int cache = 0; cache < CACHE_STATE_COUNT; cache++) {
            if (!options->cache[cache])
                continue;
            struct plan_group group = base;
            group.device = devices->devices[d];
            group.n = backend_of(group.device.kind)->simulated ? options->simulated_sizes.n[size]
                                                               : options->sizes.n[size];
            group.cache = (enum cache_state)cache;
            group.reference = group.device.members == 0 && has_teams(options);
            if (is_worth_checking(options, &group))
                fill_group(options, machine, &group);
            add_group(plan, group);
        }
}

/* Checks a team of all processes, alike in all those of a host. Emulated devices are made as they
 * are needed. */
static int check_team(const char *flag, struct device_choice device, const struct machine *machine)
{
    const struct backend *backend = backend_of(device.kind);
    const unsigned on_this_host = device.members * processes.on_this_host;
    const int first = device.index - (int)(device.members * processes.number_on_host);
    const int last = device.index + (int)device.members;
    const char *ignored;
    if (device.members * processes.count > MOST_MEMBERS) {
        complain("%s: %u devices cannot share an array, %d at most", flag,
                 device.members * processes.count, MOST_MEMBERS);
        return EXIT_USAGE;
    }
    if (device.kind == DEVICE_GPU && first + (int)on_this_host > machine->gpu_count) {
        char from[32] = "";
        if (first > 0)
            snprintf(from, sizeof from, " from gpu%d on", first);
        complain("%s: asks for %u GPUs%s, and there %s %d", flag, on_this_host, from,
                 machine->gpu_count == 1 ? "is" : "are", machine->gpu_count);
        return EXIT_UNUSABLE;
    }
    if (backend->set_device_count != NULL && last > backend->device_count(&ignored))
        backend->set_device_count(last);
    return EXIT_OK;
}

static int check_teams(const struct options *options, const struct machine *machine,
                       const struct placement *devices)
{
    const char *const flag = options->gpus_count > 0 ? "--gpus" : "mpirun";
    int code = EXIT_OK;
    for (size_t g = 0; g < options->gpus_count; g++)
        if (options->gpus[g] == 0 && machine->gpu_count == 0) {
            complain("--gpus=all: %s; emulators need a number", machine->why_none);
            return EXIT_UNUSABLE;
        }
    for (size_t d = 0; d < devices->count && code == EXIT_OK; d++)
        if (devices->devices[d].members > 0)
            code = check_team(flag, devices->devices[d], machine);
    return code;
}

/* A missing --device ends the whole run before it starts. */
static int check_devices(const struct options *options, const struct machine *machine)
{
    for (size_t i = 0; i < options->device_count; i++) {
        const struct device_choice device = options->devices[i];
        if (device.kind != DEVICE_GPU || device.index < machine->gpu_count)
            continue;
        char name[16] = "gpu";
        if (device.index > 0)
            snprintf(name, sizeof name, "gpu%d", device.index);
        if (machine->gpu_count == 0)
            complain("--device=%s: %s; --device=emulator runs the same kernels on the CPU", name,
                     machine->why_none);
        else if (machine->gpu_count == 1)
            complain("--device=%s: no such GPU; there is one, --device=gpu", name);
        else
            complain("--device=%s: no such GPU; there are %d, gpu0 to gpu%d", name,
                     machine->gpu_count, machine->gpu_count - 1);
        return EXIT_UNUSABLE;
    }
    return EXIT_OK;
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
        emulated |= backend_of(group->device.kind)->simulated;
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

/* Is this combination asked for? Axes that an operation lacks have one value. */
static bool is_asked(const struct options *options, const struct plan_group *group)
{
    const enum operation op = group->op;
    const enum binary_operator id = group->binary_operator;
    return options->operations[op] && options->types[group->type] &&
           operation_takes(op, group->type) && operator_takes(id, group->type) &&
           (operation_has(op, HAS_OPERATOR) ? options->operators[id] && operator_is_of(id, op)
                                            : id == OPERATOR_SUM) &&
           (operation_has(op, HAS_KIND) ? options->kinds[group->kind]
                                        : group->kind == KIND_EXCLUSIVE) &&
           (operation_has(op, HAS_VALUES) ? options->values[group->values]
                                          : group->values == VALUES_NONE);
}

/* The largest value of an input if none was given: small ones, so that few sums wrap around. The
 * type's largest for a sort, where small ones would flatter whoever skips bits that are never set,
 * for the largest or smallest of many, which would soon be all the same, and for recurrences, which
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

/* Adds the groups of all sizes. */
static void add_sizes(const struct options *options, const struct machine *machine,
                      const struct placement *devices, struct plan_group base, struct plan *plan)
{
    for (size_t s = 0; s < options->sizes.count; s++)
        add_groups_of_size(options, machine, devices, base, s, plan);
}

/* Adds the groups of all segments. */
static void add_segments(const struct options *options, const struct machine *machine,
                         const struct placement *devices, struct plan_group base, struct plan *plan)
{
    struct input_spec *input = &base.input;
    if (!operation_has(base.op, HAS_SEGMENTS)) {
        add_sizes(options, machine, devices, base, plan);
        return;
    }
    for (size_t s = 0; s < options->segments_count; s++) {
        input->segments = options->segments[s].value;
        snprintf(input->segments_text, sizeof input->segments_text, "%s",
                 options->segments[s].text);
        add_sizes(options, machine, devices, base, plan);
    }
}

/* Adds the groups of one shape of the input: of all largest values and all fractions kept. */
static void add_inputs(const struct options *options, const struct machine *machine,
                       const struct placement *devices, struct plan_group base, struct plan *plan)
{
    const size_t maxima = options->max_count > 0 ? options->max_count : 1;
    const size_t keeps = operation_has(base.op, HAS_KEEP) ? options->keep_count : 1;
    struct input_spec *input = &base.input;
    for (size_t m = 0; m < maxima; m++)
        for (size_t k = 0; k < keeps; k++) {
            input->max = m < options->max_count ? options->maxima[m].value : default_max(&base);
            snprintf(input->max_text, sizeof input->max_text, "%s", options->maxima[m].text);
            input->keep = options->keeps[k].value;
            snprintf(input->keep_text, sizeof input->keep_text, "%s", options->keeps[k].text);
            add_segments(options, machine, devices, base, plan);
        }
}

/* Adds the groups of all inputs. */
static void add_groups(const struct options *options, const struct machine *machine,
                       const struct placement *devices, struct plan_group base, struct plan *plan)
{
    if (!is_asked(options, &base))
        return;
    for (int shape = 0; shape < INPUT_SHAPE_COUNT; shape++) {
        base.input = (struct input_spec){.shape = (enum input_shape)shape, .seed = options->seed};
        if (is_asked_shape(options, base.binary_operator, shape))
            add_inputs(options, machine, devices, base, plan);
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
static void add_problems(const struct options *options, const struct machine *machine,
                         const struct placement *devices, struct plan *plan)
{
    const int count = OPERATION_COUNT * TYPE_COUNT * OPERATOR_COUNT * KIND_COUNT * VALUE_TYPE_COUNT;
    for (int problem = 0; problem < count; problem++) {
        struct plan_group base = {0};
        int rest = problem;
        base.values = (enum value_type)take_digit(&rest, VALUE_TYPE_COUNT);
        base.kind = (enum scan_kind)take_digit(&rest, KIND_COUNT);
        base.binary_operator = (enum binary_operator)take_digit(&rest, OPERATOR_COUNT);
        base.type = (enum element_type)take_digit(&rest, TYPE_COUNT);
        base.op = (enum operation)rest;
        add_groups(options, machine, devices, base, plan);
    }
}

int make_plan(const struct options *options, const struct machine *machine, struct plan *plan)
{
    *plan = (struct plan){0};
    int code = check_devices(options, machine);
    if (code != EXIT_OK)
        return code;
    const struct placement devices = plan_devices(options, machine);
    code = check_teams(options, machine, &devices);
    if (code != EXIT_OK)
        return code;

    for (int pass = 0; pass < CHECK_PASSES; pass++) {
        struct options part = *options;
        if (narrow_to_pass(&part, (enum check_pass)pass))
            add_problems(&part, machine, &devices, plan);
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
