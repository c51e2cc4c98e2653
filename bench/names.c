/* names: the names of the enumerators that users see. */
#include "names.h"

#include "operations.h"

#include <string.h>

const char *operation_name(enum operation op)
{
    return operation_facts(op)->name;
}

enum operation operation_named(const char *name)
{
    int op = 0;
    while (op < OPERATION_COUNT && strcmp(operation_name((enum operation)op), name) != 0)
        op++;
    return (enum operation)op;
}

const char *type_name(enum element_type type)
{
    static const char *const names[TYPE_COUNT] = {
#define TYPE(NAME, name, ...) #name,
#include "types.def"
#undef TYPE
    };
    return names[type];
}

const char *operator_name(enum binary_operator id)
{
    static const char *const names[OPERATOR_COUNT] = {
#define OPERATOR(NAME, name, ...) #name,
#include "operators.def"
    };
    return names[id];
}

const char *kind_name(enum scan_kind kind)
{
    return kind == KIND_INCLUSIVE ? "inclusive" : "exclusive";
}

const char *segment_form_name(enum segment_form form)
{
    static const char *const names[SEGMENT_FORM_COUNT] = {
        [SEGMENTS_NONE] = "none",
        [SEGMENTS_ROWS] = "rows",
        [SEGMENTS_OFFSETS] = "offsets",
        [SEGMENTS_KEYS] = "keys",
    };
    return names[form];
}

const char *value_type_name(enum value_type values)
{
    return values == VALUES_NONE ? "none" : values == VALUES_U32 ? "u32" : "u64";
}

const char *device_kind_name(enum device_kind kind)
{
    static const char *const names[DEVICE_KIND_COUNT] = {
#define DEVICE(NAME, name, BACKEND) #name,
#include "devices.def"
#undef DEVICE
    };
    return names[kind];
}

const char *scratch_state_name(enum scratch_state state)
{
    return state == SCRATCH_FRESH ? "fresh" : "kept";
}

const char *simd_path_name(enum simd_path path)
{
    static const char *const names[SIMD_PATH_COUNT] = {
        [SIMD_AUTO] = "auto",
        [SIMD_PORTABLE] = "portable",
        [SIMD_AVX2] = "avx2",
        [SIMD_AVX512] = "avx512",
    };
    return names[path];
}

const char *engine_name(enum engine_id engine)
{
    static const char *const names[ENGINE_COUNT] = {
#define ENGINE(NAME, name, where) #name,
#include "engines.def"
#undef ENGINE
    };
    return names[engine];
}
