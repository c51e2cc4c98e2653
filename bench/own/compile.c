/* compile: preprocesses a source, looks for the result of the same text in the cache, and else
 * translates and compiles it. */
#include "compile.h"

#include "../base/build.h"
#include "../base/errors.h"
#include "../base/interrupt.h"
#include "cache.h"
#include "compilation.h"
#include "translate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- Where things are ---- */

/* Beside the installed program, or in the tree that it was built in. */
static const struct {
    const char *header, *emulator;
} known_places[] = {
    {"../include", "../share/scanbench/emulator"},
    {"own", "emulator"},
    {"../own", "../emulator"},
    {"../../own", "../../emulator"},
};

/* Resolves `..` and links, because compilers print the path. */
static bool shorten_place(char place[PATH_MAX])
{
    char whole[PATH_MAX];
    if (realpath(place, whole) == NULL)
        return false;
    strcpy(place, whole);
    return true;
}

static bool find_places(struct places *places)
{
    char program[PATH_MAX - 64], file[PATH_MAX + 64];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return false;
    program[length] = '\0';
    *strrchr(program, '/') = '\0';
    for (size_t p = 0; p < sizeof known_places / sizeof *known_places; p++) {
        snprintf(places->header, PATH_MAX, "%s/%s", program, known_places[p].header);
        snprintf(places->emulator, PATH_MAX, "%s/%s", program, known_places[p].emulator);
        snprintf(file, sizeof file, "%s/scanbench_own.h", places->header);
        if (access(file, R_OK) != 0)
            continue;
        snprintf(file, sizeof file, "%s/plain_cuda.h", places->emulator);
        if (access(file, R_OK) == 0)
            return shorten_place(places->header) && shorten_place(places->emulator);
    }
    return false;
}

/* ---- The text that decides whether a result is there already ---- */

static void digest_string(struct digest *digest, const char *string)
{
    digest_text(digest, string, strlen(string));
}

static struct digest digest_of(const struct compilation *c, const struct outcome *preprocessed)
{
    char build[BUILD_BYTES];
    struct digest digest = begin_digest();
    identify_build(build);
    digest_string(&digest, build);
    for (size_t a = 0; a < c->compiler.arguments.count; a++)
        digest_string(&digest, c->compiler.arguments.at[a]);
    digest_string(&digest, c->compiler.version);
    digest_string(&digest, c->compile_flags);
    digest_string(&digest, c->gencode);
    digest_string(&digest, c->target.sanitized ? "sanitized" : "");
    digest_text(&digest, preprocessed->output, preprocessed->output_length);
    if (!c->target.emulated) {
        struct outcome for_host = preprocess_source(c, true);
        digest_text(&digest, for_host.output, for_host.output_length);
        forget_outcome(&for_host);
    }
    return digest;
}

/* ---- What the emulator cannot run ---- */

/* Libraries of the toolkit that have only a GPU's code. */
static const struct {
    const char *folder, *name;
} libraries[] = {
    {"thrust/", "Thrust"},
    {"cub/", "CUB"},
    {"cuda/", "libcu++"},
    {"cuda_fp16", "half precision"},
    {"cuda_bf16", "half precision"},
    {"mma.h", "tensor cores"},
    {"cublas", "cuBLAS"},
    {"curand", "cuRAND"},
};

/* Has the preprocessor missed one of these? It writes FILE:LINE:COLUMN: fatal error: HEADER: ... */
static bool explain_missing_header(const char *errors)
{
    const char *error = strstr(errors, "fatal error: ");
    if (error == NULL)
        return false;
    const char *header = error + strlen("fatal error: ");
    header += *header == '\'';
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        if (strncmp(header, libraries[i].folder, strlen(libraries[i].folder)) != 0)
            continue;
        const char *start = error;
        while (start > errors && start[-1] != '\n')
            start--;
        const char *colon = strchr(start, ':');
        const int line = colon != NULL ? atoi(colon + 1) : 0;
        complain("%.*s:%d: the emulator has no %s (#include of %.*s); --device=gpu has it",
                 colon != NULL ? (int)(colon - start) : 0, start, line, libraries[i].name,
                 (int)strcspn(header, ":'"), header);
        return true;
    }
    return false;
}

/* ---- The header that a source needs ---- */

/* A macro of scanbench_own.h that the preprocessor has left as it is; NULL: there is none. */
static const char *find_unknown_macro(const char *text, size_t *length)
{
    static const char start[] = "SCANBENCH_", capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    while ((text = strstr(text, start)) != NULL) {
        *length = strspn(text, capitals);
        if (text[*length] == '(')
            return text;
        text += *length;
    }
    return NULL;
}

/* Else the compiler would speak of constructors. A text that includes the header names it. */
static bool explain_missing_include(const struct compilation *c, const char *preprocessed)
{
    size_t length = 0;
    const char *macro = find_unknown_macro(preprocessed, &length);
    if (macro == NULL || strstr(preprocessed, "scanbench_own.h") != NULL)
        return false;
    complain("--algo=%s: it has %.*s without #include <scanbench_own.h>; add that line", c->source,
             (int)length, macro);
    return true;
}

/* ---- All of it ---- */

static void say_it_does_not_compile(const struct compilation *c, const struct outcome *outcome)
{
    if (interrupted())
        return;
    fputs(outcome->errors, words());
    complain("--algo=%s: %s does not compile it; its errors are above", c->source,
             c->compiler.program);
}

enum { BESIDE_BYTES = PATH_MAX + 48 };

/* A name beside the path that no other process has, on no other host. The compiler makes the file,
 * and removes it if it is interrupted. */
static void name_beside(const char *path, char name[BESIDE_BYTES])
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(name, BESIDE_BYTES, "%s.%ld-%ld", path, (long)getpid(), now.tv_nsec);
}

/* Compiles beside the path and renames, so that nobody ever sees half a file. */
static bool compile_into(const struct compilation *c, const char *translated, const char *path)
{
    char result[BESIDE_BYTES];
    bool made = false;
    name_beside(path, result);
    struct outcome outcome = compile_text(c, translated, result);
    if (outcome.status != 0) {
        say_it_does_not_compile(c, &outcome);
    } else if (chmod(result, 0700) != 0 || rename(result, path) != 0) {
        complain("%s: cannot write: %s", path, strerror(errno));
    } else {
        say_warnings(c, &outcome);
        made = true;
    }
    forget_outcome(&outcome);
    if (!made)
        unlink(result);
    return made;
}

static bool make_object(const struct compilation *c, const struct outcome *preprocessed,
                        const char *path)
{
    struct untranslatable why;
    if (!c->target.emulated)
        return compile_into(c, NULL, path);
    char *translated =
        translate_cuda(preprocessed->output, preprocessed->output_length, c->headers, &why);
    if (translated == NULL) {
        if (why.is_everywhere)
            complain("%s:%d: %s", why.file, why.line, why.what);
        else
            complain("%s:%d: the emulator cannot run %s; --device=gpu can", why.file, why.line,
                     why.what);
        return false;
    }
    const bool made = compile_into(c, translated, path);
    free(translated);
    return made;
}

static bool begin_compilation(struct compilation *c)
{
    const bool emulated = c->target.emulated;
    if (!find_places(&c->places)) {
        complain("--algo=%s: scanbench_own.h and the emulator's headers are not where the program "
                 "is; make install puts them there",
                 c->source);
        return false;
    }
    if (!find_compiler(c->source, emulated, &c->compiler))
        return false;
    snprintf(c->headers, sizeof c->headers, "%s/headers", c->places.emulator);
    snprintf(c->first_header, sizeof c->first_header, "%s/plain_cuda.h", c->places.emulator);
    if (!emulated && c->target.compute_capability > 0 && !has_flag(c, "-arch") &&
        !has_flag(c, "-gencode"))
        snprintf(c->gencode, sizeof c->gencode, "-gencode=arch=compute_%d,code=sm_%d",
                 c->target.compute_capability, c->target.compute_capability);
    return true;
}

static bool find_or_make(const struct compilation *c, const struct outcome *preprocessed,
                         char path[PATH_MAX])
{
    const struct digest digest = digest_of(c, preprocessed);
    return cache_path(&digest, path) && (is_trusted(path) || make_object(c, preprocessed, path));
}

static bool make_objects(struct compilation *c, char path[PATH_MAX], char observed[PATH_MAX])
{
    struct outcome preprocessed = preprocess_source(c, false);
    bool found = false;
    if (preprocessed.status != 0) {
        if (!c->target.emulated || !explain_missing_header(preprocessed.errors))
            say_it_does_not_compile(c, &preprocessed);
    } else if (!explain_missing_include(c, preprocessed.output)) {
        found = find_or_make(c, &preprocessed, path);
        if (found && c->target.sanitized) {
            c->target.sanitized = false;
            c->again = true;
            found = find_or_make(c, &preprocessed, observed);
        }
    }
    forget_outcome(&preprocessed);
    return found;
}

bool compile_source(const char *source, const char *compile_flags, struct target target,
                    char path[PATH_MAX], char observed[PATH_MAX])
{
    struct compilation *c = allocate_or_die(NULL, sizeof *c);
    *c = (struct compilation){.compile_flags = compile_flags, .target = target};
    snprintf(c->source, sizeof c->source, "%s%s", strchr("-@", source[0]) != NULL ? "./" : "",
             source);
    c->words = allocate_or_die(NULL, strlen(compile_flags) + 2);
    observed[0] = '\0';
    const bool found = begin_compilation(c) && make_objects(c, path, observed);
    free(c->words);
    free(c);
    return found;
}
