/* csv_format: CSV (RFC 4180, with LF line ends). */
#include "format.h"

#include <string.h>

void write_csv_field(FILE *file, const char *text)
{
    if (strpbrk(text, ",\"\n\r") == NULL) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

void begin_csv(const struct written_rows *rows, FILE *out)
{
    for (size_t c = 0; c < rows->columns.count; c++)
        fprintf(out, "%s%s", c > 0 ? "," : "", rows->columns.column[c]->name);
    fputc('\n', out);
}

void write_csv_row(const struct written_rows *rows, const struct row *row, FILE *out)
{
    for (size_t c = 0; c < rows->columns.count; c++) {
        char text[FIELD_BYTES];
        column_text(rows->columns.column[c], row, text, sizeof text);
        if (c > 0)
            fputc(',', out);
        write_csv_field(out, text);
    }
    fputc('\n', out);
}
