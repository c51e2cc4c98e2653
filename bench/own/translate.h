/* translate: makes C++ of CUDA, for the emulator.
 *
 * The text has been through the preprocessor, so macros that hold a launch, and headers of the
 * user's, need no thought. Lines keep their numbers and their files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A construct that the emulator cannot run. */
struct untranslatable {
    char file[512]; /* empty: there is none */
    int line;
    char what[256];
    bool is_everywhere; /* nvcc refuses it as well; `what` is a sentence */
};

/* Returns the text to compile, which the caller frees, or NULL and why not. What lies in files
 * whose names begin with `headers` is not looked at. */
char *translate_cuda(const char *text, size_t length, const char *headers,
                     struct untranslatable *why);
