/* option_table: the table of flags, preceded by the functions that parse their values.
 *
 * A value is checked here as far as it can be on its own. Checks that depend on other flags are
 * in options.c, after all flags are read. */
#include "option_table.h"

#include "../decimal.h"
#include "../device/backends.h"
#include "../errors.h"
#include "../nearest.h"

#include <ctype.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 128, PROBLEM_BYTES = 512, LABEL_BYTES = 256, MOST_NAMES = 32 };

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
static const char *set_flag(struct command_line *line, const char *value)
{
    (void)value;
    *(bool *)place(line) = true;
    return NULL;
}

static const char *parse_text(struct command_line *line, const char *value)
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

/* Finds a word among the names of 0..count-1. Otherwise the message lists the names. */
static const char *find_word(const char *word, name_of *name, int count, int *found)
{
    const char *names[MOST_NAMES];
    char all[PROBLEM_BYTES / 2];
    size_t used = 0;
    if (count > MOST_NAMES)
        BUG("%d words; a flag may have %d", count, MOST_NAMES);
    for (int i = 0; i < count; i++) {
        names[i] = name(i);
        if (strcmp(word, names[i]) == 0) {
            *found = i;
            return NULL;
        }
        const char *between = i == 0 ? "" : i < count - 1 ? ", " : " or ";
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", between, names[i]);
        if (used >= sizeof all)
            BUG("the words up to \"%s\" are too long for a message", names[i]);
    }
    const char *nearest = nearest_match(word, names, (size_t)count);
    if (is_near(word, nearest))
        return problem("is not known; did you mean \"%s\"? (it must be %s)", nearest, all);
    return problem("is not known; it must be %s", all);
}

static const char *operation_word(int value)
{
    return operation_name((enum operation)value);
}

static const char *type_word(int value)
{
    return type_name((enum element_type)value);
}

static const char *kind_word(int value)
{
    return kind_name((enum scan_kind)value);
}

static const char *values_word(int value)
{
    return value_type_name((enum value_type)value);
}

static const char *simd_word(int value)
{
    return simd_path_name((enum simd_path)value);
}

static const char *input_word(int value)
{
    return input_shape_name((enum input_shape)value);
}

static const char *cache_word(int value)
{
    return value < CACHE_STATE_COUNT ? cache_state_name((enum cache_state)value) : "both";
}

static const char *scratch_word(int value)
{
    return scratch_state_name((enum scratch_state)value);
}

static const char *format_word(int value)
{
    static const char *const names[FORMAT_COUNT - 1] = {"csv", "table", "json", "jsonl",
                                                        "markdown"};
    return names[value];
}

static const char *generated_word(int value)
{
    static const char *const names[GENERATED_COUNT] = {"man", "bash", "zsh", "fish"};
    return names[value];
}

static const char *progress_word(int value)
{
    static const char *const names[PROGRESS_WHEN_COUNT] = {"auto", "always", "never"};
    return names[value];
}

static const char *device_word(int value)
{
    return device_kind_name((enum device_kind)value);
}

/* Parses one word into an enum. */
static const char *parse_word(struct command_line *line, const char *value)
{
    int found;
    const char *wrong = find_word(value, line->row->word, line->row->word_count, &found);
    if (!wrong)
        *(unsigned *)place(line) = (unsigned)found;
    return wrong;
}

static const char *take_word(struct command_line *line, const char *word)
{
    int found;
    const char *wrong = find_word(word, line->row->word, line->row->word_count, &found);
    if (!wrong)
        ((bool *)place(line))[found] = true;
    return wrong;
}

/* Parses a list of words into an array of bools, one per word. */
static const char *parse_words(struct command_line *line, const char *value)
{
    memset(place(line), 0, (size_t)line->row->word_count * sizeof(bool));
    return parse_list(line, value, take_word);
}

static const char *take_cache(struct command_line *line, const char *word)
{
    int found;
    const char *wrong = find_word(word, line->row->word, line->row->word_count, &found);
    if (wrong)
        return wrong;
    for (int state = 0; state < CACHE_STATE_COUNT; state++)
        if (found == state || (found == CACHE_STATE_COUNT && state != CACHE_DIRTY))
            line->options->cache[state] = true;
    return NULL;
}

static const char *parse_cache(struct command_line *line, const char *value)
{
    memset(line->options->cache, 0, sizeof line->options->cache);
    return parse_list(line, value, take_cache);
}

static const char *parse_format(struct command_line *line, const char *value)
{
    static const enum format formats[] = {FORMAT_CSV, FORMAT_TABLE, FORMAT_JSON, FORMAT_JSONL,
                                          FORMAT_MARKDOWN};
    int found = 0;
    const char *wrong = find_word(value, line->row->word, line->row->word_count, &found);
    if (!wrong)
        line->options->output.format = formats[found];
    return wrong;
}

/* ---- Algorithms and devices ---- */

static const char *take_algo(struct command_line *line, const char *word)
{
    struct options *options = line->options;
    if (!registry_knows(word)) {
        const char *nearest = registry_nearest(word);
        if (strpbrk(word, "*?["))
            return "matches no algorithm (--list shows all)";
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

static const char *parse_algo(struct command_line *line, const char *value)
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

static const char *parse_device(struct command_line *line, const char *value)
{
    line->options->device_count = 0;
    return parse_list(line, value, take_device);
}

/* ---- Sizes, threads, numbers of devices ---- */

static const char *parse_n(struct command_line *line, const char *value)
{
    line->options->sizes.count = 0;
    return parse_sizes(value, &line->options->sizes);
}

static const char *parse_npot(struct command_line *line, const char *value)
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

static const char *not_a_block(const struct size_list *list)
{
    static const char right[] = "is not a power of two from 32 to 1024, nor auto";
    for (size_t i = 0; i < list->count; i++) {
        unsigned nearest = 32;
        if (is_block(list->n[i]))
            continue;
        while (nearest < 1024 && nearest < list->n[i])
            nearest *= 2;
        if (list->count == 1)
            return problem("%s; did you mean %u?", right, nearest);
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

static const char *parse_block(struct command_line *line, const char *value)
{
    line->options->block_count = 0;
    return parse_list(line, value, take_block);
}

enum { MOST_THREADS = 4096 };

static const char *take_threads(struct command_line *line, const char *word)
{
    struct options *options = line->options;
    struct size_list list = {0};
    const char *wrong = NULL;
    if (strcmp(word, "auto") != 0) {
        wrong = parse_sizes(word, &list);
        for (size_t i = 0; i < list.count && !wrong; i++)
            if (list.n[i] < 1 || list.n[i] > MOST_THREADS)
                wrong = "out of range";
        if (wrong)
            wrong = problem("is not a number of threads from 1 to %d, nor auto", MOST_THREADS);
    }
    if (!wrong && !add_numbers(list.count ? &list : &only_zero, options->threads,
                               &options->thread_count, MAX_THREADS))
        wrong = problem("gives too many values; a list holds at most %d", MAX_THREADS);
    free(list.n);
    return wrong;
}

static const char *parse_threads(struct command_line *line, const char *value)
{
    line->options->thread_count = 0;
    return parse_list(line, value, take_threads);
}

static const char *take_gpus(struct command_line *line, const char *word)
{
    struct options *options = line->options;
    struct size_list list = {0};
    const char *wrong = NULL;
    if (strcmp(word, "all") != 0) {
        wrong = parse_sizes(word, &list);
        for (size_t i = 0; i < list.count && !wrong; i++)
            if (list.n[i] < 1 || list.n[i] > MOST_MEMBERS)
                wrong = "out of range";
        if (wrong)
            wrong = problem("is not a number of GPUs from 1 to %d, nor all", MOST_MEMBERS);
    }
    if (!wrong && !add_numbers(list.count ? &list : &only_zero, options->gpus, &options->gpus_count,
                               MAX_GPU_COUNTS))
        wrong = problem("gives too many values; a list holds at most %d", MAX_GPU_COUNTS);
    free(list.n);
    return wrong;
}

static const char *parse_gpus(struct command_line *line, const char *value)
{
    line->options->gpus_count = 0;
    return parse_list(line, value, take_gpus);
}

/* ---- Numbers ---- */

static const char *parse_number(struct command_line *line, const char *value)
{
    uint64_t number;
    if (parse_count(value, &number) || number < line->row->least || number > line->row->most)
        return problem("is not a whole number from %u to %u", line->row->least, line->row->most);
    *(unsigned *)place(line) = (unsigned)number;
    return NULL;
}

static const char *parse_max(struct command_line *line, const char *value)
{
    const char *wrong = parse_count(value, &line->options->input.max);
    if (wrong)
        return wrong;
    if (line->options->input.max == 0)
        return "is below 1; for an array of zeros use --input=zeros";
    line->options->input.max_text = value;
    return NULL;
}

static const char *parse_keep(struct command_line *line, const char *value)
{
    const char *end;
    double keep;
    if (!read_decimal(value, &keep, &end) || *end || !(keep <= 1))
        return "is not a fraction from 0 to 1, such as 0.75";
    line->options->input.keep = keep;
    line->options->input.keep_text = value;
    return NULL;
}

static const char *parse_seed(struct command_line *line, const char *value)
{
    if (parse_count(value, &line->options->input.seed))
        return "is not a whole number from 0 to 2^64-1";
    return NULL;
}

enum { MOST_SAMPLES = 1000000 };

/* Parses a time in seconds, or in milliseconds with the suffix ms; at most a day. With `least`
 * it must be above 0. */
static const char *parse_time(struct command_line *line, const char *value)
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

static const char *parse_max_noise(struct command_line *line, const char *value)
{
    double percent;
    if (!read_percentage(value, 100, &percent))
        return "is not a percentage from 0 to 100, such as 0.5";
    line->options->sampling.max_noise_pct = percent;
    return NULL;
}

static const char *parse_fail_slower(struct command_line *line, const char *value)
{
    double percent;
    if (!read_percentage(value, 1e6, &percent))
        return "is not a percentage from 0 up, such as 5";
    line->options->output.fail_slower_pct = percent;
    return NULL;
}

/* ---- Results ---- */

static const char *parse_output(struct command_line *line, const char *value)
{
    if (!*value)
        return "needs the name of a file, or - for standard output";
    line->options->output.path = strcmp(value, "-") == 0 ? NULL : value;
    return NULL;
}

/* Each --label adds one K=V. */
static const char *parse_label(struct command_line *line, const char *value)
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

/* ---- The table ---- */

const char *const option_group_titles[OPTION_GROUP_COUNT] = {
    [GROUP_WHAT] = "What to run (every combination of the listed values)",
    [GROUP_DATA] = "The data",
    [GROUP_MEASURING] = "How to measure",
    [GROUP_RESULTS] = "The results",
    [GROUP_QUESTIONS] = "Instead of running",
};

/* The offset of a member of struct options, which must have the given type. */
#define AT(type, member) \
    _Generic(((struct options *)0)->member, type : offsetof(struct options, member))

const struct option_row option_rows[OPTION_COUNT] = {
    [OPTION_OP] = {.name = "op",
                   .argument = "LIST",
                   .group = GROUP_WHAT,
                   .help = "operations:"
#define OPERATION(NAME, name, ...) " " #name
#include "../operations.def"
#undef OPERATION
                           ". Default: scan. --list shows the algorithms of each",
                   .parse = parse_words,
                   .at = AT(bool *, operations),
                   .word = operation_word,
                   .word_count = OPERATION_COUNT},
    [OPTION_ALGO] = {.name = "algo",
                     .letter = 'a',
                     .argument = "LIST",
                     .group = GROUP_WHAT,
                     .help = "algorithms by name, by pattern ('efficient*') or by group: all, cpu, "
                             "gpu, own, library. Default: all that can run on this machine",
                     .parse = parse_algo},
    [OPTION_N] = {.name = "n",
                  .letter = 'n',
                  .argument = "LIST",
                  .group = GROUP_WHAT,
                  .help = "array sizes in elements: 1000, 2^26, 2^26-3, 1e6, 64Ki (65536), 64K "
                          "(64000), or ranges: 2^12..2^29 (doubling), 1..4096*4, 100..900+200. "
                          "Default: 2^20",
                  .parse = parse_n},
    [OPTION_POT] = {.name = "pot",
                    .group = GROUP_WHAT,
                    .help = "run each size as given (the default); with --npot, run each size as "
                            "well as its non-power-of-two partner"},
    [OPTION_NPOT] = {.name = "npot",
                     .argument = "RULE",
                     .argument_optional = true,
                     .group = GROUP_WHAT,
                     .help = "replace each size by a non-power-of-two partner: 5/8 of it (the "
                             "default), or 3 less (-3)",
                     .parse = parse_npot},
    [OPTION_BLOCK] = {.name = "block",
                      .letter = 'b',
                      .argument = "LIST",
                      .group = GROUP_WHAT,
                      .help = "GPU: threads per block, powers of two from 32 to 1024, or auto (the "
                              "default): each algorithm's own choice",
                      .parse = parse_block},
    [OPTION_THREADS] = {.name = "threads",
                        .argument = "LIST",
                        .group = GROUP_WHAT,
                        .help = "CPU: number of threads of multi-threaded algorithms, or auto (the "
                                "default): one per processor",
                        .parse = parse_threads},
    [OPTION_SIMD] = {.name = "simd",
                     .argument = "LIST",
                     .group = GROUP_WHAT,
                     .help = "CPU: vector instructions of SIMD algorithms: avx512, avx2, portable, "
                             "or auto (the default): the widest the CPU has",
                     .parse = parse_words,
                     .at = AT(bool *, simd),
                     .word = simd_word,
                     .word_count = SIMD_PATH_COUNT},
    [OPTION_TYPE] = {.name = "type",
                     .letter = 't',
                     .argument = "LIST",
                     .group = GROUP_WHAT,
                     .help = "element types:"
#define TYPE(NAME, name, ...) " " #name
#include "../types.def"
#undef TYPE
                             ". Default: i32. Sums have the element type; integer sums wrap around",
                     .parse = parse_words,
                     .at = AT(bool *, types),
                     .word = type_word,
                     .word_count = TYPE_COUNT},
    [OPTION_KIND] = {.name = "kind",
                     .letter = 'k',
                     .argument = "LIST",
                     .group = GROUP_WHAT,
                     .help = "scan: exclusive (the default), inclusive",
                     .parse = parse_words,
                     .at = AT(bool *, kinds),
                     .word = kind_word,
                     .word_count = KIND_COUNT},
    [OPTION_EXCLUSIVE] = {.name = "exclusive",
                          .group = GROUP_WHAT,
                          .help = "short for --kind=exclusive"},
    [OPTION_INCLUSIVE] = {.name = "inclusive",
                          .group = GROUP_WHAT,
                          .help = "short for --kind=inclusive"},
    [OPTION_VALUES] = {.name = "values",
                       .argument = "LIST",
                       .group = GROUP_WHAT,
                       .help = "sort: values that move with the keys: none (the default), u32 or "
                               "u64. The value of a pair is its index in the input; algorithms "
                               "that are stable are checked to be so",
                       .parse = parse_words,
                       .at = AT(bool *, values),
                       .word = values_word,
                       .word_count = VALUE_TYPE_COUNT},
    [OPTION_DEVICE] = {.name = "device",
                       .letter = 'd',
                       .argument = "LIST",
                       .group = GROUP_WHAT,
                       .help = "cpu; gpu, or a GPU by its number: 0, gpu1; emulator, which runs "
                               "GPU kernels on the CPU. Default: the GPU (without one, the "
                               "emulator) for GPU algorithms, the CPU for all others",
                       .parse = parse_device,
                       .word = device_word,
                       .word_count = DEVICE_KIND_COUNT},
    [OPTION_GPUS] = {.name = "gpus",
                     .letter = 'g',
                     .argument = "LIST",
                     .group = GROUP_WHAT,
                     .help = "GPUs, or emulators, that share each array in contiguous slices, or "
                             "all; every process of mpirun has as many. Default: one device by "
                             "itself",
                     .parse = parse_gpus},

    [OPTION_INPUT] = {.name = "input",
                      .letter = 'i',
                      .argument = "SHAPE",
                      .group = GROUP_DATA,
                      .help = "values of the input, with V from --max:"
#define INPUT(NAME, name, ELEMENT, LARGEST_SUM, KEPT, meaning) " " name " (" meaning ")"
#include "../inputs.def"
                              ". Default: uniform",
                      .parse = parse_word,
                      .at = AT(unsigned, input.shape),
                      .word = input_word,
                      .word_count = INPUT_SHAPE_COUNT},
    [OPTION_MAX] = {.name = "max",
                    .argument = "V",
                    .group = GROUP_DATA,
                    .help = "largest value of the input. Default: 49",
                    .parse = parse_max},
    [OPTION_KEEP] = {.name = "keep",
                     .argument = "P",
                     .group = GROUP_DATA,
                     .help = "compact: fraction of the elements kept. Default: 0.75",
                     .parse = parse_keep},
    [OPTION_SEED] = {.name = "seed",
                     .argument = "S",
                     .group = GROUP_DATA,
                     .help =
                         "seed of the random input; the same seed makes the same data. Default: 1",
                     .parse = parse_seed},

    [OPTION_SAMPLES] = {.name = "samples",
                        .letter = 's',
                        .argument = "N",
                        .group = GROUP_MEASURING,
                        .help = "take exactly N samples of each row. Default: as many as "
                                "--max-noise, --min-time and --max-time call for",
                        .parse = parse_number,
                        .at = AT(unsigned, sampling.samples),
                        .least = 1,
                        .most = MOST_SAMPLES},
    [OPTION_MAX_NOISE] =
        {.name = "max-noise",
         .argument = "PERCENT",
         .group = GROUP_MEASURING,
         .help = "stop sampling a row once its noise is below PERCENT of the median. Default: 0.5",
         .parse = parse_max_noise},
    [OPTION_MIN_TIME] = {.name = "min-time",
                         .argument = "TIME",
                         .group = GROUP_MEASURING,
                         .help = "least time to spend on sampling a row, in seconds, or in "
                                 "milliseconds such as 500ms. Default: 0",
                         .parse = parse_time,
                         .at = AT(double, sampling.min_time_ms)},
    [OPTION_MAX_TIME] = {.name = "max-time",
                         .argument = "TIME",
                         .group = GROUP_MEASURING,
                         .help = "most time to spend on sampling a row, in seconds, or in "
                                 "milliseconds such as 500ms. Default: 1 s",
                         .parse = parse_time,
                         .at = AT(double, sampling.max_time_ms),
                         .least = 1},
    [OPTION_WARMUP] = {.name = "warmup",
                       .argument = "N",
                       .group = GROUP_MEASURING,
                       .help = "untimed runs before the timed ones. Default: 1",
                       .parse = parse_number,
                       .at = AT(unsigned, sampling.warmup),
                       .least = 1,
                       .most = MOST_SAMPLES},
    [OPTION_CACHE] = {.name = "cache",
                      .argument = "LIST",
                      .group = GROUP_MEASURING,
                      .help =
                          "caches before each sample: cold (flushed; the default), dirty (full of "
                          "lines to write back), hot (left as they are) or both (cold and hot)",
                      .parse = parse_cache,
                      .word = cache_word,
                      .word_count = CACHE_STATE_COUNT + 1},
    [OPTION_SCRATCH] = {.name = "scratch",
                        .argument = "WHEN",
                        .group = GROUP_MEASURING,
                        .help =
                            "kept: set up scratch memory once, untimed, before the timed runs (the "
                            "default); fresh: set it up in each timed run, as part of its time",
                        .parse = parse_word,
                        .at = AT(enum scratch_state, scratch),
                        .word = scratch_word,
                        .word_count = SCRATCH_STATE_COUNT},
    [OPTION_KERNELS] = {.name = "kernels",
                        .group = GROUP_MEASURING,
                        .help = "GPU: also write one row per kernel launch: time, share, grid, "
                                "block, shared memory, registers and occupancy",
                        .parse = set_flag,
                        .at = AT(bool, kernels)},
    [OPTION_COPIES] =
        {.name = "copies",
         .group = GROUP_MEASURING,
         .help = "GPU: also time each run together with the copies from host memory and back",
         .parse = set_flag,
         .at = AT(bool, copies)},
    [OPTION_PINNED] =
        {.name = "pinned",
         .group = GROUP_MEASURING,
         .help =
             "with --copies: copy from and to page-locked host memory. Default: pageable memory",
         .parse = set_flag,
         .at = AT(bool, pinned)},
    [OPTION_ENERGY] = {.name = "energy",
                       .group = GROUP_MEASURING,
                       .help = "GPU: also measure the energy per run, where NVML reports it; takes "
                               "half a second per row",
                       .parse = set_flag,
                       .at = AT(bool, energy)},
    [OPTION_LOCK_CLOCKS] = {.name = "lock-clocks",
                            .group = GROUP_MEASURING,
                            .help = "GPU: lock its clocks during the run, where NVML allows that "
                                    "(it takes root, as a rule)",
                            .parse = set_flag,
                            .at = AT(bool, lock_clocks)},

    [OPTION_FORMAT] = {.name = "format",
                       .letter = 'f',
                       .argument = "FORMAT",
                       .group = GROUP_RESULTS,
                       .help = "format of the results: csv, table, json, jsonl (one JSON object "
                               "per line) or markdown. Default: a table on a terminal, else CSV",
                       .parse = parse_format,
                       .word = format_word,
                       .word_count = FORMAT_COUNT - 1},
    [OPTION_OUTPUT] =
        {.name = "output",
         .letter = 'o',
         .argument = "FILE",
         .group = GROUP_RESULTS,
         .help = "write the results to FILE; a file that is not empty is never overwritten",
         .parse = parse_output},
    [OPTION_APPEND] =
        {.name = "append",
         .group = GROUP_RESULTS,
         .help = "with --output: add rows after those in the file; its columns must be the same"},
    [OPTION_RESUME] = {.name = "resume",
                       .group = GROUP_RESULTS,
                       .help = "with --output: append to the file, and run only what it has no "
                               "finished row for, with this seed, by this build on this machine; a "
                               "row that lost the device twice is not tried again"},
    [OPTION_COLUMNS] = {.name = "columns",
                        .letter = 'c',
                        .argument = "LIST",
                        .group = GROUP_RESULTS,
                        .help =
                            "write only these columns, in this order; --list-columns explains them",
                        .parse = parse_text,
                        .at = AT(const char *, output.columns),
                        .needs = "needs names of columns (--list-columns shows all)"},
    [OPTION_LABEL] = {.name = "label",
                      .argument = "K=V",
                      .group = GROUP_RESULTS,
                      .help =
                          "a name and a value for the column label of every row; may be repeated",
                      .parse = parse_label},
    [OPTION_SAMPLES_FILE] = {.name = "samples-file",
                             .argument = "FILE",
                             .group = GROUP_RESULTS,
                             .help = "write every sample to FILE as CSV, one per line",
                             .parse = parse_text,
                             .at = AT(const char *, output.samples_path),
                             .needs = "needs the name of a file"},
    [OPTION_BASELINE] =
        {.name = "baseline",
         .argument = "FILE",
         .group = GROUP_RESULTS,
         .help = "compare each time with that in FILE, the CSV file of an earlier run, or with the "
                 "median of several runs in it; say whether the change exceeds the noise",
         .parse = parse_text,
         .at = AT(const char *, output.baseline_path),
         .needs = "needs the name of a CSV file that scanbench wrote"},
    [OPTION_FAIL_SLOWER] = {.name = "fail-slower",
                            .argument = "PERCENT",
                            .group = GROUP_RESULTS,
                            .help = "with --baseline: exit 5 if any row is slower than the "
                                    "baseline by more than the noise and more than PERCENT",
                            .parse = parse_fail_slower},
    [OPTION_SHOW] =
        {.name = "show",
         .argument = "N",
         .group = GROUP_RESULTS,
         .help = "print the first N elements and the last one of input and result to stderr",
         .parse = parse_number,
         .at = AT(unsigned, show),
         .most = MOST_SAMPLES},
    [OPTION_PROGRESS] = {.name = "progress",
                         .argument = "WHEN",
                         .group = GROUP_RESULTS,
                         .help = "show on stderr what is running and the time left: auto (on a "
                                 "terminal; the default), always or never",
                         .parse = parse_word,
                         .at = AT(unsigned, progress),
                         .word = progress_word,
                         .word_count = PROGRESS_WHEN_COUNT},
    [OPTION_QUIET] = {.name = "quiet",
                      .letter = 'q',
                      .group = GROUP_RESULTS,
                      .help = "print no notes on stderr, only errors",
                      .parse = set_flag,
                      .at = AT(bool, quiet)},

    [OPTION_LIST] = {.name = "list",
                     .letter = 'l',
                     .group = GROUP_QUESTIONS,
                     .help = "list the algorithms and the devices each runs on"},
    [OPTION_LIST_COLUMNS] = {.name = "list-columns",
                             .group = GROUP_QUESTIONS,
                             .help = "list the columns of the results and their meanings"},
    [OPTION_DEVICE_INFO] = {.name = "device-info",
                            .group = GROUP_QUESTIONS,
                            .help = "print the names and limits of the devices, and how many "
                                    "blocks of each size are resident; as JSON with --format=json"},
    [OPTION_DRY_RUN] = {.name = "dry-run",
                        .group = GROUP_QUESTIONS,
                        .help =
                            "print what would be run and the memory it needs, without running it"},
    [OPTION_GENERATE] =
        {.name = "generate",
         .argument = "WHAT",
         .group = GROUP_QUESTIONS,
         .help = "print the manual page (man) or the completions of a shell (bash, zsh, fish)",
         .parse = parse_word,
         .at = AT(unsigned, generated),
         .word = generated_word,
         .word_count = GENERATED_COUNT},
    [OPTION_VERSION] = {.name = "version",
                        .letter = 'V',
                        .group = GROUP_QUESTIONS,
                        .help = "print the version"},
    [OPTION_HELP] = {.name = "help",
                     .letter = 'h',
                     .group = GROUP_QUESTIONS,
                     .help = "print this help"},
};
