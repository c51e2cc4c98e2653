/* manual: generates --help and the manual page from the table of options. */
#include "manual.h"

#include "../rows/columns.h"
#include "../base/errors.h"
#include "completions.h"
#include "option_table.h"
#include "../base/terminal.h"
#include "version.h"

#include <string.h>

static const char summary[] =
    "Measures how fast prefix-sum scan and related algorithms run on this machine, by algorithm "
    "and array size, and checks every element of every result.";

static const struct {
    enum exit_code code;
    const char *meaning;
} exits[] = {
    {EXIT_OK, "success"},
    {EXIT_ERROR, "device or file error"},
    {EXIT_USAGE, "wrong usage"},
    {EXIT_WRONG_ANSWER,
     "a wrong result (with --strict: any row that did not pass; with --check: any defect)"},
    {EXIT_UNUSABLE, "a requested device cannot be used"},
    {EXIT_SLOWER, "slower than --fail-slower allows"},
    {EXIT_INTERRUPTED, "interrupted by SIGINT (Ctrl-C), SIGTERM or SIGHUP"},
};
enum { EXIT_COUNT = sizeof exits / sizeof *exits };

struct note {
    const char *term, *meaning;
};

static const struct note examples[] = {
    {"scanbench", "every algorithm that runs here"},
    {"scanbench --algo=efficient-smem --n=2^26", "one algorithm, one size"},
    {"scanbench -a 'efficient*,memcpy' -n 2^12..2^26 --pot --npot -o scan.csv",
     "a sweep, written to a CSV file"},
    {"scanbench -a naive -b 32..1024 -n 1000 -d emulator", "a GPU kernel, without a GPU"},
};
static const struct note json_notes[] = {
    {"schema_version", "1. It rises when a reader of this version would misread the object."},
    {"rows", "An array of objects, one per row, with a member per column. Counts and numbers, also "
             "max, keep and seed, are numbers; an empty field is null. With --format=jsonl each "
             "line is such an object, and there is nothing else."},
    {"context", "What the rows have in common: version, commit, compiler, host, arguments (of "
                "SCANBENCH_FLAGS and the command line) and devices, each with device, "
                "device_name, driver and cuda. It comes last."},
};
static const struct note variables[] = {
    {"SCANBENCH_FLAGS", "Flags, separated by blanks, that are read before those of the command "
                        "line, for CI."},
    {"XDG_CACHE_HOME", "Compiled files of your own are kept in its subfolder scanbench. Default: "
                       "~/.cache"},
    {"CXX, NVCC", "The compilers of files of your own, for the emulator and for a GPU."},
    {"NO_COLOR", "If it is set and not empty, no output is coloured."},
};

/* A list of notes, and how many there are. */
#define NOTES_AND_COUNT(notes) notes, sizeof(notes) / sizeof *(notes)

/* ---- --help ---- */

enum { EXAMPLE_COLUMN = 45, HELP_COLUMN = 26, HELP_WIDTH = USUAL_WIDTH };

static void print_option(FILE *out, const struct option_row *row)
{
    int column = row->letter ? fprintf(out, "  -%c, --%s", row->letter, row->name)
                             : fprintf(out, "      --%s", row->name);
    if (row->argument)
        column += fprintf(out, row->argument_optional ? "[=%s]" : "=%s", row->argument);
    print_wrapped(out, HELP_WIDTH, HELP_COLUMN, column, row->help);
}

static void print_exits(FILE *out)
{
    char text[512] = "A LIST is values separated by commas. Exit status:";
    for (int i = 0; i < EXIT_COUNT; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " %d %s%s", exits[i].code,
                 exits[i].meaning, i + 1 < EXIT_COUNT ? "," : ".");
    print_wrapped(out, HELP_WIDTH, 0, 0, text);
}

static void print_notes(FILE *out, const char *title, int column, const struct note *notes,
                        size_t count)
{
    fprintf(out, "\n%s:\n", title);
    for (size_t i = 0; i < count; i++)
        print_wrapped(out, HELP_WIDTH, column, fprintf(out, "  %s", notes[i].term),
                      notes[i].meaning);
}

void print_help(FILE *out)
{
    fputs("Usage: scanbench [FLAG]...\n\n", out);
    print_wrapped(out, HELP_WIDTH, 0, 0, summary);
    print_notes(out, "Examples", EXAMPLE_COLUMN, NOTES_AND_COUNT(examples));
    for (int group = 0; group < OPTION_GROUP_COUNT; group++) {
        fprintf(out, "\n%s:\n", option_groups[group].title);
        for (int id = 0; id < OPTION_COUNT; id++)
            if ((int)group_of_option(id) == group)
                print_option(out, &option_rows[id]);
    }
    print_notes(out, "Environment", HELP_COLUMN, NOTES_AND_COUNT(variables));
    fputc('\n', out);
    print_exits(out);
}

void print_manual(FILE *out)
{
    print_help(out);
    fputs("\nThe columns of the results, in their order:\n", out);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        print_wrapped(out, HELP_WIDTH, HELP_COLUMN, fprintf(out, "  %s", columns[i].name),
                      columns[i].meaning);
    print_notes(out, "JSON", HELP_COLUMN, NOTES_AND_COUNT(json_notes));
}

/* ---- The manual page ---- */

/* Escapes text for roff: dashes stay dashes, and no line becomes a request. */
static void print_roff(FILE *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", out);
    for (; *text; text++) {
        static const struct {
            char from;
            const char *to;
        } special[] = {
            {'-', "\\-"}, {'\\', "\\e"}, {'^', "\\(ha"}, {'\'', "\\(aq"}, {'~', "\\(ti"}};
        const char *to = NULL;
        for (size_t i = 0; i < sizeof special / sizeof *special; i++)
            if (*text == special[i].from)
                to = special[i].to;
        if (to != NULL)
            fputs(to, out);
        else
            fputc(*text, out);
    }
}

/* A paragraph with a term in bold, followed by its argument in italics. */
static void print_term(FILE *out, const char *bold, const char *joint, const char *italic)
{
    fputs(".TP\n\\fB", out);
    print_roff(out, bold);
    fputs("\\fR", out);
    if (italic != NULL)
        fprintf(out, "%s\\fI%s\\fR%s", joint, italic, *joint == '[' ? "]" : "");
    fputc('\n', out);
}

static void print_entry(FILE *out, const char *term, const char *text)
{
    print_term(out, term, "", NULL);
    print_roff(out, text);
    fputc('\n', out);
}

static void print_entries(FILE *out, const char *title, const struct note *notes, size_t count)
{
    fprintf(out, ".SH %s\n", title);
    for (size_t i = 0; i < count; i++)
        print_entry(out, notes[i].term, notes[i].meaning);
}

static void print_man_option(FILE *out, const struct option_row *row)
{
    char flags[64];
    if (row->letter)
        snprintf(flags, sizeof flags, "-%c, --%s", row->letter, row->name);
    else
        snprintf(flags, sizeof flags, "--%s", row->name);
    print_term(out, flags, row->argument_optional ? "[=" : "=", row->argument);
    print_roff(out, row->help);
    fputc('\n', out);
}

static void print_man(FILE *out)
{
    fprintf(out,
            ".TH SCANBENCH 1 \"\" \"scanbench %s\" \"User Commands\"\n"
            ".SH NAME\nscanbench \\- benchmark of prefix\\-sum scan and related algorithms\n"
            ".SH SYNOPSIS\n.B scanbench\n[\\fIFLAG\\fR]...\n.SH DESCRIPTION\n",
            SCANBENCH_VERSION);
    print_roff(out, summary);
    fputs(
        "\nEvery combination of the listed values is run and gives one row. The order of the runs "
        "is that of operations, then types, operators, kinds, values, inputs, maxima, fractions "
        "kept, segments, sizes, devices and caches, the last of which changes fastest. What "
        "differs in none of these is measured together, in turns: algorithms, block sizes and "
        "threads.\n"
        ".SH OPTIONS\n",
        out);
    for (int group = 0; group < OPTION_GROUP_COUNT; group++) {
        fputs(".SS ", out);
        print_roff(out, option_groups[group].title);
        fputc('\n', out);
        for (int id = 0; id < OPTION_COUNT; id++)
            if ((int)group_of_option(id) == group)
                print_man_option(out, &option_rows[id]);
    }
    fputs(".SH COLUMNS\nThe results have these columns, in this order:\n", out);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        print_entry(out, columns[i].name, columns[i].meaning);
    print_entries(out, "JSON", NOTES_AND_COUNT(json_notes));
    print_entries(out, "ENVIRONMENT", NOTES_AND_COUNT(variables));
    fputs(".SH EXIT STATUS\n", out);
    for (int i = 0; i < EXIT_COUNT; i++) {
        char code[16];
        snprintf(code, sizeof code, "%d", exits[i].code);
        print_entry(out, code, exits[i].meaning);
    }
    print_entries(out, "EXAMPLES", NOTES_AND_COUNT(examples));
}

void generate(enum generated what, FILE *out)
{
    static void (*const print[GENERATED_COUNT])(FILE *) = {print_man, print_bash, print_zsh,
                                                           print_fish};
    print[what](out);
}
