/* own: rows of the table from files of the user's, --algo=./my_scan.cu or ./lib.so.
 *
 * A file is compiled (compile.h) and loaded, and what its lines say becomes rows of the registry.
 * own/scanbench_own.h is what such a file includes. */
#pragma once

#include "../algorithm.h"

#include <stdbool.h>
#include <stddef.h>

/* Does a word of --algo name a file? One with a slash, .cu or .so at its end does. */
bool is_own_file(const char *word);

/* Is there a file whose name is the word and .cu or .so? Then `file` gets that name. */
bool lacks_ending(const char *word, char *file, size_t size);

/* Compiles and loads the files among the words, for each kind of device that is wanted, and adds
 * their rows to the registry. Returns false after one line on stderr. */
bool load_own_files(const char *const *words, size_t count, const char *compile_flags,
                    const bool wanted[DEVICE_KIND_COUNT]);
