/* compilation: the commands that make a shared object of one source. */
#pragma once

#include "command.h"
#include "compile.h"
#include "compiler.h"

/* Where the headers are that a source is compiled with. */
struct places {
    char header[PATH_MAX];   /* the folder of scanbench_own.h */
    char emulator[PATH_MAX]; /* emulator/ */
};

struct compilation {
    char source[PATH_MAX + 2]; /* no flag: it does not begin with - or @ */
    const char *compile_flags;
    struct target target;
    bool again; /* its warnings have been shown */
    struct places places;
    struct compiler compiler;
    char headers[PATH_MAX + 16], first_header[PATH_MAX + 16], gencode[64];
    char *words; /* of the compile flags */
};

/* Is the flag among the user's? */
bool has_flag(const struct compilation *c, const char *flag);

/* Runs the preprocessor. nvcc makes two texts: that for the GPU, and with `for_host` that for the
 * host. */
struct outcome preprocess_source(const struct compilation *c, bool for_host);

/* Makes the shared object `result` of the translated text, for the emulator; without a text, of the
 * source itself, for a GPU. */
struct outcome compile_text(const struct compilation *c, const char *translated,
                            const char *result);

/* Prints what a compiler that succeeded said, unless it has been shown. */
void say_warnings(const struct compilation *c, const struct outcome *outcome);
