/* verify.h: is a result right, and did its run leave everything else alone? */
#ifndef SCANBENCH_BENCH_DEVICE_VERIFY_H
#define SCANBENCH_BENCH_DEVICE_VERIFY_H

#include "backend.h"

/* What one run() had in its hands. */
struct workspace {
    struct buffer input, output, scratch;
    struct buffer count; /* compaction: 64 bits; else none */
};

struct verdict {
    bool passed;
    char reason[256]; /* not passed: where, what was got, what was wanted */
    uint64_t written; /* elements of a right result */
};

/* Checks every element of the output for what `result` says it is, that the
 * input is unchanged, and that nothing beside the buffers was written. Output and
 * count must have been poisoned before the run. Returns NULL, or why the device
 * could not do the check. */
const char *verify(struct device *device, const struct problem *problem, enum result result,
                   const struct input *input, const struct workspace *workspace,
                   struct verdict *verdict);

/* An element as text, by its type; `bits` as in elements.h. */
void format_element(enum element_type type, uint64_t bits, char *text, size_t size);

#endif
