/* check_plan.h: what --check leaves out. It tries so many combinations that some cannot be, and
 * rows that say so would hide the others. */
#pragma once

#include "plan_group.h"

/* Can the group's input be? True without --check, or if the user chose the input. */
bool is_worth_checking(const struct options *options, const struct plan_group *group);

/* Does a row of the user's have a line for the group's type and kind? True without --check, and of
 * other rows. */
bool has_line_to_check(const struct options *options, const struct plan_group *group,
                       const struct table_row *row);
