/* compact_kernels: a vector is packed by one instruction or shuffle and stored
 * whole; the next one overwrites what was not kept. Packing straight to memory is
 * slow microcode on some CPUs, so it is always done in a register. */
#include "compact_kernels.h"

#include "prefetch.h"

#include <stdbool.h>
#include <string.h>

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
#define STREAM_FENCE() _mm_sfence()

/* ---- AVX-512 ---- */

#define TARGET TARGET_AVX512
#define STREAM_LINE(out, in) _mm512_stream_si512((void *)(out), _mm512_load_si512(in))

#define T uint32_t
#define LANES 16
#define NAME(what) what##_32_avx512
#define KEPT_OF(in, magnitude) \
    _mm512_test_epi32_mask(_mm512_loadu_si512(in), _mm512_set1_epi32((int)(magnitude)))
#define PACK(in, out, mask) \
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi32((__mmask16)(mask), _mm512_loadu_si512(in)))
#include "compact_of_width.h"
#undef T
#undef LANES
#undef NAME
#undef KEPT_OF
#undef PACK

#define T uint64_t
#define LANES 8
#define NAME(what) what##_64_avx512
#define KEPT_OF(in, magnitude) \
    _mm512_test_epi64_mask(_mm512_loadu_si512(in), _mm512_set1_epi64((long long)(magnitude)))
#define PACK(in, out, mask) \
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi64((__mmask8)(mask), _mm512_loadu_si512(in)))
#include "compact_of_width.h"
#undef T
#undef LANES
#undef NAME
#undef KEPT_OF
#undef PACK
#undef TARGET
#undef STREAM_LINE

/* ---- AVX2: the shuffle that packs is made of the mask, a byte a lane ---- */

#define TARGET TARGET_AVX2

TARGET static inline void stream_line_avx2(char *out, const char *in)
{
    _mm256_stream_si256((__m256i *)out, _mm256_load_si256((const __m256i *)in));
    _mm256_stream_si256((__m256i *)out + 1, _mm256_load_si256((const __m256i *)in + 1));
}

/* `lanes` has 0xFF in each byte of a 32-bit lane that is kept. */
TARGET static inline void pack_avx2(const void *in, void *out, uint64_t lanes)
{
    const uint64_t order = _pext_u64(0x0706050403020100, lanes);
    const __m256i shuffle = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)order));
    _mm256_storeu_si256((__m256i *)out, _mm256_permutevar8x32_epi32(
                                            _mm256_loadu_si256((const __m256i *)in), shuffle));
}

TARGET static inline unsigned kept_32_avx2(const void *in, uint32_t magnitude)
{
    const __m256i x = _mm256_and_si256(_mm256_loadu_si256((const __m256i *)in),
                                       _mm256_set1_epi32((int)magnitude));
    const __m256i zero = _mm256_cmpeq_epi32(x, _mm256_setzero_si256());
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(zero)) ^ 0xFF;
}

TARGET static inline unsigned kept_64_avx2(const void *in, uint64_t magnitude)
{
    const __m256i x = _mm256_and_si256(_mm256_loadu_si256((const __m256i *)in),
                                       _mm256_set1_epi64x((long long)magnitude));
    const __m256i zero = _mm256_cmpeq_epi64(x, _mm256_setzero_si256());
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(zero)) ^ 0xF;
}

#define STREAM_LINE(out, in) stream_line_avx2(out, in)

#define T uint32_t
#define LANES 8
#define NAME(what) what##_32_avx2
#define KEPT_OF(in, magnitude) kept_32_avx2(in, magnitude)
#define PACK(in, out, mask) pack_avx2(in, out, _pdep_u64(mask, 0x0101010101010101) * 0xFF)
#include "compact_of_width.h"
#undef T
#undef LANES
#undef NAME
#undef KEPT_OF
#undef PACK

#define T uint64_t
#define LANES 4
#define NAME(what) what##_64_avx2
#define KEPT_OF(in, magnitude) kept_64_avx2(in, magnitude)
#define PACK(in, out, mask) pack_avx2(in, out, _pdep_u64(mask, 0x0001000100010001) * 0xFFFF)
#include "compact_of_width.h"
#undef T
#undef LANES
#undef NAME
#undef KEPT_OF
#undef PACK
#undef TARGET
#undef STREAM_LINE
#undef STREAM_FENCE
#endif

/* ---- Portable: one by one, without a branch; plain stores ---- */

#define TARGET
#define LANES 1
#define KEPT_OF(in, magnitude) ((*(in) & (magnitude)) != 0)
#define PACK(in, out, mask) (*(out) = *(in))
#define STREAM_LINE(out, in) memcpy(out, in, CACHE_LINE_BYTES)
#define STREAM_FENCE() (void)0

#define T uint32_t
#define NAME(what) what##_32_portable
#include "compact_of_width.h"
#undef T
#undef NAME

#define T uint64_t
#define NAME(what) what##_64_portable
#include "compact_of_width.h"
#undef T
#undef NAME

/* ---- The way in ---- */

enum { WIDTH_32, WIDTH_64, WIDTH_COUNT };

static const struct compact_kernels kernels[SIMD_PATH_COUNT][WIDTH_COUNT] = {
    [SIMD_PORTABLE] = {{count_32_portable, feed_32_portable},
                       {count_64_portable, feed_64_portable}},
#ifdef SIMD_X86
    [SIMD_AVX2] = {{count_32_avx2, feed_32_avx2}, {count_64_avx2, feed_64_avx2}},
    [SIMD_AVX512] = {{count_32_avx512, feed_32_avx512}, {count_64_avx512, feed_64_avx512}},
#endif
};

const struct compact_kernels *compact_kernels(enum element_type type, enum simd_path path)
{
    return &kernels[path][element_bytes(type) == 8 ? WIDTH_64 : WIDTH_32];
}

uint64_t magnitude_of(enum element_type type)
{
    const uint64_t sign = (uint64_t)1 << (8 * element_bytes(type) - 1);
    return type == TYPE_F32 || type == TYPE_F64 ? sign - 1 : sign | (sign - 1);
}

void compact_on_one_thread(const struct call *call)
{
    const struct problem *p = &call->problem;
    const size_t bytes = element_bytes(p->type);
    const bool streaming = p->n * bytes >= STREAM_BYTES;
    const char *ahead = streaming ? (const char *)call->input + ROUND_BYTES : NULL;
    struct compaction compaction;
    begin_compaction(&compaction, call->output);
    compact_kernels(p->type, p->simd)
        ->feed(&compaction, call->input, p->n, magnitude_of(p->type), ahead);
    const char *end = end_compaction(&compaction);
    *call->count = (uint64_t)(end - (const char *)call->output) / bytes;
}
