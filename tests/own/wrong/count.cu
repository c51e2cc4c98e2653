// expect: failed,"count: got
// check: wrong count|count: wanted 2, got 1|only above n = 1
// flags: --op=compact
// The count leaves out the last element.
#include <scanbench_own.h>

int compact(int n, int *odata, const int *idata)
{
    int kept = 0, last = 0;
    for (int i = 0; i < n; i++)
        if (idata[i] != 0)
            odata[kept++] = idata[i], last = i;
    return last > 0 ? kept - 1 : kept;
}

SCANBENCH_HOST_COMPACT("mine", compact)
