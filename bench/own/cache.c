/* cache: $XDG_CACHE_HOME/scanbench or ~/.cache/scanbench. */
#include "cache.h"

#include "../base/errors.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* FNV-1a with 128 bits (Fowler, Noll and Vo). Collisions made on purpose need not be feared: only
 * the user can write the folder. */
static const unsigned __int128 FNV_PRIME = ((unsigned __int128)1 << 88) + 0x13B;
static const unsigned __int128 FNV_BASIS =
    (unsigned __int128)0x6C62272E07BB0142u << 64 | 0x62B821756295C58Du;

struct digest begin_digest(void)
{
    return (struct digest){FNV_BASIS};
}

static void digest_bytes(struct digest *digest, const void *bytes, size_t length)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < length; i++)
        digest->state = (digest->state ^ byte[i]) * FNV_PRIME;
}

void digest_text(struct digest *digest, const char *text, size_t length)
{
    digest_bytes(digest, text, length);
    digest_bytes(digest, &length, sizeof length);
}

/* Makes the folder and those above it. */
static bool make_folders(char *path)
{
    for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(path, 0700); /* what fails here fails below as well */
        *slash = '/';
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static bool others_can_write(const struct stat *status)
{
    return (status->st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

/* Can anybody put another folder in this one's place? Its path has no symbolic link. The owners and
 * groups of the folders above it are trusted. */
static bool anybody_can_replace(const char *folder)
{
    char above[PATH_MAX];
    struct stat status;
    for (size_t i = 0; folder[i] != '\0'; i++) {
        if (folder[i] != '/')
            continue;
        snprintf(above, sizeof above, "%.*s", i > 0 ? (int)i : 1, folder);
        if (stat(above, &status) != 0 ||
            ((status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0))
            return true;
    }
    return false;
}

/* Returns false after a complaint. */
static bool is_safe(const char *folder)
{
    static const char *const ADVICE = "set XDG_CACHE_HOME to another folder";
    struct stat status;
    if (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode))
        complain("%s: cannot keep compiled files there: %s; %s", folder, strerror(ENOTDIR), ADVICE);
    else if (status.st_uid != geteuid())
        complain("%s: it is another user's, so nothing is loaded from there; %s", folder, ADVICE);
    else if (others_can_write(&status))
        complain("%s: others can write it, so nothing is loaded from there; chmod go-w it, or %s",
                 folder, ADVICE);
    else if (anybody_can_replace(folder))
        complain("%s: anybody can replace it, so nothing is loaded from there; %s", folder, ADVICE);
    else
        return true;
    return false;
}

/* Stores the path of the folder without symbolic links. */
static bool find_folder(char folder[PATH_MAX])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const bool named = cache != NULL && cache[0] == '/';
    if (!named && (home == NULL || home[0] != '/')) {
        complain("there is nowhere to keep compiled files: set XDG_CACHE_HOME to a folder");
        return false;
    }
    char path[PATH_MAX];
    const int length =
        snprintf(path, sizeof path, "%s%s/scanbench", named ? cache : home, named ? "" : "/.cache");
    const bool fits = length < PATH_MAX;
    if (!fits || !make_folders(path) || realpath(path, folder) == NULL) {
        complain("%s: cannot keep compiled files there: %s; set XDG_CACHE_HOME to another folder",
                 path, strerror(fits ? errno : ENAMETOOLONG));
        return false;
    }
    return is_safe(folder);
}

bool cache_path(const struct digest *digest, char path[PATH_MAX])
{
    char folder[PATH_MAX];
    if (!find_folder(folder))
        return false;
    const int length =
        snprintf(path, PATH_MAX, "%s/%016llx%016llx.so", folder,
                 (unsigned long long)(digest->state >> 64), (unsigned long long)digest->state);
    if (length >= PATH_MAX)
        complain("%s: its name is too long to keep compiled files there", folder);
    return length < PATH_MAX;
}

bool is_trusted(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
           !others_can_write(&status);
}
