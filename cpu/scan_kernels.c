/* scan_kernels: vectors are scanned by shifts and additions in registers, log2 of
 * their lanes each; from vector to vector the carry waits for one addition only. */
#include "scan_kernels.h"

#include "prefetch.h"

#include <stdbool.h>
#include <string.h>

/* Vectors of `bytes`; signed integers are summed as unsigned ones, which wrap. */
#define DEFINE_VECTOR(T, vector, bytes)                              \
    typedef T vector __attribute__((vector_size(bytes), may_alias)); \
    typedef T vector##_anywhere __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias));

#ifdef SIMD_X86
DEFINE_VECTOR(uint32_t, u32x16, 64)
DEFINE_VECTOR(uint64_t, u64x8, 64)
DEFINE_VECTOR(float, f32x16, 64)
DEFINE_VECTOR(double, f64x8, 64)
DEFINE_VECTOR(uint32_t, u32x8, 32)
DEFINE_VECTOR(uint64_t, u64x4, 32)
DEFINE_VECTOR(float, f32x8, 32)
DEFINE_VECTOR(double, f64x4, 32)
#endif
DEFINE_VECTOR(uint32_t, u32x4, 16)
DEFINE_VECTOR(uint64_t, u64x2, 16)
DEFINE_VECTOR(float, f32x4, 16)
DEFINE_VECTOR(double, f64x2, 16)

#ifdef SIMD_X86
#define STREAM_FENCE() _mm_sfence()

/* ---- AVX-512: scans in the four quarters of a register, then of their totals ---- */

#define TARGET TARGET_AVX512
#define STREAM(address, x) _mm512_stream_si512((void *)(address), (__m512i)(x))

#define SCAN_LANES(x)                                                                  \
    x += (V)_mm512_bslli_epi128((__m512i)x, 4);                                        \
    x += (V)_mm512_bslli_epi128((__m512i)x, 8);                                        \
    x += (V)_mm512_maskz_permutexvar_epi32(                                            \
        0xFFF0, _mm512_setr_epi32(0, 0, 0, 0, 3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11), \
        (__m512i)x);                                                                   \
    x += (V)_mm512_maskz_permutexvar_epi32(                                            \
        0xFF00, _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 3, 3, 3, 3, 7, 7, 7, 7), (__m512i)x)
#define LAST_EVERYWHERE(x) (V) _mm512_permutexvar_epi32(_mm512_set1_epi32(15), (__m512i)x)

#define T uint32_t
#define V u32x16
#define V_ANYWHERE u32x16_anywhere
#define NAME(what) what##_u32_avx512
#include "scan_of_type.h"
#undef T
#undef V
#undef V_ANYWHERE
#undef NAME

#define T float
#define V f32x16
#define V_ANYWHERE f32x16_anywhere
#define NAME(what) what##_f32_avx512
#include "scan_of_type.h"
#undef T
#undef V
#undef V_ANYWHERE
#undef NAME
#undef SCAN_LANES
#undef LAST_EVERYWHERE

#define SCAN_LANES(x)                                                                       \
    x += (V)_mm512_bslli_epi128((__m512i)x, 8);                                             \
    x += (V)_mm512_maskz_permutexvar_epi64(0xFC, _mm512_setr_epi64(0, 0, 1, 1, 3, 3, 5, 5), \
                                           (__m512i)x);                                     \
    x += (V)_mm512_maskz_permutexvar_epi64(0xF0, _mm512_setr_epi64(0, 0, 0, 0, 1, 1, 3, 3), \
                                           (__m512i)x)
#define LAST_EVERYWHERE(x) (V) _mm512_permutexvar_epi64(_mm512_set1_epi64(7), (__m512i)x)

#define T uint64_t
#define V u64x8
#define V_ANYWHERE u64x8_anywhere
#define NAME(what) what##_u64_avx512
#include "scan_of_type.h"
#undef T
#undef V
#undef V_ANYWHERE
#undef NAME

#define T double
#define V f64x8
#define V_ANYWHERE f64x8_anywhere
#define NAME(what) what##_f64_avx512
#include "scan_of_type.h"
#undef T
#undef V
#undef V_ANYWHERE
#undef NAME
#undef SCAN_LANES
#undef LAST_EVERYWHERE
#undef TARGET
#undef STREAM

/* ---- AVX2: scans in the two halves of a register, then the lower's total ---- */

#define TARGET TARGET_AVX2
#define STREAM(address, x) _mm256_stream_si256((__m256i *)(address), (__m256i)(x))
/* The lower half in place of the upper, and zeros in place of the lower. */
#define LOWER_TO_UPPER(x) _mm256_permute2x128_si256((__m256i)x, (__m256i)x, 0x08)

#define SCAN_LANES(x)                           \
    x += (V)_mm256_bslli_epi128((__m256i)x, 4); \
    x += (V)_mm256_bslli_epi128((__m256i)x, 8); \
    x += (V)_mm256_shuffle_epi32(LOWER_TO_UPPER(x), 0xFF)
#define LAST_EVERYWHERE(x) (V) _mm256_permutevar8x32_epi32((__m256i)x, _mm256_set1_epi32(7))

#define T uint32_t
#define V u32x8
#define V_ANYWHERE u32x8_anywhere
#define NAME(what) what##_u32_avx2
#include "scan_of_type.h"
#undef T
#undef V
#undef V_ANYWHERE
#undef NAME

#define T float
#define V f32x8
#define V_ANYWHERE f32x8_anywhere
#define NAME(what) what##_f32_avx2
#include "scan_of_type.h"
#undef T
#undef V
#undef V_ANYWHERE
#undef NAME
#undef SCAN_LANES
#undef LAST_EVERYWHERE

#define SCAN_LANES(x)                           \
    x += (V)_mm256_bslli_epi128((__m256i)x, 8); \
    x += (V)_mm256_shuffle_epi32(LOWER_TO_UPPER(x), 0xEE)
#define LAST_EVERYWHERE(x) (V) _mm256_permute4x64_epi64((__m256i)x, 0xFF)

#define T uint64_t
#define V u64x4
#define V_ANYWHERE u64x4_anywhere
#define NAME(what) what##_u64_avx2
#include "scan_of_type.h"
#undef T
#undef V
#undef V_ANYWHERE
#undef NAME

#define T double
#define V f64x4
#define V_ANYWHERE f64x4_anywhere
#define NAME(what) what##_f64_avx2
#include "scan_of_type.h"
#undef T
#undef V
#undef V_ANYWHERE
#undef NAME
#undef SCAN_LANES
#undef LAST_EVERYWHERE
#undef TARGET
#undef STREAM
#undef STREAM_FENCE
#endif

/* ---- Portable: what every compiler makes of a short vector; plain stores ---- */

#define TARGET
#define STREAM(address, x) (*(V *)(address) = (x))
#define STREAM_FENCE() (void)0

#define SCAN_LANES(x)              \
    x += (V){0, x[0], x[1], x[2]}; \
    x += (V)                       \
    {                              \
        0, 0, x[0], x[1]           \
    }
#define LAST_EVERYWHERE(x) ((V){0} + x[3])

#define T uint32_t
#define V u32x4
#define V_ANYWHERE u32x4_anywhere
#define NAME(what) what##_u32_portable
#include "scan_of_type.h"
#undef T
#undef V
#undef V_ANYWHERE
#undef NAME

#define T float
#define V f32x4
#define V_ANYWHERE f32x4_anywhere
#define NAME(what) what##_f32_portable
#include "scan_of_type.h"
#undef T
#undef V
#undef V_ANYWHERE
#undef NAME
#undef SCAN_LANES
#undef LAST_EVERYWHERE

#define SCAN_LANES(x) \
    x += (V)          \
    {                 \
        0, x[0]       \
    }
#define LAST_EVERYWHERE(x) ((V){0} + x[1])

#define T uint64_t
#define V u64x2
#define V_ANYWHERE u64x2_anywhere
#define NAME(what) what##_u64_portable
#include "scan_of_type.h"
#undef T
#undef V
#undef V_ANYWHERE
#undef NAME

#define T double
#define V f64x2
#define V_ANYWHERE f64x2_anywhere
#define NAME(what) what##_f64_portable
#include "scan_of_type.h"
#undef T
#undef V
#undef V_ANYWHERE
#undef NAME

/* ---- The way in ---- */

#define KERNELS_OF_PATH(path)                           \
    {                                                   \
        [TYPE_I32] = {scan_u32_##path, sum_u32_##path}, \
        [TYPE_U32] = {scan_u32_##path, sum_u32_##path}, \
        [TYPE_I64] = {scan_u64_##path, sum_u64_##path}, \
        [TYPE_U64] = {scan_u64_##path, sum_u64_##path}, \
        [TYPE_F32] = {scan_f32_##path, sum_f32_##path}, \
        [TYPE_F64] = {scan_f64_##path, sum_f64_##path}, \
    }

static const struct scan_kernels kernels[SIMD_PATH_COUNT][TYPE_COUNT] = {
    [SIMD_PORTABLE] = KERNELS_OF_PATH(portable),
#ifdef SIMD_X86
    [SIMD_AVX2] = KERNELS_OF_PATH(avx2),
    [SIMD_AVX512] = KERNELS_OF_PATH(avx512),
#endif
};

const struct scan_kernels *scan_kernels(enum element_type type, enum simd_path path)
{
    return &kernels[path][type];
}

uint64_t add_elements(enum element_type type, uint64_t a, uint64_t b)
{
    return scan_kernels(type, SIMD_PORTABLE)->sum(&b, 1, a);
}

void scan_on_one_thread(const struct call *call)
{
    const struct problem *p = &call->problem;
    const size_t bytes = element_bytes(p->type);
    const bool streaming = p->n * bytes >= STREAM_BYTES;
    const char *ahead = streaming ? (const char *)call->input + ROUND_BYTES : NULL;
    char *out = call->output;
    uint64_t n = p->n;
    /* The exclusive scan is the inclusive one, written one place further. */
    if (p->kind == KIND_EXCLUSIVE && n > 0) {
        memset(out, 0, bytes);
        out += bytes;
        n--;
    }
    scan_kernels(p->type, p->simd)->scan(call->input, out, n, ahead, 0);
}
