/* scan_of_half.h: scan kernels for elements T, f16 or bf16, under OPERATOR on the vector path PATH.
 * Included after scan_of_type.h has made those of float: a block of elements is widened in the
 * first-level cache, scanned there as floats, and rounded. */
#define OF_HALF(what) OPERAND_NAMED(what, OPERATOR, T, PATH)
#define OF_FLOAT(what) OPERAND_NAMED(what, OPERATOR, float, PATH)

/* Widens up to HALF_BLOCK elements; returns how many. */
OF_PATH(TARGET) static uint64_t OF_HALF(widen)(const T *in, uint64_t n, float *block)
{
    const uint64_t count = n < HALF_BLOCK ? n : HALF_BLOCK;
    for (uint64_t i = 0; i < count; i++)
        block[i] = OF_PATH_NAMED(widen, T)(in[i]);
    return count;
}

OF_PATH(TARGET)
static uint64_t OF_HALF(scan)(const void *input, void *output, uint64_t n, bool streaming,
                              const void *ahead, uint64_t carry_bits)
{
    const T *in = input;
    T *out = output;
    (void)streaming; /* a block goes to the caches first in any case */
    _Alignas(CACHE_LINE_BYTES) float block[HALF_BLOCK];
    for (size_t line = 0; n > 0;) {
        const uint64_t count = OF_HALF(widen)(in, n, block);
        for (uint64_t i = 0; ahead != NULL && i < count; i += CACHE_LINE_BYTES / sizeof(T))
            prefetch_line(ahead, line++);
        carry_bits = OF_FLOAT(scan)(block, block, count, false, NULL, carry_bits);
        for (uint64_t i = 0; i < count; i++)
            out[i] = OF_PATH_NAMED(narrow, T)(block[i]);
        in += count;
        out += count;
        n -= count;
    }
    return carry_bits;
}

OF_PATH(TARGET)
static uint64_t OF_HALF(sum)(const void *input, uint64_t n, uint64_t carry_bits)
{
    const T *in = input;
    _Alignas(CACHE_LINE_BYTES) float block[HALF_BLOCK];
    while (n > 0) {
        const uint64_t count = OF_HALF(widen)(in, n, block);
        carry_bits = OF_FLOAT(sum)(block, count, carry_bits);
        in += count;
        n -= count;
    }
    return carry_bits;
}

#undef T
