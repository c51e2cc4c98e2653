/* operators.h: the table of operators. */
#pragma once

#include "../operations.h"
#include "input.h"

enum operator_property {
    ADDS = 1 << 0,               /* adds: floats are exact up to a limit only */
    ORDERS = 1 << 1,             /* compares: NaN has no place in the order */
    WHOLE_NUMBERS_ONLY = 1 << 2, /* takes no floats */
    HAS_TWO_INPUTS = 1 << 3,     /* and does not commute */
};

/* One line of operators.def. */
struct operator_facts {
    const char *name;
    unsigned properties;
    enum input_shape input;
    const char *meaning;
};

const struct operator_facts *operator_facts(enum binary_operator id);

static inline bool operator_has(enum binary_operator id, enum operator_property property)
{
    return (operator_facts(id)->properties & property) != 0;
}

/* An operator that does not commute needs its elements in their order. */
static inline bool operator_is_of(enum binary_operator id, enum operation op)
{
    return operation_has(op, HAS_OPERATOR) &&
           !(operator_has(id, HAS_TWO_INPUTS) && operation_has(op, IN_ANY_ORDER));
}

static inline bool operator_takes(enum binary_operator id, enum element_type type)
{
    return type_class(type) != TYPE_FLOAT || !operator_has(id, WHOLE_NUMBERS_ONLY);
}
