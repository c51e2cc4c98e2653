/* scan_of_path.h: scan kernels of every operator and type on the vector path PATH (simd_paths.h).
 * Included for each path by scan_kernels.c. */
#define OPERATOR SUM
#define ORDERS 0
#define TAKES_FLOATS 1
#include "scan_of_operator.h"
#define OPERATOR MAX
#define ORDERS 1
#define TAKES_FLOATS 1
#include "scan_of_operator.h"
#define OPERATOR MIN
#define ORDERS 1
#define TAKES_FLOATS 1
#include "scan_of_operator.h"
#define OPERATOR XOR
#define ORDERS 0
#define TAKES_FLOATS 0
#include "scan_of_operator.h"

#define KERNEL_OF(what, operator, type, path) what##_##operator##_##type##_##path
#define KERNEL(what, operator, type, path) KERNEL_OF(what, operator, type, path)

static const struct scan_kernels OF_PATH(kernels)[OPERATOR_COUNT][TYPE_COUNT] = {
#define OPERAND(OPERATOR, TYPE, T, STORED, ...)                                 \
    [OPERATOR_##OPERATOR][TYPE_##TYPE] = {KERNEL(scan, OPERATOR, STORED, PATH), \
                                          KERNEL(sum, OPERATOR, STORED, PATH)},
#include "../bench/operands.def"
};

#undef KERNEL_OF
#undef KERNEL
#undef PATH
