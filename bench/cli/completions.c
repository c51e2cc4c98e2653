/* completions: generates completions of shells from the table of options. */
#include "completions.h"

#include "../registry.h"
#include "../rows/columns.h"
#include "option_table.h"

#include <string.h>

/* Calls `take` with every word that the flag's value, or an item of it, can be. */
static void for_each_word(const struct option_row *row, void (*take)(FILE *, const char *),
                          FILE *out)
{
    for (int i = 0; i < row->word_count; i++)
        take(out, row->word(i));
    if (row == &option_rows[OPTION_COLUMNS])
        take(out, BASIC_COLUMNS);
    if (row == &option_rows[OPTION_COLUMNS])
        for (size_t i = 0; i < COLUMN_COUNT; i++)
            take(out, columns[i].name);
    if (row != &option_rows[OPTION_ALGO])
        return;
    for (size_t i = 0; registry_group(i) != NULL; i++)
        take(out, registry_group(i));
    for (size_t i = 0; i < table_row_count(); i++) {
        bool again = false; /* an earlier operation has the same name */
        for (size_t j = 0; j < i; j++)
            again = again || strcmp(table_row(i)->name, table_row(j)->name) == 0;
        if (!again)
            take(out, table_row(i)->name);
    }
}

static bool has_words(const struct option_row *row)
{
    return row->word_count > 0 || row == &option_rows[OPTION_COLUMNS] ||
           row == &option_rows[OPTION_ALGO];
}

static bool takes(const struct option_row *row, const char *argument)
{
    return row->argument != NULL && strcmp(row->argument, argument) == 0;
}

static void put_word(FILE *out, const char *word)
{
    fprintf(out, " %s", word);
}

/* What comes after a flag with a value: `--op | -o) words='scan compact' ;;`. */
static void print_bash_case(FILE *out, const struct option_row *row)
{
    fprintf(out, "    --%s", row->name);
    if (row->letter)
        fprintf(out, " | -%c", row->letter);
    if (takes(row, "FILE")) {
        fputs(")\n        compopt -o filenames\n"
              "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n        return ;;\n",
              out);
    } else if (has_words(row)) {
        fputs(") words='", out);
        for_each_word(row, put_word, out);
        fputs("' ;;\n", out);
    } else {
        fputs(") return ;;\n", out);
    }
}

void print_bash(FILE *out)
{
    fputs("# bash completion of scanbench, by scanbench --generate=bash\n"
          "_scanbench()\n"
          "{\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD - 1]} words= "
          "before=\n"
          "    # The shell cuts --op=scan into three words.\n"
          "    if [ \"$word\" = = ]; then\n"
          "        word=\n"
          "    elif [ \"$flag\" = = ]; then\n"
          "        flag=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    fi\n"
          "    COMPREPLY=()\n"
          "    case $flag in\n",
          out);
    for (int id = 0; id < OPTION_COUNT; id++)
        if (option_rows[id].argument != NULL && !option_rows[id].argument_optional)
            print_bash_case(out, &option_rows[id]);
    fputs("    *)\n        compopt -o nospace\n        mapfile -t COMPREPLY < <(compgen -W '", out);
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct option_row *row = &option_rows[id];
        /* No space after a flag that expects a value, a space after all others. */
        fprintf(out, " --%s%s", row->name,
                row->argument == NULL || row->argument_optional ? "" : "=");
    }
    fputs("' -- \"$word\")\n"
          "        [[ ${COMPREPLY[0]} == *= ]] || compopt +o nospace\n"
          "        return ;;\n"
          "    esac\n"
          "    case $word in *,*)\n"
          "        before=${word%,*},\n"
          "        word=${word##*,} ;;\n"
          "    esac\n"
          "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -P \"$before\" -- \"$word\")\n"
          "}\n"
          "complete -F _scanbench scanbench\n",
          out);
}

/* Prints text for single quotes, with a backslash before each character of `escaped`. */
static void print_quoted(FILE *out, const char *text, const char *escaped)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\'", out);
        else if (strchr(escaped, *text))
            fputc('\\', out);
        fputc(*text, out);
    }
}

void print_zsh(FILE *out)
{
    fputs("#compdef scanbench\n# zsh completion of scanbench, by scanbench "
          "--generate=zsh\n_arguments -s",
          out);
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct option_row *row = &option_rows[id];
        const char *joint = row->argument == NULL ? "" : row->argument_optional ? "=-" : "=";
        fputs(" \\\n    ", out);
        if (row->letter)
            fprintf(out, "'(-%c --%s)'{-%c%s,--%s%s}'[", row->letter, row->name, row->letter,
                    row->argument ? "+" : "", row->name, joint);
        else
            fprintf(out, "'--%s%s[", row->name, joint);
        print_quoted(out, row->help, "[]:\\");
        fputc(']', out);
        if (row->argument != NULL) {
            fprintf(out, "%s%s:", row->argument_optional ? "::" : ":", row->argument);
            if (takes(row, "FILE"))
                fputs("_files", out);
            else if (has_words(row)) {
                fprintf(out, "_values -s , %s", row->name);
                for_each_word(row, put_word, out);
            }
        }
        fputc('\'', out);
    }
    fputc('\n', out);
}

void print_fish(FILE *out)
{
    fputs(
        "# fish completion of scanbench, by scanbench --generate=fish\ncomplete -c scanbench -f\n",
        out);
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct option_row *row = &option_rows[id];
        fprintf(out, "complete -c scanbench -l %s", row->name);
        if (row->letter)
            fprintf(out, " -s %c", row->letter);
        fputs(" -d '", out);
        print_quoted(out, row->help, "\\");
        fputc('\'', out);
        if (takes(row, "FILE"))
            fputs(" -r -F", out);
        else if (row->argument != NULL && !row->argument_optional)
            fputs(" -x", out);
        if (has_words(row)) {
            fputs(" -a '(__fish_append ,", out);
            for_each_word(row, put_word, out);
            fputs(")'", out);
        }
        fputc('\n', out);
    }
}
