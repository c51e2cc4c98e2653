/* device_functions.h: what CUDA declares here, every source has already: see plain_cuda.h. */
#include "../plain_cuda.h"
