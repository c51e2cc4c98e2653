/* group_entries: which algorithms a group has, and how many times each. */
#include "group_entries.h"

#include "../base/errors.h"
#include "../cli/option_rules.h"
#include "../names.h"
#include "check_plan.h"
#include "placement.h"

/* Should the row run on this device? A row without its library runs only if it was named. With
 * --device, a row runs wherever it has code. Otherwise it runs on its home device; if it was
 * named, even without code there, so that a row says why. */
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

/* Would every row of the group's problem be skipped, whatever the size and the device? The default
 * and the groups of --algo leave such an algorithm out; one that is named has a row that says why.
 * `auto` and what works over slices run others, which decide. */
static bool never_takes(const struct options *options, const struct plan_group *group, size_t r)
{
    const struct table_row *row = table_row(r);
    const struct algorithm *algorithm = row->on[group->device.kind];
    const struct problem problem = problem_of(group);
    if (options->chosen[r].named || row->is_choice || row->of_team || algorithm == NULL ||
        why_unsolvable(&problem) != NULL)
        return false;
    return (problem.values != VALUES_NONE && !(algorithm->traits & TRAIT_PAIRS)) ||
           (is_solver(algorithm) && why_not_combined(algorithm, &problem) != NULL);
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
            APPEND(group->entries, group->entry_count, entry);
        for (int path = 0; path < SIMD_PATH_COUNT && traits & TRAIT_HAS_SIMD; path++) {
            entry.simd = (enum simd_path)path;
            if (options->simd[path])
                APPEND(group->entries, group->entry_count, entry);
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
        APPEND(group->entries, group->entry_count,
               (struct plan_entry){.row = row,
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

static void add_rows(const struct options *options, const struct machine *machine,
                     bool even_if_skipped, struct plan_group *group)
{
    const struct table_row *memcpy_row = NULL;
    bool memcpy_printed = false;
    for (size_t r = 0; r < table_row_count(); r++) {
        const struct table_row *row = table_row(r);
        if (row->op != group->op)
            continue;
        const bool chosen = selected_on(options, r, group->device.kind) &&
                            belongs(options, machine, row, group->device) &&
                            has_line_to_check(options, group, row) &&
                            (even_if_skipped || !never_takes(options, group, r));
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

/* Where nothing takes the problem, rows say why. */
void fill_group(const struct options *options, const struct machine *machine,
                struct plan_group *group)
{
    add_rows(options, machine, false, group);
    if (group->entry_count == 0)
        add_rows(options, machine, true, group);
}
