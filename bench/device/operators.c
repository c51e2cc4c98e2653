/* operators: the table of operators. */
#include "operators.h"

const struct operator_facts *operator_facts(enum binary_operator id)
{
    static const struct operator_facts facts[OPERATOR_COUNT] = {
#define OPERATOR(NAME, name, PROPERTIES, BITS, IDENTITY, INPUT, meaning) \
    {#name, PROPERTIES, INPUT_##INPUT, meaning},
#include "../operators.def"
    };
    return &facts[id];
}
