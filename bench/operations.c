/* operations: the table that operations.def defines. */
#include "operations.h"

#define OPERATION(NAME, name, PROPERTIES, RESULT, title) \
    static uint64_t result_of_##name(uint64_t n)         \
    {                                                    \
        (void)n;                                         \
        return RESULT;                                   \
    }
#include "operations.def"

const struct operation_facts *operation_facts(enum operation op)
{
    static const struct operation_facts facts[OPERATION_COUNT] = {
#define OPERATION(NAME, name, PROPERTIES, RESULT, title) \
    [OP_##NAME] = {#name, title, PROPERTIES, result_of_##name},
#include "operations.def"
    };
    return &facts[op];
}
