/* compile: preprocesses a source, looks for the result of the same text in the cache, and else
 * translates and compiles it. */
#include "compile.h"

#include "../base/build.h"
#include "../base/errors.h"
#include "cache.h"
#include "command.h"
#include "translate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Where things are ---- */

/* Where the headers are that a source is compiled with. */
struct places {
    char header[PATH_MAX];   /* the folder of scanbench_own.h */
    char emulator[PATH_MAX]; /* emulator/ */
};

/* Beside the installed program, or in the tree that it was built in. */
static const struct {
    const char *header, *emulator;
} known_places[] = {
    {"../include", "../share/scanbench/emulator"},
    {"own", "emulator"},
    {"../own", "../emulator"},
    {"../../own", "../../emulator"},
};

/* Compilers print it. */
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

/* The compiler that the environment names, or the first of the usual ones that is there. */
static bool find_compiler(bool emulated, char path[PATH_MAX])
{
    static const char *const usual[2][4] = {
        {"nvcc", "/usr/local/cuda/bin/nvcc", NULL},
        {"g++", "c++", "clang++", NULL},
    };
    const char *named = getenv(emulated ? "CXX" : "NVCC");
    if (named != NULL && named[0] != '\0')
        return find_program(named, path, PATH_MAX);
    const char *toolkit = emulated ? NULL : getenv("CUDA_HOME");
    char own_nvcc[PATH_MAX];
    snprintf(own_nvcc, sizeof own_nvcc, "%s/bin/nvcc", toolkit != NULL ? toolkit : "");
    if (toolkit != NULL && find_program(own_nvcc, path, PATH_MAX))
        return true;
    for (const char *const *name = usual[emulated]; *name != NULL; name++)
        if (find_program(*name, path, PATH_MAX))
            return true;
    return false;
}

/* ---- One compilation ---- */

struct compilation {
    const char *source, *compile_flags;
    struct target target;
    struct places places;
    char compiler[PATH_MAX];
    char version[4096]; /* what the compiler says of itself */
    char headers[PATH_MAX + 16], first_header[PATH_MAX + 16], gencode[64];
    char *words; /* of the compile flags */
};

static bool is_clang(const struct compilation *c)
{
    return strstr(c->version, "clang") != NULL;
}

static void say_as_it_is(const struct outcome *outcome)
{
    fputs(outcome->errors, stderr);
}

/* The compiler and the flags that the preprocessor needs too. */
static void begin_arguments(struct compilation *c, struct arguments *arguments)
{
    add_argument(arguments, c->compiler);
    add_argument(arguments, "-I");
    if (c->target.emulated) {
        add_argument(arguments, c->headers);
        add_argument(arguments, "-I");
        add_argument(arguments, c->places.header);
        add_argument(arguments, "-DSCANBENCH_EMULATED");
        add_argument(arguments, "-D__CUDACC__");
    } else {
        add_argument(arguments, c->places.header);
        if (c->gencode[0] != '\0')
            add_argument(arguments, c->gencode);
    }
    add_words(arguments, c->compile_flags, c->words);
    if (c->target.emulated)
        add_argument(arguments, "-std=gnu++20");
}

static struct outcome preprocess(struct compilation *c)
{
    struct arguments arguments = {0};
    begin_arguments(c, &arguments);
    if (c->target.emulated) {
        add_argument(&arguments, "-include");
        add_argument(&arguments, c->first_header);
    }
    add_argument(&arguments, "-E");
    add_argument(&arguments, "-x");
    add_argument(&arguments, c->target.emulated ? "c++" : "cu");
    add_argument(&arguments, c->source);
    return run_command(&arguments);
}

static struct outcome compile_for_gpu(struct compilation *c, const char *result)
{
    struct arguments arguments = {0};
    begin_arguments(c, &arguments);
    add_argument(&arguments, "-O3");
    add_argument(&arguments, "-lineinfo");
    add_argument(&arguments, "-Xcompiler=-fPIC,-fvisibility=hidden");
    add_argument(&arguments, "-x");
    add_argument(&arguments, "cu");
    add_argument(&arguments, "-shared");
    add_argument(&arguments, "-o");
    add_argument(&arguments, result);
    add_argument(&arguments, c->source);
    return run_command(&arguments);
}

/* Each load and store calls the emulator, which counts them (emulator/access_hooks.cpp). A
 * sanitizer that the user asks for leaves no room for that. */
static void add_counting(const struct compilation *c, struct arguments *arguments)
{
    if (strstr(c->compile_flags, "-fsanitize") != NULL)
        return;
    add_argument(arguments, "-fsanitize=thread");
    add_argument(arguments, "-fno-omit-frame-pointer");
    add_argument(arguments, "-fno-optimize-sibling-calls");
    if (is_clang(c)) {
        add_argument(arguments, "-mllvm");
        add_argument(arguments, "-tsan-instrument-read-before-write=1");
    }
}

static struct outcome compile_for_emulator(struct compilation *c, const char *text,
                                           const char *object)
{
    struct arguments arguments = {0};
    begin_arguments(c, &arguments);
    /* In translated lines, columns are not the user's. */
    if (!is_clang(c))
        add_argument(&arguments, "-fno-diagnostics-show-caret");
    add_argument(&arguments, "-fno-show-column");
    add_argument(&arguments, "-ftemplate-backtrace-limit=1");
    add_argument(&arguments, "-O1");
    add_argument(&arguments, "-g1");
    add_argument(&arguments, "-fwrapv");
    add_argument(&arguments, "-fno-strict-aliasing");
    add_argument(&arguments, "-fPIC");
    add_argument(&arguments, "-fvisibility=hidden");
    add_counting(c, &arguments);
    add_argument(&arguments, "-c");
    add_argument(&arguments, "-o");
    add_argument(&arguments, object);
    add_argument(&arguments, text);
    return run_command(&arguments);
}

/* Without the flags for counting, which would link ThreadSanitizer. */
static struct outcome link_for_emulator(struct compilation *c, const char *object,
                                        const char *result)
{
    struct arguments arguments = {0};
    begin_arguments(c, &arguments);
    if (is_clang(c)) /* the folders of headers */
        add_argument(&arguments, "-Wno-unused-command-line-argument");
    add_argument(&arguments, "-Wl,-Bsymbolic");
    add_argument(&arguments, "-shared");
    add_argument(&arguments, "-o");
    add_argument(&arguments, result);
    add_argument(&arguments, object);
    return run_command(&arguments);
}

/* Compiles for a GPU the source itself; for the emulator the translated text, in a file. */
static struct outcome compile(struct compilation *c, const char *text, const char *result)
{
    char object[PATH_MAX + 64];
    if (!c->target.emulated)
        return compile_for_gpu(c, result);
    snprintf(object, sizeof object, "%s.o", result);
    struct outcome outcome = compile_for_emulator(c, text, object);
    if (outcome.status == 0) {
        say_as_it_is(&outcome); /* warnings */
        forget_outcome(&outcome);
        outcome = link_for_emulator(c, object, result);
    }
    unlink(object);
    return outcome;
}

static struct digest digest_of(const struct compilation *c, const struct outcome *preprocessed)
{
    char build[BUILD_BYTES];
    struct digest digest = begin_digest();
    identify_build(build);
    digest_text(&digest, build, strlen(build));
    digest_text(&digest, c->compiler, strlen(c->compiler));
    digest_text(&digest, c->version, strlen(c->version));
    digest_text(&digest, c->compile_flags, strlen(c->compile_flags));
    digest_text(&digest, c->gencode, strlen(c->gencode));
    digest_text(&digest, preprocessed->output, preprocessed->output_length);
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
static bool explain_missing_header(const struct compilation *c, const char *errors)
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
    (void)c;
    return false;
}

/* ---- All of it ---- */

static bool write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wx");
    if (file == NULL)
        return false;
    const bool written = fputs(text, file) >= 0;
    return fclose(file) == 0 && written;
}

/* Compiles beside the path and renames, so that nobody ever sees half a file. */
static int make_object(struct compilation *c, const struct outcome *preprocessed, const char *path)
{
    char result[PATH_MAX + 32], text[PATH_MAX + 32];
    snprintf(result, sizeof result, "%s.%ld", path, (long)getpid());
    snprintf(text, sizeof text, "%s.%ld.ii", path, (long)getpid());
    if (c->target.emulated) {
        struct untranslatable why;
        char *translated =
            translate_cuda(preprocessed->output, preprocessed->output_length, c->headers, &why);
        if (translated == NULL) {
            complain("%s:%d: the emulator cannot run %s; --device=gpu can", why.file, why.line,
                     why.what);
            return EXIT_USAGE;
        }
        unlink(text);
        const bool written = write_file(text, translated);
        free(translated);
        if (!written) {
            complain("%s: cannot write: %s", text, strerror(errno));
            unlink(text);
            return EXIT_ERROR;
        }
    }
    struct outcome outcome = compile(c, text, result);
    say_as_it_is(&outcome);
    const int status = outcome.status;
    forget_outcome(&outcome);
    unlink(text);
    if (status == 0 && rename(result, path) == 0)
        return EXIT_OK;
    if (status == 0)
        complain("%s: cannot write: %s", path, strerror(errno));
    else
        complain("--algo=%s: %s does not compile it; its errors are above", c->source, c->compiler);
    unlink(result);
    return status == 0 ? EXIT_ERROR : EXIT_USAGE;
}

static int begin_compilation(struct compilation *c)
{
    const bool emulated = c->target.emulated;
    if (!find_places(&c->places)) {
        complain("--algo=%s: scanbench_own.h and the emulator's headers are not where the program "
                 "is; make install puts them there",
                 c->source);
        return EXIT_ERROR;
    }
    if (!find_compiler(emulated, c->compiler)) {
        complain("--algo=%s: there is no %s to compile it with; install one, or set %s", c->source,
                 emulated ? "C++ compiler" : "nvcc", emulated ? "CXX" : "NVCC");
        return EXIT_UNUSABLE;
    }
    snprintf(c->headers, sizeof c->headers, "%s/headers", c->places.emulator);
    snprintf(c->first_header, sizeof c->first_header, "%s/plain_cuda.h", c->places.emulator);
    const bool names_architecture =
        strstr(c->compile_flags, "-arch") != NULL || strstr(c->compile_flags, "-gencode") != NULL;
    if (!emulated && c->target.compute_capability > 0 && !names_architecture)
        snprintf(c->gencode, sizeof c->gencode, "-gencode=arch=compute_%d,code=sm_%d",
                 c->target.compute_capability, c->target.compute_capability);
    struct arguments arguments = {0};
    add_argument(&arguments, c->compiler);
    add_argument(&arguments, "--version");
    struct outcome version = run_command(&arguments);
    snprintf(c->version, sizeof c->version, "%s", version.output);
    forget_outcome(&version);
    return EXIT_OK;
}

static int find_or_make(struct compilation *c, char path[PATH_MAX])
{
    struct outcome preprocessed = preprocess(c);
    int code = EXIT_OK;
    if (preprocessed.status != 0) {
        code = EXIT_USAGE;
        if (!c->target.emulated || !explain_missing_header(c, preprocessed.errors)) {
            say_as_it_is(&preprocessed);
            complain("--algo=%s: %s does not compile it; its errors are above", c->source,
                     c->compiler);
        }
    } else {
        const struct digest digest = digest_of(c, &preprocessed);
        if (!cache_path(&digest, path))
            code = EXIT_ERROR;
        else if (!is_trusted(path))
            code = make_object(c, &preprocessed, path);
    }
    forget_outcome(&preprocessed);
    return code;
}

int compile_source(const char *source, const char *compile_flags, struct target target,
                   char path[PATH_MAX])
{
    struct compilation *c = allocate_or_die(NULL, sizeof *c);
    *c = (struct compilation){.source = source, .compile_flags = compile_flags, .target = target};
    c->words = allocate_or_die(NULL, strlen(compile_flags) + 2);
    int code = begin_compilation(c);
    if (code == EXIT_OK)
        code = find_or_make(c, path);
    free(c->words);
    free(c);
    return code;
}
