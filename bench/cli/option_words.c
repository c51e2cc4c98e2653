/* option_words: the words of closed sets, and what else they are called. */
#include "option_parsers.h"

#include "../device/backends.h"
#include "../names.h"
#include "../rows/format.h"
#include "parsing.h"

#include <string.h>

/* Functions of one type for all closed sets. */
#define WORD(name, name_of, set)    \
    const char *name(int value)     \
    {                               \
        return name_of((set)value); \
    }
WORD(operation_word, operation_name, enum operation)
WORD(type_word, type_name, enum element_type)
WORD(operator_word, operator_name, enum binary_operator)
WORD(kind_word, kind_name, enum scan_kind)
WORD(values_word, value_type_name, enum value_type)
WORD(simd_word, simd_path_name, enum simd_path)
WORD(input_word, input_shape_name, enum input_shape)
WORD(scratch_word, scratch_state_name, enum scratch_state)
WORD(device_word, device_kind_name, enum device_kind)
WORD(engine_word, engine_name, enum engine_id)
#undef WORD

const char *cache_word(int value)
{
    return value < CACHE_STATE_COUNT ? cache_state_name((enum cache_state)value) : "both";
}

const char *format_word(int value)
{
    return row_formats[value + 1].name; /* all but auto */
}

const char *generated_word(int value)
{
    static const char *const names[GENERATED_COUNT] = {"man", "bash", "zsh", "fish"};
    return names[value];
}

const char *progress_word(int value)
{
    static const char *const names[PROGRESS_WHEN_COUNT] = {"auto", "always", "never"};
    return names[value];
}

const char *counts_word(int value)
{
    (void)value; /* there is but one */
    return "lines";
}

/* ---- What other programs and languages call them ---- */

static const struct {
    enum option_id id;
    const char *typed, *meant;
} other_names[] = {
    {OPTION_OP, "sum", "reduce"},         {OPTION_OP, "prefix-sum", "scan"},
    {OPTION_OP, "select", "compact"},     {OPTION_OP, "filter", "compact"},
    {OPTION_TYPE, "int", "i32"},          {OPTION_TYPE, "int32", "i32"},
    {OPTION_TYPE, "int32_t", "i32"},      {OPTION_TYPE, "unsigned", "u32"},
    {OPTION_TYPE, "uint", "u32"},         {OPTION_TYPE, "uint32", "u32"},
    {OPTION_TYPE, "uint32_t", "u32"},     {OPTION_TYPE, "long", "i64"},
    {OPTION_TYPE, "int64", "i64"},        {OPTION_TYPE, "int64_t", "i64"},
    {OPTION_TYPE, "size_t", "u64"},       {OPTION_TYPE, "uint64", "u64"},
    {OPTION_TYPE, "uint64_t", "u64"},     {OPTION_TYPE, "float", "f32"},
    {OPTION_TYPE, "float32", "f32"},      {OPTION_TYPE, "double", "f64"},
    {OPTION_TYPE, "float64", "f64"},      {OPTION_TYPE, "char", "u8"},
    {OPTION_TYPE, "byte", "u8"},          {OPTION_TYPE, "uint8", "u8"},
    {OPTION_TYPE, "uint8_t", "u8"},       {OPTION_TYPE, "int8", "i8"},
    {OPTION_TYPE, "int8_t", "i8"},        {OPTION_TYPE, "short", "i16"},
    {OPTION_TYPE, "int16", "i16"},        {OPTION_TYPE, "int16_t", "i16"},
    {OPTION_TYPE, "uint16", "u16"},       {OPTION_TYPE, "uint16_t", "u16"},
    {OPTION_TYPE, "half", "f16"},         {OPTION_TYPE, "float16", "f16"},
    {OPTION_TYPE, "bfloat16", "bf16"},    {OPTION_INPUT, "random", "uniform"},
    {OPTION_INPUT, "gaussian", "normal"}, {OPTION_FORMAT, "text", "table"},
    {OPTION_FORMAT, "md", "markdown"},    {OPTION_FORMAT, "ndjson", "jsonl"},
};

const char *by_another_name(const struct option_row *row, const char *word)
{
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (row == &option_rows[other_names[i].id] && strcmp(word, other_names[i].typed) == 0)
            return other_names[i].meant;
    return NULL;
}
