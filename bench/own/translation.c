/* translation: writes the text of a translation. */
#include "translation.h"

#include "../base/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>

void refuse_translation(const struct translation *translation, size_t t, const char *what)
{
    const struct source *source = translation->source;
    struct untranslatable *why = translation->why;
    if (why->file[0] != '\0')
        return;
    snprintf(why->file, sizeof why->file, "%s", source->files[source->tokens[t].file]);
    why->line = source->tokens[t].line;
    snprintf(why->what, sizeof why->what, "%s", what);
}

void refuse_everywhere(const struct translation *translation, size_t t, const char *what)
{
    if (translation->why->file[0] != '\0')
        return;
    refuse_translation(translation, t, what);
    translation->why->is_everywhere = true;
}

char *formatted(const char *format, ...)
{
    struct text text;
    va_list arguments;
    va_start(arguments, format);
    open_text(&text);
    vfprintf(text.out, format, arguments);
    close_text(&text);
    va_end(arguments);
    return text.bytes;
}

void put_tokens(FILE *out, const struct source *source, size_t first, size_t end)
{
    for (size_t t = first; t < end; t++) {
        const struct token *token = &source->tokens[t];
        const bool apart = t > first && source->tokens[t - 1].end < token->start;
        fprintf(out, "%s%.*s", apart ? " " : "", (int)(token->end - token->start),
                source->text + token->start);
    }
}

char *joined(const struct source *source, size_t first, size_t end)
{
    struct text text;
    open_text(&text);
    put_tokens(text.out, source, first, end);
    close_text(&text);
    return text.bytes;
}

size_t leave_out(struct translation *translation, size_t first, size_t end)
{
    const struct source *source = translation->source;
    const size_t start = source->tokens[first].start, done = translation->done;
    if (start > done) /* not so in a torn text: two replacements overlap */
        fwrite(source->text + done, 1, start - done, translation->out);
    translation->done = source->tokens[end - 1].end;
    return end;
}

void put_form(FILE *out, const char *form, char *const pieces[], size_t count)
{
    for (; *form != '\0'; form++)
        if (form[0] == '$' && isdigit((unsigned char)form[1]))
            fputs(pieces[*++form - '0'], out);
        else
            fputc(*form, out);
    for (size_t p = 0; p < count; p++)
        free(pieces[p]);
}

void put_line_marker(const struct translation *translation, size_t first, size_t end)
{
    const struct source *source = translation->source;
    const struct token *next = &source->tokens[end < source->count ? end : source->count - 1];
    const struct token *last = &source->tokens[end - 1];
    if (next->line != source->tokens[first].line || next->file != source->tokens[first].file)
        fprintf(translation->out, "\n# %d \"%s\"\n", last->line, source->files[last->file]);
}
