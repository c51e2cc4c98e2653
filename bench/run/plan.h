/* plan.h: the list of what is to be measured.
 *
 * The second stage of options -> plan -> runner. Decides which algorithm runs on which device;
 * runs nothing itself. */
#pragma once

#include "plan_group.h"

/* The largest n at which GPU algorithms fall back to the emulator without --device. */
#define EMULATOR_LARGEST_UNASKED ((uint64_t)1 << 20)

struct plan {
    struct plan_group *groups;
    size_t group_count;
    const char *without_gpu; /* what becomes of GPU algorithms; NULL: they have one */
    const char *why_none;    /* why there is no GPU */
};

/* Says on stderr what becomes of GPU algorithms without a GPU, unless --quiet. */
void tell_of_plan(const struct options *options, const struct plan *plan);

/* Returns EXIT_OK, or after one line on stderr EXIT_USAGE or EXIT_UNUSABLE. */
int make_plan(const struct options *options, const struct machine *machine, struct plan *plan);
void free_plan(struct plan *plan);
