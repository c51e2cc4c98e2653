/* names: one array for each enum that users see. */
#include "names.h"

const char *operation_name(enum operation op)
{
    static const char *const names[OPERATION_COUNT] = {
        [OP_SCAN] = "scan",
        [OP_COMPACT] = "compact",
        [OP_SORT] = "sort",
    };
    return names[op];
}

const char *type_name(enum element_type type)
{
    static const char *const names[TYPE_COUNT] = {
        [TYPE_I32] = "i32", [TYPE_U32] = "u32", [TYPE_I64] = "i64",
        [TYPE_U64] = "u64", [TYPE_F32] = "f32", [TYPE_F64] = "f64",
    };
    return names[type];
}

const char *kind_name(enum scan_kind kind)
{
    return kind == KIND_INCLUSIVE ? "inclusive" : "exclusive";
}

const char *device_kind_name(enum device_kind kind)
{
    static const char *const names[DEVICE_KIND_COUNT] = {
        [DEVICE_CPU] = "cpu",
        [DEVICE_GPU] = "gpu",
        [DEVICE_EMULATOR] = "emulator",
    };
    return names[kind];
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
