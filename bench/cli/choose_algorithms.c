/* choose_algorithms: finds what --op, --algo, --engine and --device select in the table. */
#include "choose_algorithms.h"

#include "../base/errors.h"
#include "../base/text.h"
#include "../device/backends.h"
#include "../operations.h"
#include "../own/own.h"
#include "check_preset.h"
#include "option_rules.h"

#include <stddef.h>

static bool check_operations(const struct command_line *line)
{
    for (int op = 0; op < OPERATION_COUNT; op++) {
        size_t i = 0;
        while (i < table_row_count() && (int)table_row(i)->op != op)
            i++;
        if (line->given[OPTION_OP] && line->options->operations[op] && i == table_row_count()) {
            char text[FLAG_TEXT_BYTES];
            complain("%s: there is no algorithm for %s in this build (--list shows all)",
                     as_given(line, OPTION_OP, text), operation_name(op));
            return false;
        }
    }
    return true;
}

/* Where a word of --algo matches something. */
struct word_matches {
    bool in_op[OPERATION_COUNT];
    bool in_chosen_op_on[DEVICE_KIND_COUNT];
    bool on_as_many; /* in a chosen operation: on teams or, without them, on one device */
};

static bool works_on_as_many(const struct options *options, const struct table_row *row)
{
    if (options->action != ACTION_RUN && options->action != ACTION_DRY_RUN)
        return true;
    return has_teams(options) ? row->of_team || is_ceiling(row) || asks_for_one_gpu(options)
                              : !row->of_team;
}

static struct word_matches match_word(const struct options *options, const char *word)
{
    struct word_matches found = {0};
    for (size_t i = 0; i < table_row_count(); i++) {
        const struct table_row *row = table_row(i);
        for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++) {
            if (!row_matches_on(row, kind, word))
                continue;
            found.in_op[row->op] = true;
            if (!options->operations[row->op])
                continue;
            found.in_chosen_op_on[kind] = true;
            found.on_as_many |= works_on_as_many(options, row);
        }
    }
    return found;
}

/* Every word of --algo must match an algorithm of a chosen operation on a chosen device. */
static bool check_algo_word(const struct command_line *line, const char *word)
{
    const struct options *options = line->options;
    struct word_matches found = match_word(options, word);
    char ops[LIST_BYTES] = "", kinds[LIST_BYTES] = "", text[FLAG_TEXT_BYTES];
    bool runs = false;
    for (int op = 0; op < OPERATION_COUNT; op++)
        if (found.in_op[op])
            append_text(ops, sizeof ops, "%s%s", comma_after(ops), operation_name(op));
    for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++) {
        if (found.in_chosen_op_on[kind])
            append_text(kinds, sizeof kinds, "%s%s", comma_after(kinds), device_kind_name(kind));
        runs |= found.in_chosen_op_on[kind] && device_chosen(options, kind);
    }
    if (runs && found.on_as_many)
        return true;
    if (!ops[0])
        complain("--algo=%s: there is no such algorithm in this build (--list shows all)", word);
    else if (!kinds[0] && !line->given[OPTION_OP])
        complain("--algo=%s is not an algorithm of --op=scan, the default; add --op=%s", word, ops);
    else if (!kinds[0])
        complain("--algo=%s is not an algorithm of the chosen --op; it belongs to --op=%s", word,
                 ops);
    else if (!runs)
        complain("--algo=%s does not run on %s; it runs on %s", word,
                 line->given[OPTION_DEVICE] ? as_given(line, OPTION_DEVICE, text)
                                            : "the emulator, the default of --trace and --check",
                 kinds);
    else if (has_teams(options))
        complain("--algo=%s: it works on one device, not on several (--list shows which do)", word);
    else
        complain("--algo=%s: it works on several devices; add --gpus=2, or start several "
                 "processes with mpirun",
                 word);
    return false;
}

static bool check_algorithms(const struct command_line *line)
{
    const struct options *options = line->options;
    for (size_t i = 0; i < options->algo_word_count; i++)
        if (!check_algo_word(line, options->algo_words[i]))
            return false;
    return true;
}

/* The name of an engine stands for what works by it alone, any other word for all engines. */
static bool selects_engine(const char *word, const struct table_row *row, enum engine_id engine)
{
    for (int e = 0; e < ENGINE_COUNT; e++)
        if (names_engine(word, e))
            return names_engine(word, engine);
    return row_matches(row, word);
}

/* Finds what --op, --algo and --engine select of a row. */
static struct row_choice choose_row(const struct options *options, const struct table_row *row)
{
    struct row_choice choice = {0};
    for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++) {
        choice.on[kind] = options->algo_word_count == 0;
        for (size_t w = 0; w < options->algo_word_count; w++)
            choice.on[kind] |= row_matches_on(row, kind, options->algo_words[w]);
        choice.on[kind] &= options->operations[row->op];
    }
    for (int e = 0; e < ENGINE_COUNT; e++) {
        choice.by[e] = options->algo_word_count == 0;
        for (size_t w = 0; w < options->algo_word_count; w++)
            choice.by[e] |= selects_engine(options->algo_words[w], row, e);
        choice.by[e] &= row->of_team && options->engines[e];
    }
    for (size_t w = 0; w < options->algo_word_count; w++)
        choice.named |=
            !is_group(options->algo_words[w]) && row_matches(row, options->algo_words[w]);
    return choice;
}

static bool choose_rows(const struct command_line *line)
{
    struct options *options = line->options;
    options->named = line->given[OPTION_ALGO] || line->given[OPTION_ENGINE];
    options->chosen = allocate_or_die(NULL, table_row_count() * sizeof *options->chosen);
    for (size_t r = 0; r < table_row_count(); r++)
        options->chosen[r] = choose_row(options, table_row(r));
    return true;
}

/* Is the row selected on this kind of device? */
static bool row_chosen(const struct options *options, size_t row, enum device_kind kind)
{
    return table_row(row)->listed_on[kind] && options->chosen[row].on[kind] &&
           device_chosen(options, kind);
}

bool is_row_chosen(const struct options *options, size_t row)
{
    for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++)
        if (row_chosen(options, row, kind))
            return true;
    return false;
}

/* Does a selected algorithm work by the engine? */
static bool is_of_use(const struct options *options, enum engine_id engine)
{
    for (size_t r = 0; r < table_row_count(); r++)
        for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++)
            if (options->chosen[r].by[engine] && engine_listed_on(engine, kind) &&
                row_chosen(options, r, kind))
                return true;
    return false;
}

static bool check_engines(const struct command_line *line)
{
    const struct options *options = line->options;
    char text[FLAG_TEXT_BYTES];
    if (!line->given[OPTION_ENGINE] || options->action == ACTION_LIST)
        return true;
    if (!has_teams(options)) {
        complain("%s is for several devices; add --gpus=2, or start several processes with mpirun",
                 as_given(line, OPTION_ENGINE, text));
        return false;
    }
    for (int e = 0; e < ENGINE_COUNT; e++)
        if (options->engines[e] && !is_of_use(options, e)) {
            complain("--engine=%s: no chosen algorithm works by it on a chosen device",
                     engine_name(e));
            return false;
        }
    return true;
}

/* Does any selected algorithm obey --block, --threads or --simd? */
static bool any_chosen_has(const struct options *options, unsigned trait)
{
    for (size_t i = 0; i < table_row_count(); i++) {
        const struct table_row *row = table_row(i);
        for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++) {
            /* A build without CUDA has the traits from the emulator's descriptor. */
            const struct algorithm *algorithm =
                row->on[kind] || kind != DEVICE_GPU ? row->on[kind] : row->on[DEVICE_EMULATOR];
            if (algorithm && algorithm->traits & trait && row_chosen(options, i, kind))
                return true;
        }
    }
    return false;
}

/* A number that no algorithm would use is an error rather than silently ignored. */
static bool check_shape(const struct command_line *line)
{
    const struct options *options = line->options;
    const struct {
        enum option_id id;
        bool asked, has;
        unsigned trait;
        const char *elsewhere, *unused;
    } shapes[] = {
        {OPTION_BLOCK, options->block_count > 1 || options->blocks[0] != 0,
         any_device_has(options, offsetof(struct backend, has_blocks)), TRAIT_HAS_BLOCK,
         "only a GPU and the emulator have blocks of threads", "takes a block size"},
        {OPTION_THREADS, options->thread_count > 1 || options->threads[0] != 0,
         any_device_has(options, offsetof(struct backend, has_threads)), TRAIT_HAS_THREADS,
         "it sets CPU threads; --block sets the threads per block of a GPU",
         "uses several CPU threads"},
        {OPTION_SIMD, line->given[OPTION_SIMD] != NULL,
         any_device_has(options, offsetof(struct backend, has_simd)), TRAIT_HAS_SIMD,
         "it sets the CPU's vector instructions", "uses the CPU's vector instructions"},
    };
    enum { SHAPES = sizeof shapes / sizeof *shapes };
    char text[FLAG_TEXT_BYTES];
    for (int s = 0; s < SHAPES; s++)
        if (shapes[s].asked && !shapes[s].has)
            return not_both(line, shapes[s].id, OPTION_DEVICE, shapes[s].elsewhere);
    for (int s = 0; s < SHAPES; s++)
        if (shapes[s].asked && !any_chosen_has(options, shapes[s].trait)) {
            complain("%s: no chosen algorithm %s; leave it out", as_given(line, shapes[s].id, text),
                     shapes[s].unused);
            return false;
        }
    return true;
}

/* So is a measure if only algorithms of the CPU are chosen. If --device is why, check_cpu() has
 * said so. */
static bool check_measures(const struct command_line *line)
{
    char text[FLAG_TEXT_BYTES];
    for (size_t i = 0; i < table_row_count(); i++)
        if (row_chosen(line->options, i, DEVICE_GPU) ||
            row_chosen(line->options, i, DEVICE_EMULATOR))
            return true;
    for (size_t m = 0; m < MEASURE_COUNT; m++)
        if (line->given[measures[m]]) {
            complain("%s: all chosen algorithms run on the CPU; leave it out",
                     as_given(line, measures[m], text));
            return false;
        }
    return true;
}

/* Files of the user's are loaded before the words of --algo are looked at, which may name their
 * rows. Without --device they are for the GPU, where there is one. */
static bool load_files(const struct command_line *line)
{
    const struct options *options = line->options;
    bool wanted[DEVICE_KIND_COUNT] = {false};
    if (!names_own_file(options))
        return true;
    for (size_t d = 0; d < options->device_count; d++)
        wanted[options->devices[d].kind] = true;
    if (options->device_count == 0)
        wanted[look_at_machine().gpu_count > 0 ? DEVICE_GPU : DEVICE_EMULATOR] = true;
    return load_own_files(options->algo_words, options->algo_word_count, options->compile_flags,
                          wanted);
}

bool choose_algorithms(const struct command_line *line)
{
    if (!load_files(line))
        return false;
    choose_problems_to_check(line);
    return check_operations(line) && check_algorithms(line) && choose_rows(line) &&
           check_engines(line) && check_shape(line) && check_measures(line);
}
