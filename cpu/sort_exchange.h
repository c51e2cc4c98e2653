/* sort_exchange.h: sorts a bucket in cache by one more digit, which leaves short runs, and
 * exchanges of neighbours, for keys whose bits are a T on the vector path PATH (simd_paths.h).
 * Included by sort_kernels.c for paths without a network in registers (sort_network.h).
 * Source:  Knuth, The Art of Computer Programming 3, sections 5.2.5 and 5.3.4. */

/* A round of exchanges takes a load and a store per vector. More rounds than this take longer than
 * what they replace: counting and moving the keys once more, one by one. */
enum { NAME(MOST_ROUNDS) = 2 * OF_PATH(VECTOR_BYTES) / sizeof(T) };

/* The best numbers of keys in a bucket. */
enum { NAME(FEW_KEYS) = (16 << 10) / sizeof(T), NAME(MANY_KEYS) = (32 << 10) / sizeof(T) };

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
    const struct digit below = top_digit(n, top.shift, KEYS_OF_RUN, MOST_BUCKET_BITS);
    uint32_t next_below[MOST_BUCKETS];
    NAME(count)(keys, n, AS_UNSIGNED, below, 0, next_below);
    NAME(place_runs)(next_below, below);
    NAME(scatter)(keys, other, n, AS_UNSIGNED, below, 0, next_below);
    NAME(scatter)(other, keys, n, AS_UNSIGNED, top, 0, next);
    NAME(sort_runs)(keys, other, n, below.shift);
}

/* Sorts transformed keys that are equal above their lowest `bits`, in two arrays in turns, and
 * returns the one that has the result. */
OF_PATH(TARGET) static T *NAME(sort_bits)(T *keys, T *other, uint64_t n, unsigned bits)
{
    if (n <= INSERTED_KEYS || bits == 0) {
        NAME(insertion_sort)(keys, bits > 0 ? n : 0);
        return keys;
    }
    uint32_t next[MOST_BUCKETS];
    const struct digit top = top_digit(n, bits, KEYS_OF_RUN, MOST_BUCKET_BITS);
    const uint64_t varying = NAME(count)(keys, n, AS_UNSIGNED, top, keys[0], next);
    const uint32_t longest_run = NAME(place_runs)(next, top);
    if (longest_run == n)
        return NAME(sort_bits)(keys, other, n, bits_up_to(varying));
    if (longest_run > NAME(MOST_ROUNDS) && top.shift > 0) {
        NAME(sort_two_digits)(keys, other, n, top, next);
        return keys;
    }
    NAME(scatter)(keys, other, n, AS_UNSIGNED, top, 0, next);
    if (top.shift > 0)
        NAME(exchange_neighbours)(other, n, longest_run);
    return other;
}

OF_PATH(TARGET)
static void NAME(sort_bucket)(void *keys, void *other, void *out, uint64_t n, unsigned bits,
                              struct bucket_memory *memory)
{
    (void)memory;
    const void *sorted = NAME(sort_bits)(keys, other, n, bits);
    if (sorted != out)
        memcpy(out, sorted, n * sizeof(T));
}
