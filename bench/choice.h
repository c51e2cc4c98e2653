/* choice.h: `auto`, which runs the fastest of our own algorithms for the device,
 * the operation, the type and n, as bench/choices.def has it from measurements. */
#ifndef SCANBENCH_BENCH_CHOICE_H
#define SCANBENCH_BENCH_CHOICE_H

#include "algorithm.h"

/* The descriptor of `auto` for an operation. Its functions hand each problem to
 * the algorithm chosen for it; explain() says which. */
struct algorithm choice_for(enum operation op);

/* Would `auto` run here at all: has the operation a choice on this kind of device? */
int has_choice(enum operation op, enum device_kind kind);

#endif
