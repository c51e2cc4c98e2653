/* preload: starts the program anew with the address sanitizer, for --check of files of the user's.
 */
#pragma once

#include <stdbool.h>

/* The runtime of the sanitizer must be loaded before anything else. Unless that was done, replaces
 * the process by a new one with the same command line. Returns if the runtime is there, or if it
 * cannot be had, after one line on stderr unless `quiet`. */
void load_sanitizer(bool quiet);

/* Is it there? Then sources are compiled with it. */
bool has_sanitizer(void);
