/* check_preset: what --check runs: the axes that nobody has set. */
#include "check_preset.h"

#include "../base/errors.h"
#include "../names.h"
#include "../own/own.h"
#include "../own_algorithm.h"
#include "../types.h"

#include <stdlib.h>
#include <string.h>

/* Around warps, blocks and tiles, powers of two and beside them, 5/8 of them. */
static const char all_sizes[] =
    "0,1,2,3,4,5,7,8,9,10,15,16,17,20,31,32,33,40,63,64,65,80,127,128,129,160,255,256,257,320,511,"
    "512,513,640,1000,1023,1024,1025,1280,2047,2048,2049,2560,4095,4096,4097,5120,8191,8192,8193,"
    "16385,40960,65536,65537";
/* For the other passes. */
static const char few_sizes[] = "1,33,256,1000,4097";

/* Nobody wants times, but what is wrong only now and then should show. */
enum { CHECK_SAMPLES = 100 };

/* ---- before loading ---- */

static void add_device(struct options *options, enum device_kind kind)
{
    for (size_t i = 0; i < options->device_count; i++)
        if (options->devices[i].kind == kind)
            return;
    options->devices[options->device_count++] = (struct device_choice){.kind = kind};
}

/* The emulator finds what a GPU hides. What has code for the CPU alone runs there. */
static void add_device_for(struct options *options, const char *word)
{
    bool emulated = is_own_file(word), on_cpu = false;
    for (size_t r = 0; r < table_row_count(); r++) {
        const struct table_row *row = table_row(r);
        emulated |= row->listed_on[DEVICE_EMULATOR] && row_matches(row, word);
        on_cpu |= row->listed_on[DEVICE_CPU] && row_matches(row, word);
    }
    add_device(options, on_cpu && !emulated ? DEVICE_CPU : DEVICE_EMULATOR);
}

static void choose_devices(struct options *options)
{
    if (options->device_count > 0)
        return;
    for (size_t w = 0; w < options->algo_word_count; w++)
        add_device_for(options, options->algo_words[w]);
    if (options->algo_word_count == 0)
        add_device(options, DEVICE_EMULATOR);
}

static void replace_sizes(struct size_list *list, const char *text)
{
    list->count = 0;
    if (parse_sizes(text, list) != NULL)
        BUG("%s are no sizes", text);
}

void choose_axes_to_check(const struct command_line *line)
{
    struct options *options = line->options;
    struct check_spec *check = &options->check;
    if (!check->wanted)
        return;
    choose_devices(options);
    if (options->output.format == FORMAT_AUTO)
        options->output.format = FORMAT_VERDICTS;
    if (!line->given[OPTION_N]) {
        replace_sizes(&options->sizes, all_sizes);
        replace_sizes(&options->simulated_sizes, all_sizes);
        replace_sizes(&check->few, few_sizes);
    }
    check->varies_values =
        !line->given[OPTION_INPUT] && !line->given[OPTION_MAX] && !line->given[OPTION_KEEP];
    check->varies_blocks = !line->given[OPTION_BLOCK];
    if (!line->given[OPTION_MAX_NOISE] && !line->given[OPTION_MIN_TIME] &&
        !line->given[OPTION_MAX_TIME])
        check->samples = CHECK_SAMPLES;
}

/* ---- after loading ---- */

/* What the lines of the user's files say that they have. */
struct said {
    bool operations[OPERATION_COUNT], types[TYPE_COUNT], kinds[KIND_COUNT];
    bool any;
};

static void add_entry(struct said *said, const struct scanbench_entry *entry)
{
    for (int type = 0; type < TYPE_COUNT; type++)
        said->types[type] |= strcmp(type_name((enum element_type)type), entry->type) == 0;
    said->kinds[KIND_EXCLUSIVE] |= entry->exclusive != 0;
    said->kinds[KIND_INCLUSIVE] |= entry->inclusive != 0;
    said->any = true;
}

static struct said read_own_lines(void)
{
    struct said said = {.any = false};
    for (size_t r = 0; r < table_row_count(); r++) {
        const struct table_row *row = table_row(r);
        for (int kind = 0; kind < DEVICE_KIND_COUNT && row->own_file != NULL; kind++) {
            const struct own_algorithm *own = (const struct own_algorithm *)row->on[kind];
            for (size_t e = 0; own != NULL && e < own->entry_count; e++)
                add_entry(&said, own->entries[e]);
            said.operations[row->op] |= own != NULL;
        }
    }
    return said;
}

/* Algorithms of ours do both kinds of scan. */
void choose_problems_to_check(const struct command_line *line)
{
    struct options *options = line->options;
    if (!options->check.wanted)
        return;
    const struct said said = read_own_lines();
    const bool kinds_given =
        line->given[OPTION_KIND] || line->given[OPTION_EXCLUSIVE] || line->given[OPTION_INCLUSIVE];
    if (said.any && !line->given[OPTION_OP])
        memcpy(options->operations, said.operations, sizeof said.operations);
    if (said.any && !line->given[OPTION_TYPE])
        memcpy(options->types, said.types, sizeof said.types);
    if (said.any && !kinds_given)
        memcpy(options->kinds, said.kinds, sizeof said.kinds);
    else if (!kinds_given)
        options->kinds[KIND_EXCLUSIVE] = options->kinds[KIND_INCLUSIVE] = true;
}

/* ---- passes ---- */

/* The largest that all chosen types have. */
static uint64_t largest_of_all(const struct options *options)
{
    uint64_t largest = UINT64_MAX;
    for (int type = 0; type < TYPE_COUNT; type++)
        if (options->types[type] && largest_value((enum element_type)type) < largest)
            largest = largest_value((enum element_type)type);
    return largest;
}

/* 1, 2, a power of two, all bits; each also with both signs. */
static void vary_maxima(struct options *options)
{
    const uint64_t largest = largest_of_all(options), maxima[] = {1, 2, 1024, largest};
    options->max_count = 0;
    for (size_t m = 0; m < sizeof maxima / sizeof *maxima; m++) {
        struct max_choice *choice = &options->maxima[options->max_count];
        if (maxima[m] > largest)
            continue;
        choice->value = maxima[m];
        snprintf(choice->text, sizeof choice->text, "%llu", (unsigned long long)maxima[m]);
        options->max_count++;
    }
    options->inputs[INPUT_SIGNED] = options->input_given = true;
}

static void vary_inputs(struct options *options)
{
    static const enum input_shape shapes[] = {INPUT_ZEROS,  INPUT_ONES,     INPUT_ALTERNATING,
                                              INPUT_SORTED, INPUT_REVERSED, INPUT_ALL_BUT_ONE};
    memset(options->inputs, 0, sizeof options->inputs);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        options->inputs[shapes[s]] = true;
    options->input_given = true;
}

static void vary_keeps(struct options *options)
{
    options->keeps[0] = (struct keep_choice){0, "0"};
    options->keeps[1] = (struct keep_choice){1, "1"};
    options->keep_count = 2;
    for (int op = 0; op < OPERATION_COUNT; op++)
        options->operations[op] &= op == OP_COMPACT;
}

static bool any_takes_block(const struct options *options)
{
    bool any = false;
    for (size_t r = 0; r < table_row_count(); r++)
        for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++) {
            const struct algorithm *algorithm = table_row(r)->on[kind];
            any |= options->chosen[r].on[kind] && algorithm != NULL &&
                   algorithm->traits & TRAIT_HAS_BLOCK;
        }
    return any;
}

static void vary_blocks(struct options *options)
{
    static const unsigned blocks[] = {32, 64, 256, 512, 1024};
    memcpy(options->blocks, blocks, sizeof blocks);
    options->block_count = sizeof blocks / sizeof *blocks;
}

bool narrow_to_pass(struct options *options, enum check_pass pass)
{
    const struct check_spec *check = &options->check;
    if (pass == PASS_SIZES || !check->wanted)
        return pass == PASS_SIZES;
    if (check->few.count > 0)
        options->sizes = options->simulated_sizes = check->few;
    if (pass == PASS_MAXIMA)
        vary_maxima(options);
    else if (pass == PASS_INPUTS)
        vary_inputs(options);
    else if (pass == PASS_KEEPS)
        vary_keeps(options);
    else
        vary_blocks(options);
    return pass == PASS_BLOCKS  ? check->varies_blocks && any_takes_block(options)
           : pass == PASS_KEEPS ? check->varies_values && options->operations[OP_COMPACT]
                                : check->varies_values;
}
