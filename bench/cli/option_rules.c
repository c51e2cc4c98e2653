/* option_rules: what flags mean and allow together. */
#include "option_rules.h"

#include "../device/backends.h"
#include "../base/errors.h"
#include "../operations.h"
#include "../device/operators.h"
#include "../own/own.h"
#include "../own/preload.h"
#include "../base/processes.h"
#include "../types.h"
#include "check_preset.h"

#include <stddef.h>
#include <string.h>

enum { MOST_TRACED_ELEMENTS = 1024 };

bool has_teams(const struct options *options)
{
    return options->gpus_count > 0 || processes.count > 1;
}

bool asks_for_one_gpu(const struct options *options)
{
    for (size_t g = 0; g < options->gpus_count; g++)
        if (options->gpus[g] == 1)
            return true;
    return false;
}

/* Flags that ask for something other than a run. --help and --version are not among them: they
 * take effect as soon as they are read. */
static const struct {
    enum option_id id;
    enum action action;
} actions[] = {
    {OPTION_LIST, ACTION_LIST},
    {OPTION_LIST_COLUMNS, ACTION_LIST_COLUMNS},
    {OPTION_DEVICE_INFO, ACTION_DEVICE_INFO},
    {OPTION_DRY_RUN, ACTION_DRY_RUN},
    {OPTION_MANUAL, ACTION_MANUAL},
    {OPTION_GENERATE, ACTION_GENERATE},
};
enum { ACTION_FLAG_COUNT = sizeof actions / sizeof *actions };

const char *as_given(const struct command_line *line, enum option_id id, char text[FLAG_TEXT_BYTES])
{
    char copy[SHORT_TEXT_BYTES];
    const char *value = line->given[id] ? line->given[id] : "";
    snprintf(text, FLAG_TEXT_BYTES, "--%s%s%s", option_rows[id].name, *value ? "=" : "",
             shorten(value, copy));
    return text;
}

/* Complains and returns false if both flags are given. */
static bool not_both(const struct command_line *line, enum option_id a, enum option_id b,
                     const char *why)
{
    char a_text[FLAG_TEXT_BYTES], b_text[FLAG_TEXT_BYTES];
    if (!line->given[a] || !line->given[b])
        return true;
    complain("%s contradicts %s: %s", as_given(line, a, a_text), as_given(line, b, b_text), why);
    return false;
}

static bool choose_action(const struct command_line *line)
{
    for (int i = 0; i < ACTION_FLAG_COUNT; i++) {
        if (!line->given[actions[i].id])
            continue;
        line->options->action = actions[i].action;
        for (int j = i + 1; j < ACTION_FLAG_COUNT; j++)
            if (!not_both(line, actions[i].id, actions[j].id, "only one can be done at a time"))
                return false;
    }
    return true;
}

static bool choose_kinds(const struct command_line *line)
{
    static const char both[] = "--kind=exclusive,inclusive runs both";
    struct options *options = line->options;
    bool exclusive = line->given[OPTION_EXCLUSIVE];
    bool inclusive = line->given[OPTION_INCLUSIVE];
    if (!not_both(line, OPTION_EXCLUSIVE, OPTION_INCLUSIVE, both))
        return false;
    if (options->kinds[KIND_INCLUSIVE] && !not_both(line, OPTION_KIND, OPTION_EXCLUSIVE, both))
        return false;
    if (options->kinds[KIND_EXCLUSIVE] && !not_both(line, OPTION_KIND, OPTION_INCLUSIVE, both))
        return false;
    if (exclusive || inclusive) {
        options->kinds[KIND_EXCLUSIVE] = exclusive;
        options->kinds[KIND_INCLUSIVE] = inclusive;
    }
    return true;
}

static bool check_sampling(const struct command_line *line)
{
    static const char exact[] = "it fixes the number of samples; leave one of the two out";
    struct sampling *sampling = &line->options->sampling;
    if (!not_both(line, OPTION_SAMPLES, OPTION_MAX_NOISE, exact) ||
        !not_both(line, OPTION_SAMPLES, OPTION_MIN_TIME, exact) ||
        !not_both(line, OPTION_SAMPLES, OPTION_MAX_TIME, exact))
        return false;
    if (sampling->min_time_ms > sampling->max_time_ms) {
        if (!not_both(line, OPTION_MIN_TIME, OPTION_MAX_TIME, "the least time is above the most"))
            return false;
        sampling->max_time_ms = sampling->min_time_ms;
    }
    return true;
}

/* Is the flag given although no chosen operation uses it? */
static bool belongs_elsewhere(const struct command_line *line, enum option_id id,
                              enum operation_property property)
{
    const struct operation_facts *owner = NULL;
    if (!line->given[id])
        return false;
    for (int op = OPERATION_COUNT - 1; op >= 0; op--) {
        if (!operation_has(op, property))
            continue;
        if (line->options->operations[op])
            return false;
        owner = operation_facts(op);
    }
    char text[FLAG_TEXT_BYTES];
    complain("%s belongs to %s; add --op=%s or leave it out", as_given(line, id, text),
             owner->title, owner->name);
    return true;
}

/* Appends `word`, with ", " before it unless it is the first. */
static void append_word(char text[LIST_BYTES], const char *word)
{
    size_t used = strlen(text);
    snprintf(text + used, LIST_BYTES - used, "%s%s", used ? ", " : "", word);
}

static bool some_operator_takes(const struct options *options, enum operation op,
                                enum element_type type)
{
    for (int id = 0; id < OPERATOR_COUNT; id++)
        if (options->operators[id] && operator_is_of((enum binary_operator)id, op) &&
            operator_takes((enum binary_operator)id, type))
            return true;
    return false;
}

/* An operation skips the operators that are not its own. */
static bool check_operators(const struct command_line *line)
{
    const struct options *options = line->options;
    for (int id = 0; id < OPERATOR_COUNT; id++) {
        bool taken = !options->operators[id] || !line->given[OPTION_OPERATOR];
        char owners[LIST_BYTES] = "", text[FLAG_TEXT_BYTES];
        for (int op = 0; op < OPERATION_COUNT; op++) {
            if (!operator_is_of((enum binary_operator)id, (enum operation)op))
                continue;
            append_word(owners, operation_name(op));
            taken |= options->operations[op];
        }
        if (taken)
            continue;
        complain("%s: no chosen operation takes %s; it belongs to --op=%s",
                 as_given(line, OPTION_OPERATOR, text), operator_name(id), owners);
        return false;
    }
    return true;
}

/* An operation skips the types it does not take. A type that no chosen operation takes is an
 * error. */
static bool check_types(const struct command_line *line)
{
    const struct options *options = line->options;
    for (int type = 0; type < TYPE_COUNT; type++) {
        bool taken = !options->types[type];
        for (int op = 0; op < OPERATION_COUNT && !taken; op++)
            taken = options->operations[op] && operation_takes(op, type) &&
                    (!operation_has(op, HAS_OPERATOR) || some_operator_takes(options, op, type));
        if (taken)
            continue;
        char text[FLAG_TEXT_BYTES];
        complain("%s: none of the chosen operations and operators takes %s",
                 as_given(line, OPTION_TYPE, text), type_name(type));
        return false;
    }
    return true;
}

static bool check_maxima(const struct options *options)
{
    for (size_t m = 0; m < options->max_count; m++)
        for (int type = 0; type < TYPE_COUNT; type++) {
            const struct max_choice *max = &options->maxima[m];
            if (!options->types[type] || max->value <= largest_value(type))
                continue;
            char text[SHORT_TEXT_BYTES];
            complain("--max=%s is too large for --type=%s, which takes %llu at most",
                     shorten(max->text, text), type_name(type),
                     (unsigned long long)largest_value(type));
            return false;
        }
    return true;
}

static bool check_data(const struct command_line *line)
{
    if (!check_maxima(line->options))
        return false;
    if (belongs_elsewhere(line, OPTION_KEEP, HAS_KEEP) ||
        belongs_elsewhere(line, OPTION_VALUES, HAS_VALUES) ||
        belongs_elsewhere(line, OPTION_OPERATOR, HAS_OPERATOR) ||
        belongs_elsewhere(line, OPTION_SEGMENTS, HAS_SEGMENTS))
        return false;
    for (int id = OPTION_KIND; id <= OPTION_INCLUSIVE; id++)
        if (belongs_elsewhere(line, id, HAS_KIND))
            return false;
    return check_operators(line) && check_types(line);
}

static bool device_chosen(const struct options *options, enum device_kind kind)
{
    for (size_t i = 0; i < options->device_count; i++)
        if (options->devices[i].kind == kind)
            return true;
    return options->device_count == 0;
}

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
            append_word(ops, operation_name(op));
    for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++) {
        if (found.in_chosen_op_on[kind])
            append_word(kinds, device_kind_name(kind));
        runs |= found.in_chosen_op_on[kind] && device_chosen(options, kind);
    }
    if (runs && found.on_as_many)
        return true;
    if (!ops[0])
        complain("--algo=%s: there is no such algorithm in this build (--list shows all)", word);
    else if (!kinds[0])
        complain("--algo=%s is not an algorithm of the chosen --op; it belongs to --op=%s", word,
                 ops);
    else if (!runs)
        complain("--algo=%s does not run on %s; it runs on %s", word,
                 as_given(line, OPTION_DEVICE, text), kinds);
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

/* Has any chosen device what a member of its backend says? */
static bool any_device_has(const struct options *options, size_t member)
{
    bool has = false;
    for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++)
        has |= device_chosen(options, kind) && *((const bool *)backend_of(kind) + member);
    return has;
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

/* Continuing a file requires a file that can be read again. */
static bool check_files(const struct command_line *line)
{
    struct options *options = line->options;
    const enum option_id id = line->given[OPTION_RESUME] ? OPTION_RESUME : OPTION_APPEND;
    if (options->progress == PROGRESS_ALWAYS &&
        !not_both(line, OPTION_PROGRESS, OPTION_QUIET, "one asks for notes, the other for none"))
        return false;
    if (options->output.samples_path && options->output.path &&
        strcmp(options->output.samples_path, options->output.path) == 0) {
        complain("--samples-file=%s is also the file of --output; samples need a file of their own",
                 options->output.samples_path);
        return false;
    }
    if (!line->given[id])
        return true;
    options->output.opening = id == OPTION_RESUME ? FILE_RESUME : FILE_APPEND;
    if (!options->output.path) {
        complain("--%s needs a file to add to; add --output=FILE", option_rows[id].name);
        return false;
    }
    if (!not_both(line, id, OPTION_JUNIT, "its verdicts are those of a whole run"))
        return false;
    if (is_csv(options->output.format))
        return true;
    return not_both(line, id, OPTION_FORMAT, "only a CSV file can be added to") &&
           not_both(line, id, OPTION_CHECK, "only a CSV file can be added to; add --format=csv");
}

/* Complains and returns false if devices share arrays, by --gpus or as several processes. */
static bool not_shared(const struct command_line *line, enum option_id id, const char *why)
{
    char text[FLAG_TEXT_BYTES];
    if (!line->given[id] || processes.count == 1)
        return not_both(line, OPTION_GPUS, id, why);
    complain("%s contradicts several processes: %s", as_given(line, id, text), why);
    return false;
}

/* Devices that share arrays are counted from one of them on. */
static bool check_first_device(const struct command_line *line)
{
    const struct options *options = line->options;
    for (size_t i = 0; i < options->device_count; i++)
        for (size_t j = 0; j < i; j++)
            if (options->devices[i].kind == options->devices[j].kind &&
                options->devices[i].index != options->devices[j].index &&
                !not_shared(line, OPTION_DEVICE, "name only the GPU to begin with"))
                return false;
    return true;
}

/* What is not measured of several devices. */
static bool check_gpus(const struct command_line *line)
{
    static const char alone[] = "launches, copies and energy are measured on single devices only";
    return not_shared(line, OPTION_KERNELS, alone) && not_shared(line, OPTION_COUNTS, alone) &&
           not_shared(line, OPTION_COPIES, alone) && not_shared(line, OPTION_ENERGY, alone) &&
           not_shared(line, OPTION_SHOW, "it shows an array on one device") &&
           (line->options->scratch != SCRATCH_FRESH ||
            not_shared(line, OPTION_SCRATCH,
                       "devices that store in each other's scratch set it up once")) &&
           check_first_device(line);
}

/* Flags that only a GPU supports, or that only make sense with another flag. */
static bool check_extras(const struct command_line *line)
{
    const struct options *options = line->options;
    if (line->given[OPTION_PINNED] && !line->given[OPTION_COPIES]) {
        complain("--pinned says how --copies copies; add --copies or leave it out");
        return false;
    }
    if (line->given[OPTION_FAIL_SLOWER] && !line->given[OPTION_BASELINE]) {
        complain("--fail-slower needs something to compare with; add --baseline=FILE");
        return false;
    }
    if (!check_gpus(line))
        return false;
    if (line->given[OPTION_CHECK] &&
        !not_shared(line, OPTION_CHECK, "it checks arrays that one device has as a whole"))
        return false;
    if (any_device_has(options, offsetof(struct backend, has_blocks)))
        return true;
    return not_both(line, OPTION_GPUS, OPTION_DEVICE,
                    "for several CPUs, start a process on each: mpirun -np 2 scanbench ...") &&
           not_both(line, OPTION_KERNELS, OPTION_DEVICE,
                    "only a GPU and the emulator launch kernels") &&
           not_both(line, OPTION_COUNTS, OPTION_DEVICE, "only kernels are counted") &&
           not_both(line, OPTION_COPIES, OPTION_DEVICE,
                    "the CPU's data is in host memory already") &&
           not_both(line, OPTION_ENERGY, OPTION_DEVICE, "only a GPU measures its energy");
}

/* A trace is of the emulator, which it chooses where no device is given, and small enough to draw.
 */
static bool check_trace(const struct command_line *line)
{
    static const char one_run[] = "a trace is of one run in the emulator";
    struct options *options = line->options;
    if (!line->given[OPTION_TRACE])
        return true;
    if (!not_shared(line, OPTION_TRACE, one_run) ||
        !not_both(line, OPTION_TRACE, OPTION_CHECK, "it looks for defects, at many sizes") ||
        !not_both(line, OPTION_TRACE, OPTION_RESUME, "rows that the file has are not run again"))
        return false;
    for (size_t d = 0; d < options->device_count; d++)
        if (options->devices[d].kind != DEVICE_EMULATOR)
            return not_both(line, OPTION_TRACE, OPTION_DEVICE, one_run);
    if (options->device_count == 0)
        options->devices[options->device_count++] = (struct device_choice){.kind = DEVICE_EMULATOR};
    for (size_t i = 0; i < options->sizes.count; i++)
        if (!line->given[OPTION_N] || options->sizes.n[i] > MOST_TRACED_ELEMENTS) {
            complain("--trace draws up to %d elements; add --n=16, or another such size",
                     MOST_TRACED_ELEMENTS);
            return false;
        }
    return true;
}

/* A list is of all operations unless one is given. */
static void widen_list(const struct command_line *line)
{
    for (int op = 0; op < OPERATION_COUNT; op++)
        if (line->given[OPTION_LIST] && !line->given[OPTION_OP])
            line->options->operations[op] = true;
}

/* --check of files of the user's may go on in another process. */
static bool prepare_to_check(const struct command_line *line)
{
    const struct options *options = line->options;
    bool any = false, emulated = false;
    for (size_t i = 0; i < options->algo_word_count; i++)
        any |= is_own_file(options->algo_words[i]);
    for (size_t d = 0; d < options->device_count; d++)
        emulated |= options->devices[d].kind == DEVICE_EMULATOR;
    if (options->check.wanted && any && emulated && options->action == ACTION_RUN)
        load_sanitizer(options->quiet);
    return true;
}

/* Files of the user's are loaded before the words of --algo are looked at, which may name their
 * rows. Without --device they are for the GPU, where there is one. */
static bool load_files(const struct command_line *line)
{
    const struct options *options = line->options;
    bool wanted[DEVICE_KIND_COUNT] = {false};
    bool any = false;
    for (size_t i = 0; i < options->algo_word_count; i++)
        any |= is_own_file(options->algo_words[i]);
    if (!any)
        return true;
    for (size_t d = 0; d < options->device_count; d++)
        wanted[options->devices[d].kind] = true;
    if (options->device_count == 0)
        wanted[look_at_machine().gpu_count > 0 ? DEVICE_GPU : DEVICE_EMULATOR] = true;
    return load_own_files(options->algo_words, options->algo_word_count, options->compile_flags,
                          wanted);
}

bool follow_option_rules(const struct command_line *line)
{
    widen_list(line);
    choose_axes_to_check(line);
    return choose_action(line) && choose_kinds(line) && check_sampling(line) && check_data(line) &&
           check_extras(line) && check_files(line) && check_trace(line) && prepare_to_check(line);
}

bool choose_algorithms(const struct command_line *line)
{
    if (!load_files(line))
        return false;
    choose_problems_to_check(line);
    return check_operations(line) && check_algorithms(line) && choose_rows(line) &&
           check_engines(line) && check_shape(line);
}
