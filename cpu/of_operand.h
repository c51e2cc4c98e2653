/* of_operand.h: one run() for every operator and element type.
 *
 * Included after DEFINE_RUN(NAME, STORED, T, IDENTITY, APPLY), which defines run_NAME(call) for
 * elements of one type under one operator: NAME is, for example, MAX_I32, STORED the type of such
 * elements in memory, T that in which they are combined, IDENTITY the operator's identity and
 * APPLY(a, b) what it makes of a, then b. This header applies DEFINE_RUN to each line of
 * operands.def, and defines a run() that calls the function for the call's operator and type. */
#include "../bench/apply.h"

#define OPERAND(OPERATOR, TYPE, T, STORED, LOWEST, HIGHEST)                          \
    DEFINE_RUN(OPERATOR##_##TYPE, STORED, T, (IDENTITY_##OPERATOR(LOWEST, HIGHEST)), \
               APPLY_##OPERATOR)
#include "../bench/operands.def"
#undef DEFINE_RUN

static void run(const struct call *call)
{
    static void (*const run_of[OPERATOR_COUNT][TYPE_COUNT])(const struct call *) = {
#define OPERAND(OPERATOR, TYPE, ...) [OPERATOR_##OPERATOR][TYPE_##TYPE] = run_##OPERATOR##_##TYPE,
#include "../bench/operands.def"
    };
    run_of[call->problem.binary_operator][call->problem.type](call);
}
