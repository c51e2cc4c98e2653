/* choice.h: `auto`, which stands for scanbench's fastest own algorithm for the device,
 * operation, type and n, according to measurements listed in bench/choices.def.
 *
 * `auto` itself never runs. It is resolved once the problem is known, and the algorithm it
 * stands for is run as if it had been named. */
#pragma once

#include "algorithm.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What `auto` stands for. */
struct resolved {
    const struct algorithm *algorithm; /* NULL: no own algorithm supports the problem */
    unsigned block;                    /* 0 without TRAIT_HAS_BLOCK */
};

/* Finds the algorithm of that name; NULL if there is none for this kind of device. Choices name
 * algorithms and know none, so that a program can choose among fewer than the table has. */
typedef const struct algorithm *find_algorithm(enum operation op, const char *name,
                                               enum device_kind kind);

/* Resolves `auto` by the first line of choices.def that fits the problem and whose algorithm is
 * found and supports it. The problem's own block and scan are ignored. */
struct resolved resolve_choice(const struct problem *problem, find_algorithm *find);

/* The descriptor of `auto`: name and summary only. It has no run(). */
struct algorithm choice_descriptor(enum operation op);

/* Does the operation have a choice on this kind of device, whose algorithm is found? */
bool has_choice(enum operation op, enum device_kind kind);
bool choice_in_build(enum operation op, enum device_kind kind, find_algorithm *find);

#ifdef __cplusplus
}
#endif
