/* simd_paths.h: macros for code that is written once and compiled for every vector path.
 *
 * Such code is in a header that is included once per path, with PATH defined as AVX512, AVX2 or
 * PORTABLE and T as a type. In that header, OF_PATH(TARGET), for example, is the path's own
 * TARGET, and NAME(what) is the name of a function or type of this path and T. */
#pragma once

#include "simd.h"

#include <string.h>

#define JOIN_2(a, b) a##_##b
#define JOIN_3(a, b, c) a##_##b##_##c
#define OF_PATH_NAMED(what, path) JOIN_2(what, path)
#define NAME_OF(what, type, path) JOIN_3(what, type, path)
#define OF_PATH(what) OF_PATH_NAMED(what, PATH)
#define NAME(what) NAME_OF(what, T, PATH)

/* TARGET        the instructions to compile for
 * VECTOR_BYTES  in a register
 * vector        a register, whatever it holds
 * stream        stores a vector, past the caches if the path can do that
 * STREAM_ALIGNMENT  of the vector's place, in bytes
 * stream_line   the same for an aligned cache line
 * stream_end    must be called after the last of these stores */
#ifdef SIMD_X86
enum { VECTOR_BYTES_AVX512 = 64, VECTOR_BYTES_AVX2 = 32 };
enum { STREAM_ALIGNMENT_AVX512 = 64, STREAM_ALIGNMENT_AVX2 = 32 };

typedef __m512i vector_AVX512;
typedef __m256i vector_AVX2;

TARGET_AVX512 static inline void stream_AVX512(void *out, vector_AVX512 x)
{
    _mm512_stream_si512(out, x);
}

TARGET_AVX512 static inline void stream_line_AVX512(char *out, const char *in)
{
    stream_AVX512(out, _mm512_load_si512(in));
}

TARGET_AVX512 static inline void stream_end_AVX512(void)
{
    _mm_sfence();
}

TARGET_AVX2 static inline void stream_AVX2(void *out, vector_AVX2 x)
{
    _mm256_stream_si256(out, x);
}

TARGET_AVX2 static inline void stream_line_AVX2(char *out, const char *in)
{
    const vector_AVX2 *from = (const vector_AVX2 *)in;
    vector_AVX2 *to = (vector_AVX2 *)out;
    stream_AVX2(to, _mm256_load_si256(from));
    stream_AVX2(to + 1, _mm256_load_si256(from + 1));
}

TARGET_AVX2 static inline void stream_end_AVX2(void)
{
    _mm_sfence();
}
#endif

/* The compiler's generic short vectors, with plain stores. */
#define TARGET_PORTABLE
enum { VECTOR_BYTES_PORTABLE = 16, STREAM_ALIGNMENT_PORTABLE = 1 };

typedef uint8_t vector_PORTABLE __attribute__((vector_size(16), may_alias));

static inline void stream_PORTABLE(void *out, vector_PORTABLE x)
{
    memcpy(out, &x, sizeof x);
}

static inline void stream_line_PORTABLE(char *out, const char *in)
{
    memcpy(out, in, CACHE_LINE_BYTES);
}

static inline void stream_end_PORTABLE(void)
{
}
