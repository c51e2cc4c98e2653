/* chunk_sum.h: the sum of one chunk of the input (check.h), on host and device alike. */
#pragma once

#include "check.h"

HOST_DEVICE static inline uint64_t chunk_sum(const struct input *input, uint64_t chunk)
{
    uint64_t sum = 0;
    for (uint64_t i = chunk * CHUNK; i < chunk_end(input, chunk); i++)
        sum = element_add(input->type, sum, input_element(input, i));
    return sum;
}
