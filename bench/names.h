/* names.h: the names of operations, types, operators, kinds, segments, values and devices on the
 * command line. */
#pragma once

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

const char *operation_name(enum operation op);
enum operation operation_named(const char *name); /* OPERATION_COUNT: none is */
const char *type_name(enum element_type type);
const char *operator_name(enum binary_operator id);
const char *kind_name(enum scan_kind kind);
const char *segment_form_name(enum segment_form form);
const char *value_type_name(enum value_type values);
const char *device_kind_name(enum device_kind kind);
const char *scratch_state_name(enum scratch_state state);
const char *simd_path_name(enum simd_path path);
const char *engine_name(enum engine_id engine);

#ifdef __cplusplus
}
#endif
