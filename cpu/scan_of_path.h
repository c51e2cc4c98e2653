/* scan_of_path.h: scan kernels of every type on the vector path PATH (simd_paths.h).
 * Included for each path by scan_kernels.c. */
#define T uint8_t
#include "scan_of_type.h"
#define T uint32_t
#include "scan_of_type.h"
#define T uint64_t
#include "scan_of_type.h"
#define T float
#include "scan_of_type.h"
#define T double
#include "scan_of_type.h"

static const struct scan_kernels OF_PATH(kernels)[TYPE_COUNT] = {
#define TYPE(NAME, name, T, SUM, ...) \
    [TYPE_##NAME] = {NAME_OF(scan, SUM, PATH), NAME_OF(sum, SUM, PATH)},
#include "../bench/types.def"
};

#undef PATH
