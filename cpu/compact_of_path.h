/* compact_of_path.h: compaction kernels of every width on the vector path PATH (simd_paths.h).
 * Included for each path by compact_kernels.c. */
#define T uint8_t
#include "compact_of_width.h"
#define T uint16_t
#include "compact_of_width.h"
#define T uint32_t
#include "compact_of_width.h"
#define T uint64_t
#include "compact_of_width.h"
#undef PATH
