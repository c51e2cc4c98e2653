/* markdown_format: a Markdown table. */
#include "format.h"

#include <string.h>

void begin_markdown(const struct written_rows *rows, FILE *out)
{
    for (size_t c = 0; c < rows->columns.count; c++)
        fprintf(out, "| %s ", rows->columns.column[c]->name);
    fputs("|\n", out);
    for (size_t c = 0; c < rows->columns.count; c++)
        fputs(is_text(rows->columns.column[c]) ? "|---" : "|---:", out);
    fputs("|\n", out);
}

void write_markdown_row(const struct written_rows *rows, const struct row *row, FILE *out)
{
    for (size_t c = 0; c < rows->columns.count; c++) {
        char text[FIELD_BYTES];
        column_text(rows->columns.column[c], row, text, sizeof text);
        fputs("| ", out);
        for (const char *at = text; *at != '\0'; at++)
            fprintf(out, strchr("|\\`*_<", *at) != NULL ? "\\%c" : "%c", *at);
        fputc(' ', out);
    }
    fputs("|\n", out);
}
