/* parsing.h: what the parsers of values share.
 *
 * A value is checked here as far as it can be on its own. Checks that depend on other flags are
 * in option_rules.c, after all flags are read. */
#pragma once

#include "option_table.h"

enum { WORD_BYTES = 4096, PROBLEM_BYTES = 512 };

/* Formats what is wrong with a value: the end of the line that names flag and value. */
const char *wrong_value(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Calls `take` with every item of a list. In a list of several items, the message starts with
 * the offending item. */
const char *parse_list(struct command_line *line, const char *value, parse_value *take);

/* Finds a word among those of the flag. Otherwise the message lists them. */
const char *find_word(const struct option_row *row, const char *word, int *found);

/* Adds an item, unless the list has one that begins with the same `compared` bytes. Returns false
 * if the list is full. */
bool add_item(void *list, size_t *count, size_t most, const void *item, size_t item_bytes,
              size_t compared);

/* As add_item(), but returns a message if the list is full: it holds at most `most` of `what`. */
const char *add_choice(void *list, size_t *count, size_t most, const char *what, const void *choice,
                       size_t choice_bytes, size_t compared);

/* What a word is called here that other programs and languages use; NULL: none. */
const char *by_another_name(const struct option_row *row, const char *word);
