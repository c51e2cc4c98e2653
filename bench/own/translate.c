/* translate: `<<<>>>`, __shared__, __global__ and the few other things of CUDA that no header can
 * give a C++ compiler, as calls of emulator/plain_cuda.h. */
#include "translate.h"

#include "../base/text.h"
#include "shared_variables.h"
#include "translation.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Launches: kernel<<<grid, block, shared, stream>>>(arguments) ---- */

/* The first token of the kernel's name, which ends before `end`. */
static size_t start_of_kernel(const struct source *source, size_t end)
{
    size_t t = end;
    for (;;) {
        if (t == 0)
            return end;
        t--;
        while (is_token(source, t, "]") || is_token(source, t, ">")) {
            const size_t open = before_brackets(source, t);
            if (open == 0)
                return end;
            t = open - 1;
        }
        if (is_token(source, t, ")"))
            return before_brackets(source, t);
        if (t > 0 && is_token(source, t - 1, "template"))
            t--;
        if (t >= 2 && is_token(source, t - 1, ":") && is_token(source, t - 2, ":")) {
            t -= 2;
            if (t == 0 || !(is_word(source, t - 1) || is_token(source, t - 1, ">")) ||
                is_token(source, t - 1, "return") || is_token(source, t - 1, "else"))
                return t;
        } else if (t >= 1 && is_token(source, t - 1, ".")) {
            t -= 1;
        } else if (t >= 2 && is_token(source, t - 1, ">") && is_token(source, t - 2, "-")) {
            t -= 2;
        } else {
            return t;
        }
    }
}

/* The `>>>` that closes the launch, at the same depth of brackets. */
static size_t end_of_configuration(const struct source *source, size_t t)
{
    while (t < source->count && !is_token(source, t, ";")) {
        if (is_mark(source, t, ">>>") && is_token(source, t + 3, "("))
            return t;
        const bool opens =
            is_token(source, t, "(") || is_token(source, t, "[") || is_token(source, t, "{");
        t = opens ? after_brackets(source, t) : t + 1;
    }
    return source->count;
}

/* The index of the kernel's name in what precedes `<<<`: outside all angle brackets. */
static size_t find_kernel_name(const struct source *source, size_t first, size_t end)
{
    size_t name = first;
    int angles = 0;
    for (size_t t = first; t < end; t++) {
        angles += is_token(source, t, "<");
        angles -= is_token(source, t, ">");
        if (angles == 0 && is_word(source, t))
            name = t;
    }
    return name;
}

/* Is there a function of the kernel's name, but none that is __global__? If there is no function at
 * all, the name may be that of a pointer or of a parameter of a template. */
static bool is_no_kernel(const struct source *source, size_t name)
{
    static const char *const ends[] = {";", "{", "}", NULL};
    bool is_function = false;
    for (size_t t = 1; t < source->count; t++) {
        if (!is_same_token(source, t, name) || !is_token(source, t - 1, "void") ||
            !is_token(source, t + 1, "("))
            continue;
        is_function = true;
        for (size_t before = t; before-- > 0 && !is_one_of(source, before, ends);)
            if (is_token(source, before, "__global__"))
                return false;
    }
    return is_function;
}

static size_t translate_launch(struct translation *translation, size_t open)
{
    static const char form[] = "::plain_launch(::plain_configure($0), \"$1\", "
                               "[&](auto tag_, auto configuration_, auto name_) -> "
                               "decltype(::plain_typed(tag_, configuration_, name_, &$2)) "
                               "{ return ::plain_typed(tag_, configuration_, name_, &$2); }, "
                               "[&](auto... arguments_) { $2(arguments_...); })";
    const struct source *source = translation->source;
    const size_t first = start_of_kernel(source, open);
    const size_t close = end_of_configuration(source, open + 3);
    if (first == open || close == source->count) {
        refuse_translation(translation, open,
                           "a launch, <<<, that is not of the form kernel<<<...>>>(...)");
        return open + 3;
    }
    const size_t name = find_kernel_name(source, first, open);
    if (is_no_kernel(source, name)) {
        char *called = joined(source, name, name + 1);
        char *what = formatted("%s is launched, but not declared __global__", called);
        refuse_everywhere(translation, open, what);
        free(what);
        free(called);
        return close + 3;
    }
    char *const pieces[] = {joined(source, open + 3, close), joined(source, name, name + 1),
                            joined(source, first, open)};
    leave_out(translation, first, close + 3);
    put_form(translation->out, form, pieces, sizeof pieces / sizeof *pieces);
    put_line_marker(translation, first, close + 3);
    return close + 3;
}

/* Leaves out a cast: cudaLaunchKernel() takes kernels as void *, which tells nobody what they are
 * called with. */
static size_t translate_launch_call(struct translation *translation, size_t t)
{
    static const char *const casts[] = {"reinterpret_cast", "static_cast", "const_cast", NULL};
    const struct source *source = translation->source;
    const size_t first = t + 2;
    size_t end = first; /* after the cast */
    if (is_token(source, first, "(") && is_word(source, first + 1)) {
        end = after_brackets(source, first);
        if (!is_token(source, end - 2, "*"))
            return t + 1;
    } else if (is_one_of(source, first, casts)) {
        while (end < source->count && !is_token(source, end++, ">"))
            ;
    }
    if (end > first)
        leave_out(translation, first, end);
    return t + 1;
}

/* ---- What cannot be emulated ---- */

/* asm("mov.u32 %0, %%laneid;" : "=r"(x)); is the one piece of PTX that is understood. Returns the
 * index after it. */
static size_t translate_asm(struct translation *translation, size_t t)
{
    const struct source *source = translation->source;
    size_t open = t + 1;
    while (is_token(source, open, "volatile") || is_token(source, open, "__volatile__"))
        open++;
    if (!is_token(source, open, "(") || source->tokens[open + 1].kind != TOKEN_STRING)
        return t + 1;
    const size_t after = after_brackets(source, open);
    if (is_token(source, open + 1, "\"\"")) /* a barrier for the compiler */
        return after;
    const bool lane = has_text(source, open + 1, "%laneid") && has_text(source, open + 1, "mov.");
    if (!lane || !is_token(source, open + 2, ":") || !is_token(source, open + 4, "(")) {
        refuse_translation(translation, t, "inline PTX");
        return after;
    }
    leave_out(translation, t, after);
    put_tokens(translation->out, source, open + 4, after_brackets(source, open + 4));
    fputs(" = ::plain_thread_rank() % 32", translation->out);
    put_line_marker(translation, t, after);
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

/* Does a statement or a declaration begin at `t`? A variable that is called texture may be compared
 * anywhere else. */
static bool begins_declaration(const struct source *source, size_t t)
{
    static const char *const before[] = {";", "{", "}", "static", "extern", NULL};
    return t == 0 || source->tokens[t - 1].foreign || is_one_of(source, t - 1, before);
}

static void look_for_foreign_word(const struct translation *translation, size_t t)
{
    const struct source *source = translation->source;
    for (size_t i = 0; i < sizeof foreign_words / sizeof *foreign_words; i++) {
        const char *mark = foreign_words[i].before_mark;
        if (is_token(source, t, foreign_words[i].word) &&
            (mark == NULL || is_mark(source, t + 1, mark)) &&
            (mark == NULL || mark[0] != '<' || begins_declaration(source, t)))
            refuse_translation(translation, t, foreign_words[i].what);
    }
}

/* ---- The whole text ---- */

/* Does the brace at `t` begin the body of a function, and not of a class or a namespace? */
static bool begins_function(const struct source *source, size_t t)
{
    static const char *const scopes[] = {"namespace", "class", "struct", "union", "enum", NULL};
    bool has_parameters = false, is_scope = false;
    while (t-- > 0 && !is_token(source, t, ";") && !is_token(source, t, "{") &&
           !is_token(source, t, "}")) {
        has_parameters |= is_token(source, t, ")");
        is_scope |= is_one_of(source, t, scopes) || source->tokens[t].kind == TOKEN_STRING;
    }
    return has_parameters || !is_scope;
}

static void translate_tokens(struct translation *translation)
{
    static const char *const launch_calls[] = {"cudaLaunchKernel", "cudaLaunchCooperativeKernel",
                                               NULL};
    static const char *const assembler[] = {"asm", "__asm__", "__asm", NULL};
    const struct source *source = translation->source;
    int depth = 0, function_depth = 0; /* of braces; that of the outermost function's, or 0 */
    for (size_t t = 0; t < source->count;) {
        const bool own = !source->tokens[t].foreign;
        if (is_token(source, t, "{")) {
            depth++;
            if (own && function_depth == 0 && begins_function(source, t))
                function_depth = depth;
        } else if (is_token(source, t, "}")) {
            if (depth == function_depth)
                function_depth = 0;
            depth--;
        }
        if (!own)
            t++;
        else if (is_mark(source, t, "<<<"))
            t = translate_launch(translation, t);
        else if (!is_word(source, t))
            t++;
        else if (is_token(source, t, "__global__"))
            t = leave_out(translation, t, t + 1);
        else if (is_token(source, t, "__shared__"))
            t = translate_shared(translation, t, function_depth > 0);
        else if (is_one_of(source, t, launch_calls) && is_token(source, t + 1, "("))
            t = translate_launch_call(translation, t);
        else if (is_one_of(source, t, assembler))
            t = translate_asm(translation, t);
        else
            look_for_foreign_word(translation, t++);
    }
}

char *translate_cuda(const char *text, size_t length, const char *headers,
                     struct untranslatable *why)
{
    struct source source = {.text = text, .length = length, .headers = headers};
    struct text translated;
    *why = (struct untranslatable){0};
    read_tokens(&source);
    open_text(&translated);
    struct translation translation = {.source = &source, .out = translated.out, .why = why};
    translate_tokens(&translation);
    fwrite(text + translation.done, 1, length - translation.done, translated.out);
    close_text(&translated);
    free_tokens(&source);
    if (why->file[0] == '\0')
        return translated.bytes;
    free(translated.bytes);
    return NULL;
}
