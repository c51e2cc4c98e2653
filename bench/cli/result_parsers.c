/* result_parsers: parses what results have, and where they go. */
#include "option_parsers.h"

#include "../base/errors.h"
#include "parsing.h"

#include <stdio.h>
#include <string.h>

enum { LABEL_BYTES = 256 };

const char *parse_counts(struct command_line *line, const char *value)
{
    int found;
    const bool given = value[0] != '\0';
    const char *wrong = given ? find_word(line->row, value, &found) : NULL;
    if (!wrong)
        line->options->counts = given ? COUNTS_BY_LINE : COUNTS_BY_RUN;
    return wrong;
}

const char *parse_format(struct command_line *line, const char *value)
{
    int found = 0;
    const char *wrong = find_word(line->row, value, &found);
    if (!wrong)
        line->options->output.format = (enum format)(found + 1);
    return wrong;
}

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
        return wrong_value(
            "makes the labels too long; together they may have at most %d characters",
            LABEL_BYTES - 1);
    options->label = allocate_or_die(options->label, LABEL_BYTES);
    snprintf(options->label + used, LABEL_BYTES - used, "%s%s", used ? "," : "", value);
    return NULL;
}
