/* scan_of_type.h: scan kernels for elements T under OPERATOR on the vector path PATH
 * (simd_paths.h). Included for each operator and type by scan_of_path.h, with LOWEST and HIGHEST as
 * the ends of the type's order. In addition to the macros of simd_paths.h, scan_kernels.c defines
 *   SHIFT(x, bytes)        each 16 bytes of x shifted up, filled with zeros
 *   ADD_TOTALS(x)          adds to each 16 bytes of x the total of all earlier ones
 *   LAST_EVERYWHERE(V, x)  the last element of x in every lane
 *   JOIN_INDEX(name, byte) defines `name` for JOIN; `byte` is a multiple of 4, less than a vector
 *   JOIN(a, b, index)      as many bytes as a vector has, of a and then b, from `byte` on
 *
 * To add is to apply the operator. Lanes that a move leaves empty are zeros, which are not every
 * operator's identity: so what moves is the difference from the identity, bit by bit. Macros stay
 * defined: they are the same for whichever OPERATOR, T and PATH. */
#define OF_OPERAND(what) OPERAND_NAMED(what, OPERATOR, T, PATH)
#define OF_OPERATOR(what) OF_PATH_NAMED(what, OPERATOR)

typedef T OF_OPERAND(vector) __attribute__((vector_size(OF_PATH(VECTOR_BYTES)), may_alias));
typedef T OF_OPERAND(vector_anywhere)
    __attribute__((vector_size(OF_PATH(VECTOR_BYTES)), aligned(sizeof(T)), may_alias));

#define V OF_OPERAND(vector)
#define V_ANYWHERE OF_OPERAND(vector_anywhere)
#define LANES (OF_PATH(VECTOR_BYTES) / sizeof(T))
#define LINE (CACHE_LINE_BYTES / sizeof(T))
#define ADD(a, b) OF_OPERATOR(APPLY)(a, b)
#define ADD_VECTORS(a, b) OF_OPERAND(add)(a, b)
#define IDENTITY ((T)OF_OPERATOR(IDENTITY)(LOWEST, HIGHEST))
/* The identity in every lane, as bits. */
#define IDENTITIES ((OF_PATH(vector))((V){0} + IDENTITY))
/* move(x) with the identity in the lanes that it fills with zeros. */
#define MOVED(move, x, ...) \
    ((V)(OF_PATH(move)((OF_PATH(vector))(x) ^ IDENTITIES, __VA_ARGS__) ^ IDENTITIES))

OF_PATH(TARGET) static inline V OF_OPERAND(add)(V a, V b)
{
    return OF_OPERATOR(APPLY_VECTORS)(V, a, b);
}

OF_PATH(TARGET) static T OF_OPERAND(scan_one_by_one)(const T *in, T *out, uint64_t n, T carry)
{
    for (uint64_t i = 0; i < n; i++)
        out[i] = carry = ADD(carry, in[i]);
    return carry;
}

/* Hillis-Steele scan of a vector: adds the lanes 1, 2, 4, ... below. Only the last addition
 * waits for the previous vector. */
#define SCAN_VECTOR(vector, out, store)                      \
    {                                                        \
        V scan = vector;                                     \
        if (sizeof(T) <= 1)                                  \
            scan = ADD_VECTORS(MOVED(SHIFT, scan, 1), scan); \
        if (sizeof(T) <= 2)                                  \
            scan = ADD_VECTORS(MOVED(SHIFT, scan, 2), scan); \
        if (sizeof(T) <= 4)                                  \
            scan = ADD_VECTORS(MOVED(SHIFT, scan, 4), scan); \
        scan = ADD_VECTORS(MOVED(SHIFT, scan, 8), scan);     \
        OF_PATH(ADD_TOTALS)(scan);                           \
        const V last = OF_PATH(LAST_EVERYWHERE)(V, scan);    \
        store(out, ADD_VECTORS(carry, scan));                \
        carry = ADD_VECTORS(carry, last);                    \
    }
/* Loads the next vector before it stores this one. An exclusive scan stores one element further
 * than it loads. Where both arrays begin equally far into a page, a load after the store overlaps
 * it in the low 12 bits of the address, which processors take for a dependency at first (4 KiB
 * aliasing). */
#define LOAD_NEXT_AND_SCAN(vector, in, out, store) \
    {                                              \
        const V now = vector;                      \
        vector = LOAD((in) + LANES);               \
        SCAN_VECTOR(now, out, store);              \
    }
#define LOAD(address) (*(const V_ANYWHERE *)(address))
#define STORE(address, x) (*(V_ANYWHERE *)(address) = (x))
#define STREAM(address, x) OF_PATH(stream)(address, (OF_PATH(vector))(x))
/* Where results do not lie as STREAM needs them: the end of the vector before, and as much of this
 * one as fills up the place of a vector. The rest of this one waits in `before`. */
#define STREAM_SHIFTED(address, x)                                                     \
    {                                                                                  \
        const V last_part = before;                                                    \
        before = x;                                                                    \
        STREAM((address)-LANES + shift, OF_PATH(JOIN)(last_part, before, join_index)); \
    }
#define STREAM_LINES(store)                                      \
    for (size_t line = 0; n - i >= LINE + LANES; line++) {       \
        if (ahead != NULL)                                       \
            prefetch_line(ahead, line);                          \
        for (const uint64_t end = i + LINE; i < end; i += LANES) \
            LOAD_NEXT_AND_SCAN(vector, in + i, out + i, store);  \
    }
#define SCAN_VECTORS(store)                                     \
    {                                                           \
        for (; n - i >= 2 * LANES; i += LANES)                  \
            LOAD_NEXT_AND_SCAN(vector, in + i, out + i, store); \
        SCAN_VECTOR(vector, out + i, store);                    \
        i += LANES;                                             \
    }
#define IS_FLOAT ((T)0.5 != 0)

OF_PATH(TARGET)
static uint64_t OF_OPERAND(scan)(const void *input, void *output, uint64_t n, bool streaming,
                                 const void *ahead, uint64_t carry_bits)
{
    const T *in = input;
    T *out = output, sum;
    uint64_t i = 0;
    memcpy(&sum, &carry_bits, sizeof sum);
    /* The order of additions follows from where vectors begin. That of integers does not matter. */
    if (!IS_FLOAT && streaming) {
        i = bytes_to_line(out) / sizeof(T);
        i = i < n ? i : n;
        sum = OF_OPERAND(scan_one_by_one)(in, out, i, sum);
    }
    V carry = (V){0} + sum; /* in every lane */
    if (n - i >= LANES) {
        V vector = LOAD(in + i);
        const size_t shift = -(uintptr_t)(out + i) % OF_PATH(STREAM_ALIGNMENT) / sizeof(T);
        if (streaming && shift > 0 && n - i >= 2 * LANES) {
            OF_PATH(JOIN_INDEX)(join_index, shift * sizeof(T));
            V before;
            LOAD_NEXT_AND_SCAN(vector, in + i, &before, STORE);
            memcpy(out + i, &before, shift * sizeof(T));
            i += LANES;
            STREAM_LINES(STREAM_SHIFTED);
            SCAN_VECTORS(STREAM_SHIFTED);
            OF_PATH(stream_end)();
            memcpy(out + i - LANES + shift, (const T *)&before + shift,
                   sizeof before - shift * sizeof(T));
        } else {
            if (streaming && shift == 0) {
                STREAM_LINES(STREAM);
                OF_PATH(stream_end)();
            }
            SCAN_VECTORS(STORE);
        }
    }
    sum = OF_OPERAND(scan_one_by_one)(in + i, out + i, n - i, carry[0]);
    memcpy(&carry_bits, &sum, sizeof sum);
    return carry_bits;
}

OF_PATH(TARGET)
static uint64_t OF_OPERAND(sum)(const void *input, uint64_t n, uint64_t carry_bits)
{
    const T *in = input;
    T sum;
    memcpy(&sum, &carry_bits, sizeof sum);
    const V identities = (V)IDENTITIES;
    V sums[4] = {identities, identities, identities, identities};
    uint64_t i = 0;
    for (; n - i >= 4 * LANES; i += 4 * LANES) {
        for (size_t l = 0; l < 4 * LANES / LINE; l++)
            prefetch_page_ahead(in + i + l * LINE);
        for (size_t v = 0; v < 4; v++)
            sums[v] = ADD_VECTORS(sums[v], LOAD(in + i + v * LANES));
    }
    sums[0] = ADD_VECTORS(ADD_VECTORS(sums[0], sums[1]), ADD_VECTORS(sums[2], sums[3]));
    for (size_t lane = 0; lane < LANES; lane++)
        sum = ADD(sum, sums[0][lane]);
    for (; i < n; i++)
        sum = ADD(sum, in[i]);
    memcpy(&carry_bits, &sum, sizeof sum);
    return carry_bits;
}

#undef T
#undef LOWEST
#undef HIGHEST
