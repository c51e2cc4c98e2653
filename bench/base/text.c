/* text: appends to text. */
#include "text.h"

#include "errors.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void append_text(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

const char *comma_after(const char *text)
{
    return text[0] != '\0' ? ", " : "";
}

void open_text(struct text *text)
{
    text->out = open_memstream(&text->bytes, &text->count);
    if (text->out == NULL)
        out_of_memory();
}

void close_text(struct text *text)
{
    if (fclose(text->out) != 0)
        out_of_memory();
}
