/* sort_of_width.h: radix sort kernels for keys whose bits are a T on the vector path PATH
 * (simd_paths.h). Included for each of them by sort_kernels.c. */

enum { NAME(LINE) = CACHE_LINE_BYTES / sizeof(T), NAME(TOP_BIT) = 8 * sizeof(T) - 1 };

OF_PATH(TARGET) static inline T NAME(transformed)(T key, struct key_order order)
{
    return key ^ (T)(key >> NAME(TOP_BIT) ? order.negative : order.positive);
}

OF_PATH(TARGET) static inline T NAME(transformed_back)(T key, struct key_order order)
{
    return key ^ (T)(key >> NAME(TOP_BIT) ? order.positive : order.negative);
}

OF_PATH(TARGET) static inline size_t NAME(digit_of)(T key, struct digit digit)
{
    return (size_t)(key >> digit.shift) & (((size_t)1 << digit.bits) - 1);
}

OF_PATH(TARGET)
static void NAME(count)(const void *input, uint64_t n, struct key_order order, struct digit digit,
                        uint64_t first, struct share *share)
{
    const T *in = input, first_key = NAME(transformed)((T)first, order);
    T varying = 0;
    memset(share->start, 0, sizeof share->start);
    for (uint64_t i = 0; i < n; i++) {
        const T key = NAME(transformed)(in[i], order);
        varying |= key ^ first_key;
        share->start[NAME(digit_of)(key, digit)]++;
    }
    share->varying = varying;
}

/* Stores the collected part of one bucket's line, up to `end`. In the first line the part
 * before the share's start, and in the last line the part after its end, belong to other
 * shares. */
OF_PATH(TARGET)
static void NAME(store_line)(T *out, const struct share *share, size_t bucket, uint64_t end)
{
    const uint64_t line = (end - 1) / NAME(LINE) * NAME(LINE);
    const uint64_t start = share->start[bucket] > line ? share->start[bucket] : line;
    const T *keys = (const T *)share->lines[bucket];
    if (end - start == NAME(LINE))
        OF_PATH(stream_line)((char *)(out + line), (const char *)keys);
    else
        memcpy(out + start, keys + (start - line), (end - start) * sizeof(T));
}

OF_PATH(TARGET)
static void NAME(scatter)(const void *input, void *output, uint64_t n, struct key_order order,
                          struct digit digit, struct share *share)
{
    const T *in = input;
    for (uint64_t i = 0; i < n; i++) {
        const T key = NAME(transformed)(in[i], order);
        const size_t bucket = NAME(digit_of)(key, digit);
        const uint64_t at = share->next[bucket]++;
        ((T *)share->lines[bucket])[at % NAME(LINE)] = key;
        if (at % NAME(LINE) == NAME(LINE) - 1)
            NAME(store_line)(output, share, bucket, at + 1);
    }
    for (size_t bucket = 0; bucket < (size_t)1 << digit.bits; bucket++)
        if (share->next[bucket] % NAME(LINE) != 0 && share->next[bucket] > share->start[bucket])
            NAME(store_line)(output, share, bucket, share->next[bucket]);
    OF_PATH(stream_end)();
}

OF_PATH(TARGET) static void NAME(insertion_sort)(T *keys, uint64_t n)
{
    for (uint64_t i = 1; i < n; i++) {
        const T key = keys[i];
        uint64_t to = i;
        for (; to > 0 && keys[to - 1] > key; to--)
            keys[to] = keys[to - 1];
        keys[to] = key;
    }
}

/* One pass of an LSD radix sort, in cache. */
OF_PATH(TARGET)
static void NAME(pass)(const T *from, T *to, uint64_t n, struct digit digit, const uint32_t *count)
{
    uint32_t next[MOST_BUCKETS], before = 0;
    for (size_t d = 0; d < (size_t)1 << digit.bits; d++) {
        next[d] = before;
        before += count[d];
    }
    for (uint64_t i = 0; i < n; i++)
        to[next[NAME(digit_of)(from[i], digit)]++] = from[i];
}

/* Sorts by two digits, `low` and then `high` above it, from `from` to `to`. The output is
 * prefetched while keys are counted, since stores that miss would wait for each other. */
OF_PATH(TARGET)
static void NAME(two_passes)(T *from, T *to, uint64_t n, struct digit low, struct digit high,
                             T *spare)
{
    uint32_t low_count[MOST_BUCKETS] = {0}, high_count[MOST_BUCKETS] = {0};
    for (uint64_t i = 0; i < n; i++) {
        if (i % NAME(LINE) == 0)
            __builtin_prefetch(to + i, 1, 2);
        low_count[NAME(digit_of)(from[i], low)]++;
        high_count[NAME(digit_of)(from[i], high)]++;
    }
    if (n <= SPARE_KEYS) {
        NAME(pass)(from, spare, n, low, low_count);
        NAME(pass)(spare, to, n, high, high_count);
    } else {
        NAME(pass)(from, to, n, low, low_count);
        NAME(pass)(to, from, n, high, high_count);
        memcpy(to, from, n * sizeof(T));
    }
}

/* Sorts keys that are equal above their lowest `bits`. Sorting by the upper of those bits
 * leaves few equal keys, which are then sorted by the remaining bits. */
OF_PATH(TARGET) static void NAME(sort_bits)(T *from, T *to, uint64_t n, unsigned bits, T *spare)
{
    if (n <= FEW_KEYS || bits == 0) {
        memcpy(to, from, n * sizeof(T));
        if (bits > 0)
            NAME(insertion_sort)(to, n);
        return;
    }
    const unsigned looked_at = bits < 2 * MOST_BUCKET_BITS ? bits : 2 * MOST_BUCKET_BITS;
    const unsigned left = bits - looked_at;
    const struct digit low = {.shift = left, .bits = looked_at / 2};
    const struct digit high = {.shift = left + low.bits, .bits = looked_at - low.bits};
    NAME(two_passes)(from, to, n, low, high, spare);
    for (uint64_t i = 0, end; i < n && left > 0; i = end) {
        for (end = i + 1; end < n && to[end] >> left == to[i] >> left; end++)
            ;
        if (end - i > FEW_KEYS) {
            memcpy(from + i, to + i, (end - i) * sizeof(T));
            NAME(sort_bits)(from + i, to + i, end - i, left, spare);
        } else if (end - i > 1) {
            NAME(insertion_sort)(to + i, end - i);
        }
    }
}

OF_PATH(TARGET)
static void NAME(sort_bucket)(void *from, void *to, uint64_t n, unsigned bits,
                              struct key_order order, void *spare)
{
    T *keys = to;
    NAME(sort_bits)(from, to, n, bits, spare);
    if (order.positive == 0 && order.negative == 0)
        return;
    for (uint64_t i = 0; i < n; i++)
        keys[i] = NAME(transformed_back)(keys[i], order);
}

#undef T
