/* cache: keeps compiled files in a folder of the user's, by what they were compiled from. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* A digest of everything that a compiled file depends on. */
struct digest {
    unsigned __int128 state;
};

struct digest begin_digest(void);
/* Adds a text with its length, so that two texts in a row are not taken for one. */
void digest_text(struct digest *digest, const char *text, size_t length);

/* Makes the path of the file with that digest. Returns false after one line on stderr if there is
 * no folder for it that only the user can write. */
bool cache_path(const struct digest *digest, char path[PATH_MAX]);

/* Is there a file of that path, the user's own, that nobody else can write? */
bool is_trusted(const char *path);
