/* scan_of_type.h: scan kernels for one type on one vector path. Included for each
 * of them by scan_kernels.c, which defines before and undefines after
 *   T                     the element
 *   V, V_ANYWHERE         a vector of them, and one at the address of any element
 *   NAME(what)            `what` with a suffix for type and path
 *   TARGET                the instructions to compile for
 *   SCAN_LANES(x)         makes the vector x its own inclusive scan
 *   LAST_EVERYWHERE(x)    the last element of x in every lane
 *   STREAM(address, x)    stores x past the caches */

enum {
    NAME(LANES) = sizeof(V) / sizeof(T),
    NAME(LINE) = CACHE_LINE_BYTES / sizeof(T),
};

TARGET static T NAME(scan_one_by_one)(const T *in, T *out, uint64_t n, T carry)
{
    for (uint64_t i = 0; i < n; i++)
        out[i] = carry += in[i];
    return carry;
}

/* Only the last addition waits for the vector before. */
#define SCAN_VECTOR(in, out, store)           \
    {                                         \
        V scan = *(const V_ANYWHERE *)(in);   \
        SCAN_LANES(scan);                     \
        const V last = LAST_EVERYWHERE(scan); \
        store(out, scan + carry);             \
        carry += last;                        \
    }
#define STORE(address, x) (*(V *)(address) = (x))

TARGET static uint64_t NAME(scan)(const void *input, void *output, uint64_t n, const void *ahead,
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
        for (size_t line = 0; n - i >= NAME(LINE); line++) {
            prefetch_line(ahead, line);
            for (const uint64_t end = i + NAME(LINE); i < end; i += NAME(LANES))
                SCAN_VECTOR(in + i, out + i, STREAM);
        }
        STREAM_FENCE();
    }
    for (; n - i >= NAME(LANES); i += NAME(LANES))
        SCAN_VECTOR(in + i, out + i, STORE);
    sum = NAME(scan_one_by_one)(in + i, out + i, n - i, carry[0]);
    memcpy(&carry_bits, &sum, sizeof sum);
    return carry_bits;
}

TARGET static uint64_t NAME(sum)(const void *input, uint64_t n, uint64_t carry_bits)
{
    const T *in = input;
    T sum;
    memcpy(&sum, &carry_bits, sizeof sum);
    V sums[4] = {{0}, {0}, {0}, {0}};
    uint64_t i = 0;
    for (; n - i >= 4 * NAME(LANES); i += 4 * NAME(LANES))
        for (int v = 0; v < 4; v++)
            sums[v] += *(const V_ANYWHERE *)(in + i + v * NAME(LANES));
    sums[0] += sums[1] + sums[2] + sums[3];
    for (int lane = 0; lane < NAME(LANES); lane++)
        sum += sums[0][lane];
    for (; i < n; i++)
        sum += in[i];
    memcpy(&carry_bits, &sum, sizeof sum);
    return carry_bits;
}

#undef SCAN_VECTOR
#undef STORE
