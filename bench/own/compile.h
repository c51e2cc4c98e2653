/* compile: makes a shared object of a CUDA source, for a GPU or for the emulator. */
#pragma once

#include <limits.h>
#include <stdbool.h>

/* What to compile for. */
struct target {
    bool emulated;          /* else for a GPU */
    bool sanitized;         /* emulated: with the address sanitizer (preload.h) */
    int compute_capability; /* of the GPU; 0: there is none, so it is left to nvcc */
};

/* Finds or makes the shared object, and stores its path. If it is sanitized, stores the path of a
 * second one as well, whose accesses the emulator sees, because compilers have one or the other;
 * else "". What a compiler says goes to stderr as it is. Returns false after one line on stderr. */
bool compile_source(const char *source, const char *compile_flags, struct target target,
                    char path[PATH_MAX], char observed[PATH_MAX]);
