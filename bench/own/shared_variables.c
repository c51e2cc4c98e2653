/* shared_variables: declarations of __shared__ variables, as variables of emulator/plain_cuda.h. */
#include "shared_variables.h"

#include "../base/text.h"

#include <string.h>

static bool is_attribute(const struct source *source, size_t t)
{
    return is_token(source, t, "__attribute__") || is_token(source, t, "alignas");
}

/* The first token from `t` on that is one of the marks, outside all brackets; `end`: there is none.
 * The marks separate the parts of a declaration. */
static size_t next_part(const struct source *source, size_t t, size_t end, const char *marks)
{
    int angles = 0;
    while (t < end) {
        const char c = source->text[source->tokens[t].start];
        const bool mark = source->tokens[t].kind == TOKEN_MARK;
        if (is_attribute(source, t) && is_token(source, t + 1, "(")) {
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
static char *type_of(const struct source *source, size_t first, size_t name, bool with_attributes)
{
    static const char *const storage[] = {"extern", "static", "__shared__", "inline", NULL};
    struct text text;
    open_text(&text);
    for (size_t t = first, after; t < name; t = after) {
        const bool attribute = is_attribute(source, t) && is_token(source, t + 1, "(");
        after = attribute ? after_brackets(source, t + 1) : t + 1;
        if (attribute ? with_attributes : !is_one_of(source, t, storage)) {
            put_tokens(text.out, source, t, after);
            fputc(' ', text.out);
        }
    }
    close_text(&text);
    return text.bytes;
}

struct shared_declaration {
    size_t first, name, end; /* of its tokens; `name` of the first declarator */
    bool is_extern, in_function;
};

/* A variable of the block: a member of a struct of its own, which carries its type. */
static void put_static_variable(struct translation *translation,
                                const struct shared_declaration *declaration, size_t declarator,
                                size_t declarator_end)
{
    static const char form[] =
        "struct plain_struct_$0_ { $1$2; }; static const ::plain_shared_variable "
        "plain_variable_$0_ = {sizeof(plain_struct_$0_), alignof(plain_struct_$0_), \"$3\", $4}; "
        "auto &$3 = static_cast<plain_struct_$0_ *>(::plain_shared(&plain_variable_$0_))->$3; ";
    const struct source *source = translation->source;
    size_t name = declarator;
    while (name + 1 < declarator_end && !is_word(source, name))
        name++;
    const struct token *place = &source->tokens[name];
    char *const pieces[] = {formatted("%u", translation->shared_count++),
                            type_of(source, declaration->first, declaration->name, true),
                            joined(source, declarator, declarator_end),
                            joined(source, name, name + 1),
                            formatted("\"%s\", %d", source->files[place->file], place->line)};
    put_form(translation->out, form, pieces, sizeof pieces / sizeof *pieces);
}

/* `extern __shared__ T name[]...`: a pointer to T or, with more dimensions, to arrays of it. */
static void put_extern_variable(struct translation *translation,
                                const struct shared_declaration *declaration)
{
    static const char local[] = "typedef $1plain_type_$0_$2; plain_type_$0_ *$3 = "
                                "static_cast<plain_type_$0_ *>(::plain_dynamic_shared());";
    static const char global[] =
        "typedef $1plain_type_$0_$2; static ::plain_dynamic_array<plain_type_$0_> $3;";
    const struct source *source = translation->source;
    const size_t name = declaration->name;
    const size_t rest =
        is_token(source, name + 1, "[") ? after_brackets(source, name + 1) : name + 1;
    char *const pieces[] = {formatted("%u", translation->shared_count++),
                            type_of(source, declaration->first, name, false),
                            joined(source, rest, declaration->end), joined(source, name, name + 1)};
    put_form(translation->out, declaration->in_function ? local : global, pieces,
             sizeof pieces / sizeof *pieces);
}

size_t translate_shared(struct translation *translation, size_t shared, bool in_function)
{
    const struct source *source = translation->source;
    struct shared_declaration declaration = {.in_function = in_function};
    size_t first = shared;
    while (first > 0 && !is_token(source, first - 1, ";") && !is_token(source, first - 1, "{") &&
           !is_token(source, first - 1, "}"))
        first--;
    declaration.first = first;
    declaration.end = next_part(source, first, source->count, ";");
    const size_t after_name = next_part(source, first, declaration.end, "[,=");
    declaration.name = after_name - 1;
    for (size_t t = first; t < after_name; t++)
        declaration.is_extern |= is_token(source, t, "extern");
    if (!is_word(source, declaration.name) || declaration.end == source->count ||
        (!declaration.is_extern && !in_function)) {
        refuse_translation(translation, shared,
                           "a __shared__ variable that is not declared in a function");
        return shared + 1;
    }
    leave_out(translation, first, declaration.end + 1);
    if (declaration.is_extern) {
        put_extern_variable(translation, &declaration);
    } else {
        for (size_t d = declaration.name; d < declaration.end;) {
            const size_t end = next_part(source, d, declaration.end, ",");
            put_static_variable(translation, &declaration, d, end);
            d = end + 1;
        }
    }
    put_line_marker(translation, first, declaration.end + 1);
    return declaration.end + 1;
}
