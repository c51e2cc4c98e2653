/* check_plan: what --check leaves out. */
#include "check_plan.h"

#include "../device/input.h"
#include "../own_algorithm.h"

/* A sort of one bit per pass, as users write it, has as many scans as bits, each of which the
 * emulator runs for all calls of a row. Longer arrays than these show nothing new of it. Passes
 * that vary something else than the size have few sizes. */
static bool takes_too_long(const struct options *options, const struct plan_group *group)
{
    enum { LARGEST = 16385, MIDDLE = 8192, LAST_OF_ALL = 4097, LARGEST_OF_FEW = 1000 };
    const struct size_list *few = &options->check.few;
    const bool is_few = options->sizes.count == few->count;
    if (group->op != OP_SORT || few->count == 0)
        return false;
    return is_few ? group->n > LARGEST_OF_FEW
                  : group->n > LAST_OF_ALL && group->n != MIDDLE && group->n != LARGEST;
}

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
    if (group->device.kind == DEVICE_EMULATOR && takes_too_long(options, group))
        return false;
    for (size_t e = 0; e < own->entry_count; e++)
        if (own_is_for(own->entries[e], &problem))
            return true;
    return false;
}
