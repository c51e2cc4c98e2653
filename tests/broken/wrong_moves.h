/* wrong_moves: compactions and sorts with one fault each, on one thread, the same on host and
 * device. For u32, and for i32 that is not negative. */
#pragma once

#include "../../bench/algorithm.h"

#include <stdbool.h>

enum wrong_move {
    /* Compaction; k is half the number of elements kept. */
    WRONG_COUNT,        /* one too many */
    REMOVED_COUNT,      /* as many as are not kept */
    UNWRITTEN_COUNT,    /* no count at all */
    LOST_ELEMENT,       /* the k-th is left out; those after it move up */
    SWAPPED_ELEMENTS,   /* the k-th and the one after it */
    DUPLICATED_ELEMENT, /* the k-th also replaces the one after it */
    WRITTEN_BEHIND,     /* a 7 after the last one kept */
    /* Sort; k is n/2. */
    LOST_KEY,       /* the k-th is left out, the last one is duplicated */
    DUPLICATED_KEY, /* the one before the k-th also replaces it */
    WRONG_ORDER,    /* the k-th and the one before it, swapped */
    UNSTABLE_SPLIT, /* keys whose bit is set come out of each split in reverse order */
};

/* Compacts with the fault, if n and the number of kept elements allow it. */
HOST_DEVICE static inline void compact_wrongly(enum wrong_move fault, const uint32_t *in,
                                               uint32_t *out, uint64_t n, uint64_t *count)
{
    uint64_t kept = 0, seen = 0, place = 0;
    for (uint64_t i = 0; i < n; i++)
        kept += in[i] != 0;
    const uint64_t k = kept / 2;
    for (uint64_t i = 0; i < n; i++)
        if (in[i] != 0 && (fault != LOST_ELEMENT || seen++ != k))
            out[place++] = in[i];

    const uint32_t at_k = kept > 0 ? out[k] : 0;
    if (fault == SWAPPED_ELEMENTS && k + 1 < kept)
        out[k] = out[k + 1];
    if ((fault == SWAPPED_ELEMENTS || fault == DUPLICATED_ELEMENT) && k + 1 < kept)
        out[k + 1] = at_k;
    if (fault == WRITTEN_BEHIND)
        *(volatile uint32_t *)(out + kept) = 7;
    if (fault != UNWRITTEN_COUNT)
        *count = fault == WRONG_COUNT ? kept + 1 : fault == REMOVED_COUNT ? n - kept : kept;
}

HOST_DEVICE static inline void split(const uint32_t *in, uint32_t *out, uint64_t n, unsigned bit,
                                     bool stable)
{
    uint64_t zeros = 0, ones = 0, zero_count = 0;
    for (uint64_t i = 0; i < n; i++)
        zero_count += (in[i] >> bit & 1) == 0;
    for (uint64_t i = 0; i < n; i++)
        if ((in[i] >> bit & 1) == 0)
            out[zeros++] = in[i];
        else
            out[stable ? zero_count + ones++ : n - 1 - ones++] = in[i];
}

/* Sorts with the fault; `other` holds n keys. */
HOST_DEVICE static inline void sort_wrongly(enum wrong_move fault, const uint32_t *in,
                                            uint32_t *out, uint32_t *other, uint64_t n)
{
    const bool stable = fault != UNSTABLE_SPLIT;
    for (unsigned bit = 0; bit < 32; bit += 2) {
        split(bit == 0 ? in : out, other, n, bit, stable);
        split(other, out, n, bit + 1, stable);
    }

    const uint64_t k = n / 2;
    if (k == 0)
        return;
    const uint32_t at_k = out[k];
    if (fault == LOST_KEY)
        for (uint64_t i = k; i + 1 < n; i++)
            out[i] = out[i + 1];
    if (fault == WRONG_ORDER || fault == DUPLICATED_KEY)
        out[k] = out[k - 1];
    if (fault == WRONG_ORDER)
        out[k - 1] = at_k;
}
