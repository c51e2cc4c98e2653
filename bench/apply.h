/* apply.h: what the operators of operators.def do, for C and for kernels.
 *
 * An operator is associative and has an identity: combined with it, an element stays as it is. */
#pragma once

#include <math.h>
#include <stdint.h>

/* a, then b. Each argument is evaluated more than once. */
#define APPLY_SUM(a, b) ((a) + (b))
#define APPLY_MAX(a, b) ((a) < (b) ? (b) : (a))
#define APPLY_MIN(a, b) ((b) < (a) ? (b) : (a))
#define APPLY_XOR(a, b) ((a) ^ (b))

/* The identity, given the lowest and the highest element of the type. */
#define IDENTITY_SUM(lowest, highest) 0
#define IDENTITY_MAX(lowest, highest) lowest
#define IDENTITY_MIN(lowest, highest) highest
#define IDENTITY_XOR(lowest, highest) 0
