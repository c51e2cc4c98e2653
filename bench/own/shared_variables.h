/* shared_variables.h: __shared__ variables. */
#pragma once

#include "translation.h"

/* Translates the declaration that has __shared__ at token `shared`. Returns the index after it. */
size_t translate_shared(struct translation *translation, size_t shared, bool in_function);
