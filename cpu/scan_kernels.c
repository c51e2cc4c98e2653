/* scan_kernels: scans a vector by log2(lanes) shifts and additions in registers; only one
 * addition per vector waits for the carry of the previous vector. */
#include "scan_kernels.h"

#include "prefetch.h"
#include "../bench/apply.h"
#include "simd_paths.h"

#include <stdbool.h>

enum { HALF_BLOCK = 1024 }; /* elements of 16 bits that are widened at a time */

/* APPLY_NAME (apply.h) for vectors, lane by lane. A comparison gives all bits of a lane or none. */
#define APPLY_VECTORS_SUM(V, a, b) ((a) + (b))
#define APPLY_VECTORS_XOR(V, a, b) ((a) ^ (b))
#define APPLY_VECTORS_MAX(V, a, b) CHOOSE_VECTORS(V, (a) < (b), b, a)
#define APPLY_VECTORS_MIN(V, a, b) CHOOSE_VECTORS(V, (b) < (a), b, a)
#define CHOOSE_VECTORS(V, where, yes, no) \
    ((V)(((__typeof__(where))(yes) & (where)) | ((__typeof__(where))(no) & ~(where))))

#ifdef SIMD_X86
/* Which of 16 bytes are the last element, repeated to fill 32 bits: 15, 15, 15, 15 for an element
 * of one byte, and 14, 15, 14, 15 for one of two. */
static inline int last_bytes(size_t element)
{
    size_t places = 0;
    for (size_t k = 0; k < sizeof(int); k++)
        places |= (16 - element + k % element) << 8 * k;
    return (int)places;
}

/* ---- AVX-512: scans in the four quarters of a register, then of their totals ---- */

#define SHIFT_AVX512(x, bytes) _mm512_bslli_epi128((__m512i)(x), bytes)

/* For elements of less than 4 bytes: fills the top 32 bits of each quarter, which the permutations
 * below read, with the quarter's last element. */
TARGET_AVX512 static inline __m512i quarter_totals(__m512i x, size_t element)
{
    return element < 4 ? _mm512_shuffle_epi8(x, _mm512_set1_epi32(last_bytes(element))) : x;
}

/* Each quarter but the first gets the total of the previous quarter. */
TARGET_AVX512 static inline __m512i quarter_before_AVX512(__m512i x, size_t element)
{
    const __m512i from =
        element == 8 ? _mm512_setr_epi32(0, 0, 0, 0, 2, 3, 2, 3, 6, 7, 6, 7, 10, 11, 10, 11)
                     : _mm512_setr_epi32(0, 0, 0, 0, 3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11);
    return _mm512_maskz_permutexvar_epi32(0xFFF0, from, quarter_totals(x, element));
}

/* The third quarter gets the total of the first, and the fourth that of the second. */
TARGET_AVX512 static inline __m512i quarter_two_before_AVX512(__m512i x, size_t element)
{
    const __m512i from = element == 8
                             ? _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 2, 3, 2, 3, 6, 7, 6, 7)
                             : _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 3, 3, 3, 3, 7, 7, 7, 7);
    return _mm512_maskz_permutexvar_epi32(0xFF00, from, quarter_totals(x, element));
}

TARGET_AVX512 static inline __m512i last_AVX512(__m512i x, size_t element)
{
    if (element == 8)
        return _mm512_permutexvar_epi64(_mm512_set1_epi64(7), x);
    return _mm512_permutexvar_epi32(_mm512_set1_epi32(15), quarter_totals(x, element));
}

#define ADD_TOTALS_AVX512(x)                                 \
    x = ADD_VECTORS(MOVED(quarter_before, x, sizeof(T)), x); \
    x = ADD_VECTORS(MOVED(quarter_two_before, x, sizeof(T)), x)
#define LAST_EVERYWHERE_AVX512(V, x) (V) last_AVX512((__m512i)(x), sizeof(T))

/* Of 32-bit words. */
#define JOIN_INDEX_AVX512(index, byte)                                                            \
    const __m512i index =                                                                         \
        _mm512_add_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), \
                         _mm512_set1_epi32((int)(byte) / 4))
#define JOIN_AVX512(a, b, index) _mm512_permutex2var_epi32((__m512i)(a), index, (__m512i)(b))

#define PATH AVX512
#include "scan_of_path.h"

/* ---- AVX2: scans in the two halves of a register, then adds the lower half's total ---- */

#define SHIFT_AVX2(x, bytes) _mm256_bslli_epi128((__m256i)(x), bytes)

/* The upper half gets the last element of the lower half; the lower half gets zeros. */
TARGET_AVX2 static inline __m256i lower_total_AVX2(__m256i x, size_t element)
{
    const __m256i lower = _mm256_permute2x128_si256(x, x, 0x08);
    if (element == 8)
        return _mm256_shuffle_epi32(lower, 0xEE);
    if (element == 4)
        return _mm256_shuffle_epi32(lower, 0xFF);
    return _mm256_shuffle_epi8(lower, _mm256_set1_epi32(last_bytes(element)));
}

TARGET_AVX2 static inline __m256i last_AVX2(__m256i x, size_t element)
{
    if (element == 8)
        return _mm256_permute4x64_epi64(x, 0xFF);
    const __m256i totals =
        element == 4 ? x : _mm256_shuffle_epi8(x, _mm256_set1_epi32(last_bytes(element)));
    return _mm256_permutevar8x32_epi32(totals, _mm256_set1_epi32(7));
}

#define ADD_TOTALS_AVX2(x) x = ADD_VECTORS(MOVED(lower_total, x, sizeof(T)), x)
#define LAST_EVERYWHERE_AVX2(V, x) (V) last_AVX2((__m256i)(x), sizeof(T))

/* Of 32-bit words; of an index, the permutation takes the place in a vector. */
#define JOIN_INDEX_AVX2(index, byte)                                                  \
    const __m256i index = _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), \
                                           _mm256_set1_epi32((int)(byte) / 4))
#define JOIN_AVX2(a, b, index)                                           \
    _mm256_blendv_epi8(_mm256_permutevar8x32_epi32((__m256i)(a), index), \
                       _mm256_permutevar8x32_epi32((__m256i)(b), index), \
                       _mm256_cmpgt_epi32(index, _mm256_set1_epi32(7)))

#define PATH AVX2
#include "scan_of_path.h"
#endif

/* ---- Portable: a register of 16 bytes, shifted by a shuffle with zeros ---- */

#ifdef __clang__
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (vector_PORTABLE){__VA_ARGS__})
#endif

/* The shuffle numbers the bytes of the zeros from 0 and those of x from 16. */
#define SHIFT_PORTABLE(x, bytes)                                                                \
    SHUFFLE((vector_PORTABLE){0}, (vector_PORTABLE)(x), 16 - bytes, 17 - bytes, 18 - bytes,     \
            19 - bytes, 20 - bytes, 21 - bytes, 22 - bytes, 23 - bytes, 24 - bytes, 25 - bytes, \
            26 - bytes, 27 - bytes, 28 - bytes, 29 - bytes, 30 - bytes, 31 - bytes)
#define ADD_TOTALS_PORTABLE(x) (void)0
#define LAST_EVERYWHERE_PORTABLE(V, x) ((V){0} + (x)[sizeof(x) / sizeof(T) - 1])

/* Streams to any place. */
#define JOIN_INDEX_PORTABLE(index, byte) (void)(byte)
#define JOIN_PORTABLE(a, b, index) ((void)(a), (b))

#define PATH PORTABLE
#include "scan_of_path.h"

/* ---- Interface ---- */

static const struct scan_kernels *kernels_of_path(const struct problem *problem,
                                                  enum simd_path path)
{
    static const struct scan_kernels(*const kernels[SIMD_PATH_COUNT])[TYPE_COUNT] = {
        [SIMD_PORTABLE] = kernels_PORTABLE,
#ifdef SIMD_X86
        [SIMD_AVX2] = kernels_AVX2,
        [SIMD_AVX512] = kernels_AVX512,
#endif
    };
    return &kernels[path][problem->binary_operator][problem->type];
}

const struct scan_kernels *scan_kernels(const struct problem *problem)
{
    return kernels_of_path(problem, problem->simd);
}

uint64_t identity_sum(const struct problem *problem)
{
    uint64_t bits = 0;
    switch (OPERAND_ID(problem->binary_operator, problem->type)) {
#define OPERAND(OPERATOR, TYPE, T, STORED, LOWEST, HIGHEST)      \
    case OPERAND_ID(OPERATOR_##OPERATOR, TYPE_##TYPE): {         \
        const T identity = IDENTITY_##OPERATOR(LOWEST, HIGHEST); \
        memcpy(&bits, &identity, sizeof identity);               \
        break;                                                   \
    }
#include "../bench/operands.def"
    default:
        break;
    }
    return bits;
}

uint64_t add_sums(const struct problem *problem, uint64_t a, uint64_t b)
{
    struct problem of_sums = *problem;
    if (TYPES_OF_WIDE_SUMS >> problem->type & 1)
        of_sums.type = TYPE_F32;
    return kernels_of_path(&of_sums, SIMD_PORTABLE)->sum(&b, 1, a);
}

void store_sum(const struct problem *problem, void *place, uint64_t sum)
{
    switch (OPERAND_ID(problem->binary_operator, problem->type)) {
#define OPERAND(OPERATOR, TYPE, T, STORED, LOWEST, HIGHEST) \
    case OPERAND_ID(OPERATOR_##OPERATOR, TYPE_##TYPE): {    \
        T wide;                                             \
        memcpy(&wide, &sum, sizeof wide);                   \
        const STORED element = narrow_##STORED(wide);       \
        memcpy(place, &element, sizeof element);            \
        break;                                              \
    }
#include "../bench/operands.def"
    default:
        break;
    }
}

void begin_scan(const struct problem *problem, struct scan_rest *rest, bool streaming)
{
    const size_t bytes = element_bytes(problem->type);
    const uint64_t most = streaming ? CACHE_LINE_BYTES / bytes : 1;
    const uint64_t n = rest->n < most ? rest->n : most;
    if (problem->kind == KIND_INCLUSIVE || n == 0)
        return;
    store_sum(problem, rest->out, rest->carry);
    rest->out += bytes;
    if (n > 1)
        rest->carry =
            scan_kernels(problem)->scan(rest->in, rest->out, n - 1, false, NULL, rest->carry);
    rest->in += (n - 1) * bytes;
    rest->out += (n - 1) * bytes;
    rest->n -= n;
}

void scan_part(const struct problem *problem, struct scan_rest part, bool streaming)
{
    begin_scan(problem, &part, streaming);
    scan_kernels(problem)->scan(part.in, part.out, part.n, streaming,
                                streaming ? next_round(problem, part.in) : NULL, part.carry);
}

void scan_on_one_thread(const struct call *call)
{
    const struct problem *p = &call->problem;
    const struct scan_rest all = {call->input, call->output, p->n, identity_sum(p)};
    scan_part(p, all, p->n * element_bytes(p->type) >= STREAM_BYTES);
}

uint64_t sum_on_one_thread(const struct problem *problem, const void *in, uint64_t n)
{
    return scan_kernels(problem)->sum(in, n, identity_sum(problem));
}
