/* compiler: finds compilers, and knows their flags for sanitizers. */
#include "compiler.h"

#include "../base/errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Which ---- */

/* The first of the usual ones that is there; nvcc may be in $CUDA_HOME. */
static bool find_usual_compiler(bool emulated, char program[PATH_MAX])
{
    static const char *const usual[2][4] = {
        {"nvcc", "/usr/local/cuda/bin/nvcc", NULL},
        {"g++", "c++", "clang++", NULL},
    };
    const char *toolkit = emulated ? NULL : getenv("CUDA_HOME");
    char own_nvcc[PATH_MAX];
    snprintf(own_nvcc, sizeof own_nvcc, "%s/bin/nvcc", toolkit != NULL ? toolkit : "");
    if (toolkit != NULL && find_program(own_nvcc, program, PATH_MAX))
        return true;
    for (const char *const *name = usual[emulated]; *name != NULL; name++)
        if (find_program(*name, program, PATH_MAX))
            return true;
    return false;
}

static bool find_named_or_usual(const char *source, bool emulated, struct compiler *compiler)
{
    const char *variable = emulated ? "CXX" : "NVCC", *named = getenv(variable);
    bool found = false;
    if (named != NULL && named[0] != '\0') {
        if (strlen(named) < sizeof compiler->words)
            add_words(&compiler->arguments, named, compiler->words);
        found = compiler->arguments.count > 0 &&
                find_program(compiler->arguments.at[0], compiler->program, PATH_MAX);
        if (found)
            compiler->arguments.at[0] = compiler->program;
        else if (source != NULL)
            complain("--algo=%s: %s=\"%s\" names no program that can compile it", source, variable,
                     named);
    } else {
        found = find_usual_compiler(emulated, compiler->program);
        add_argument(&compiler->arguments, compiler->program);
        if (!found && source != NULL)
            complain("--algo=%s: there is no %s to compile it with; install one, or set %s", source,
                     emulated ? "C++ compiler" : "nvcc", variable);
    }
    return found;
}

static void ask_version(struct compiler *compiler)
{
    struct arguments arguments = compiler->arguments;
    add_argument(&arguments, "--version");
    struct outcome outcome = run_command(&arguments, NULL);
    snprintf(compiler->version, sizeof compiler->version, "%s", outcome.output);
    forget_outcome(&outcome);
}

bool find_compiler(const char *source, bool emulated, struct compiler *compiler)
{
    if (!find_named_or_usual(source, emulated, compiler))
        return false;
    ask_version(compiler);
    return true;
}

bool is_clang(const struct compiler *compiler)
{
    return strstr(compiler->version, "clang") != NULL;
}

/* ---- Sanitizers ---- */

/* Sums may wrap, as they do on a GPU. A function that ends without its value cannot go on. */
#define WITHOUT_RETURN \
    "address,bounds,shift,integer-divide-by-zero,null,alignment,vla-bound,bool,enum"

void add_sanitizer(const struct compiler *compiler, struct arguments *arguments)
{
    ADD_ARGUMENTS(arguments, "-fsanitize=return," WITHOUT_RETURN,
                  "-fsanitize-recover=" WITHOUT_RETURN, "-fno-omit-frame-pointer");
    if (is_clang(compiler))
        add_argument(arguments, "-shared-libasan");
}

static const char *runtime_name(const struct compiler *compiler)
{
#ifdef __aarch64__
    return is_clang(compiler) ? "libclang_rt.asan-aarch64.so" : "libasan.so";
#else
    return is_clang(compiler) ? "libclang_rt.asan-x86_64.so" : "libasan.so";
#endif
}

bool find_sanitizer_runtime(char path[PATH_MAX])
{
    struct compiler *compiler = allocate_or_die(NULL, sizeof *compiler);
    char flag[64];
    *compiler = (struct compiler){.arguments = {.count = 0}};
    path[0] = '\0';
    if (find_compiler(NULL, true, compiler)) {
        snprintf(flag, sizeof flag, "-print-file-name=%s", runtime_name(compiler));
        add_argument(&compiler->arguments, flag);
        struct outcome outcome = run_command(&compiler->arguments, NULL);
        snprintf(path, PATH_MAX, "%.*s", (int)strcspn(outcome.output, "\n"), outcome.output);
        forget_outcome(&outcome);
    }
    free(compiler);
    return strchr(path, '/') != NULL && access(path, R_OK) == 0;
}
