/* chunk_reduction.h: what the operator makes of one chunk of the input (check.h), on host and
 * device alike. */
#pragma once

#include "check.h"

HOST_DEVICE static inline uint64_t chunk_reduction(const struct input *input, uint64_t chunk)
{
    uint64_t sum = element_identity(input->binary_operator, input->type);
    for (uint64_t i = chunk * CHUNK; i < chunk_end(input, chunk); i++)
        sum = element_apply(input->binary_operator, input->type, sum, input_element(input, i));
    return sum;
}
