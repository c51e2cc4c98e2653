/* option_parsers: the functions that parse the values of flags.
 *
 * A value is checked here as far as it can be on its own. Checks that depend on other flags are
 * in options.c, after all flags are read. */
#define _GNU_SOURCE /* strcasestr */
#include "option_parsers.h"

#include "../base/decimal.h"
#include "../device/backends.h"
#include "../base/errors.h"
#include "../base/nearest.h"
#include "../base/text.h"
#include "../names.h"
#include "../own/own.h"
#include "../rows/format.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 4096, PROBLEM_BYTES = 512, LABEL_BYTES = 256, MOST_NAMES = 32 };

/* Formats what is wrong with a value: the end of the line that names flag and value. */
__attribute__((format(printf, 1, 2))) static const char *problem(const char *format, ...)
{
    static char text[PROBLEM_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return text;
}

/* Where the value of the current flag is stored. */
static void *place(const struct command_line *line)
{
    return (char *)line->options + line->row->at;
}

/* A flag without a value. */
const char *set_flag(struct command_line *line, const char *value)
{
    (void)value;
    *(bool *)place(line) = true;
    return NULL;
}

const char *parse_text(struct command_line *line, const char *value)
{
    if (!*value)
        return line->row->needs;
    *(const char **)place(line) = value;
    return NULL;
}

/* ---- Lists ---- */

/* Calls `take` with every item of a list. In a list of several items, the message starts with
 * the offending item. */
static const char *parse_list(struct command_line *line, const char *value, parse_value *take)
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
            return problem("\"%s\" %s", shorten(word, copy), text);
        }
        if (wrong || !item[length])
            return wrong;
        item += length + 1;
    }
}

/* ---- Words from a closed set ---- */

/* What other programs and languages call it. */
static const struct {
    enum option_id id;
    const char *typed, *meant;
} other_names[] = {
    {OPTION_OP, "sum", "reduce"},       {OPTION_OP, "prefix-sum", "scan"},
    {OPTION_OP, "select", "compact"},   {OPTION_OP, "filter", "compact"},
    {OPTION_TYPE, "int", "i32"},        {OPTION_TYPE, "int32", "i32"},
    {OPTION_TYPE, "int32_t", "i32"},    {OPTION_TYPE, "unsigned", "u32"},
    {OPTION_TYPE, "uint", "u32"},       {OPTION_TYPE, "uint32", "u32"},
    {OPTION_TYPE, "uint32_t", "u32"},   {OPTION_TYPE, "long", "i64"},
    {OPTION_TYPE, "int64", "i64"},      {OPTION_TYPE, "int64_t", "i64"},
    {OPTION_TYPE, "size_t", "u64"},     {OPTION_TYPE, "uint64", "u64"},
    {OPTION_TYPE, "uint64_t", "u64"},   {OPTION_TYPE, "float", "f32"},
    {OPTION_TYPE, "float32", "f32"},    {OPTION_TYPE, "double", "f64"},
    {OPTION_TYPE, "float64", "f64"},    {OPTION_TYPE, "char", "u8"},
    {OPTION_TYPE, "byte", "u8"},        {OPTION_TYPE, "uint8", "u8"},
    {OPTION_TYPE, "uint8_t", "u8"},     {OPTION_TYPE, "int8", "i8"},
    {OPTION_TYPE, "int8_t", "i8"},      {OPTION_TYPE, "short", "i16"},
    {OPTION_TYPE, "int16", "i16"},      {OPTION_TYPE, "int16_t", "i16"},
    {OPTION_TYPE, "uint16", "u16"},     {OPTION_TYPE, "uint16_t", "u16"},
    {OPTION_TYPE, "half", "f16"},       {OPTION_TYPE, "float16", "f16"},
    {OPTION_TYPE, "bfloat16", "bf16"},  {OPTION_INPUT, "random", "uniform"},
    {OPTION_FORMAT, "text", "table"},   {OPTION_FORMAT, "md", "markdown"},
    {OPTION_FORMAT, "ndjson", "jsonl"},
};

static const char *by_another_name(const struct option_row *row, const char *word)
{
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (row == &option_rows[other_names[i].id] && strcmp(word, other_names[i].typed) == 0)
            return other_names[i].meant;
    return NULL;
}

/* Finds a word among those of the flag. Otherwise the message lists them. */
static const char *find_word(const struct option_row *row, const char *word, int *found)
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
        return problem("is not known; did you mean \"%s\"? (it must be %s)", nearest, all);
    return problem("is not known; it must be %s", all);
}

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

/* Parses one word into an enum. */
const char *parse_word(struct command_line *line, const char *value)
{
    int found;
    const char *wrong = find_word(line->row, value, &found);
    if (!wrong)
        *(unsigned *)place(line) = (unsigned)found;
    return wrong;
}

static const char *take_word(struct command_line *line, const char *word)
{
    int found;
    const char *wrong = find_word(line->row, word, &found);
    if (!wrong)
        ((bool *)place(line))[found] = true;
    return wrong;
}

/* Parses a list of words into an array of bools, one per word. */
const char *parse_words(struct command_line *line, const char *value)
{
    memset(place(line), 0, (size_t)line->row->word_count * sizeof(bool));
    return parse_list(line, value, take_word);
}

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

const char *parse_format(struct command_line *line, const char *value)
{
    int found = 0;
    const char *wrong = find_word(line->row, value, &found);
    if (!wrong)
        line->options->output.format = (enum format)(found + 1);
    return wrong;
}

/* ---- Algorithms and devices ---- */

/* Does the text contain each part of "hillis-steele", in either case? */
static bool contains_parts(const char *text, const char *word)
{
    while (*word != '\0') {
        char part[WORD_BYTES];
        const size_t length = strcspn(word, "-_ ");
        snprintf(part, sizeof part, "%.*s", (int)length, word);
        if (strcasestr(text, part) == NULL)
            return false;
        word += length + (word[length] != '\0');
    }
    return true;
}

/* Is the name one of those in a list: "naive, naive-smem"? */
static bool is_named(const char *name, const char *list)
{
    const size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

/* Lists a few algorithms whose summary or source has the word: those of "blelloch". */
static void list_described(const char *word, char *text, size_t size)
{
    enum { SHORTEST = 4, MOST = 5 };
    int found = 0;
    text[0] = '\0';
    for (size_t i = 0; i < table_row_count() && strlen(word) >= SHORTEST; i++) {
        const struct table_row *row = table_row(i);
        const struct algorithm *algorithm = row_descriptor(row);
        char about[2 * PROBLEM_BYTES];
        if (algorithm == NULL || algorithm->family != FAMILY_OWN || is_named(row->name, text))
            continue;
        snprintf(about, sizeof about, "%s %s", algorithm->summary, algorithm->source);
        if (!contains_parts(about, word) || found++ >= MOST)
            continue;
        append_text(text, size, "%s%s", comma_after(text), row->name);
    }
}

static const char *take_algo(struct command_line *line, const char *word)
{
    struct options *options = line->options;
    if (!is_own_file(word) && !registry_knows(word)) {
        const char *nearest = registry_nearest(word);
        char described[PROBLEM_BYTES / 2];
        if (strpbrk(word, "*?["))
            return "matches no algorithm (--list shows all)";
        list_described(word, described, sizeof described);
        if (described[0] != '\0')
            return problem("is no algorithm's name; see %s (--list shows all)", described);
        if (!is_near(word, nearest))
            return "is not an algorithm (--list shows all)";
        return problem("is not an algorithm; did you mean \"%s\"? (--list shows all)", nearest);
    }
    for (size_t i = 0; i < options->algo_word_count; i++)
        if (strcmp(options->algo_words[i], word) == 0)
            return NULL;

    char *copy = allocate_or_die(NULL, strlen(word) + 1);
    strcpy(copy, word);
    options->algo_words = allocate_or_die(options->algo_words, (options->algo_word_count + 1) *
                                                                   sizeof *options->algo_words);
    options->algo_words[options->algo_word_count++] = copy;
    return NULL;
}

const char *parse_algo(struct command_line *line, const char *value)
{
    struct options *options = line->options;
    while (options->algo_word_count > 0)
        free((char *)options->algo_words[--options->algo_word_count]);
    return parse_list(line, value, take_algo);
}

/* Reads a GPU's number, 0..999. */
static bool read_index(const char *text, int *index)
{
    size_t length = strlen(text);
    if (length < 1 || length > 3 || strspn(text, "0123456789") != length)
        return false;
    *index = atoi(text);
    return true;
}

/* Reads "cpu", "gpu" or "gpu1". */
static bool read_device(const char *word, struct device_choice *choice)
{
    for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++) {
        const char *name = device_kind_name(kind);
        const size_t length = strlen(name);
        choice->kind = kind;
        choice->index = 0;
        if (strncmp(word, name, length) != 0)
            continue;
        if (word[length] == '\0' ||
            (backend_of(kind)->numbered && read_index(word + length, &choice->index)))
            return true;
    }
    return false;
}

static const char *take_device(struct command_line *line, const char *word)
{
    struct device_choice choice = {.kind = DEVICE_GPU}; /* a bare number means a GPU */
    if (!read_index(word, &choice.index) && !read_device(word, &choice)) {
        const char *names[DEVICE_KIND_COUNT];
        for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++)
            names[kind] = device_kind_name(kind);
        const char *nearest = nearest_match(word, names, DEVICE_KIND_COUNT);
        const char *right = "it must be cpu, gpu, a GPU's number such as 0 or gpu1, or emulator";
        return is_near(word, nearest)
                   ? problem("is not a device; did you mean \"%s\"? (%s)", nearest, right)
                   : problem("is not a device; %s", right);
    }

    struct options *options = line->options;
    for (size_t i = 0; i < options->device_count; i++)
        if (options->devices[i].kind == choice.kind && options->devices[i].index == choice.index)
            return NULL;
    if (options->device_count == MAX_DEVICES)
        return problem("is one too many; a list holds at most %d devices", MAX_DEVICES);
    options->devices[options->device_count++] = choice;
    return NULL;
}

const char *parse_device(struct command_line *line, const char *value)
{
    line->options->device_count = 0;
    return parse_list(line, value, take_device);
}

/* ---- Sizes, threads, numbers of devices ---- */

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

const char *parse_counts(struct command_line *line, const char *value)
{
    int found;
    const bool given = value[0] != '\0';
    const char *wrong = given ? find_word(line->row, value, &found) : NULL;
    if (!wrong)
        line->options->counts = given ? COUNTS_BY_LINE : COUNTS_BY_RUN;
    return wrong;
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
            return problem("%s; did you mean %u?", right, nearest_block(list->n[i]));
        return problem("holds %llu, which %s", (unsigned long long)list->n[i], right);
    }
    return list->count ? NULL : right;
}

/* Adds numbers to one of the arrays of struct options, without duplicates. Returns false if the
 * array is full. */
static bool add_numbers(const struct size_list *list, unsigned *array, size_t *count, size_t most)
{
    for (size_t i = 0; i < list->count; i++) {
        size_t at = 0;
        while (at < *count && array[at] != list->n[i])
            at++;
        if (at == most)
            return false;
        array[at] = (unsigned)list->n[i];
        *count = at == *count ? at + 1 : *count;
    }
    return true;
}

static const struct size_list only_zero = {.n = (uint64_t[]){0}, .count = 1};

static const char *take_block(struct command_line *line, const char *word)
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

const char *parse_block(struct command_line *line, const char *value)
{
    line->options->block_count = 0;
    return parse_list(line, value, take_block);
}

enum { MOST_THREADS = 4096 };

/* Takes numbers from 1 to `most` of something, or the word for as many as there are. */
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
        return problem("is not a number of %s from 1 to %u, nor %s", what, most, as_many);
    return fits ? NULL : problem("gives too many values; a list holds at most %zu", most_items);
}

static const char *take_threads(struct command_line *line, const char *word)
{
    struct options *options = line->options;
    return take_counts(word, "auto", "threads", MOST_THREADS, options->threads,
                       &options->thread_count, MAX_THREADS);
}

const char *parse_threads(struct command_line *line, const char *value)
{
    line->options->thread_count = 0;
    return parse_list(line, value, take_threads);
}

static const char *take_gpus(struct command_line *line, const char *word)
{
    struct options *options = line->options;
    return take_counts(word, "all", "GPUs", MOST_MEMBERS, options->gpus, &options->gpus_count,
                       MAX_GPU_COUNTS);
}

const char *parse_gpus(struct command_line *line, const char *value)
{
    line->options->gpus_count = 0;
    return parse_list(line, value, take_gpus);
}

/* ---- Numbers ---- */

const char *parse_number(struct command_line *line, const char *value)
{
    uint64_t number;
    if (parse_count(value, &number) || number < line->row->least || number > line->row->most)
        return problem("is not a whole number from %u to %u", line->row->least, line->row->most);
    *(unsigned *)place(line) = (unsigned)number;
    return NULL;
}

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
        return problem("is not a form of segments; %s", right);
    const char *text = word + form_length + 1;
    snprintf(length, sizeof length, "%.*s", (int)strcspn(text, ":"), text);
    const char *rest = text + strlen(length);
    if (strcmp(rest, ":skewed") == 0 && segments->form != SEGMENTS_ROWS)
        segments->lengths = LENGTHS_SKEWED;
    else if (*rest != '\0')
        return problem("has \"%s\" after its length; %s", rest, right);
    if (parse_count(length, &segments->length) != NULL || segments->length < 1 ||
        segments->length > LARGEST_SIZE)
        return problem("has no length from 1 to 2^40; %s", right);
    return NULL;
}

static bool same_segments(const struct segmentation *a, const struct segmentation *b)
{
    return a->form == b->form && a->lengths == b->lengths && a->length == b->length;
}

static const char *take_segments(struct command_line *line, const char *word)
{
    struct options *options = line->options;
    struct segmentation segments;
    const char *wrong = read_segments(word, &segments);
    if (wrong)
        return wrong;
    for (size_t i = 0; i < options->segments_count; i++)
        if (same_segments(&options->segments[i].value, &segments))
            return NULL;
    if (options->segments_count == MAX_SEGMENTS)
        return problem("is one too many; a list holds at most %d forms of segments", MAX_SEGMENTS);
    struct segments_choice *choice = &options->segments[options->segments_count++];
    choice->value = segments;
    snprintf(choice->text, sizeof choice->text, "%s", word);
    return NULL;
}

const char *parse_segments(struct command_line *line, const char *value)
{
    line->options->segments_count = 0;
    return parse_list(line, value, take_segments);
}

static const char *take_max(struct command_line *line, const char *word)
{
    struct options *options = line->options;
    uint64_t value;
    const char *wrong = parse_count(word, &value);
    if (wrong)
        return wrong;
    if (value == 0)
        return "is below 1; for an array of zeros use --input=zeros";
    for (size_t i = 0; i < options->max_count; i++)
        if (options->maxima[i].value == value)
            return NULL;
    if (options->max_count == MAX_MAXIMA)
        return problem("is one too many; a list holds at most %d values", MAX_MAXIMA);
    struct max_choice *choice = &options->maxima[options->max_count++];
    choice->value = value;
    snprintf(choice->text, sizeof choice->text, "%s", word);
    return NULL;
}

const char *parse_max(struct command_line *line, const char *value)
{
    line->options->max_count = 0;
    return parse_list(line, value, take_max);
}

static const char *take_keep(struct command_line *line, const char *word)
{
    struct options *options = line->options;
    const char *end;
    double value;
    if (!read_decimal(word, &value, &end) || *end || !(value <= 1))
        return "is not a fraction from 0 to 1, such as 0.75";
    for (size_t i = 0; i < options->keep_count; i++)
        if (options->keeps[i].value == value)
            return NULL;
    if (options->keep_count == MAX_KEEPS)
        return problem("is one too many; a list holds at most %d fractions", MAX_KEEPS);
    struct keep_choice *choice = &options->keeps[options->keep_count++];
    choice->value = value;
    snprintf(choice->text, sizeof choice->text, "%s", word);
    return NULL;
}

const char *parse_keep(struct command_line *line, const char *value)
{
    line->options->keep_count = 0;
    return parse_list(line, value, take_keep);
}

const char *parse_seed(struct command_line *line, const char *value)
{
    if (parse_count(value, &line->options->seed))
        return "is not a whole number from 0 to 2^64-1";
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
        return problem("is not a time %s a day, in seconds such as 0.5 or 2s, or 500ms",
                       above_zero ? "above 0 and up to" : "from 0 to");
    *(double *)place(line) = number;
    return NULL;
}

static bool read_percentage(const char *value, double most, double *percent)
{
    const char *unit;
    return read_decimal(value, percent, &unit) && (!*unit || strcmp(unit, "%") == 0) &&
           *percent <= most;
}

const char *parse_max_noise(struct command_line *line, const char *value)
{
    double percent;
    if (!read_percentage(value, 100, &percent))
        return "is not a percentage from 0 to 100, such as 0.5";
    line->options->sampling.max_noise_pct = percent;
    return NULL;
}

const char *parse_fail_slower(struct command_line *line, const char *value)
{
    double percent;
    if (!read_percentage(value, 1e6, &percent))
        return "is not a percentage from 0 up, such as 5";
    line->options->output.fail_slower_pct = percent;
    return NULL;
}

/* ---- Results ---- */

const char *parse_output(struct command_line *line, const char *value)
{
    if (!*value)
        return "needs the name of a file, or - for standard output";
    line->options->output.path = strcmp(value, "-") == 0 ? NULL : value;
    return NULL;
}

/* Each --label adds one K=V. */
const char *parse_label(struct command_line *line, const char *value)
{
    struct options *options = line->options;
    const size_t key = strcspn(value, "=");
    if (key == 0 || value[key] == '\0')
        return "is not a name and a value, such as --label=branch=main";
    for (const char *c = value; *c; c++)
        if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e)
            return "contains a character that is not printable ASCII";
    const size_t used = options->label ? strlen(options->label) : 0;
    if (used + strlen(value) >= LABEL_BYTES)
        return problem("makes the labels too long; together they may have at most %d characters",
                       LABEL_BYTES - 1);
    options->label = allocate_or_die(options->label, LABEL_BYTES);
    snprintf(options->label + used, LABEL_BYTES - used, "%s%s", used ? "," : "", value);
    return NULL;
}
