/* compact_kernels.h: counts and packs the kept elements of a part of an array, on one thread,
 * for every type and vector path.
 *
 * Elements that are not zero are kept. Negative zero is zero, so the test masks an element's
 * bits with its magnitude: all bits, or for floats all but the sign. */
#pragma once

#include "simd.h"

enum { CHUNK_BYTES = 4096 };

/* A part being packed. Elements go through a buffer in the first-level cache and leave it one
 * cache line at a time, so that each line of memory is written once, as a whole. */
struct compaction {
    char *line;           /* the output line at which the buffer begins */
    size_t filled_bytes;  /* bytes in use in the buffer */
    size_t skipped_bytes; /* bytes of its first line that lie before the output */
    _Alignas(CACHE_LINE_BYTES) char buffer[CHUNK_BYTES + 3 * CACHE_LINE_BYTES];
};

void begin_compaction(struct compaction *compaction, void *out);

/* Writes the rest of the buffer; returns the end of the output. */
void *end_compaction(struct compaction *compaction);

struct compact_kernels {
    /* Counts the kept elements. */
    uint64_t (*count)(const void *in, uint64_t n, uint64_t magnitude);

    /* Packs the kept elements. If `streaming`, the output is stored past the caches. `ahead`
     * NULL: nothing is prefetched. Otherwise as many bytes as are read are, from there. */
    void (*feed)(struct compaction *compaction, const void *in, uint64_t n, uint64_t magnitude,
                 bool streaming, const void *ahead);
};

const struct compact_kernels *compact_kernels(enum element_type type, enum simd_path path);
uint64_t magnitude_of(enum element_type type);

/* Solves the whole problem. */
void compact_on_one_thread(const struct call *call);
