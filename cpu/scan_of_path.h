/* scan_of_path.h: scan kernels of every operator and type on the vector path PATH (simd_paths.h).
 * Included for each path by scan_kernels.c. */

/* The name of a function or type of an operator, a type of elements and a path. */
#define OPERAND_NAME_OF(what, operator, type, path) what##_##operator##_##type##_##path
#define OPERAND_NAMED(what, operator, type, path) OPERAND_NAME_OF(what, operator, type, path)

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

static const struct scan_kernels OF_PATH(kernels)[OPERATOR_COUNT][TYPE_COUNT] = {
#define OPERAND(OPERATOR, TYPE, T, STORED, ...)                                        \
    [OPERATOR_##OPERATOR][TYPE_##TYPE] = {OPERAND_NAMED(scan, OPERATOR, STORED, PATH), \
                                          OPERAND_NAMED(sum, OPERATOR, STORED, PATH)},
#include "../bench/operands.def"
};

#undef PATH
