/* choice.h: `auto`, a name for the fastest of our own algorithms for the device, the
 * operation, the type and n, as bench/choices.def has it from measurements.
 *
 * Nothing runs under that name: it is resolved when the problem is known, and what it
 * stands for is run as if it had been named. */
#ifndef SCANBENCH_BENCH_CHOICE_H
#define SCANBENCH_BENCH_CHOICE_H

#include "algorithm.h"

#include <stdbool.h>

/* What `auto` stands for. */
struct resolved {
    const struct algorithm *algorithm; /* NULL: none of our own supports the problem */
    unsigned block;                    /* 0 without TRAIT_HAS_BLOCK */
};

/* The first line of choices.def that fits the problem, and whose algorithm is in this
 * build and supports it. The problem's own block and scan do not matter. */
struct resolved resolve_choice(const struct problem *problem);

/* What `auto` is called and said to be. It has no run(), and supports nothing. */
struct algorithm choice_descriptor(enum operation op);

/* Has the operation a choice on this kind of device, and one that is in this build? */
bool has_choice(enum operation op, enum device_kind kind);
bool choice_in_build(enum operation op, enum device_kind kind);

#endif
