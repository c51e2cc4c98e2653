/* compact_kernels: packs a vector with one instruction or shuffle and stores all of it; the
 * next store overwrites the elements that were not kept. Packing straight to memory is slow
 * microcode on some CPUs, so it is always done in a register. */
#include "compact_kernels.h"

#include "prefetch.h"
#include "simd_paths.h"

#include <stdbool.h>

void begin_compaction(struct compaction *c, void *out)
{
    c->skipped_bytes = (uintptr_t)out % CACHE_LINE_BYTES;
    c->filled_bytes = c->skipped_bytes;
    c->line = (char *)out - c->skipped_bytes;
}

void *end_compaction(struct compaction *c)
{
    memcpy(c->line + c->skipped_bytes, c->buffer + c->skipped_bytes,
           c->filled_bytes - c->skipped_bytes);
    return c->line + c->filled_bytes;
}

#ifdef SIMD_X86
/* ---- Elements of 1 and 2 bytes, on either path: 8 bytes, packed by pext in a register ---- */

TARGET_AVX2 static inline __m128i eight_bytes(const void *in, uint64_t magnitudes)
{
    return _mm_and_si128(_mm_loadl_epi64((const __m128i *)in),
                         _mm_cvtsi64_si128((long long)magnitudes));
}

TARGET_AVX2 static inline unsigned kept_of_8_bits(const void *in, uint8_t magnitude)
{
    const __m128i x = eight_bytes(in, magnitude * 0x0101010101010101u);
    return ~(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_setzero_si128())) & 0xFF;
}

/* One bit per element, where a comparison gives two. */
TARGET_AVX2 static inline unsigned kept_of_16_bits(const void *in, uint16_t magnitude)
{
    const __m128i x = eight_bytes(in, magnitude * 0x0001000100010001u);
    const __m128i zero = _mm_cmpeq_epi16(x, _mm_setzero_si128());
    return ~(unsigned)_mm_movemask_epi8(_mm_packs_epi16(zero, zero)) & 0xF;
}

/* `lanes` has 0xFF in every byte of each kept element. */
TARGET_AVX2 static inline void pack_bytes(const void *in, void *out, uint64_t lanes)
{
    uint64_t x;
    memcpy(&x, in, sizeof x);
    x = _pext_u64(x, lanes);
    memcpy(out, &x, sizeof x);
}

TARGET_AVX2 static inline void pack_of_8_bits(const void *in, void *out, unsigned mask)
{
    pack_bytes(in, out, _pdep_u64(mask, 0x0101010101010101) * 0xFF);
}

TARGET_AVX2 static inline void pack_of_16_bits(const void *in, void *out, unsigned mask)
{
    pack_bytes(in, out, _pdep_u64(mask, 0x0001000100010001) * 0xFFFF);
}

#define kept_uint8_t_AVX512 kept_of_8_bits
#define kept_uint16_t_AVX512 kept_of_16_bits
#define pack_uint8_t_AVX512 pack_of_8_bits
#define pack_uint16_t_AVX512 pack_of_16_bits
#define kept_uint8_t_AVX2 kept_of_8_bits
#define kept_uint16_t_AVX2 kept_of_16_bits
#define pack_uint8_t_AVX2 pack_of_8_bits
#define pack_uint16_t_AVX2 pack_of_16_bits

/* ---- AVX-512 ---- */

enum {
    LANES_uint8_t_AVX512 = 8,
    LANES_uint16_t_AVX512 = 4,
    LANES_uint32_t_AVX512 = 16,
    LANES_uint64_t_AVX512 = 8
};

TARGET_AVX512 static inline unsigned kept_uint32_t_AVX512(const void *in, uint32_t magnitude)
{
    return _mm512_test_epi32_mask(_mm512_loadu_si512(in), _mm512_set1_epi32((int)magnitude));
}

TARGET_AVX512 static inline unsigned kept_uint64_t_AVX512(const void *in, uint64_t magnitude)
{
    return _mm512_test_epi64_mask(_mm512_loadu_si512(in), _mm512_set1_epi64((long long)magnitude));
}

TARGET_AVX512 static inline void pack_uint32_t_AVX512(const void *in, void *out, unsigned mask)
{
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi32((__mmask16)mask, _mm512_loadu_si512(in)));
}

TARGET_AVX512 static inline void pack_uint64_t_AVX512(const void *in, void *out, unsigned mask)
{
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi64((__mmask8)mask, _mm512_loadu_si512(in)));
}

#define PATH AVX512
#include "compact_of_path.h"

/* ---- AVX2: the packing shuffle is computed from the mask, one byte per lane ---- */

enum {
    LANES_uint8_t_AVX2 = 8,
    LANES_uint16_t_AVX2 = 4,
    LANES_uint32_t_AVX2 = 8,
    LANES_uint64_t_AVX2 = 4
};

TARGET_AVX2 static inline unsigned kept_uint32_t_AVX2(const void *in, uint32_t magnitude)
{
    const __m256i x = _mm256_and_si256(_mm256_loadu_si256((const __m256i *)in),
                                       _mm256_set1_epi32((int)magnitude));
    const __m256i zero = _mm256_cmpeq_epi32(x, _mm256_setzero_si256());
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(zero)) ^ 0xFF;
}

TARGET_AVX2 static inline unsigned kept_uint64_t_AVX2(const void *in, uint64_t magnitude)
{
    const __m256i x = _mm256_and_si256(_mm256_loadu_si256((const __m256i *)in),
                                       _mm256_set1_epi64x((long long)magnitude));
    const __m256i zero = _mm256_cmpeq_epi64(x, _mm256_setzero_si256());
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(zero)) ^ 0xF;
}

/* `lanes` has 0xFF in every byte of each kept 32-bit lane. */
TARGET_AVX2 static inline void pack_lanes(const void *in, void *out, uint64_t lanes)
{
    const uint64_t order = _pext_u64(0x0706050403020100, lanes);
    const __m256i shuffle = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)order));
    _mm256_storeu_si256((__m256i *)out, _mm256_permutevar8x32_epi32(
                                            _mm256_loadu_si256((const __m256i *)in), shuffle));
}

TARGET_AVX2 static inline void pack_uint32_t_AVX2(const void *in, void *out, unsigned mask)
{
    pack_lanes(in, out, _pdep_u64(mask, 0x0101010101010101) * 0xFF);
}

TARGET_AVX2 static inline void pack_uint64_t_AVX2(const void *in, void *out, unsigned mask)
{
    pack_lanes(in, out, _pdep_u64(mask, 0x0001000100010001) * 0xFFFF);
}

#define PATH AVX2
#include "compact_of_path.h"
#endif

/* ---- Portable: element by element, without branches ---- */

#define PORTABLE_OF(T)                                                         \
    enum { LANES_##T##_PORTABLE = 1 };                                         \
    static inline unsigned kept_##T##_PORTABLE(const T *in, T magnitude)       \
    {                                                                          \
        return (*in & magnitude) != 0;                                         \
    }                                                                          \
    static inline void pack_##T##_PORTABLE(const T *in, T *out, unsigned mask) \
    {                                                                          \
        (void)mask;                                                            \
        *out = *in;                                                            \
    }
PORTABLE_OF(uint8_t)
PORTABLE_OF(uint16_t)
PORTABLE_OF(uint32_t)
PORTABLE_OF(uint64_t)

#define PATH PORTABLE
#include "compact_of_path.h"

/* ---- Interface ---- */

const struct compact_kernels *compact_kernels(enum element_type type, enum simd_path path)
{
#ifdef SIMD_X86
#define KERNELS_OF(T)                                                  \
    {                                                                  \
        [SIMD_PORTABLE] = {count_##T##_PORTABLE, feed_##T##_PORTABLE}, \
        [SIMD_AVX2] = {count_##T##_AVX2, feed_##T##_AVX2},             \
        [SIMD_AVX512] = {count_##T##_AVX512, feed_##T##_AVX512},       \
    }
#else
#define KERNELS_OF(T)                                                  \
    {                                                                  \
        [SIMD_PORTABLE] = {count_##T##_PORTABLE, feed_##T##_PORTABLE}, \
    }
#endif
    static const struct compact_kernels of_bytes[][SIMD_PATH_COUNT] = {
        [1] = KERNELS_OF(uint8_t),
        [2] = KERNELS_OF(uint16_t),
        [4] = KERNELS_OF(uint32_t),
        [8] = KERNELS_OF(uint64_t),
    };
    return &of_bytes[element_bytes(type)][path];
}

uint64_t magnitude_of(enum element_type type)
{
    const uint64_t sign = (uint64_t)1 << (8 * element_bytes(type) - 1);
    return type_class(type) == TYPE_FLOAT ? sign - 1 : sign | (sign - 1);
}

void compact_on_one_thread(const struct call *call)
{
    const struct problem *p = &call->problem;
    const size_t bytes = element_bytes(p->type);
    const bool streaming = p->n * bytes >= STREAM_BYTES;
    struct compaction compaction;
    begin_compaction(&compaction, call->output);
    compact_kernels(p->type, p->simd)
        ->feed(&compaction, call->input, p->n, magnitude_of(p->type), streaming,
               streaming ? next_round(p, call->input) : NULL);
    const char *end = end_compaction(&compaction);
    *call->count = (uint64_t)(end - (const char *)call->output) / bytes;
}
