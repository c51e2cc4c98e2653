/* host_memory: how much memory this process can still take from its host. */
#include "host_memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LINE_BYTES = PATH_MAX + 256 };

/* ---- files ---- */

static FILE *open_file(const char *folder, const char *name)
{
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    return length < (int)sizeof path ? fopen(path, "r") : NULL;
}

/* Reads the number after `key` at the start of a line. Returns false if there is none. */
static bool read_number(const char *folder, const char *name, const char *key, uint64_t *number)
{
    FILE *file = open_file(folder, name);
    char line[256];
    bool found = false;
    while (!found && file != NULL && fgets(line, sizeof line, file) != NULL)
        found = strncmp(line, key, strlen(key)) == 0 &&
                sscanf(line + strlen(key), "%" SCNu64, number) == 1;
    if (file != NULL)
        fclose(file);
    return found;
}

/* ---- the limits ---- */

/* Takes over a limit, of which `used` bytes are in use, if less is free under it. */
static void bound_by(struct host_memory *memory, const char *limit, uint64_t bytes, uint64_t used)
{
    uint64_t left = bytes > used ? bytes - used : 0;
    left -= left / SPARE_SHARE;
    left -= left < SPARE_BYTES ? left : SPARE_BYTES;
    if (left >= memory->free_bytes)
        return;
    memory->free_bytes = left;
    memory->limit_bytes = bytes;
    snprintf(memory->limit, sizeof memory->limit, "%s", limit);
}

/* The files of a version of cgroups. */
static const struct cgroup_files {
    const char *limits[2];
    const char *usage;
    const char *inactive; /* key in memory.stat: file pages that are given up first */
} versions[2] = {
    {{"memory.limit_in_bytes"}, "memory.usage_in_bytes", "total_inactive_file "},
    {{"memory.max", "memory.high"}, "memory.current", "inactive_file "},
};

/* The limits of one cgroup. The cgroup of a mount's root may have none, and neither has one that
 * this mount does not show. A limit that is not set is "max", or a number beyond any memory. */
static void bound_by_cgroup(struct host_memory *memory, const struct cgroup_files *files,
                            const char *folder, const char *path)
{
    uint64_t used, inactive = 0, bytes;
    if (!read_number(folder, files->usage, "", &used))
        return;
    read_number(folder, "memory.stat", files->inactive, &inactive);
    used -= inactive < used ? inactive : used;
    for (int l = 0; l < 2 && files->limits[l] != NULL; l++) {
        char limit[MEMORY_LIMIT_BYTES];
        snprintf(limit, sizeof limit, "%s of the cgroup %.80s", files->limits[l],
                 path[0] != '\0' ? path : "/");
        if (read_number(folder, files->limits[l], "", &bytes))
            bound_by(memory, limit, bytes, used);
    }
}

/* The limits of the cgroup at `path` below a mount, and of those above it. */
static void bound_by_cgroups(struct host_memory *memory, const struct cgroup_files *files,
                             const char *root, const char *mount, char *path)
{
    char folder[PATH_MAX];
    for (;;) {
        char *end = path + strlen(path);
        while (end > path && end[-1] == '/')
            *--end = '\0';
        if (snprintf(folder, sizeof folder, "%s%s%s", root, mount, path) < (int)sizeof folder)
            bound_by_cgroup(memory, files, folder, path);
        if (path[0] == '\0')
            return;
        *strrchr(path, '/') = '\0';
    }
}

/* Does a list such as "cpu,memory" have the word? */
static bool lists_memory(const char *controllers)
{
    static const char word[] = "memory";
    for (const char *at = controllers; *at != '\0'; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == strlen(word) && strncmp(at, word, strlen(word)) == 0)
            return true;
    return false;
}

/* One line of /proc/self/cgroup: NUMBER:CONTROLLERS:PATH, where version 2 has no controllers. */
static void bound_by_line(struct host_memory *memory, const char *root, char *line)
{
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    char copy[LINE_BYTES];
    if (path == NULL || path[1] != '/')
        return;
    *path++ = '\0';
    controllers++;
    strcpy(copy, path);
    if (lists_memory(controllers)) {
        bound_by_cgroups(memory, &versions[0], root, "/sys/fs/cgroup/memory", path);
    } else if (controllers[0] == '\0') {
        bound_by_cgroups(memory, &versions[1], root, "/sys/fs/cgroup", path);
        bound_by_cgroups(memory, &versions[1], root, "/sys/fs/cgroup/unified", copy);
    }
}

static void bound_by_all_cgroups(struct host_memory *memory, const char *root)
{
    FILE *file = open_file(root, "proc/self/cgroup");
    char line[LINE_BYTES];
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        bound_by_line(memory, root, line);
    if (file != NULL)
        fclose(file);
}

static void bound_by_rlimit(struct host_memory *memory, const char *root, int which,
                            const char *name, const char *usage)
{
    struct rlimit limit;
    uint64_t used_kib = 0;
    if (getrlimit(which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return;
    read_number(root, "proc/self/status", usage, &used_kib);
    bound_by(memory, name, limit.rlim_cur, used_kib * 1024);
}

struct host_memory read_host_memory(const char *root)
{
    uint64_t available_kib;
    struct host_memory memory = {.free_bytes = SIZE_MAX};
    if (read_number(root, "proc/meminfo", "MemAvailable:", &available_kib))
        memory.free_bytes = available_kib * 1024;
    else
        memory.free_bytes = (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    bound_by_all_cgroups(&memory, root);
    bound_by_rlimit(&memory, root, RLIMIT_AS, "ulimit -v", "VmSize:");
    bound_by_rlimit(&memory, root, RLIMIT_DATA, "ulimit -d", "VmData:");
    return memory;
}
