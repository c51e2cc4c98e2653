/* option_rules: what flags mean and allow together, whatever algorithms they select. */
#include "option_rules.h"

#include "../base/errors.h"
#include "../base/processes.h"
#include "../base/text.h"
#include "../device/backends.h"
#include "../device/operators.h"
#include "../operations.h"
#include "../own/own.h"
#include "../own/preload.h"
#include "../rows/format.h"
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

const enum option_id measures[MEASURE_COUNT] = {OPTION_KERNELS, OPTION_COUNTS, OPTION_COPIES,
                                                OPTION_ENERGY};

const char *as_given(const struct command_line *line, enum option_id id, char text[FLAG_TEXT_BYTES])
{
    char copy[SHORT_TEXT_BYTES];
    const char *value = line->given[id] ? line->given[id] : "";
    snprintf(text, FLAG_TEXT_BYTES, "--%s%s%s", option_rows[id].name, *value ? "=" : "",
             shorten(value, copy));
    return text;
}

bool not_both(const struct command_line *line, enum option_id a, enum option_id b, const char *why)
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

bool device_chosen(const struct options *options, enum device_kind kind)
{
    for (size_t i = 0; i < options->device_count; i++)
        if (options->devices[i].kind == kind)
            return true;
    return options->device_count == 0;
}

bool any_device_has(const struct options *options, size_t member)
{
    bool has = false;
    for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++)
        has |= device_chosen(options, kind) && *((const bool *)backend_of(kind) + member);
    return has;
}

bool names_own_file(const struct options *options)
{
    bool any = false;
    for (size_t i = 0; i < options->algo_word_count; i++)
        any |= is_own_file(options->algo_words[i]);
    return any;
}

static bool check_sampling(const struct command_line *line)
{
    static const enum option_id inexact[] = {OPTION_MAX_NOISE, OPTION_MIN_TIME, OPTION_MAX_TIME};
    struct sampling *sampling = &line->options->sampling;
    for (size_t i = 0; i < sizeof inexact / sizeof *inexact; i++)
        if (!not_both(line, OPTION_SAMPLES, inexact[i],
                      "it fixes the number of samples; leave one of the two out"))
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
    const struct operation_facts *first = NULL;
    char owners[LIST_BYTES] = "", text[FLAG_TEXT_BYTES];
    if (!line->given[id])
        return false;
    for (int op = 0; op < OPERATION_COUNT; op++) {
        if (!operation_has(op, property))
            continue;
        if (line->options->operations[op])
            return false;
        append_text(owners, sizeof owners, "%s%s", *owners ? " and " : "",
                    operation_facts(op)->title);
        first = first ? first : operation_facts(op);
    }
    complain("%s belongs to %s; add --op=%s or leave it out", as_given(line, id, text), owners,
             first->name);
    return true;
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
            append_text(owners, sizeof owners, "%s%s", comma_after(owners), operation_name(op));
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

/* An operator skips the types that it does not take. A type that is left out of every chosen
 * operation is an error. */
static bool check_types(const struct command_line *line)
{
    const struct options *options = line->options;
    for (int type = 0; type < TYPE_COUNT; type++) {
        bool taken = !options->types[type];
        for (int op = 0; op < OPERATION_COUNT && !taken; op++)
            taken = options->operations[op] &&
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
    static const struct {
        enum option_id id;
        enum operation_property property;
    } owners[] = {
        {OPTION_KEEP, HAS_KEEP},         {OPTION_VALUES, HAS_VALUES},
        {OPTION_OPERATOR, HAS_OPERATOR}, {OPTION_SEGMENTS, HAS_SEGMENTS},
        {OPTION_KIND, HAS_KIND},         {OPTION_EXCLUSIVE, HAS_KIND},
        {OPTION_INCLUSIVE, HAS_KIND},
    };
    if (!check_maxima(line->options))
        return false;
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++)
        if (belongs_elsewhere(line, owners[i].id, owners[i].property))
            return false;
    return check_operators(line) && check_types(line);
}

/* Without --format, the name of the file says which it has. */
static void choose_format(struct output_spec *output)
{
    const size_t length = output->path != NULL ? strlen(output->path) : 0;
    for (int f = 0; f < FORMAT_COUNT && output->format == FORMAT_AUTO; f++) {
        const char *ending = row_formats[f].ending;
        if (ending != NULL && length > strlen(ending) &&
            strcmp(output->path + length - strlen(ending), ending) == 0)
            output->format = (enum format)f;
    }
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
    if (!not_both(line, OPTION_APPEND, OPTION_RESUME,
                  "one adds every row, the other those that are missing"))
        return false;
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
           not_both(line, id, OPTION_CHECK, "only a CSV file can be added to; add --format=csv") &&
           not_both(line, id, OPTION_OUTPUT, "only a CSV file can be added to; add --format=csv");
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

/* What does not work on several devices. */
static bool check_gpus(const struct command_line *line)
{
    for (size_t i = 0; i < MEASURE_COUNT; i++)
        if (!not_shared(line, measures[i],
                        "launches, copies and energy are measured on single devices only"))
            return false;
    return not_shared(line, OPTION_SHOW, "it shows an array on one device") &&
           (line->options->scratch != SCRATCH_FRESH ||
            not_shared(line, OPTION_SCRATCH,
                       "devices that store in each other's scratch set it up once")) &&
           check_first_device(line) &&
           not_shared(line, OPTION_CHECK, "it checks arrays that one device has as a whole");
}

/* What needs a GPU or the emulator. */
static bool check_cpu(const struct command_line *line)
{
    static const struct {
        enum option_id id;
        const char *why;
    } rules[] = {
        {OPTION_GPUS, "for several CPUs, start a process on each: mpirun -np 2 scanbench ..."},
        {OPTION_KERNELS, "only a GPU and the emulator launch kernels"},
        {OPTION_COUNTS, "only kernels are counted"},
        {OPTION_COPIES, "the CPU's data is in host memory already"},
        {OPTION_ENERGY, "only a GPU measures its energy"},
    };
    if (any_device_has(line->options, offsetof(struct backend, has_blocks)))
        return true;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!not_both(line, rules[i].id, OPTION_DEVICE, rules[i].why))
            return false;
    return true;
}

/* Flags that only make sense with another flag, or on some devices. */
static bool check_extras(const struct command_line *line)
{
    if (line->given[OPTION_PINNED] && !line->given[OPTION_COPIES]) {
        complain("--pinned says how --copies copies; add --copies or leave it out");
        return false;
    }
    if (line->given[OPTION_FAIL_SLOWER] && !line->given[OPTION_BASELINE]) {
        complain("--fail-slower needs something to compare with; add --baseline=FILE");
        return false;
    }
    return check_gpus(line) && check_cpu(line);
}

/* Verdicts have none of the values that these flags ask for. */
static bool check_verdicts(const struct command_line *line)
{
    for (size_t i = 0; i < MEASURE_COUNT; i++)
        if (line->options->output.format == FORMAT_VERDICTS &&
            !not_both(line, OPTION_CHECK, measures[i],
                      "its verdicts have no measures; add --format=csv"))
            return false;
    return true;
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
void prepare_to_check(const struct options *options)
{
    bool emulated = false;
    for (size_t d = 0; d < options->device_count; d++)
        emulated |= options->devices[d].kind == DEVICE_EMULATOR;
    if (options->check.wanted && names_own_file(options) && emulated &&
        options->action == ACTION_RUN)
        load_sanitizer(options->quiet);
}

bool follow_option_rules(const struct command_line *line)
{
    widen_list(line);
    choose_format(&line->options->output);
    choose_axes_to_check(line);
    return choose_action(line) && choose_kinds(line) && check_sampling(line) && check_data(line) &&
           check_extras(line) && check_files(line) && check_trace(line) && check_verdicts(line);
}
