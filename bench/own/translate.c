/* translate: `<<<>>>`, __shared__ and the few other things of CUDA that no header can give a C++
 * compiler, as calls of emulator/plain_cuda.h. */
#include "translate.h"

#include "../base/errors.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Text that grows ---- */

struct text {
    char *at;
    size_t length, room;
};

static void append(struct text *text, const char *from, size_t length)
{
    if (text->at == NULL || text->length + length + 1 > text->room) {
        text->room = 2 * (text->length + length + 1);
        text->at = allocate_or_die(text->at, text->room);
    }
    memcpy(text->at + text->length, from, length);
    text->length += length;
    text->at[text->length] = '\0';
}

static void append_string(struct text *text, const char *string)
{
    append(text, string, strlen(string));
}

static void append_number(struct text *text, long number)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%ld", number);
    append_string(text, digits);
}

/* ---- Tokens ---- */

enum token_kind { TOKEN_NAME, TOKEN_NUMBER, TOKEN_STRING, TOKEN_MARK };

struct token {
    size_t start, end;
    enum token_kind kind;
    int line;
    unsigned file; /* index of the file's name */
    bool foreign;  /* of a system header or one of the emulator */
};

struct edit {
    size_t start, end;
    char *replacement;
};

struct source {
    const char *text;
    size_t length;
    struct token *tokens;
    size_t count, room;
    char **files;
    size_t file_count;
    struct edit *edits;
    size_t edit_count;
    unsigned shared_count;
    const char *headers;
    struct untranslatable *why;
};

static bool is_name(int c)
{
    return isalnum(c) || c == '_' || c == '$' || c >= 0x80;
}

static unsigned file_number(struct source *source, const char *name, size_t length)
{
    for (size_t i = source->file_count; i-- > 0;)
        if (strlen(source->files[i]) == length && memcmp(source->files[i], name, length) == 0)
            return (unsigned)i;
    source->files =
        allocate_or_die(source->files, (source->file_count + 1) * sizeof *source->files);
    char *copy = allocate_or_die(NULL, length + 1);
    memcpy(copy, name, length);
    copy[length] = '\0';
    source->files[source->file_count++] = copy;
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

static void take_token(struct source *source, struct token token)
{
    if (source->count == source->room) {
        source->room = source->room * 2 + 1024;
        source->tokens = allocate_or_die(source->tokens, source->room * sizeof *source->tokens);
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
    } else if (is_name(c)) {
        token.kind = TOKEN_NAME;
        while (token.end < source->length && is_name((unsigned char)text[token.end]))
            token.end++;
        if (text[token.end] == '"' && text[token.end - 1] == 'R' && token.end - i <= 3) {
            token.kind = TOKEN_STRING;
            token.end = end_of_raw_string(source, token.end);
        }
    } else if (c == '"' || c == '\'') {
        token.kind = TOKEN_STRING;
        token.end = end_of_string(source, i);
    }
    take_token(source, token);
    return token.end;
}

static void read_tokens(struct source *source)
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

static bool is(const struct source *source, size_t t, const char *text)
{
    if (t >= source->count)
        return false;
    const struct token *token = &source->tokens[t];
    const size_t length = strlen(text);
    return token->end - token->start == length &&
           memcmp(source->text + token->start, text, length) == 0;
}

/* Is the text part of the token? */
static bool has(const struct source *source, size_t t, const char *text)
{
    const struct token *token = &source->tokens[t];
    const size_t length = strlen(text);
    for (size_t at = token->start; at + length <= token->end; at++)
        if (memcmp(source->text + at, text, length) == 0)
            return true;
    return false;
}

static bool is_one_of(const struct source *source, size_t t, const char *const *words)
{
    for (; *words != NULL; words++)
        if (is(source, t, *words))
            return true;
    return false;
}

static bool is_word(const struct source *source, size_t t)
{
    return t < source->count && source->tokens[t].kind == TOKEN_NAME;
}

/* ---- Results ---- */

static void replace(struct source *source, size_t start, size_t end, struct text text)
{
    source->edits =
        allocate_or_die(source->edits, (source->edit_count + 1) * sizeof *source->edits);
    source->edits[source->edit_count++] = (struct edit){start, end, text.at};
}

static void refuse(const struct source *source, size_t t, const char *what)
{
    const struct token *token = &source->tokens[t];
    if (source->why->file[0] != '\0')
        return;
    snprintf(source->why->file, sizeof source->why->file, "%s", source->files[token->file]);
    source->why->line = token->line;
    snprintf(source->why->what, sizeof source->why->what, "%s", what);
}

/* The tokens from `first` up to `end` on one line. */
static void append_tokens(struct text *text, const struct source *source, size_t first, size_t end)
{
    for (size_t t = first; t < end; t++) {
        const struct token *token = &source->tokens[t];
        const bool apart = t > first && source->tokens[t - 1].end < token->start;
        if (apart)
            append_string(text, " ");
        append(text, source->text + token->start, token->end - token->start);
    }
}

static void append_place(struct text *text, const struct source *source, const struct token *token)
{
    append_string(text, "\"");
    append_string(text, source->files[token->file]);
    append_string(text, "\", ");
    append_number(text, token->line);
}

/* Brings back the number of the line, where the text before it has more or fewer lines. What
 * follows is the rest of the last replaced line. */
static void append_line_marker(struct text *text, const struct source *source, size_t from,
                               size_t to)
{
    const struct token *next = &source->tokens[to < source->count ? to : source->count - 1];
    const struct token *last = &source->tokens[to - 1];
    if (next->line == source->tokens[from].line && next->file == source->tokens[from].file)
        return;
    append_string(text, "\n# ");
    append_number(text, last->line);
    append_string(text, " \"");
    append_string(text, source->files[last->file]);
    append_string(text, "\"\n");
}

/* ---- Brackets ---- */

/* The index after the bracket that closes the one at `open`. */
static size_t after_brackets(const struct source *source, size_t open)
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

/* The index of the bracket that opens the one at `close`; of angle brackets, if they are. */
static size_t before_brackets(const struct source *source, size_t close)
{
    const bool angles = is(source, close, ">");
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

/* ---- Launches: kernel<<<grid, block, shared, stream>>>(arguments) ---- */

static bool three(const struct source *source, size_t t, const char *mark)
{
    return is(source, t, mark) && is(source, t + 1, mark) && is(source, t + 2, mark);
}

/* The first token of the kernel's name, which ends before `end`. */
static size_t start_of_kernel(const struct source *source, size_t end)
{
    size_t t = end;
    for (;;) {
        if (t == 0)
            return end;
        t--;
        while (is(source, t, "]") || is(source, t, ">")) {
            const size_t open = before_brackets(source, t);
            if (open == 0)
                return end;
            t = open - 1;
        }
        if (is(source, t, ")"))
            return before_brackets(source, t);
        if (t > 0 && is(source, t - 1, "template"))
            t--;
        if (t >= 2 && is(source, t - 1, ":") && is(source, t - 2, ":")) {
            t -= 2;
            if (t == 0 || !(is_word(source, t - 1) || is(source, t - 1, ">")) ||
                is(source, t - 1, "return") || is(source, t - 1, "else"))
                return t;
        } else if (t >= 1 && is(source, t - 1, ".")) {
            t -= 1;
        } else if (t >= 2 && is(source, t - 1, ">") && is(source, t - 2, "-")) {
            t -= 2;
        } else {
            return t;
        }
    }
}

/* The `>>>` that closes the launch, at the same depth of brackets. */
static size_t end_of_configuration(const struct source *source, size_t t)
{
    while (t < source->count && !is(source, t, ";")) {
        if (three(source, t, ">") && is(source, t + 3, "("))
            return t;
        const bool opens = is(source, t, "(") || is(source, t, "[") || is(source, t, "{");
        t = opens ? after_brackets(source, t) : t + 1;
    }
    return source->count;
}

static void append_kernel_name(struct text *text, const struct source *source, size_t first,
                               size_t end)
{
    size_t name = first;
    int angles = 0;
    for (size_t t = first; t < end; t++) {
        angles += is(source, t, "<");
        angles -= is(source, t, ">");
        if (angles == 0 && is_word(source, t))
            name = t;
    }
    append_string(text, "\"");
    append_tokens(text, source, name, name + 1);
    append_string(text, "\"");
}

static size_t translate_launch(struct source *source, size_t open)
{
    const size_t first = start_of_kernel(source, open);
    const size_t close = end_of_configuration(source, open + 3);
    if (first == open || close == source->count) {
        refuse(source, open, "a launch, <<<, that is not of the form kernel<<<...>>>(...)");
        return open + 3;
    }
    struct text text = {0};
    append_string(&text, "::plain_launch(::plain_configure(");
    append_tokens(&text, source, open + 3, close);
    append_string(&text, "), ");
    append_kernel_name(&text, source, first, open);
    append_string(&text, ", [&](auto tag_, auto configuration_, auto name_) -> "
                         "decltype(::plain_typed(tag_, configuration_, name_, &");
    append_tokens(&text, source, first, open);
    append_string(&text, ")) { return ::plain_typed(tag_, configuration_, name_, &");
    append_tokens(&text, source, first, open);
    append_string(&text, "); }, [&](auto... arguments_) { ");
    append_tokens(&text, source, first, open);
    append_string(&text, "(arguments_...); })");
    append_line_marker(&text, source, first, close + 3);
    replace(source, source->tokens[first].start, source->tokens[close + 2].end, text);
    return close + 3;
}

/* cudaLaunchKernel() takes kernels as void *, which tells nobody what they are called with. */
static size_t translate_launch_call(struct source *source, size_t t)
{
    static const char *const casts[] = {"reinterpret_cast", "static_cast", "const_cast", NULL};
    const size_t first = t + 2;
    size_t end = first; /* after the cast */
    if (is(source, first, "(") && is_word(source, first + 1)) {
        end = after_brackets(source, first);
        if (!is(source, end - 2, "*"))
            return t + 1;
    } else if (is_one_of(source, first, casts)) {
        while (end < source->count && !is(source, end++, ">"))
            ;
    }
    if (end > first) {
        struct text nothing = {0};
        append_string(&nothing, "");
        replace(source, source->tokens[first].start, source->tokens[end - 1].end, nothing);
    }
    return t + 1;
}

/* ---- __shared__ variables ---- */

static bool is_attribute(const struct source *source, size_t t)
{
    return is(source, t, "__attribute__") || is(source, t, "alignas");
}

/* The first token from `t` on that is one of the marks, outside all brackets; `end`: there is none.
 * The marks separate the parts of a declaration. */
static size_t next_part(const struct source *source, size_t t, size_t end, const char *marks)
{
    int angles = 0;
    while (t < end) {
        const char c = source->text[source->tokens[t].start];
        const bool mark = source->tokens[t].kind == TOKEN_MARK;
        if (is_attribute(source, t) && is(source, t + 1, "(")) {
            t = after_brackets(source, t + 1);
        } else if (mark && angles == 0 && strchr(marks, c) != NULL) {
            return t;
        } else if (mark && (c == '(' || c == '[' || c == '{')) {
            t = after_brackets(source, t);
        } else {
            angles += mark && c == '<';
            angles -= mark && c == '>' && angles > 0;
            t++;
        }
    }
    return end;
}

/* The type: what precedes the name, without what says how it is stored. */
static void append_type(struct text *text, const struct source *source, size_t first, size_t name,
                        bool with_attributes)
{
    for (size_t t = first; t < name;) {
        if (is_attribute(source, t) && is(source, t + 1, "(")) {
            const size_t after = after_brackets(source, t + 1);
            if (with_attributes) {
                append_tokens(text, source, t, after);
                append_string(text, " ");
            }
            t = after;
        } else {
            const bool storage = is(source, t, "extern") || is(source, t, "static") ||
                                 is(source, t, "__shared__") || is(source, t, "inline");
            if (!storage) {
                append_tokens(text, source, t, t + 1);
                append_string(text, " ");
            }
            t++;
        }
    }
}

struct shared_declaration {
    size_t first, name, end; /* of its tokens; `name` of the first declarator */
    bool is_extern, in_function;
};

/* A variable of the block: a member of a struct of its own, which carries its type. */
static void append_static_variable(struct text *text, struct source *source,
                                   const struct shared_declaration *declaration, size_t declarator,
                                   size_t declarator_end)
{
    size_t name = declarator;
    while (name + 1 < declarator_end && !is_word(source, name))
        name++;
    const unsigned number = source->shared_count++;
    char struct_name[48], variable[48];
    snprintf(struct_name, sizeof struct_name, "plain_struct_%u_", number);
    snprintf(variable, sizeof variable, "plain_variable_%u_", number);
    append_string(text, "struct ");
    append_string(text, struct_name);
    append_string(text, " { ");
    append_type(text, source, declaration->first, declaration->name, true);
    append_tokens(text, source, declarator, declarator_end);
    append_string(text, "; }; static const ::plain_shared_variable ");
    append_string(text, variable);
    append_string(text, " = {sizeof(");
    append_string(text, struct_name);
    append_string(text, "), alignof(");
    append_string(text, struct_name);
    append_string(text, "), \"");
    append_tokens(text, source, name, name + 1);
    append_string(text, "\", ");
    append_place(text, source, &source->tokens[name]);
    append_string(text, "}; auto &");
    append_tokens(text, source, name, name + 1);
    append_string(text, " = static_cast<");
    append_string(text, struct_name);
    append_string(text, " *>(::plain_shared(&");
    append_string(text, variable);
    append_string(text, "))->");
    append_tokens(text, source, name, name + 1);
    append_string(text, "; ");
}

/* `extern __shared__ T name[]...`: a pointer to T or, with more dimensions, to arrays of it. */
static void append_extern_variable(struct text *text, struct source *source,
                                   const struct shared_declaration *declaration)
{
    const size_t name = declaration->name;
    const size_t rest = is(source, name + 1, "[") ? after_brackets(source, name + 1) : name + 1;
    char type[48];
    snprintf(type, sizeof type, "plain_type_%u_", source->shared_count++);
    append_string(text, "typedef ");
    append_type(text, source, declaration->first, name, false);
    append_string(text, type);
    append_tokens(text, source, rest, declaration->end);
    append_string(text, "; ");
    if (!declaration->in_function) {
        append_string(text, "static ::plain_dynamic_array<");
        append_string(text, type);
        append_string(text, "> ");
        append_tokens(text, source, name, name + 1);
        append_string(text, ";");
        return;
    }
    append_string(text, type);
    append_string(text, " *");
    append_tokens(text, source, name, name + 1);
    append_string(text, " = static_cast<");
    append_string(text, type);
    append_string(text, " *>(::plain_dynamic_shared());");
}

/* Returns the index after the declaration. */
static size_t translate_shared(struct source *source, size_t shared, bool in_function)
{
    struct shared_declaration declaration = {.in_function = in_function};
    size_t first = shared;
    while (first > 0 && !is(source, first - 1, ";") && !is(source, first - 1, "{") &&
           !is(source, first - 1, "}"))
        first--;
    declaration.first = first;
    declaration.end = next_part(source, first, source->count, ";");
    const size_t after_name = next_part(source, first, declaration.end, "[,=");
    declaration.name = after_name - 1;
    for (size_t t = first; t < after_name; t++)
        declaration.is_extern |= is(source, t, "extern");
    if (!is_word(source, declaration.name) || declaration.end == source->count ||
        (!declaration.is_extern && !in_function)) {
        refuse(source, shared, "a __shared__ variable that is not declared in a function");
        return shared + 1;
    }
    struct text text = {0};
    if (declaration.is_extern) {
        append_extern_variable(&text, source, &declaration);
    } else {
        for (size_t d = declaration.name; d < declaration.end;) {
            const size_t end = next_part(source, d, declaration.end, ",");
            append_static_variable(&text, source, &declaration, d, end);
            d = end + 1;
        }
    }
    append_line_marker(&text, source, first, declaration.end + 1);
    replace(source, source->tokens[first].start, source->tokens[declaration.end].end, text);
    return declaration.end + 1;
}

/* ---- What cannot be emulated ---- */

/* asm("mov.u32 %0, %%laneid;" : "=r"(x)); is the one piece of PTX that is understood. Returns the
 * index after it. */
static size_t translate_asm(struct source *source, size_t t)
{
    size_t open = t + 1;
    while (is(source, open, "volatile") || is(source, open, "__volatile__"))
        open++;
    if (!is(source, open, "(") || source->tokens[open + 1].kind != TOKEN_STRING)
        return t + 1;
    const size_t after = after_brackets(source, open);
    if (is(source, open + 1, "\"\"")) /* a barrier for the compiler */
        return after;
    const bool lane = has(source, open + 1, "%laneid") && has(source, open + 1, "mov.");
    if (!lane || !is(source, open + 2, ":") || !is(source, open + 4, "(")) {
        refuse(source, t, "inline PTX");
        return after;
    }
    struct text text = {0};
    append_tokens(&text, source, open + 4, after_brackets(source, open + 4));
    append_string(&text, " = ::plain_thread_rank() % 32");
    append_line_marker(&text, source, t, after);
    replace(source, source->tokens[t].start, source->tokens[after - 1].end, text);
    return after;
}

static const struct {
    const char *word, *before_mark, *what;
} foreign_words[] = {
    {"thrust", "::", "a call of Thrust"},
    {"cub", "::", "a call of CUB"},
    {"wmma", "::", "tensor cores"},
    {"texture", "<", "a texture"},
    {"surface", "<", "a surface"},
    {"tex1Dfetch", NULL, "a texture"},
    {"tex1D", NULL, "a texture"},
    {"tex2D", NULL, "a texture"},
    {"cudaTextureObject_t", NULL, "a texture"},
    {"cudaCreateTextureObject", NULL, "a texture"},
    {"cudaLaunchKernelEx", NULL, "cudaLaunchKernelEx"},
    {"cudaLaunchKernelExC", NULL, "cudaLaunchKernelExC"},
};

/* Is the token followed by this mark, whose characters are tokens? */
static bool follows(const struct source *source, size_t t, const char *mark)
{
    for (; *mark != '\0'; mark++)
        if (!is(source, ++t, (const char[]){*mark, '\0'}))
            return false;
    return true;
}

/* Does a statement or a declaration begin at `t`? A variable that is called texture may be compared
 * anywhere else. */
static bool begins_declaration(const struct source *source, size_t t)
{
    static const char *const before[] = {";", "{", "}", "static", "extern", NULL};
    return t == 0 || source->tokens[t - 1].foreign || is_one_of(source, t - 1, before);
}

static void look_for_foreign_word(const struct source *source, size_t t)
{
    for (size_t i = 0; i < sizeof foreign_words / sizeof *foreign_words; i++) {
        const char *mark = foreign_words[i].before_mark;
        if (is(source, t, foreign_words[i].word) && (mark == NULL || follows(source, t, mark)) &&
            (mark == NULL || mark[0] != '<' || begins_declaration(source, t)))
            refuse(source, t, foreign_words[i].what);
    }
}

/* ---- The whole text ---- */

/* Does the brace at `t` begin the body of a function, and not of a class or a namespace? */
static bool begins_function(const struct source *source, size_t t)
{
    static const char *const scopes[] = {"namespace", "class", "struct", "union", "enum", NULL};
    bool has_parameters = false, is_scope = false;
    while (t-- > 0 && !is(source, t, ";") && !is(source, t, "{") && !is(source, t, "}")) {
        has_parameters |= is(source, t, ")");
        is_scope |= is_one_of(source, t, scopes) || source->tokens[t].kind == TOKEN_STRING;
    }
    return has_parameters || !is_scope;
}

static void translate_tokens(struct source *source)
{
    static const char *const launch_calls[] = {"cudaLaunchKernel", "cudaLaunchCooperativeKernel",
                                               NULL};
    static const char *const assembler[] = {"asm", "__asm__", "__asm", NULL};
    int depth = 0, function_depth = 0; /* of braces; that of the outermost function's, or 0 */
    for (size_t t = 0; t < source->count;) {
        const bool own = !source->tokens[t].foreign;
        if (is(source, t, "{")) {
            depth++;
            if (own && function_depth == 0 && begins_function(source, t))
                function_depth = depth;
        } else if (is(source, t, "}")) {
            if (depth == function_depth)
                function_depth = 0;
            depth--;
        }
        if (!own)
            t++;
        else if (three(source, t, "<"))
            t = translate_launch(source, t);
        else if (!is_word(source, t))
            t++;
        else if (is(source, t, "__shared__"))
            t = translate_shared(source, t, function_depth > 0);
        else if (is_one_of(source, t, launch_calls) && is(source, t + 1, "("))
            t = translate_launch_call(source, t);
        else if (is_one_of(source, t, assembler))
            t = translate_asm(source, t);
        else
            look_for_foreign_word(source, t++);
    }
}

static char *apply_edits(const struct source *source)
{
    struct text text = {0};
    size_t at = 0;
    append(&text, "", 0);
    for (size_t e = 0; e < source->edit_count; e++) {
        const struct edit *edit = &source->edits[e];
        append(&text, source->text + at, edit->start - at);
        append_string(&text, edit->replacement);
        at = edit->end;
    }
    append(&text, source->text + at, source->length - at);
    return text.at;
}

char *translate_cuda(const char *text, size_t length, const char *headers,
                     struct untranslatable *why)
{
    struct source source = {.text = text, .length = length, .headers = headers, .why = why};
    *why = (struct untranslatable){0};
    read_tokens(&source);
    translate_tokens(&source);
    char *translated = why->file[0] == '\0' ? apply_edits(&source) : NULL;
    for (size_t e = 0; e < source.edit_count; e++)
        free(source.edits[e].replacement);
    for (size_t f = 0; f < source.file_count; f++)
        free(source.files[f]);
    free(source.edits);
    free(source.files);
    free(source.tokens);
    return translated;
}
