/* sort_of_width.h: radix sort kernels for keys whose bits are a T on the vector path PATH
 * (simd_paths.h). Included for each of them by sort_kernels.c. */

enum {
    NAME(LINE) = CACHE_LINE_BYTES / sizeof(T),
    NAME(TOP_BIT) = 8 * sizeof(T) - 1,
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

/* Moves up to AT_ONCE keys of a block. Positions are loaded before any key is stored, because a
 * store to an unknown address delays later loads. The next line of each bucket is prefetched:
 * stores that miss would wait for each other. */
INLINE void NAME(move_few)(const struct NAME(block) * block, uint64_t begin, uint64_t n, T *out,
                           uint32_t *next)
{
    uint32_t at[AT_ONCE];
    for (uint64_t i = 0; i < n; i++)
        at[i] = next[block->digits[begin + i]]++;
    for (uint64_t i = 0; i < n; i++) {
        __builtin_prefetch(&out[at[i] + NAME(LINE)], 1);
        out[at[i]] = block->keys[begin + i];
    }
}

OF_PATH(TARGET)
static uint64_t NAME(scatter)(const void *input, void *output, uint64_t n, struct key_order order,
                              struct digit digit, uint64_t first, uint32_t *next)
{
    struct NAME(block) block;
    T varying = 0;
    for (uint64_t i = 0; i < n; i += BLOCK_KEYS) {
        uint64_t j = 0;
        varying |= NAME(read_block)(input, i, n, order, digit, (T)first, &block);
        for (; j + AT_ONCE <= block.n; j += AT_ONCE)
            NAME(move_few)(&block, j, AT_ONCE, output, next);
        NAME(move_few)(&block, j, block.n - j, output, next);
    }
    return varying;
}
