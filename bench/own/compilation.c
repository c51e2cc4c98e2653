/* compilation: the commands of the compiler, and their flags. */
#include "compilation.h"

#include "../base/errors.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void say_warnings(const struct compilation *c, const struct outcome *outcome)
{
    if (!c->again)
        fputs(outcome->errors, words());
}

/* The compiler and the flags that the preprocessor needs too. */
static struct arguments begin_arguments(const struct compilation *c)
{
    struct arguments arguments = c->compiler.arguments;
    add_argument(&arguments, "-I");
    if (c->target.emulated) {
        ADD_ARGUMENTS(&arguments, c->headers, "-I", c->places.header, "-DSCANBENCH_EMULATED",
                      "-D__CUDACC__");
    } else {
        add_argument(&arguments, c->places.header);
        if (c->gencode[0] != '\0')
            add_argument(&arguments, c->gencode);
    }
    return arguments;
}

bool has_flag(const struct compilation *c, const char *flag)
{
    return strstr(c->compile_flags, flag) != NULL;
}

/* The flags of the user's come after ours, so that they decide. */
static void add_compile_flags(const struct compilation *c, struct arguments *arguments)
{
    if (c->target.emulated)
        add_argument(arguments, "-std=gnu++20");
    add_words(arguments, c->compile_flags, c->words);
}

struct outcome preprocess_source(const struct compilation *c, bool for_host)
{
    struct arguments arguments = begin_arguments(c);
    add_compile_flags(c, &arguments);
    if (c->target.emulated) {
        ADD_ARGUMENTS(&arguments, "-include", c->first_header);
    }
    if (for_host)
        add_argument(&arguments, "-U__CUDA_ARCH__");
    ADD_ARGUMENTS(&arguments, "-E", "-x", c->target.emulated ? "c++" : "cu", c->source);
    return run_command(&arguments, NULL);
}

static bool user_sanitizes(const struct compilation *c)
{
    bool has = has_flag(c, "-fsanitize");
    for (size_t a = 0; a < c->compiler.arguments.count; a++)
        has |= strncmp(c->compiler.arguments.at[a], "-fsanitize", strlen("-fsanitize")) == 0;
    return has;
}

/* Each load and store calls the emulator, which counts them (emulator/access_hooks.cpp). No
 * sanitizer can be used with that. */
static void add_counting(const struct compilation *c, struct arguments *arguments)
{
    if (c->target.sanitized || user_sanitizes(c))
        return;
    ADD_ARGUMENTS(arguments, "-fsanitize=thread", "-fno-omit-frame-pointer",
                  "-fno-optimize-sibling-calls");
    if (is_clang(&c->compiler)) {
        ADD_ARGUMENTS(arguments, "-mllvm", "-tsan-instrument-read-before-write=1", "-mllvm",
                      "-tsan-distinguish-volatile=1");
    } else {
        add_argument(arguments, "--param=tsan-distinguish-volatile=1");
    }
}

/* A load whose value only one branch needs is not moved there: read in vain past the end of an
 * array, it would not be found. */
static void keep_loads_in_place(const struct compilation *c, struct arguments *arguments)
{
    if (!is_clang(&c->compiler)) {
        add_argument(arguments, "-fno-tree-sink");
        return;
    }
    ADD_ARGUMENTS(arguments, "-mllvm", "-instcombine-code-sinking=false");
}

static void add_emulator_flags(const struct compilation *c, struct arguments *arguments)
{
    /* In translated lines, columns are not the user's. Flags for the preprocessor are not used. */
    add_argument(arguments, is_clang(&c->compiler) ? "-Wno-unused-command-line-argument"
                                                   : "-fno-diagnostics-show-caret");
    /* C++20 warns of what nvcc's C++17 lets pass. */
    add_argument(arguments, is_clang(&c->compiler) ? "-Wno-deprecated-volatile" : "-Wno-volatile");
    ADD_ARGUMENTS(arguments, "-fno-show-column", "-ftemplate-backtrace-limit=1", "-O1", "-g1",
                  "-fwrapv", "-fno-strict-aliasing", "-fPIC", "-fvisibility=hidden",
                  "-Wl,-Bsymbolic");
    if (c->target.sanitized) {
        keep_loads_in_place(c, arguments);
        add_sanitizer(&c->compiler, arguments);
    }
}

static struct outcome compile_for_gpu(const struct compilation *c, const char *result)
{
    struct arguments arguments = begin_arguments(c);
    if (!has_flag(c, "-O"))
        add_argument(&arguments, "-O3");
    ADD_ARGUMENTS(&arguments, "-lineinfo", "-Xcompiler=-fPIC,-fvisibility=hidden",
                  "-DSCANBENCH_HEARS_LAUNCHES",
                  "-Xlinker=--wrap=cudaLaunchKernel,--wrap=__cudaLaunchKernel",
                  "-Xlinker=--wrap=cudaLaunchCooperativeKernel");
    add_compile_flags(c, &arguments);
    ADD_ARGUMENTS(&arguments, "-shared", "-o", result, "-x", "cu", c->source);
    return run_command(&arguments, NULL);
}

static struct outcome compile_translated(const struct compilation *c, const char *translated,
                                         const char *object)
{
    struct arguments arguments = begin_arguments(c);
    add_emulator_flags(c, &arguments);
    add_counting(c, &arguments);
    add_compile_flags(c, &arguments);
    ADD_ARGUMENTS(&arguments, "-c", "-o", object, "-x", "c++-cpp-output", "-");
    return run_command(&arguments, translated);
}

/* By itself, without the flags for counting: they would link ThreadSanitizer. */
static struct outcome link_object(const struct compilation *c, const char *object,
                                  const char *result)
{
    struct arguments arguments = begin_arguments(c);
    add_emulator_flags(c, &arguments);
    ADD_ARGUMENTS(&arguments, "-shared", "-o", result, object);
    add_compile_flags(c, &arguments);
    return run_command(&arguments, NULL);
}

struct outcome compile_text(const struct compilation *c, const char *translated, const char *result)
{
    char object[PATH_MAX + 64];
    if (!c->target.emulated)
        return compile_for_gpu(c, result);
    snprintf(object, sizeof object, "%s.o", result);
    struct outcome outcome = compile_translated(c, translated, object);
    if (outcome.status == 0) {
        say_warnings(c, &outcome);
        forget_outcome(&outcome);
        outcome = link_object(c, object, result);
    }
    unlink(object);
    return outcome;
}
