/* common_plan: one plan for all processes. */
#include "common_plan.h"

#include "../base/errors.h"
#include "../names.h"
#include "../base/processes.h"
#include "../base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP_BYTES = 256 };

/* The numbers of a process's own devices are left out: no two on a host are the same. */
static void describe_group(const struct plan_group *group, FILE *out)
{
    const struct segmentation *segments = &group->input.segments;
    fprintf(out, "%s of n = %llu, %s, %s, %s, %s, %s, on %s", operation_name(group->op),
            (unsigned long long)group->n, type_name(group->type),
            operator_name(group->binary_operator), kind_name(group->kind),
            value_type_name(group->values), cache_state_name(group->cache),
            device_kind_name(group->device.kind));
    if (segments->form != SEGMENTS_NONE)
        fprintf(out, ", %s %s of %llu", segments->lengths == LENGTHS_SKEWED ? "skewed" : "uniform",
                segment_form_name(segments->form), (unsigned long long)segments->length);
    if (group->device.members > 0)
        fprintf(out, ", %u per process", group->device.members);
    for (size_t e = 0; e < group->entry_count; e++) {
        const struct plan_entry *entry = &group->entries[e];
        fprintf(out, "%s %s", e == 0 ? ":" : "", entry->name);
        if (entry->block > 0 || entry->threads > 0 || entry->simd != SIMD_AUTO)
            fprintf(out, " (%u, %u, %s)", entry->block, entry->threads,
                    simd_path_name(entry->simd));
        if (!entry->printed || entry->algorithm == NULL)
            fprintf(out, " (%s)", entry->printed ? "not here" : "for comparison");
    }
}

/* Describes a group, or nothing past the last. */
static char *description_of(const struct plan *plan, size_t group)
{
    struct text text;
    open_text(&text);
    if (group < plan->group_count)
        describe_group(&plan->groups[group], text.out);
    close_text(&text);
    return text.bytes;
}

static unsigned who_differs(const struct plan *plan)
{
    struct text text;
    open_text(&text);
    for (size_t g = 0; g < plan->group_count; g++) {
        describe_group(&plan->groups[g], text.out);
        fputc('\n', text.out);
    }
    close_text(&text);
    const unsigned process = first_that_differs(text.bytes, text.count);
    free(text.bytes);
    return process;
}

static const char *or_nothing(const char *text)
{
    return text[0] != '\0' ? text : "nothing";
}

static void complain_of_group(const char *description, unsigned process)
{
    char mine[GROUP_BYTES] = "";
    snprintf(mine, sizeof mine, "%s", description);
    char *all = gathered(mine, GROUP_BYTES);
    complain(
        "rank %u would run %s, and rank 0 %s; the hosts have different devices: name some that "
        "all have, by --device and --gpus",
        process, or_nothing(all + (size_t)process * GROUP_BYTES), or_nothing(all));
    free(all);
}

/* Every process is in the same group of the same plan at any time. */
static int agree_on_plan(const struct plan *plan)
{
    unsigned process = 0;
    if (who_differs(plan) == 0)
        return EXIT_OK;
    for (size_t g = 0; process == 0; g++) {
        char *description = description_of(plan, g);
        process = first_that_differs(description, strlen(description));
        if (process > 0)
            complain_of_group(description, process);
        free(description);
    }
    return EXIT_UNUSABLE;
}

int make_common_plan(const struct options *options, const struct machine *machine,
                     struct plan *plan)
{
    const int own = make_plan(options, machine, plan);
    int worst = worst_of_processes(own);
    if (own == EXIT_OK && worst != EXIT_OK)
        complain("another process cannot run this: its host lacks a device");
    if (worst == EXIT_OK && processes.count > 1)
        worst = agree_on_plan(plan);
    return worst;
}
