/* option_parsers.h: the functions that parse the values of flags, for the table. */
#pragma once

#include "option_table.h"

/* These store the value where the flag's row says (`at`): a bool, a text, one word of a set, a list
 * of them, a number, a time, a percentage. */
parse_value set_flag, parse_text, parse_word, parse_words, parse_number, parse_time,
    parse_percentage;

/* These have a place of their own. */
parse_value parse_algo, parse_device, parse_n, parse_npot, parse_block, parse_threads, parse_gpus,
    parse_cache, parse_counts, parse_segments, parse_max, parse_keep, parse_seed, parse_format,
    parse_output, parse_label;

/* The words of closed sets. */
name_of operation_word, type_word, operator_word, kind_word, values_word, simd_word, input_word,
    cache_word, scratch_word, counts_word, format_word, generated_word, progress_word, device_word,
    engine_word;
