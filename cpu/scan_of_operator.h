/* scan_of_operator.h: scan kernels of every type that OPERATOR takes on the vector path PATH
 * (simd_paths.h). Included for each operator by scan_of_path.h, which says whether it ORDERS
 * elements and whether it TAKES_FLOATS. Where it does not order them, signed integers are unsigned
 * ones. */
#define T uint8_t
#define LOWEST 0
#define HIGHEST UINT8_MAX
#include "scan_of_type.h"
#define T uint16_t
#define LOWEST 0
#define HIGHEST UINT16_MAX
#include "scan_of_type.h"
#define T uint32_t
#define LOWEST 0
#define HIGHEST UINT32_MAX
#include "scan_of_type.h"
#define T uint64_t
#define LOWEST 0
#define HIGHEST UINT64_MAX
#include "scan_of_type.h"
#if ORDERS
#define T int8_t
#define LOWEST INT8_MIN
#define HIGHEST INT8_MAX
#include "scan_of_type.h"
#define T int16_t
#define LOWEST INT16_MIN
#define HIGHEST INT16_MAX
#include "scan_of_type.h"
#define T int32_t
#define LOWEST INT32_MIN
#define HIGHEST INT32_MAX
#include "scan_of_type.h"
#define T int64_t
#define LOWEST INT64_MIN
#define HIGHEST INT64_MAX
#include "scan_of_type.h"
#endif
#if TAKES_FLOATS
#define T float
#define LOWEST -INFINITY
#define HIGHEST INFINITY
#include "scan_of_type.h"
#define T double
#define LOWEST -INFINITY
#define HIGHEST INFINITY
#include "scan_of_type.h"
#define T f16
#include "scan_of_half.h"
#define T bf16
#include "scan_of_half.h"
#endif
#undef OPERATOR
#undef ORDERS
#undef TAKES_FLOATS
