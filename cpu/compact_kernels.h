/* compact_kernels.h: counts and packs what compaction keeps of a part of an array,
 * on one thread, for every type and vector path.
 *
 * Kept is what is not zero. Negative zero is zero, so that what counts are an
 * element's bits under a mask, its magnitude: all bits, or for a floating-point
 * number all but the sign. */
#ifndef SCANBENCH_CPU_COMPACT_KERNELS_H
#define SCANBENCH_CPU_COMPACT_KERNELS_H

#include "simd.h"

enum { CHUNK_BYTES = 4096 };

/* A part being packed. Elements go through a buffer in the first-level cache and
 * leave it a line at a time, so that each line of memory is written once and whole. */
struct compaction {
    char *line;           /* the line of the output that the buffer begins with */
    size_t filled_bytes;  /* of the buffer */
    size_t skipped_bytes; /* of its first line, which lie before the output */
    _Alignas(CACHE_LINE_BYTES) char buffer[CHUNK_BYTES + 3 * CACHE_LINE_BYTES];
};

void begin_compaction(struct compaction *compaction, void *out);

/* Writes what is left in the buffer; returns the end of what was written. */
void *end_compaction(struct compaction *compaction);

struct compact_kernels {
    /* How many elements are kept. */
    uint64_t (*count)(const void *in, uint64_t n, uint64_t magnitude);

    /* Packs them. `ahead` NULL: the output lies in the caches. Else it is stored
     * past them, and as many bytes as are read from `ahead` on are fetched. */
    void (*feed)(struct compaction *compaction, const void *in, uint64_t n, uint64_t magnitude,
                 const void *ahead);
};

const struct compact_kernels *compact_kernels(enum element_type type, enum simd_path path);
uint64_t magnitude_of(enum element_type type);

/* The whole problem. */
void compact_on_one_thread(const struct call *call);

#endif
