/* errors: exit codes and the one function that prints errors. */
#include "errors.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The length in bytes of the well-formed, printable UTF-8 character at `text`, or 0. The
 * control characters U+0080..U+009F and overlong encodings are not printable, surrogates and what
 * is above U+10FFFF are no characters. */
static size_t printable_bytes(const unsigned char *text)
{
    if (text[0] < 0x80)
        return text[0] >= 0x20 && text[0] != 0x7f;

    size_t length = 0;
    if (text[0] >= 0xc2 && text[0] <= 0xdf)
        length = 2;
    else if (text[0] >= 0xe0 && text[0] <= 0xef)
        length = 3;
    else if (text[0] >= 0xf0 && text[0] <= 0xf4)
        length = 4;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;

    bool control = text[0] == 0xc2 && text[1] < 0xa0;
    bool overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    bool beyond = (text[0] == 0xed && text[1] > 0x9f) || (text[0] == 0xf4 && text[1] > 0x8f);
    return control || overlong || beyond ? 0 : length;
}

void replace_unprintable(char *line)
{
    unsigned char *at = (unsigned char *)line;
    while (*at) {
        size_t length = printable_bytes(at);
        if (length == 0)
            *at = '?';
        at += length ? length : 1;
    }
}

int worse_exit_code(int a, int b)
{
    return a == EXIT_WRONG_ANSWER || b == EXIT_WRONG_ANSWER ? EXIT_WRONG_ANSWER : a > b ? a : b;
}

static bool silent;
static char *kept;   /* where the next line goes; NULL: to words() */
static FILE *spoken; /* NULL: to stderr */
static char *last_words;

void speak_to(int descriptor)
{
    spoken = fdopen(descriptor, "w");
    if (spoken != NULL)
        setvbuf(spoken, NULL, _IONBF, 0);
}

FILE *words(void)
{
    return spoken != NULL ? spoken : stderr;
}

void keep_last_words(char where[LAST_WORDS_BYTES])
{
    last_words = where;
}

void say_nothing(void)
{
    silent = true;
}

void speak_again(void)
{
    silent = false;
    kept = NULL;
}

void keep_complaint(char line[COMPLAINT_BYTES])
{
    kept = line;
    if (kept != NULL)
        kept[0] = '\0';
}

void complain(const char *format, ...)
{
    char line[COMPLAINT_BYTES];
    if (silent && kept == NULL)
        return;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof line)
        memcpy(line + sizeof line - 4, "...", 4);
    replace_unprintable(line);
    if (kept == NULL)
        fprintf(words(), "scanbench: %s\n", line);
    else if (kept[0] == '\0')
        strcpy(kept, line);
}

void bug(const char *file, int line, const char *format, ...)
{
    char text[COMPLAINT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    speak_again();
    complain("BUG at %s:%d: %s", file, line, text);
    abort();
}

const char *shorten(const char *text, char copy[SHORT_TEXT_BYTES])
{
    int length = snprintf(copy, SHORT_TEXT_BYTES, "%s", text);
    if (length >= SHORT_TEXT_BYTES)
        memcpy(copy + SHORT_TEXT_BYTES - 4, "...", 4);
    return copy;
}

/* Calls _exit(): finished rows are flushed, unfinished ones must not reach a file, and the data
 * that exit() would clean up is in use. */
void end_process(int code, const char *text)
{
    char line[LAST_WORDS_BYTES + 16];
    if (last_words != NULL) {
        snprintf(last_words, LAST_WORDS_BYTES, "%s", text);
        _exit(code);
    }
    const int length = snprintf(line, sizeof line, "scanbench: %s\n", text);
    if (length > 0 && write(fileno(words()), line, (size_t)length) < 0)
        _exit(EXIT_ERROR);
    _exit(code);
}

void out_of_memory(void)
{
    end_process(EXIT_ERROR, last_words != NULL ? "out of host memory"
                                               : "out of host memory; earlier rows are kept");
}

void *allocate_or_die(void *old, unsigned long bytes)
{
    void *memory = realloc(old, bytes ? bytes : 1);
    if (!memory)
        out_of_memory();
    return memory;
}

char *copy_text(const char *text)
{
    const char *source = text != NULL ? text : "";
    return strcpy(allocate_or_die(NULL, strlen(source) + 1), source);
}
