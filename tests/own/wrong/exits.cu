// expect: error,|it called exit(0)
// It ends the process, and pretends that all went well.
#include <scanbench_own.h>
#include <stdlib.h>

void scan(const int *, int *, int, cudaStream_t)
{
    exit(0);
}

SCANBENCH_SCAN("mine", scan)
