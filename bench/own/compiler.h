/* compiler.h: the compilers for files of the user's: nvcc, and a C++ compiler for the emulator. */
#pragma once

#include "command.h"

#include <limits.h>

/* A compiler: a program and perhaps flags. */
struct compiler {
    char program[PATH_MAX];
    char words[PATH_MAX]; /* of the variable that names it */
    struct arguments arguments;
    char version[4096]; /* what it says of itself */
};

/* Finds the compiler that the environment names, as in CXX="ccache g++", or a usual one, and
 * asks for its version. Returns false after a complaint; without a source that is to be compiled,
 * without one. `compiler` is all 0, and must not be moved. */
bool find_compiler(const char *source, bool emulated, struct compiler *compiler);

bool is_clang(const struct compiler *compiler);

/* Adds the flags to compile and link with the address sanitizer and checks for undefined
 * behaviour. */
void add_sanitizer(const struct compiler *compiler, struct arguments *arguments);

/* Asks the C++ compiler of the emulator for the path of its address sanitizer's runtime. Returns
 * false, without a complaint, if there is none. */
bool find_sanitizer_runtime(char path[PATH_MAX]);
