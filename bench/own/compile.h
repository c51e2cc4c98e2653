/* compile: makes a shared object of a CUDA source, for a GPU or for the emulator. */
#pragma once

#include <limits.h>
#include <stdbool.h>

/* What to compile for. */
struct target {
    bool emulated;          /* else for a GPU */
    bool sanitized;         /* emulated: with the address sanitizer (preload.h) */
    bool again;             /* its warnings have been shown */
    int compute_capability; /* of the GPU; 0: there is none, so it is left to nvcc */
};

/* Finds or makes the shared object, and stores its path. What a compiler says goes to stderr as it
 * is. Returns false after one line on stderr. */
bool compile_source(const char *source, const char *compile_flags, struct target target,
                    char path[PATH_MAX]);
