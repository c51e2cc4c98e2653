/* sort_of_width.h: radix sort kernels for keys whose bits are a T on the vector path PATH
 * (simd_paths.h). Included for each of them by sort_kernels.c. */

enum {
    NAME(LINE) = CACHE_LINE_BYTES / sizeof(T),
    NAME(TOP_BIT) = 8 * sizeof(T) - 1,
    /* A round of exchanges takes a load and a store per vector. More rounds than this take longer
     * than what they replace: counting and moving the keys once more, one by one. */
    NAME(MOST_ROUNDS) = 2 * OF_PATH(VECTOR_BYTES) / sizeof(T),
};

OF_PATH(TARGET) static inline T NAME(transformed)(T key, struct key_order order)
{
    return key ^ (T)(key >> NAME(TOP_BIT) ? order.negative : order.positive);
}

/* Transforms n keys, and returns the bits in which they differ from the first. */
OF_PATH(TARGET)
static uint64_t NAME(transform)(const void *input, void *output, uint64_t n, struct key_order order)
{
    const T *in = input, first = NAME(transformed)(in[0], order);
    T *out = output, varying = 0;
#pragma GCC ivdep // `out` may be `in`, at the same index
    for (uint64_t i = 0; i < n; i++) {
        out[i] = NAME(transformed)(in[i], order);
        varying |= out[i] ^ first;
    }
    return varying;
}

/* ---- Counting and moving keys by a digit ---- */

/* Transformed keys and their digits, found by vectors before keys are counted or moved one by
 * one. */
struct NAME(block) {
    T keys[BLOCK_KEYS], digits[BLOCK_KEYS];
    uint64_t n;
};

/* Reads the block that begins at key i of n, and returns the bits in which its keys differ from
 * `first`. */
OF_PATH(TARGET)
static inline T NAME(read_block)(const T *in, uint64_t i, uint64_t n, struct key_order order,
                                 struct digit digit, T first, struct NAME(block) * block)
{
    const T mask = ((T)1 << digit.bits) - 1;
    T varying = 0;
    block->n = n - i < BLOCK_KEYS ? n - i : BLOCK_KEYS;
    for (uint64_t j = 0; j < block->n; j++) {
        const T key = NAME(transformed)(in[i + j], order);
        block->keys[j] = key;
        block->digits[j] = key >> digit.shift & mask;
        varying |= key ^ first;
    }
    return varying;
}

OF_PATH(TARGET)
static uint64_t NAME(count)(const void *input, uint64_t n, struct key_order order,
                            struct digit digit, uint64_t first, uint32_t *count)
{
    struct NAME(block) block;
    T varying = 0;
    memset(count, 0, sizeof *count << digit.bits);
    for (uint64_t i = 0; i < n; i += BLOCK_KEYS) {
        varying |= NAME(read_block)(input, i, n, order, digit, (T)first, &block);
        for (uint64_t j = 0; j < block.n; j++)
            count[block.digits[j]]++;
    }
    return varying;
}

/* Turns the numbers of keys with each digit into positions, and returns the largest number. The
 * loops are two because the first is vectorised. */
OF_PATH(TARGET) static uint32_t NAME(place_runs)(uint32_t *count, struct digit digit)
{
    uint32_t longest = 0, before = 0;
    for (size_t d = 0; d < (size_t)1 << digit.bits; d++)
        longest = count[d] > longest ? count[d] : longest;
    for (size_t d = 0; d < (size_t)1 << digit.bits; d++) {
        const uint32_t run = count[d];
        count[d] = before;
        before += run;
    }
    return longest;
}

/* The next line of each bucket is prefetched, because stores that miss would wait for each
 * other. */
OF_PATH(TARGET)
static void NAME(scatter)(const void *input, void *output, uint64_t n, struct key_order order,
                          struct digit digit, uint32_t *next)
{
    struct NAME(block) block;
    T *out = output;
    for (uint64_t i = 0; i < n; i += BLOCK_KEYS) {
        NAME(read_block)(input, i, n, order, digit, 0, &block);
        for (uint64_t j = 0; j < block.n; j++) {
            T *to = out + next[block.digits[j]]++;
            __builtin_prefetch(to + NAME(LINE), 1);
            *to = block.keys[j];
        }
    }
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
static void NAME(scatter_lines)(const void *input, void *output, uint64_t n, struct key_order order,
                                struct digit digit, struct share *share)
{
    struct NAME(block) block;
    for (uint64_t i = 0; i < n; i += BLOCK_KEYS) {
        NAME(read_block)(input, i, n, order, digit, 0, &block);
        for (uint64_t j = 0; j < block.n; j++) {
            const size_t bucket = block.digits[j];
            const uint64_t at = share->next[bucket]++;
            ((T *)share->lines[bucket])[at % NAME(LINE)] = block.keys[j];
            if (at % NAME(LINE) == NAME(LINE) - 1)
                NAME(store_line)(output, share, bucket, at + 1);
        }
    }
    for (size_t bucket = 0; bucket < (size_t)1 << digit.bits; bucket++)
        if (share->next[bucket] % NAME(LINE) != 0 && share->next[bucket] > share->start[bucket])
            NAME(store_line)(output, share, bucket, share->next[bucket]);
    OF_PATH(stream_end)();
}

/* ---- A bucket in cache ---- */

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

/* Odd-even transposition sort: sorts runs of up to `rounds` keys each, all at once, in an array
 * whose runs are in order. Compilers vectorise it. */
OF_PATH(TARGET) static void NAME(exchange_neighbours)(T *keys, uint64_t n, unsigned rounds)
{
    for (unsigned round = 0; round < rounds; round++)
        for (uint64_t i = round % 2; i + 1 < n; i += 2) {
            const T a = keys[i], b = keys[i + 1];
            keys[i] = a < b ? a : b;
            keys[i + 1] = a < b ? b : a;
        }
}

OF_PATH(TARGET) static T *NAME(sort_bits)(T *keys, T *other, uint64_t n, unsigned bits);

/* Sorts each run of keys that are equal above their lowest `bits`. */
OF_PATH(TARGET) static void NAME(sort_runs)(T *keys, T *other, uint64_t n, unsigned bits)
{
    for (uint64_t i = 0, end; i < n && bits > 0; i = end) {
        for (end = i + 1; end < n && keys[end] >> bits == keys[i] >> bits; end++)
            ;
        if (end - i == 1)
            continue;
        const T *sorted = NAME(sort_bits)(keys + i, other + i, end - i, bits);
        if (sorted != keys + i)
            memcpy(keys + i, sorted, (end - i) * sizeof(T));
    }
}

/* Sorts keys whose runs of equal `top` digits are long, by the digit below and then by `top`, for
 * which `next` has the positions. That leaves few equal keys, to be sorted by the other bits. */
OF_PATH(TARGET)
static void NAME(sort_two_digits)(T *keys, T *other, uint64_t n, struct digit top, uint32_t *next)
{
    const struct digit below = run_digit(n, top.shift);
    uint32_t next_below[MOST_BUCKETS];
    NAME(count)(keys, n, AS_UNSIGNED, below, 0, next_below);
    NAME(place_runs)(next_below, below);
    NAME(scatter)(keys, other, n, AS_UNSIGNED, below, next_below);
    NAME(scatter)(other, keys, n, AS_UNSIGNED, top, next);
    NAME(sort_runs)(keys, other, n, below.shift);
}

/* Sorts transformed keys that are equal above their lowest `bits`, in two arrays in turns, and
 * returns the one that has the result. */
OF_PATH(TARGET) static T *NAME(sort_bits)(T *keys, T *other, uint64_t n, unsigned bits)
{
    if (n <= FEW_KEYS || bits == 0) {
        NAME(insertion_sort)(keys, bits > 0 ? n : 0);
        return keys;
    }
    uint32_t next[MOST_BUCKETS];
    const struct digit top = run_digit(n, bits);
    const uint64_t varying = NAME(count)(keys, n, AS_UNSIGNED, top, keys[0], next);
    const uint32_t longest_run = NAME(place_runs)(next, top);
    if (longest_run == n)
        return NAME(sort_bits)(keys, other, n, bits_up_to(varying));
    if (longest_run > NAME(MOST_ROUNDS) && top.shift > 0) {
        NAME(sort_two_digits)(keys, other, n, top, next);
        return keys;
    }
    NAME(scatter)(keys, other, n, AS_UNSIGNED, top, next);
    if (top.shift > 0)
        NAME(exchange_neighbours)(other, n, longest_run);
    return other;
}

OF_PATH(TARGET)
static void *NAME(sort_bucket)(void *keys, void *other, uint64_t n, unsigned bits)
{
    return NAME(sort_bits)(keys, other, n, bits);
}

OF_PATH(TARGET)
static void NAME(stream_keys)(void *keys, void *output, uint64_t n, struct key_order order)
{
    const size_t bytes = n * sizeof(T), to_line = bytes_to_line(output);
    const char *in = keys;
    char *out = output;
    size_t at = to_line < bytes ? to_line : bytes;
    NAME(transform)(keys, keys, n, order);
    memcpy(out, in, at);
    for (; bytes - at >= OF_PATH(VECTOR_BYTES); at += OF_PATH(VECTOR_BYTES)) {
        OF_PATH(vector) x;
        memcpy(&x, in + at, sizeof x);
        OF_PATH(stream)(out + at, x);
    }
    memcpy(out + at, in + at, bytes - at);
    OF_PATH(stream_end)();
}

#undef T
