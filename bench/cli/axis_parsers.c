/* axis_parsers: parses the values of axes that are no words: sizes, numbers of threads, inputs. */
#include "option_parsers.h"

#include "../base/decimal.h"
#include "../base/errors.h"
#include "../names.h"
#include "parsing.h"

#include <stdlib.h>
#include <string.h>

/* ---- Sizes, blocks, threads, numbers of devices ---- */

const char *parse_n(struct command_line *line, const char *value)
{
    struct options *options = line->options;
    options->sizes.count = options->simulated_sizes.count = 0;
    const char *wrong = parse_sizes(value, &options->sizes);
    return wrong != NULL ? wrong : parse_sizes(value, &options->simulated_sizes);
}

const char *parse_npot(struct command_line *line, const char *value)
{
    enum npot_rule rule;
    if (strcmp(value, "") == 0 || strcmp(value, "5/8") == 0)
        rule = NPOT_FIVE_EIGHTHS;
    else if (strcmp(value, "-3") == 0)
        rule = NPOT_MINUS_THREE;
    else
        return "is not a rule; it must be 5/8 (the default) or -3";
    if (line->given[OPTION_NPOT] && rule != line->npot_rule)
        return "contradicts an earlier --npot with another rule";
    line->npot_rule = rule;
    return NULL;
}

static bool is_block(uint64_t threads)
{
    return is_power_of_two(threads) && threads >= 32 && threads <= 1024;
}

static unsigned nearest_block(uint64_t threads)
{
    unsigned block = 32;
    while (block < 1024 && threads >= block + block / 2)
        block *= 2;
    return block;
}

static const char *not_a_block(const struct size_list *list)
{
    static const char right[] = "is not a power of two from 32 to 1024, nor auto";
    for (size_t i = 0; i < list->count; i++) {
        if (is_block(list->n[i]))
            continue;
        if (list->count == 1)
            return wrong_value("%s; did you mean %u?", right, nearest_block(list->n[i]));
        return wrong_value("holds %llu, which %s", (unsigned long long)list->n[i], right);
    }
    return list->count ? NULL : right;
}

/* Adds numbers to one of the arrays of struct options. Returns false if the array is full. */
static bool add_numbers(const struct size_list *list, unsigned *array, size_t *count, size_t most)
{
    bool fits = true;
    for (size_t i = 0; i < list->count && fits; i++) {
        const unsigned number = (unsigned)list->n[i];
        fits = add_item(array, count, most, &number, sizeof number, sizeof number);
    }
    return fits;
}

static const struct size_list only_zero = {.n = (uint64_t[]){0}, .count = 1};

const char *take_block(struct command_line *line, const char *word)
{
    struct options *options = line->options;
    struct size_list list = {0};
    const char *wrong = NULL;
    if (strcmp(word, "auto") != 0) {
        parse_sizes(word, &list);
        wrong = not_a_block(&list);
    }
    if (!wrong && !add_numbers(list.count ? &list : &only_zero, options->blocks,
                               &options->block_count, MAX_BLOCKS))
        BUG("MAX_BLOCKS does not hold every block size");
    free(list.n);
    return wrong;
}

enum { MOST_THREADS = 4096 };

/* Takes numbers of something from 1 to `most`, or the word that stands for all there are. */
static const char *take_counts(const char *word, const char *as_many, const char *what,
                               unsigned most, unsigned *array, size_t *count, size_t most_items)
{
    struct size_list list = {0};
    bool wrong = strcmp(word, as_many) != 0 && parse_sizes(word, &list) != NULL;
    for (size_t i = 0; i < list.count; i++)
        wrong |= list.n[i] < 1 || list.n[i] > most;
    const bool fits =
        wrong || add_numbers(list.count ? &list : &only_zero, array, count, most_items);
    free(list.n);
    if (wrong)
        return wrong_value("is not a number of %s from 1 to %u, nor %s", what, most, as_many);
    return fits ? NULL : wrong_value("gives too many values; a list holds at most %zu", most_items);
}

const char *take_threads(struct command_line *line, const char *word)
{
    struct options *options = line->options;
    return take_counts(word, "auto", "threads", MOST_THREADS, options->threads,
                       &options->thread_count, MAX_THREADS);
}

const char *take_gpus(struct command_line *line, const char *word)
{
    struct options *options = line->options;
    return take_counts(word, "all", "GPUs", MOST_MEMBERS, options->gpus, &options->gpus_count,
                       MAX_GPU_COUNTS);
}

/* ---- Inputs ---- */

/* Reads "rows:1000" or "keys:2^10:skewed". Returns NULL, or what is wrong. */
static const char *read_segments(const char *word, struct segmentation *segments)
{
    static const char right[] = "it must be none, rows:L, offsets:L or keys:L, where L is a mean "
                                "length such as 1000 or 2^10, or offsets:L:skewed or "
                                "keys:L:skewed";
    char length[WORD_BYTES];
    *segments = (struct segmentation){.form = SEGMENTS_NONE};
    if (strcmp(word, segment_form_name(SEGMENTS_NONE)) == 0)
        return NULL;
    const size_t form_length = strcspn(word, ":");
    for (int form = SEGMENTS_NONE + 1; form < SEGMENT_FORM_COUNT; form++)
        if (strlen(segment_form_name(form)) == form_length &&
            strncmp(word, segment_form_name(form), form_length) == 0)
            segments->form = form;
    if (segments->form == SEGMENTS_NONE || word[form_length] == '\0')
        return wrong_value("is not a form of segments; %s", right);
    const char *text = word + form_length + 1;
    snprintf(length, sizeof length, "%.*s", (int)strcspn(text, ":"), text);
    const char *rest = text + strlen(length);
    if (strcmp(rest, ":skewed") == 0 && segments->form != SEGMENTS_ROWS)
        segments->lengths = LENGTHS_SKEWED;
    else if (*rest != '\0')
        return wrong_value("has \"%s\" after its length; %s", rest, right);
    if (parse_count(length, &segments->length) != NULL || segments->length < 1 ||
        segments->length > LARGEST_SIZE)
        return wrong_value("has no length from 1 to 2^40; %s", right);
    return NULL;
}

const char *take_segments(struct command_line *line, const char *word)
{
    struct options *options = line->options;
    struct segments_choice choice = {0};
    const char *wrong = read_segments(word, &choice.value);
    snprintf(choice.text, sizeof choice.text, "%s", word);
    return wrong ? wrong
                 : add_choice(options->segments, &options->segments_count, MAX_SEGMENTS,
                              "forms of segments", &choice, sizeof choice, sizeof choice.value);
}

const char *take_max(struct command_line *line, const char *word)
{
    struct options *options = line->options;
    struct max_choice choice = {0};
    const char *wrong = parse_count(word, &choice.value);
    snprintf(choice.text, sizeof choice.text, "%s", word);
    if (!wrong && choice.value == 0)
        wrong = "is below 1; for an array of zeros use --input=zeros";
    return wrong ? wrong
                 : add_choice(options->maxima, &options->max_count, MAX_MAXIMA, "values", &choice,
                              sizeof choice, sizeof choice.value);
}

const char *take_keep(struct command_line *line, const char *word)
{
    struct options *options = line->options;
    struct keep_choice choice = {0};
    const char *end;
    if (!read_decimal(word, &choice.value, &end) || *end || !(choice.value <= 1))
        return "is not a fraction from 0 to 1, such as 0.75";
    snprintf(choice.text, sizeof choice.text, "%s", word);
    return add_choice(options->keeps, &options->keep_count, MAX_KEEPS, "fractions", &choice,
                      sizeof choice, sizeof choice.value);
}

const char *parse_seed(struct command_line *line, const char *value)
{
    if (parse_count(value, &line->options->seed))
        return "is not a whole number from 0 to 2^64-1";
    return NULL;
}

/* ---- The state of the caches ---- */

static const char *take_cache(struct command_line *line, const char *word)
{
    int found;
    const char *wrong = find_word(line->row, word, &found);
    if (wrong)
        return wrong;
    for (int state = 0; state < CACHE_STATE_COUNT; state++)
        if (found == state || (found == CACHE_STATE_COUNT && state != CACHE_DIRTY))
            line->options->cache[state] = true;
    return NULL;
}

const char *parse_cache(struct command_line *line, const char *value)
{
    memset(line->options->cache, 0, sizeof line->options->cache);
    return parse_list(line, value, take_cache);
}
