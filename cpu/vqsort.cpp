/* vqsort: the Highway library's vectorised quicksort, on one thread.
 * Source:  Wassenberg, Blacher, Giesen and Sanders, 2022. */
#include "library.hpp"

#ifdef SCANBENCH_HIGHWAY
#include <hwy/highway.h>
#include <hwy/contrib/sort/vqsort.h>

LIBRARY_VERSION("Highway %d.%d.%d", HWY_MAJOR, HWY_MINOR, HWY_PATCH)

static const char *supports(const struct problem *problem)
{
    return type_class(problem->type) == TYPE_FLOAT ? "does not order NaN by its bits" : nullptr;
}

static void sort(const struct call *call)
{
    static hwy::Sorter sorter;
    with_keys(call, [](auto *keys, uint64_t n) { sorter(keys, n, hwy::SortAscending()); });
}
#else
LIBRARY_MISSING("libhwy-dev")
#endif

extern "C" const struct algorithm cpu_sort_vqsort =
    LIBRARY("vqsort", OP_SORT, 0, "Highway: a copy, then vqsort on one thread",
            "Wassenberg et al. 2022", supports, sort);
