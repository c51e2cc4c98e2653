// expect: error,mine: it cannot do this
// check: an error|it cannot do this|at every size
#include <scanbench_own.h>
#include <stdexcept>

void scan(const int *in, int *out, int n, cudaStream_t stream)
{
    throw std::runtime_error("it cannot do this");
}

SCANBENCH_SCAN("mine", scan)
