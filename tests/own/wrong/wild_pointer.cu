// expect: error,|it was ended by signal 11 (Segmentation fault)
// Host code that follows a pointer to nothing.
#include <scanbench_own.h>

static int *volatile table;

void scan(int n, int *odata, const int *idata)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        odata[i] = sum;
        sum += idata[i] + table[i];
    }
}

SCANBENCH_HOST_SCAN("mine", scan)
