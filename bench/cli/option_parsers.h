/* option_parsers.h: the functions that parse the values of flags, for the table. */
#pragma once

#include "option_table.h"

/* These store the value where the flag's row says (`at`): a bool, a text, one word of a set, a list
 * of them, a number, a time, a percentage. */
parse_value set_flag, parse_text, parse_quoted, parse_word, parse_words, parse_number, parse_time,
    parse_percentage;

/* A list of items, which the function of the row takes one by one: here is one for each such list.
 */
parse_value parse_items;
parse_value take_device, take_block, take_threads, take_gpus, take_segments, take_max, take_keep;

/* These have a place of their own. */
parse_value parse_algo, parse_n, parse_npot, parse_cache, parse_counts, parse_seed, parse_format,
    parse_output, parse_label;

/* The words of closed sets. */
name_of operation_word, type_word, operator_word, kind_word, values_word, simd_word, input_word,
    cache_word, scratch_word, counts_word, format_word, generated_word, progress_word, device_word,
    engine_word;
