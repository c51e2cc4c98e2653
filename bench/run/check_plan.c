/* check_plan: what --check leaves out. */
#include "check_plan.h"

#include "../device/input.h"
#include "../own_algorithm.h"

bool is_worth_checking(const struct options *options, const struct plan_group *group)
{
    const struct problem problem = problem_of(group);
    const struct input input = make_input(&group->input, &problem);
    return !options->check.varies_values || input_unsuited(&input) == NULL;
}

bool has_line_to_check(const struct options *options, const struct plan_group *group,
                       const struct table_row *row)
{
    const struct problem problem = problem_of(group);
    const struct own_algorithm *own = (const struct own_algorithm *)row->on[group->device.kind];
    if (!options->check.wanted || row->own_file == NULL || own == NULL)
        return true;
    for (size_t e = 0; e < own->entry_count; e++)
        if (own_is_for(own->entries[e], &problem))
            return true;
    return false;
}
