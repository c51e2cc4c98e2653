/* verify.h: checks that a result is right and that its run changed nothing else. */
#pragma once

#include "backend.h"

/* The buffers of one run. */
struct workspace {
    struct buffer input, output, scratch;
    struct buffer count;                       /* compaction: 64 bits; else empty */
    struct buffer second;                      /* the second input, if there is one; else empty */
    struct buffer input_values, output_values; /* sort of pairs; else empty */
};

enum { WORKSPACE_BUFFERS = 7 };

struct verdict {
    bool passed;
    char reason[256];          /* if not passed: where, the value found, the value wanted */
    uint64_t written;          /* number of elements of a right result */
    struct digest got, wanted; /* sort: of the output, and of the input it was made from */
};

/* Where a slice of a result continues that of earlier slices. */
struct seam {
    bool follows;    /* false: there is no earlier element */
    uint64_t before; /* the last element before the slice */
};

/* Checks that every element of the output is what `result` says, that the input is unchanged,
 * and that nothing outside the buffers was written. Output and count must have been poisoned
 * before the run. Returns NULL, or why the device could not do the check. */
const char *verify(struct device *device, const struct problem *problem, enum result result,
                   const struct input *input, const struct workspace *workspace,
                   struct verdict *verdict);

/* The same for one slice, by the device that holds it, except that the digests of a sort are left
 * to be added up and judged. */
const char *verify_slice(struct device *device, const struct problem *problem, enum result result,
                         const struct input *input, struct seam seam,
                         const struct workspace *workspace, struct verdict *verdict);

/* Fails a sort whose output is not a permutation of its input. */
void judge_digests(struct verdict *verdict);

/* Formats an element by its type; `bits` as in elements.h. */
void format_element(enum element_type type, uint64_t bits, char *text, size_t size);
