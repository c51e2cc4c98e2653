/* option_parsers: parses values of the usual kinds, and lists of them. */
#include "option_parsers.h"

#include "../base/decimal.h"
#include "../base/errors.h"
#include "../base/nearest.h"
#include "parsing.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NAMES = 32 };

const char *wrong_value(const char *format, ...)
{
    static char text[PROBLEM_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return text;
}

/* Where the value of the current flag is stored. */
static void *value_of_flag(const struct command_line *line)
{
    return (char *)line->options + line->row->at;
}

/* A flag without a value. */
const char *set_flag(struct command_line *line, const char *value)
{
    (void)value;
    *(bool *)value_of_flag(line) = true;
    return NULL;
}

const char *parse_text(struct command_line *line, const char *value)
{
    if (!*value)
        return line->row->needs;
    *(const char **)value_of_flag(line) = value;
    return NULL;
}

const char *parse_quoted(struct command_line *line, const char *value)
{
    char open = '\0';
    for (const char *at = value; *at != '\0'; at++)
        if (*at == open)
            open = '\0';
        else if (!open && (*at == '\'' || *at == '"'))
            open = *at;
    return open ? "has a quote that is not closed" : parse_text(line, value);
}

const char *parse_list(struct command_line *line, const char *value, parse_value *take)
{
    if (!*value)
        return "needs a value";
    const char *item = value;
    for (;;) {
        size_t length = strcspn(item, ",");
        char word[WORD_BYTES];
        if (length == 0)
            return "has an empty item; write values with one comma between them";
        /* No valid item is this long, so the truncated word fails as the full one would. */
        size_t kept = length < sizeof word ? length : sizeof word - 1;
        memcpy(word, item, kept);
        word[kept] = '\0';

        const char *wrong = take(line, word);
        if (wrong && length != strlen(value)) {
            char text[PROBLEM_BYTES], copy[SHORT_TEXT_BYTES];
            strcpy(text, wrong);
            return wrong_value("\"%s\" %s", shorten(word, copy), text);
        }
        if (wrong || !item[length])
            return wrong;
        item += length + 1;
    }
}

/* Parses a list of items of a kind of its own. */
const char *parse_items(struct command_line *line, const char *value)
{
    *(size_t *)(void *)((char *)line->options + line->row->count_at) = 0;
    return parse_list(line, value, line->row->take);
}

bool add_item(void *list, size_t *count, size_t most, const void *item, size_t item_bytes,
              size_t compared)
{
    char *at = list;
    for (size_t i = 0; i < *count; i++, at += item_bytes)
        if (memcmp(at, item, compared) == 0)
            return true;
    if (*count == most)
        return false;
    memcpy(at, item, item_bytes);
    ++*count;
    return true;
}

const char *add_choice(void *list, size_t *count, size_t most, const char *what, const void *choice,
                       size_t choice_bytes, size_t compared)
{
    return add_item(list, count, most, choice, choice_bytes, compared)
               ? NULL
               : wrong_value("is one too many; a list holds at most %zu %s", most, what);
}

const char *find_word(const struct option_row *row, const char *word, int *found)
{
    const int count = row->word_count;
    const char *names[MOST_NAMES];
    char all[PROBLEM_BYTES / 2];
    size_t used = 0;
    if (count > MOST_NAMES)
        BUG("%d words; a flag may have %d", count, MOST_NAMES);
    for (int i = 0; i < count; i++) {
        names[i] = row->word(i);
        if (strcmp(word, names[i]) == 0) {
            *found = i;
            return NULL;
        }
        const char *between = i == 0 ? "" : i < count - 1 ? ", " : " or ";
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", between, names[i]);
        if (used >= sizeof all)
            BUG("the words up to \"%s\" are too long for a message", names[i]);
    }
    const char *meant = by_another_name(row, word);
    const char *nearest = meant != NULL ? meant : nearest_match(word, names, (size_t)count);
    if (meant != NULL || is_near(word, nearest))
        return wrong_value("is not known; did you mean \"%s\"? (it must be %s)", nearest, all);
    return wrong_value("is not known; it must be %s", all);
}

/* Parses one word into an enum. */
const char *parse_word(struct command_line *line, const char *value)
{
    int found = 0;
    const char *wrong = find_word(line->row, value, &found);
    if (!wrong)
        *(unsigned *)value_of_flag(line) = (unsigned)found;
    return wrong;
}

static const char *take_word(struct command_line *line, const char *word)
{
    int found = 0;
    const char *wrong = find_word(line->row, word, &found);
    if (!wrong)
        ((bool *)value_of_flag(line))[found] = true;
    return wrong;
}

/* Parses a list of words into an array of bools, one per word. */
const char *parse_words(struct command_line *line, const char *value)
{
    memset(value_of_flag(line), 0, (size_t)line->row->word_count * sizeof(bool));
    return parse_list(line, value, take_word);
}

const char *parse_number(struct command_line *line, const char *value)
{
    uint64_t number;
    if (parse_count(value, &number) || number < line->row->least || number > line->row->most)
        return wrong_value("is not a whole number from %u to %u", line->row->least,
                           line->row->most);
    *(unsigned *)value_of_flag(line) = (unsigned)number;
    return NULL;
}

/* Parses a time in seconds, or in milliseconds with the suffix ms; at most a day. With `least`
 * it must be above 0. */
const char *parse_time(struct command_line *line, const char *value)
{
    const bool above_zero = line->row->least > 0;
    const double day_ms = 24 * 3600 * 1e3;
    const char *unit;
    double number;
    bool good = read_decimal(value, &number, &unit);
    if (good && (*unit == '\0' || strcmp(unit, "s") == 0))
        number *= 1e3;
    else if (good)
        good = strcmp(unit, "ms") == 0;
    if (!good || !(number <= day_ms) || (above_zero && number == 0))
        return wrong_value("is not a time %s a day, in seconds such as 0.5 or 2s, or 500ms",
                           above_zero ? "above 0 and up to" : "from 0 to");
    *(double *)value_of_flag(line) = number;
    return NULL;
}

const char *parse_percentage(struct command_line *line, const char *value)
{
    const unsigned most = line->row->most;
    const char *unit;
    double percent;
    if (!read_decimal(value, &percent, &unit) || (*unit != '\0' && strcmp(unit, "%") != 0) ||
        percent > most)
        return most == 100 ? "is not a percentage from 0 to 100, such as 0.5"
                           : "is not a percentage from 0 up, such as 5";
    *(double *)value_of_flag(line) = percent;
    return NULL;
}
