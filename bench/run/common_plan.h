/* common_plan.h: one plan for all processes. */
#pragma once

#include "plan.h"

/* Like make_plan(), in every process. A plan that one process cannot make is none, and neither are
 * plans that differ because hosts have different devices: process 0 says so in one line. */
int make_common_plan(const struct options *options, const struct machine *machine,
                     struct plan *plan);
