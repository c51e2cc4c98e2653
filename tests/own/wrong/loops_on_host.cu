// expect: error,|it did not end within 1 s
// check: too slow, or never ends|it did not end within 1 s|other rows of it did not come to an end
// flags: --timeout=1
// Host code that waits for what never happens.
#include <scanbench_own.h>
#include <unistd.h>

static volatile bool done;

void scan(int n, int *odata, const int *idata)
{
    odata[0] = idata[0] + n;
    while (!done)
        usleep(1000);
}

SCANBENCH_HOST_SCAN("mine", scan)
