/* sort_network.h: sorts a bucket in cache by one more digit, which leaves pieces for a network that
 * sorts up to 256 keys of 32 bits, or 128 of 64 bits, in registers. For keys whose bits are a T on
 * the AVX-512 path; included by sort_kernels.c for each width.
 * Source:  Batcher, Sorting networks and their applications, 1968. Small pieces are sorted in
 *          registers as in Bramas 2017 and Blacher and others 2022.
 *
 * Sorted runs are merged by a bitonic network whose first step compares one run with the other in
 * reverse order. Then all smaller keys go to lower places, so places past the end need no keys:
 * there the largest keys stay, or nothing at all.
 *
 * Rows are vectors, compared lane by lane. A merge within rows first moves the keys to compare to
 * the same lane of two rows: it swaps those lanes of a whose numbers have bit d with those of b
 * that have not. What bit d said is then said by the row, and bit d says where a key came from. */

enum {
    NAME(LANES) = sizeof(__m512i) / sizeof(T),
    NAME(NETWORK_KEYS) = MOST_ROWS * NAME(LANES),
    /* The most keys of a piece on average, if they are evenly spread: by chance some have more. */
    NAME(PIECE_KEYS) = NAME(NETWORK_KEYS) / 8 * 5,
    /* A slot has an odd number of lines, or all slots would share few sets of the cache. */
    NAME(SLOT_KEYS) = NAME(NETWORK_KEYS) + NAME(LANES),
    /* Measured: for more keys, lines of the slots leave the first-level cache. */
    NAME(FEW_KEYS) = NAME(PIECE_KEYS) << 7,
    NAME(MANY_KEYS) = NAME(PIECE_KEYS) << SLOT_BITS,
};
_Static_assert(((1 << SLOT_BITS) * NAME(SLOT_KEYS) + NAME(MANY_KEYS)) * sizeof(T) <= SLOTS_BYTES,
               "slots and, past them, as many keys as a bucket has");

/* A register, to compute the numbers of lanes. */
typedef T NAME(lanes) __attribute__((vector_size(sizeof(__m512i))));

/* Each lane's number. */
INLINE NAME(lanes) NAME(lane)(void)
{
    return (NAME(lanes))(
        sizeof(T) == 8 ? _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7)
                       : _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

/* Lane i is lane from[i] of a, or of b for numbers past those of a. */
INLINE __m512i NAME(permute)(__m512i a, NAME(lanes) from, __m512i b)
{
    return sizeof(T) == 8 ? _mm512_permutex2var_epi64(a, (__m512i)from, b)
                          : _mm512_permutex2var_epi32(a, (__m512i)from, b);
}

/* How many of n keys are in row i. */
INLINE uint64_t NAME(lanes_left)(uint64_t n, unsigned i)
{
    const uint64_t before = i * NAME(LANES);
    return n <= before ? 0 : n - before < NAME(LANES) ? n - before : NAME(LANES);
}

/* Row i, of which n lanes are keys; the largest keys follow. */
INLINE __m512i NAME(load)(const T *keys, unsigned i, uint64_t n)
{
    const __m512i largest = _mm512_set1_epi8(-1);
    const uint32_t mask = _bzhi_u32(-1U, (uint32_t)n);
    keys += i * NAME(LANES);
    return sizeof(T) == 8 ? _mm512_mask_loadu_epi64(largest, (__mmask8)mask, keys)
                          : _mm512_mask_loadu_epi32(largest, (__mmask16)mask, keys);
}

INLINE void NAME(store)(T *keys, unsigned i, uint64_t n, __m512i row)
{
    const uint32_t mask = _bzhi_u32(-1U, (uint32_t)n);
    keys += i * NAME(LANES);
    if (sizeof(T) == 8)
        _mm512_mask_storeu_epi64(keys, (__mmask8)mask, row);
    else
        _mm512_mask_storeu_epi32(keys, (__mmask16)mask, row);
}

/* Moves the lower key of each lane to a and the higher one to b. There is an instruction for the
 * higher one too, but that of 64 bits takes as long as three others. */
INLINE void NAME(exchange)(__m512i *a, __m512i *b)
{
    const __m512i low = sizeof(T) == 8 ? _mm512_min_epu64(*a, *b) : _mm512_min_epu32(*a, *b);
    *b = sizeof(T) == 8 ? (__m512i)(*a ^ *b ^ low) : _mm512_max_epu32(*a, *b);
    *a = low;
}

/* Swaps those lanes of a whose numbers have bit d with those of b that have not. Then reverses
 * groups of `flip` lanes in b, each where it is. */
INLINE void NAME(swap_lanes)(__m512i *a, __m512i *b, unsigned d, unsigned flip)
{
    const NAME(lanes) lane = NAME(lane)(), other = lane ^ (flip - 1);
    const T far = NAME(LANES) / d - 1; // lane + d * far is d lanes before the same lane of b
    const __m512i low = NAME(permute)(*a, lane + (lane & d) * far, *b);
    *b = NAME(permute)(*a, other + d + (other & d) * far, *b);
    *a = low;
}

/* Undoes the swaps of a merge of groups of `width` lanes, which left the even keys of each in a and
 * the odd ones in b. */
INLINE void NAME(interleave)(__m512i *a, __m512i *b, unsigned width)
{
    const NAME(lanes) lane = NAME(lane)();
    const T in_group = width - 1;
    const NAME(lanes) from =
        (lane & ~in_group) + ((lane & in_group) >> 1) + (lane & 1) * NAME(LANES);
    const __m512i low = NAME(permute)(*a, from, *b);
    *b = NAME(permute)(*a, from + width / 2, *b);
    *a = low;
}

/* Sorts groups of `width` lanes, each of which is bitonic or, if `halves`, two sorted halves. */
INLINE void NAME(merge_lanes)(__m512i *a, __m512i *b, unsigned width, bool halves)
{
    NAME(swap_lanes)(a, b, width / 2, halves ? width / 2 : 1);
    NAME(exchange)(a, b);
#pragma GCC unroll 4
    for (unsigned level = 2; level <= 4; level++)
        if (width >> level > 0) {
            NAME(swap_lanes)(a, b, width >> level, 1);
            NAME(exchange)(a, b);
        }
    NAME(interleave)(a, b, width);
}

/* Compares each row with the later one whose number differs in the bits `apart`, and which is
 * reversed first if `reverse`. What follows sorts a reversed row as well as any. */
INLINE void NAME(exchange_rows)(__m512i *row, unsigned rows, unsigned apart, bool reverse)
{
#pragma GCC unroll 16
    for (unsigned i = 0; i < rows; i++) {
        const unsigned j = i ^ apart;
        if (j < i || j >= rows)
            continue;
        if (reverse)
            row[j] = NAME(permute)(row[j], NAME(LANES) - 1 - NAME(lane)(), row[j]);
        NAME(exchange)(&row[i], &row[j]);
    }
}

/* Merges each two runs of `run` sorted rows. Places of rows past the end hold nothing. */
INLINE void NAME(merge_rows)(__m512i *row, unsigned rows, unsigned run)
{
    if (run >= rows)
        return;
    NAME(exchange_rows)(row, rows, 2 * run - 1, true);
#pragma GCC unroll 3
    for (unsigned level = 1; level <= 3; level++)
        if (run >> level > 0)
            NAME(exchange_rows)(row, rows, run >> level, false);
#pragma GCC unroll 8
    for (unsigned i = 0; i < rows; i += 2)
        if (i / (2 * run) * (2 * run) + run < rows)
            NAME(merge_lanes)(&row[i], &row[i + 1], NAME(LANES), false);
}

/* Sorts the keys of all rows, first within pairs of rows, then row by row. */
INLINE void NAME(sort_vectors)(__m512i *row, unsigned rows)
{
#pragma GCC unroll 8
    for (unsigned i = 0; i < rows; i += 2) {
#pragma GCC unroll 4
        for (unsigned level = 1; level <= 4; level++)
            if (1 << level <= NAME(LANES))
                NAME(merge_lanes)(&row[i], &row[i + 1], 1 << level, true);
    }
#pragma GCC unroll 4
    for (unsigned level = 0; level < 4; level++)
        NAME(merge_rows)(row, rows, 1 << level);
}

/* Sorts n keys in `rows` rows, an even number. They fill all but the last two, at least. */
INLINE void NAME(sort_rows)(const T *in, T *out, uint64_t n, unsigned rows)
{
    __m512i row[MOST_ROWS];
#pragma GCC unroll 16
    for (unsigned i = 0; i < rows; i++)
        row[i] = NAME(load)(in, i, i + 2 < rows ? NAME(LANES) : NAME(lanes_left)(n, i));
    NAME(sort_vectors)(row, rows);
#pragma GCC unroll 16
    for (unsigned i = 0; i < rows; i++)
        NAME(store)(out, i, i + 2 < rows ? NAME(LANES) : NAME(lanes_left)(n, i), row[i]);
}

/* Sorts up to NETWORK_KEYS keys. `out` may be `in`. */
OF_PATH(TARGET) static void NAME(sort_few)(const T *in, T *out, uint64_t n)
{
    const unsigned pairs = (unsigned)((n + 2 * NAME(LANES) - 1) / (2 * NAME(LANES)));
    switch (pairs) { // each case is a network of its own
#define SORT_PAIRS(p)                         \
    case p:                                   \
        NAME(sort_rows)(in, out, n, 2 * (p)); \
        break
        SORT_PAIRS(1);
        SORT_PAIRS(2);
        SORT_PAIRS(3);
        SORT_PAIRS(4);
        SORT_PAIRS(5);
        SORT_PAIRS(6);
        SORT_PAIRS(7);
        SORT_PAIRS(8);
#undef SORT_PAIRS
    }
}

/* ---- A bucket in cache ---- */

/* Moves keys to slots, one per digit, and leaves their numbers in `count`. Keys are not counted
 * before they are moved: too many of a digit run into the next slots, and `slots` can hold all of
 * them past the last one. Returns false if a slot had too many. */
OF_PATH(TARGET)
static bool NAME(fill_slots)(const T *keys, uint64_t n, struct digit digit, T *slots,
                             uint32_t *count)
{
    const uint32_t digits = 1U << digit.bits;
    const uint64_t some = n / 8; // tell whether to go on
    uint32_t next[1 << SLOT_BITS];
    for (uint32_t d = 0; d < digits; d++)
        next[d] = d * NAME(SLOT_KEYS);
    for (uint64_t begin = 0, end = some; begin < n; begin = end, end = n) {
        uint32_t most = 0;
        NAME(scatter)(keys + begin, slots, end - begin, AS_UNSIGNED, digit, 0, next);
        for (uint32_t d = 0; d < digits; d++) {
            count[d] = next[d] - d * NAME(SLOT_KEYS);
            most = count[d] > most ? count[d] : most;
        }
        if (most > (end < n ? NAME(NETWORK_KEYS) / 2 : NAME(NETWORK_KEYS)))
            return false;
    }
    return true;
}

/* Sorts the keys of each slot. */
OF_PATH(TARGET)
static void NAME(sort_slots)(const T *slots, T *out, struct digit digit, const uint32_t *count)
{
    for (uint32_t d = 0; d < 1U << digit.bits; d++) {
        NAME(sort_few)(slots + d * NAME(SLOT_KEYS), out, count[d]);
        out += count[d];
    }
}

/* Sorts keys that are equal above their lowest `bits` into `out`. */
OF_PATH(TARGET)
static void NAME(sort_bits)(T *keys, T *other, T *out, uint64_t n, unsigned bits, T *slots)
{
    if (n <= NAME(NETWORK_KEYS)) {
        NAME(sort_few)(keys, out, n);
        return;
    }
    if (bits == 0) {
        memmove(out, keys, n * sizeof(T));
        return;
    }
    uint32_t next[1 << SLOT_BITS];
    const struct digit digit = top_digit(n, bits, NAME(PIECE_KEYS), SLOT_BITS);
    if (n <= NAME(MANY_KEYS) && digit.shift > 0 && NAME(fill_slots)(keys, n, digit, slots, next)) {
        NAME(sort_slots)(slots, out, digit, next);
        return;
    }
    const uint64_t varying = NAME(count)(keys, n, AS_UNSIGNED, digit, keys[0], next);
    if (NAME(place_runs)(next, digit) == n) {
        NAME(sort_bits)(keys, other, out, n, bits_up_to(varying), slots);
        return;
    }
    NAME(scatter)(keys, other, n, AS_UNSIGNED, digit, 0, next);
    for (size_t d = 0, begin = 0; d < (size_t)1 << digit.bits; begin = next[d++]) {
        NAME(sort_bits)
        (other + begin, keys + begin, out + begin, next[d] - begin, digit.shift, slots);
    }
}

OF_PATH(TARGET)
static void NAME(sort_bucket)(void *keys, void *other, void *out, uint64_t n, unsigned bits,
                              struct bucket_memory *memory)
{
    NAME(sort_bits)(keys, other, out, n, bits, (T *)memory->slots);
}
