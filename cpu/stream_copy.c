/* stream_copy: copies with non-temporal stores. */
#include "stream_copy.h"

#include <string.h>

/* Four pages are read and written in turns: the prefetcher stops at the end of a page, so this
 * gives it four streams to follow. */
enum { PAGE_BYTES = 4096, STREAMS = 4, ROUND_BYTES = PAGE_BYTES * STREAMS };

#ifdef SIMD_X86
TARGET_AVX512 static void round_avx512(char *to, const char *from)
{
    for (size_t at = 0; at < PAGE_BYTES; at += 2 * sizeof(__m512i))
        for (size_t page = 0; page < ROUND_BYTES; page += PAGE_BYTES) {
            const __m512i a = _mm512_loadu_si512(from + page + at);
            const __m512i b = _mm512_loadu_si512(from + page + at + sizeof a);
            _mm512_stream_si512((void *)(to + page + at), a);
            _mm512_stream_si512((void *)(to + page + at + sizeof a), b);
        }
}

TARGET_AVX2 static void round_avx2(char *to, const char *from)
{
    for (size_t at = 0; at < PAGE_BYTES; at += 4 * sizeof(__m256i))
        for (size_t page = 0; page < ROUND_BYTES; page += PAGE_BYTES) {
            const __m256i *in = (const __m256i *)(from + page + at);
            __m256i *out = (__m256i *)(to + page + at);
            const __m256i a = _mm256_loadu_si256(in), b = _mm256_loadu_si256(in + 1);
            const __m256i c = _mm256_loadu_si256(in + 2), d = _mm256_loadu_si256(in + 3);
            _mm256_stream_si256(out, a);
            _mm256_stream_si256(out + 1, b);
            _mm256_stream_si256(out + 2, c);
            _mm256_stream_si256(out + 3, d);
        }
}
#endif

void stream_copy(void *to, const void *from, size_t bytes, enum simd_path path)
{
#ifdef SIMD_X86
    char *out = to;
    const char *in = from;
    const size_t head = bytes_to_line(to);
    if (path >= SIMD_AVX2 && bytes >= head + ROUND_BYTES) {
        memcpy(out, in, head);
        size_t at = head;
        for (; bytes - at >= ROUND_BYTES; at += ROUND_BYTES)
            path == SIMD_AVX512 ? round_avx512(out + at, in + at) : round_avx2(out + at, in + at);
        _mm_sfence();
        memcpy(out + at, in + at, bytes - at);
        return;
    }
#else
    (void)path;
#endif
    memcpy(to, from, bytes);
}
