/* parse_options: reads the command line with the table of options. */
#include "parse_options.h"

#include "../base/errors.h"
#include "../names.h"
#include "../base/nearest.h"
#include "../own/own.h"
#include "../base/processes.h"
#include "choose_algorithms.h"
#include "common_flags.h"
#include "option_rules.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* getopt_long's values for long flags, above every letter. */
enum { FIRST_LONG = 256 };

static void set_defaults(struct options *options)
{
    *options = (struct options){
        .action = ACTION_RUN,
        .operations = {[OP_SCAN] = true},
        .types = {[TYPE_I32] = true},
        .operators = {[OPERATOR_SUM] = true},
        .kinds = {[KIND_EXCLUSIVE] = true},
        .segments = {{.text = "none"}},
        .segments_count = 1,
        .values = {[VALUES_NONE] = true},
        .cache = {[CACHE_COLD] = true},
        .simd = {[SIMD_AUTO] = true},
        .blocks = {0},
        .block_count = 1,
        .threads = {0},
        .thread_count = 1,
        .inputs = {[INPUT_UNIFORM] = true},
        .keeps = {{0.75, "0.75"}},
        .keep_count = 1,
        .seed = 1,
        .sampling = {.warmup = 1, .max_noise_pct = 0.5, .max_time_ms = 1000},
        .output = {.format = FORMAT_AUTO, .fail_slower_pct = NAN},
    };
    for (int e = 0; e < ENGINE_COUNT; e++)
        options->engines[e] = true;
    if (parse_sizes("2^20", &options->sizes) || parse_sizes("2^12", &options->simulated_sizes))
        BUG("the default size is not a size");
}

void free_options(struct options *options)
{
    for (size_t i = 0; i < options->algo_word_count; i++)
        free((char *)options->algo_words[i]);
    free(options->algo_words);
    free(options->chosen);
    free(options->label);
    free(options->environment_flags);
    free(options->arguments);
    free(options->flags);
    free(options->sizes.n);
    free(options->simulated_sizes.n);
    free(options->check.few.n);
    *options = (struct options){0};
}

/* ---- What getopt_long finds wrong ---- */

/* The row for getopt_long's return value or optopt; NULL: none. */
static const struct option_row *row_of(int code)
{
    if (code >= FIRST_LONG && code < FIRST_LONG + OPTION_COUNT)
        return &option_rows[code - FIRST_LONG];
    for (int id = 0; id < OPTION_COUNT; id++)
        if (code != 0 && option_rows[id].letter == code)
            return &option_rows[id];
    return NULL;
}

/* Lists the flags that begin with `start`, as "--max or --max-time"; returns how many. */
static int list_completions(const char *start, char all[LIST_BYTES])
{
    int count = 0;
    all[0] = '\0';
    for (int id = 0; id < OPTION_COUNT; id++) {
        const char *name = option_rows[id].name;
        if (strncmp(name, start, strlen(start)) != 0)
            continue;
        size_t used = strlen(all);
        snprintf(all + used, LIST_BYTES - used, "%s--%s", count ? " or " : "", name);
        count++;
    }
    return count;
}

/* What other programs call it. */
static const struct {
    const char *typed, *meant;
} other_names[] = {
    {"size", "n"},
    {"sizes", "n"},
    {"length", "n"},
    {"count", "n"},
    {"elements", "n"},
    {"num-elements", "n"},
    {"algorithm", "algo"},
    {"algorithms", "algo"},
    {"operation", "op"},
    {"dtype", "type"},
    {"block-size", "block"},
    {"iterations", "samples"},
    {"repetitions", "samples"},
    {"repeat", "samples"},
    {"runs", "samples"},
    {"trials", "samples"},
    {"file", "output"},
    {"csv", "format=csv"},
    {"json", "format=json"},
    {"jsonl", "format=jsonl"},
    {"table", "format=table"},
    {"markdown", "format=markdown"},
    {"md", "format=markdown"},
    {"cpu", "device=cpu"},
    {"emulator", "device=emulator"},
    {"cold", "cache=cold"},
    {"hot", "cache=hot"},
    {"usage", "help"},
};

static const char *by_another_name(const char *name)
{
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (strcmp(name, other_names[i].typed) == 0)
            return other_names[i].meant;
    return NULL;
}

/* `text` is the whole argument: --blok=64. */
static void complain_of_long_flag(const char *text)
{
    char name[SHORT_TEXT_BYTES];
    shorten(text + 2, name);
    name[strcspn(name, "=")] = '\0';
    const char *meant = by_another_name(name);
    if (meant != NULL && strncmp(meant, "format=", 7) == 0 && strchr(text, '=') != NULL) {
        complain("unknown flag --%s; did you mean --output%s?", name, strchr(text, '='));
        return;
    }
    if (meant != NULL) {
        complain("unknown flag --%s; did you mean --%s?", name, meant);
        return;
    }
    char completions[LIST_BYTES];
    if (name[0] && list_completions(name, completions) > 1) {
        complain("ambiguous flag --%s; it could be %s", name, completions);
        return;
    }
    const char *names[OPTION_COUNT];
    for (int id = 0; id < OPTION_COUNT; id++)
        names[id] = option_rows[id].name;
    const char *nearest = nearest_match(name, names, OPTION_COUNT);
    if (is_near(name, nearest))
        complain("unknown flag --%s; did you mean --%s?", name, nearest);
    else
        complain("unknown flag --%s (--help shows all)", name);
}

static void complain_of_flag(char **argv, const struct command_line *line)
{
    const struct option_row *row = row_of(optopt);
    char copy[SHORT_TEXT_BYTES];
    const char *text = shorten(argv[optind - 1], copy);
    if (row)
        complain("--%s takes no value, but one is given: %s", row->name, text);
    else if (optopt == 0)
        complain_of_long_flag(argv[optind - 1]);
    else if (line->given[OPTION_NPOT] && optopt == '3')
        complain("unknown flag -3; the rule is joined to its flag: --npot=-3");
    else
        complain("unknown flag -%c (--help shows all)", optopt);
}

/* Is it a flag without its dashes: help, or n=1000? */
static bool lacks_dashes(const char *text)
{
    const size_t length = strcspn(text, "=");
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct option_row *row = &option_rows[id];
        if (strlen(row->name) == length && strncmp(text, row->name, length) == 0)
            return text[length] == '=' ? row->argument != NULL : row->argument == NULL;
    }
    return false;
}

/* joined: the last flag that was given without the value that it may have; NULL: none. */
static void complain_of_positional(const struct option_row *joined, const char *text)
{
    char copy[SHORT_TEXT_BYTES];
    const char *start = shorten(text, copy);
    const char *flag = NULL;
    struct size_list sizes = {0};
    if (lacks_dashes(text)) {
        complain("unexpected argument \"%s\"; did you mean --%s?", start, start);
        return;
    }
    if (operation_named(text) != OPERATION_COUNT)
        flag = "op";
    else if (registry_knows(text) || (is_own_file(text) && (!joined || access(text, F_OK) == 0)))
        flag = "algo";
    else if (!parse_sizes(text, &sizes))
        flag = "n";
    free(sizes.n);
    if (flag)
        complain("unexpected argument \"%s\"; did you mean --%s=%s? (lists are joined by commas)",
                 start, flag, start);
    else if (joined != NULL)
        complain("unexpected argument \"%s\"; a value of --%s is joined to it: --%s=%s", start,
                 joined->name, joined->name, start);
    else
        complain("unexpected argument \"%s\"; every value belongs to a flag (--help shows all)",
                 start);
}

/* ---- Reading, flag by flag ---- */

/* The table in the form that getopt_long takes. */
struct getopt_form {
    struct option longs[OPTION_COUNT + 1];
    char shorts[3 * OPTION_COUNT + 2];
};

static void make_getopt_form(struct getopt_form *form)
{
    *form = (struct getopt_form){0};
    char *end = form->shorts;
    *end++ = ':'; /* getopt_long then reports missing values separately */
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct option_row *row = &option_rows[id];
        int has_arg = !row->argument           ? no_argument
                      : row->argument_optional ? optional_argument
                                               : required_argument;
        form->longs[id] =
            (struct option){.name = row->name, .has_arg = has_arg, .val = FIRST_LONG + id};
        if (row->letter)
            *end++ = row->letter;
        for (int colons = 0; row->letter && colons < has_arg; colons++)
            *end++ = ':';
    }
}

static void record_flag(struct options *options, const struct option_row *row, const char *value)
{
    APPEND(options->flags, options->flag_count,
           (struct given_flag){.name = row->name, .value = value, .writes_file = row->writes_file});
}

/* Takes one flag that getopt_long recognised. */
static bool take_flag(struct command_line *line, const struct option_row *row, const char *value,
                      bool joined)
{
    /* In "--algo --n=5" and "--algo -q", the second flag is not the value of the first. The flags
     * of a compiler begin with one dash, too. */
    const bool is_letter = value && value[0] == '-' && value[1] != '\0' && value[2] == '\0' &&
                           row_of(value[1]) != NULL && row != &option_rows[OPTION_COMPILE_FLAGS];
    const bool is_flag = is_letter || (value && value[0] == '-' && value[1] == '-');
    if (is_flag && !joined) {
        char copy[SHORT_TEXT_BYTES];
        complain("--%s needs a value, --%s=%s, but %s follows it", row->name, row->name,
                 row->argument, shorten(value, copy));
        return false;
    }
    const char *text = value ? value : "";
    const char *wrong = NULL;
    line->row = row;
    if (value && !*value && row->argument_optional)
        wrong = "has no value after the =";
    else if (row->parse)
        wrong = row->parse(line, text);
    if (wrong) {
        char copy[SHORT_TEXT_BYTES];
        complain("--%s=%s%s %s", row->name, shorten(text, copy), *wrong == '"' ? ":" : "", wrong);
        return false;
    }
    line->given[row - option_rows] = text;
    record_flag(line->options, row, value);
    return true;
}

/* Reads up to the end, or up to --help or --version. */
static bool read_flags(int argc, char **argv, struct command_line *line)
{
    struct getopt_form form;
    const struct option_row *without_value = NULL;
    make_getopt_form(&form);
    optind = 0; /* restarts getopt_long for another command line */
    opterr = 0;
    int code;
    while ((code = getopt_long(argc, argv, form.shorts, form.longs, NULL)) != -1) {
        if (code == '?') {
            complain_of_flag(argv, line);
            return false;
        }
        const struct option_row *row = row_of(code == ':' ? optopt : code);
        if (!row)
            BUG("getopt_long returned %d", code);
        if (code == ':') {
            complain("--%s needs a value: --%s=%s", row->name, row->name, row->argument);
            return false;
        }
        bool joined = optarg && optarg != argv[optind - 1];
        if (!take_flag(line, row, optarg, joined))
            return false;
        if (row->argument_optional)
            without_value = optarg ? NULL : row;
        if (line->given[OPTION_HELP] || line->given[OPTION_VERSION])
            return true;
    }
    if (optind < argc) {
        complain_of_positional(without_value, argv[optind]);
        return false;
    }
    return true;
}

/* ---- SCANBENCH_FLAGS ---- */

/* Makes options->arguments: the program's name, the words of SCANBENCH_FLAGS, and the command
 * line. Returns how many there are. */
static int join_arguments(int argc, char **argv, struct options *options)
{
    const char *text = getenv("SCANBENCH_FLAGS");
    const size_t bytes = text != NULL ? strlen(text) + 1 : 1;
    int count = 1;
    options->environment_flags = copy_text(text);
    /* A word and a blank are two characters. */
    options->arguments =
        allocate_or_die(NULL, (bytes / 2 + (size_t)argc + 2) * sizeof *options->arguments);
    options->arguments[0] = argv[0];
    for (char *rest, *word = strtok_r(options->environment_flags, " \t\n", &rest); word != NULL;
         word = strtok_r(NULL, " \t\n", &rest))
        options->arguments[count++] = word;
    for (int a = 1; a < argc; a++)
        options->arguments[count++] = argv[a];
    options->arguments[count] = NULL;
    return count;
}

/* Tells the output what the other flags say, and which columns rows need that usual ones lack. */
static void fill_output_spec(struct options *options)
{
    options->output.quiet = options->quiet;
    options->output.strict = options->strict;
    options->output.launches = options->kernels;
    options->output.counts = options->counts;
    options->output.copies = options->copies;
    options->output.program = options->arguments[0];
    options->output.arguments = options->arguments + 1;
    options->output.flags = options->flags;
    options->output.flag_count = options->flag_count;
    bool *needs = options->output.needs;
    needs[COLUMN_host_memory] = options->copies;
    needs[COLUMN_scratch] = options->scratch == SCRATCH_FRESH;
    needs[COLUMN_gpus] = needs[COLUMN_ranks] = needs[COLUMN_engine] = has_teams(options);
    needs[COLUMN_clocks] = options->lock_clocks;
    for (int id = 0; id < OPERATOR_COUNT; id++)
        needs[COLUMN_operator] |= id != OPERATOR_SUM && options->operators[id];
    for (size_t s = 0; s < options->segments_count; s++)
        needs[COLUMN_segments] |= options->segments[s].value.form != SEGMENTS_NONE;
    needs[COLUMN_line] = options->counts == COUNTS_BY_LINE;
    needs[COLUMN_values] = options->values[VALUES_U32] || options->values[VALUES_U64];
}

/* Reads the flags, and fills what they say alone. */
static int read_command_line(int argc, char **argv, struct command_line *line)
{
    struct options *options = line->options;
    set_defaults(options);
    argc = join_arguments(argc, argv, options);
    if (!read_flags(argc, options->arguments, line))
        return EXIT_USAGE;
    if (line->given[OPTION_HELP] || line->given[OPTION_VERSION]) {
        options->action = line->given[OPTION_HELP] ? ACTION_HELP : ACTION_VERSION;
        return EXIT_OK;
    }
    if (!follow_option_rules(line))
        return EXIT_USAGE;
    prepare_to_check(options);
    options->input_given = line->given[OPTION_INPUT];
    fill_output_spec(options);
    if (line->given[OPTION_NPOT]) {
        add_npot_partners(&options->sizes, line->npot_rule, !line->given[OPTION_POT]);
        add_npot_partners(&options->simulated_sizes, line->npot_rule, !line->given[OPTION_POT]);
    }
    return EXIT_OK;
}

static int find_algorithms(const struct command_line *line)
{
    const enum action action = line->options->action;
    return action == ACTION_HELP || action == ACTION_VERSION || choose_algorithms(line)
               ? EXIT_OK
               : EXIT_USAGE;
}

/* ---- Both steps ---- */

/* A complaint names the flags of the environment, which nobody sees on the command line. Between
 * these calls it is kept in `complaint`, if there are such flags. */
static const char *begin_with_environment(char complaint[COMPLAINT_BYTES])
{
    const char *environment = getenv("SCANBENCH_FLAGS");
    if (environment == NULL || environment[0] == '\0')
        return NULL;
    keep_complaint(complaint);
    return environment;
}

static void end_with_environment(const char *environment, const char *complaint)
{
    char flags[SHORT_TEXT_BYTES];
    if (environment == NULL)
        return;
    keep_complaint(NULL);
    if (complaint[0] != '\0')
        complain("%s (with SCANBENCH_FLAGS=\"%s\")", complaint, shorten(environment, flags));
}

int read_options(int argc, char **argv, struct command_line *line)
{
    char complaint[COMPLAINT_BYTES];
    const char *environment = begin_with_environment(complaint);
    const int code = read_command_line(argc, argv, line);
    end_with_environment(environment, complaint);
    if (code != EXIT_OK)
        free_options(line->options);
    return code;
}

int complete_options(const struct command_line *line)
{
    char complaint[COMPLAINT_BYTES];
    const char *environment = begin_with_environment(complaint);
    const int code = find_algorithms(line);
    end_with_environment(environment, complaint);
    return code;
}

/* All processes have the same flags, or none goes on. */
static int read_common_options(int argc, char **argv, struct command_line *line)
{
    char complaint[COMPLAINT_BYTES];
    keep_complaint(complaint);
    int code = read_command_line(argc, argv, line);
    if (code == EXIT_OK)
        code = find_algorithms(line);
    keep_complaint(NULL);
    if (agree_on_flags(line, code, complaint))
        return code;
    free_options(line->options);
    return EXIT_USAGE;
}

int parse_options(int argc, char **argv, struct options *options)
{
    struct command_line line = {.options = options};
    if (processes.count > 1)
        return read_common_options(argc, argv, &line);
    int code = read_options(argc, argv, &line);
    if (code == EXIT_OK && (code = complete_options(&line)) != EXIT_OK)
        free_options(options);
    return code;
}
