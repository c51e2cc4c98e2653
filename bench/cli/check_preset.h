/* check_preset.h: what --check runs: the axes that nobody has set.
 *
 * All combinations would be too many. So there are passes, each a run of its own over a few axes.
 */
#pragma once

#include "option_table.h"

/* Before files of the user's are loaded: devices, sizes and the format of the results. */
void choose_axes_to_check(const struct command_line *line);

/* After that: the operations, types and kinds of scan that the files have. */
void choose_problems_to_check(const struct command_line *line);

/* What varies in one pass over all algorithms. */
enum check_pass {
    PASS_SIZES,
    PASS_MAXIMA,
    PASS_INPUTS,
    PASS_KEEPS,
    PASS_BLOCKS,
    CHECK_PASSES,
};

/* Narrows a copy of the options to one pass. Returns false if there is nothing to vary. Without
 * --check there is one pass, which has all. */
bool narrow_to_pass(struct options *options, enum check_pass pass);
