/* group_entries.h: which algorithms a group has, and how many times each. */
#pragma once

#include "plan_group.h"

/* Adds the algorithms of a group in the table's order. memcpy, which is always measured, comes
 * last. */
void fill_group(const struct options *options, const struct machine *machine,
                struct plan_group *group);
