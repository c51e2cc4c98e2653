/* compact_of_width.h: compaction kernels for elements whose bits are a T on the vector
 * path PATH (simd_paths.h). Included for each of them by compact_of_path.h; compact_kernels.c has
 *   NAME(LANES)                elements in a vector
 *   NAME(kept)(in, magnitude)  a mask of the kept elements, 1 bit per element
 *   NAME(pack)(in, out, mask)  packs the elements of the mask, and writes a whole vector */

OF_PATH(TARGET) static uint64_t NAME(count)(const void *input, uint64_t n, uint64_t magnitude)
{
    const T *in = input;
    uint64_t kept[2] = {0, 0}, i = 0;
    for (; n - i >= 2 * NAME(LANES); i += 2 * NAME(LANES)) {
        kept[0] += (unsigned)__builtin_popcount(NAME(kept)(in + i, (T)magnitude));
        kept[1] += (unsigned)__builtin_popcount(NAME(kept)(in + i + NAME(LANES), (T)magnitude));
    }
    for (; i < n; i++)
        kept[0] += (in[i] & (T)magnitude) != 0;
    return kept[0] + kept[1];
}

/* Stores the full lines and keeps the beginning of the next. */
OF_PATH(TARGET) static void NAME(flush)(struct compaction *c, bool streaming)
{
    size_t at = 0;
    if (c->filled_bytes < CACHE_LINE_BYTES)
        return;
    if (c->skipped_bytes > 0) {
        memcpy(c->line + c->skipped_bytes, c->buffer + c->skipped_bytes,
               CACHE_LINE_BYTES - c->skipped_bytes);
        c->skipped_bytes = 0;
        at = CACHE_LINE_BYTES;
    }
    for (; c->filled_bytes - at >= CACHE_LINE_BYTES; at += CACHE_LINE_BYTES)
        if (streaming)
            OF_PATH(stream_line)(c->line + at, c->buffer + at);
        else
            memcpy(c->line + at, c->buffer + at, CACHE_LINE_BYTES);
    c->line += at;
    c->filled_bytes -= at;
    memcpy(c->buffer, c->buffer + at, CACHE_LINE_BYTES);
}

OF_PATH(TARGET)
static void NAME(feed)(struct compaction *c, const void *input, uint64_t n, uint64_t magnitude,
                       bool streaming, const void *ahead)
{
    const T *in = input;
    size_t line = 0;
    while (n > 0) {
        const uint64_t chunk = n < CHUNK_BYTES / sizeof(T) ? n : CHUNK_BYTES / sizeof(T);
        T *out = (T *)(c->buffer + c->filled_bytes);
        uint64_t i = 0;
        for (; chunk - i >= NAME(LANES); i += NAME(LANES)) {
            if (ahead != NULL && i % (CACHE_LINE_BYTES / sizeof(T)) == 0)
                prefetch_line(ahead, line++);
            const unsigned mask = NAME(kept)(in + i, (T)magnitude);
            NAME(pack)(in + i, out, mask);
            out += __builtin_popcount(mask);
        }
        for (; i < chunk; i++) {
            *out = in[i];
            out += (in[i] & (T)magnitude) != 0;
        }
        c->filled_bytes = (size_t)((char *)out - c->buffer);
        NAME(flush)(c, streaming);
        in += chunk;
        n -= chunk;
    }
    if (streaming)
        OF_PATH(stream_end)();
}

#undef T
