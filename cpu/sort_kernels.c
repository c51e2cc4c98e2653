/* sort_kernels: the steps of a radix sort, compiled for each width of keys and vector path. */
#include "sort_kernels.h"

#include "simd_paths.h"

enum {
    BLOCK_KEYS = 256,   /* read at once, by vectors */
    AT_ONCE = 4,        /* moved at once */
    INSERTED_KEYS = 24, /* sorted by insertion */
    KEYS_OF_RUN = 2,    /* that exchanges of neighbours sort, on average */
    MOST_ROWS = 16,     /* of a network: half of the registers */
    SLOT_BITS = 9,      /* of the digit by which keys go to slots */
};

#define INLINE OF_PATH(TARGET) __attribute__((always_inline)) static inline

/* The order of keys that have been transformed. */
static const struct key_order AS_UNSIGNED = {.positive = 0, .negative = 0};

#ifdef SIMD_X86
#define PATH AVX512
#define T uint32_t
#include "sort_of_width.h"
#include "sort_network.h"
#undef T
#define T uint64_t
#include "sort_of_width.h"
#include "sort_network.h"
#undef T
#undef PATH

#define PATH AVX2
#define T uint32_t
#include "sort_of_width.h"
#include "sort_exchange.h"
#undef T
#define T uint64_t
#include "sort_of_width.h"
#include "sort_exchange.h"
#undef T
#undef PATH
#endif

#define PATH PORTABLE
#define T uint32_t
#include "sort_of_width.h"
#include "sort_exchange.h"
#undef T
#define T uint64_t
#include "sort_of_width.h"
#include "sort_exchange.h"
#undef T
#undef PATH

const struct sort_kernels *sort_kernels(enum element_type type, enum simd_path path)
{
    static const struct {
        struct sort_kernels of_32_bits, of_64_bits;
    } kernels[SIMD_PATH_COUNT - SIMD_PORTABLE] = {
#define KERNELS(T, path)                                                    \
    {FEW_KEYS_##T##_##path, MANY_KEYS_##T##_##path, transform_##T##_##path, \
     count_##T##_##path,    scatter_##T##_##path,   sort_bucket_##T##_##path}
#define KERNELS_OF_PATH(path)                            \
    {                                                    \
        KERNELS(uint32_t, path), KERNELS(uint64_t, path) \
    }
        [0] = KERNELS_OF_PATH(PORTABLE),
#ifdef SIMD_X86
        [SIMD_AVX2 - SIMD_PORTABLE] = KERNELS_OF_PATH(AVX2),
        [SIMD_AVX512 - SIMD_PORTABLE] = KERNELS_OF_PATH(AVX512),
#endif
    };
    const bool wide = element_bytes(type) == sizeof(uint64_t);
    const unsigned row = path - SIMD_PORTABLE;
    return wide ? &kernels[row].of_64_bits : &kernels[row].of_32_bits;
}
