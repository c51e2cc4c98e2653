/* scan_of_type.h: scan kernels for elements T on the vector path PATH (simd_paths.h).
 * Included for each type by scan_of_path.h. In addition to the macros of simd_paths.h,
 * scan_kernels.c defines
 *   SHIFT(x, bytes)        each 16 bytes of x shifted up, filled with zeros
 *   ADD_TOTALS(V, x)       adds to each 16 bytes of x the total of all earlier ones
 *   LAST_EVERYWHERE(V, x)  the last element of x in every lane */

typedef T NAME(vector) __attribute__((vector_size(OF_PATH(VECTOR_BYTES)), may_alias));
typedef T NAME(vector_anywhere)
    __attribute__((vector_size(OF_PATH(VECTOR_BYTES)), aligned(sizeof(T)), may_alias));

#define V NAME(vector)
#define V_ANYWHERE NAME(vector_anywhere)
#define LANES (OF_PATH(VECTOR_BYTES) / sizeof(T))
#define LINE (CACHE_LINE_BYTES / sizeof(T))

OF_PATH(TARGET) static T NAME(scan_one_by_one)(const T *in, T *out, uint64_t n, T carry)
{
    for (uint64_t i = 0; i < n; i++)
        out[i] = carry += in[i];
    return carry;
}

/* Hillis-Steele scan of a vector: adds the lanes 1, 2, 4, ... below. Only the last addition
 * waits for the previous vector. */
#define SCAN_VECTOR(in, out, store)                       \
    {                                                     \
        V scan = *(const V_ANYWHERE *)(in);               \
        if (sizeof(T) <= 1)                               \
            scan += (V)OF_PATH(SHIFT)(scan, 1);           \
        if (sizeof(T) <= 2)                               \
            scan += (V)OF_PATH(SHIFT)(scan, 2);           \
        if (sizeof(T) <= 4)                               \
            scan += (V)OF_PATH(SHIFT)(scan, 4);           \
        scan += (V)OF_PATH(SHIFT)(scan, 8);               \
        OF_PATH(ADD_TOTALS)(V, scan);                     \
        const V last = OF_PATH(LAST_EVERYWHERE)(V, scan); \
        store(out, scan + carry);                         \
        carry += last;                                    \
    }
#define STORE(address, x) (*(V *)(address) = (x))
#define STREAM(address, x) OF_PATH(stream)(address, (OF_PATH(vector))(x))

OF_PATH(TARGET)
static uint64_t NAME(scan)(const void *input, void *output, uint64_t n, const void *ahead,
                           uint64_t carry_bits)
{
    const T *in = input;
    T *out = output, sum;
    memcpy(&sum, &carry_bits, sizeof sum);
    uint64_t i = bytes_to_line(out) / sizeof(T);
    i = i < n ? i : n;
    sum = NAME(scan_one_by_one)(in, out, i, sum);
    V carry = (V){0} + sum; /* in every lane */
    if (ahead != NULL) {
        for (size_t line = 0; n - i >= LINE; line++) {
            prefetch_line(ahead, line);
            for (const uint64_t end = i + LINE; i < end; i += LANES)
                SCAN_VECTOR(in + i, out + i, STREAM);
        }
        OF_PATH(stream_end)();
    }
    for (; n - i >= LANES; i += LANES)
        SCAN_VECTOR(in + i, out + i, STORE);
    sum = NAME(scan_one_by_one)(in + i, out + i, n - i, carry[0]);
    memcpy(&carry_bits, &sum, sizeof sum);
    return carry_bits;
}

OF_PATH(TARGET)
static uint64_t NAME(sum)(const void *input, uint64_t n, uint64_t carry_bits)
{
    const T *in = input;
    T sum;
    memcpy(&sum, &carry_bits, sizeof sum);
    V sums[4] = {{0}, {0}, {0}, {0}};
    uint64_t i = 0;
    for (; n - i >= 4 * LANES; i += 4 * LANES) {
        for (size_t l = 0; l < 4 * LANES / LINE; l++)
            prefetch_page_ahead(in + i + l * LINE);
        for (size_t v = 0; v < 4; v++)
            sums[v] += *(const V_ANYWHERE *)(in + i + v * LANES);
    }
    sums[0] += sums[1] + sums[2] + sums[3];
    for (size_t lane = 0; lane < LANES; lane++)
        sum += sums[0][lane];
    for (; i < n; i++)
        sum += in[i];
    memcpy(&carry_bits, &sum, sizeof sum);
    return carry_bits;
}

#undef V
#undef V_ANYWHERE
#undef LANES
#undef LINE
#undef SCAN_VECTOR
#undef STORE
#undef STREAM
#undef T
