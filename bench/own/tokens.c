/* tokens: reads preprocessed C++ as tokens. */
#include "tokens.h"

#include "../base/errors.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_name(int c)
{
    return isalnum(c) || c == '_' || c == '$' || c >= 0x80;
}

/* The end of the character of a name at i, or i if it is none. A preprocessor may write a letter
 * outside of ASCII as \uXXXX or \UXXXXXXXX. */
static size_t end_of_letter(const char *text, size_t i)
{
    const size_t digits = text[i] != '\\' ? 0 : text[i + 1] == 'u' ? 4 : text[i + 1] == 'U' ? 8 : 0;
    if (digits > 0 && strspn(text + i + 2, "0123456789abcdefABCDEF") >= digits)
        return i + 2 + digits;
    return is_name((unsigned char)text[i]) ? i + 1 : i;
}

static unsigned file_number(struct source *source, const char *name, size_t length)
{
    for (size_t i = source->file_count; i-- > 0;)
        if (strlen(source->files[i]) == length && memcmp(source->files[i], name, length) == 0)
            return (unsigned)i;
    char *copy = allocate_or_die(NULL, length + 1);
    memcpy(copy, name, length);
    copy[length] = '\0';
    APPEND(source->files, source->file_count, copy);
    return (unsigned)(source->file_count - 1);
}

/* Reads `# 12 "file" 1 3`, where 3 says that it is a system header. */
static void read_line_marker(struct source *source, size_t start, size_t end, struct token *place)
{
    const char *text = source->text;
    size_t i = start + 1;
    while (i < end && (text[i] == ' ' || text[i] == '\t'))
        i++;
    if (i + 5 < end && memcmp(text + i, "line ", 5) == 0)
        i += 5;
    if (i >= end || !isdigit((unsigned char)text[i]))
        return;
    place->line = atoi(text + i) - 1; /* of the line that ends here */
    const char *open = memchr(text + i, '"', end - i);
    if (open == NULL)
        return;
    const char *close = open + 1;
    while (close < text + end && *close != '"')
        close += *close == '\\' && close + 1 < text + end ? 2 : 1;
    place->file = file_number(source, open + 1, (size_t)(close - open - 1));
    place->foreign =
        memchr(close, '3', (size_t)(text + end - close)) != NULL ||
        strncmp(source->files[place->file], source->headers, strlen(source->headers)) == 0;
}

static size_t end_of_raw_string(const struct source *source, size_t quote)
{
    const char *text = source->text;
    size_t open = quote + 1;
    while (open < source->length && text[open] != '(')
        open++;
    char close[24] = ")";
    const size_t delimiter = open - quote - 1;
    if (delimiter > sizeof close - 3)
        return source->length;
    memcpy(close + 1, text + quote + 1, delimiter);
    close[delimiter + 1] = '"';
    close[delimiter + 2] = '\0';
    const char *found = strstr(text + open, close);
    return found != NULL ? (size_t)(found - text) + delimiter + 2 : source->length;
}

static size_t end_of_string(const struct source *source, size_t quote)
{
    const char *text = source->text;
    size_t i = quote + 1;
    while (i < source->length && text[i] != text[quote] && text[i] != '\n')
        i += text[i] == '\\' ? 2 : 1;
    return i < source->length ? i + 1 : source->length;
}

/* A quote in a number separates digits: 1'000. */
static size_t end_of_number(const struct source *source, size_t i)
{
    const char *text = source->text;
    while (i < source->length &&
           (is_name((unsigned char)text[i]) || text[i] == '.' ||
            (text[i] == '\'' && is_name((unsigned char)text[i + 1])) ||
            ((text[i] == '+' || text[i] == '-') && strchr("eEpP", text[i - 1]) != NULL)))
        i++;
    return i;
}

static void add_token(struct source *source, struct token token)
{
    if (source->count == source->capacity) {
        source->capacity = source->capacity * 2 + 1024;
        source->tokens = allocate_or_die(source->tokens, source->capacity * sizeof *source->tokens);
    }
    source->tokens[source->count++] = token;
}

static size_t read_token(struct source *source, size_t i, struct token token)
{
    const char *text = source->text;
    const unsigned char c = (unsigned char)text[i];
    token.start = i;
    token.kind = TOKEN_MARK;
    token.end = i + 1;
    if (isdigit(c) || (c == '.' && isdigit((unsigned char)text[i + 1]))) {
        token.kind = TOKEN_NUMBER;
        token.end = end_of_number(source, i);
    } else if (end_of_letter(text, i) > i) {
        token.kind = TOKEN_NAME;
        token.end = i;
        for (size_t next; (next = end_of_letter(text, token.end)) > token.end;)
            token.end = next;
        if (text[token.end] == '"' && text[token.end - 1] == 'R' && token.end - i <= 3) {
            token.kind = TOKEN_STRING;
            token.end = end_of_raw_string(source, token.end);
        }
    } else if (c == '"' || c == '\'') {
        token.kind = TOKEN_STRING;
        token.end = end_of_string(source, i);
    }
    add_token(source, token);
    return token.end;
}

void read_tokens(struct source *source)
{
    struct token place = {.line = 1};
    place.file = file_number(source, "", 0);
    bool line_begins = true;
    for (size_t i = 0; i < source->length;) {
        const char c = source->text[i];
        if (c == '\n') {
            place.line++;
            line_begins = true;
            i++;
        } else if (c == '#' && line_begins) {
            const char *end = memchr(source->text + i, '\n', source->length - i);
            const size_t line_end = end != NULL ? (size_t)(end - source->text) : source->length;
            read_line_marker(source, i, line_end, &place);
            i = line_end;
        } else if (isspace((unsigned char)c)) {
            i++;
        } else {
            line_begins = false;
            const size_t start = i;
            i = read_token(source, i, place);
            for (size_t k = start; k < i; k++) /* a raw string may have several lines */
                place.line += source->text[k] == '\n';
        }
    }
}

void free_tokens(struct source *source)
{
    for (size_t f = 0; f < source->file_count; f++)
        free(source->files[f]);
    free(source->files);
    free(source->tokens);
}

bool is_token(const struct source *source, size_t t, const char *text)
{
    if (t >= source->count)
        return false;
    const struct token *token = &source->tokens[t];
    const size_t length = strlen(text);
    return token->end - token->start == length &&
           memcmp(source->text + token->start, text, length) == 0;
}

bool is_same_token(const struct source *source, size_t t, size_t other)
{
    const struct token *a = &source->tokens[t], *b = &source->tokens[other];
    const size_t length = a->end - a->start;
    return b->end - b->start == length &&
           memcmp(source->text + a->start, source->text + b->start, length) == 0;
}

bool has_text(const struct source *source, size_t t, const char *text)
{
    const struct token *token = &source->tokens[t];
    const size_t length = strlen(text);
    for (size_t at = token->start; at + length <= token->end; at++)
        if (memcmp(source->text + at, text, length) == 0)
            return true;
    return false;
}

bool is_one_of(const struct source *source, size_t t, const char *const *words)
{
    for (; *words != NULL; words++)
        if (is_token(source, t, *words))
            return true;
    return false;
}

bool is_word(const struct source *source, size_t t)
{
    return t < source->count && source->tokens[t].kind == TOKEN_NAME;
}

bool is_mark(const struct source *source, size_t t, const char *mark)
{
    for (; *mark != '\0'; mark++, t++)
        if (!is_token(source, t, (const char[]){*mark, '\0'}))
            return false;
    return true;
}

/* ---- Brackets ---- */

size_t after_brackets(const struct source *source, size_t open)
{
    int depth = 0;
    for (size_t t = open; t < source->count; t++) {
        const char c = source->text[source->tokens[t].start];
        if (source->tokens[t].kind != TOKEN_MARK)
            continue;
        depth += c == '(' || c == '[' || c == '{';
        depth -= c == ')' || c == ']' || c == '}';
        if (depth == 0)
            return t + 1;
    }
    return source->count;
}

size_t before_brackets(const struct source *source, size_t close)
{
    const bool angles = is_token(source, close, ">");
    int depth = 0, angle_depth = 0;
    for (size_t t = close + 1; t-- > 0;) {
        const char c = source->text[source->tokens[t].start];
        if (source->tokens[t].kind != TOKEN_MARK)
            continue;
        depth += c == ')' || c == ']' || c == '}';
        depth -= c == '(' || c == '[' || c == '{';
        if (angles && depth == 0) {
            angle_depth += c == '>';
            angle_depth -= c == '<';
        }
        if (depth < 0 || c == ';')
            break;
        if (depth == 0 && angle_depth == 0)
            return t;
    }
    return close;
}
