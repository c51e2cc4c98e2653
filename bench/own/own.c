/* own: loads files of the user's and makes rows of their lines.
 *
 * SCANBENCH_CUDA says that the GPU's half of own_call.cu is linked. */
#include "own.h"

#include "../base/errors.h"
#include "../base/stdout.h"
#include "../base/text.h"
#include "../device/own_call.h"
#include "../names.h"
#include "../own_algorithm.h"
#include "../table.h"
#include "compile.h"
#include "preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_BYTES = 48 };

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);
    return length > end_length && strcmp(text + length - end_length, end) == 0;
}

bool is_own_file(const char *word)
{
    return strchr(word, '/') != NULL || ends_with(word, ".cu") || ends_with(word, ".so");
}

bool lacks_ending(const char *word, char *file, size_t size)
{
    static const char *const endings[] = {".cu", ".so"};
    for (size_t e = 0; e < sizeof endings / sizeof *endings; e++) {
        snprintf(file, size, "./%s%s", word, endings[e]);
        if (access(file, R_OK) == 0)
            return true;
    }
    return false;
}

/* ---- Which problems a line solves ---- */

static const struct own_algorithm *own_of(const struct problem *problem)
{
    return (const struct own_algorithm *)problem->algorithm;
}

/* Lists each type once. */
static void list_types(const struct own_algorithm *own, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t e = 0; e < own->entry_count; e++)
        if (strstr(text, own->entries[e]->type) == NULL)
            append_text(text, size, "%s%s", comma_after(text), own->entries[e]->type);
}

static const char *supports(const struct problem *problem)
{
    static char why[160];
    const struct own_algorithm *own = own_of(problem);
    const struct scanbench_entry *of_type = NULL, *near = NULL;
    char types[64];
    if (own_entry(problem) != NULL)
        return NULL;
    for (size_t e = 0; e < own->entry_count; e++) {
        if (strcmp(own->entries[e]->type, type_name(problem->type)) == 0)
            of_type = own->entries[e];
        if (own_is_for(own->entries[e], problem))
            near = own->entries[e];
    }
    list_types(own, types, sizeof types);
    if (of_type == NULL)
        snprintf(why, sizeof why, "its file has it for --type=%s", types);
    else if (near == NULL)
        snprintf(why, sizeof why, "its file says that it is %s",
                 of_type->inclusive ? "inclusive" : "exclusive");
    else if (problem->n < near->at_least)
        snprintf(why, sizeof why, "its file says that it takes at least %llu elements",
                 (unsigned long long)near->at_least);
    else if (problem->n > near->at_most)
        snprintf(why, sizeof why, "its file says that it takes at most %llu elements",
                 (unsigned long long)near->at_most);
    else
        snprintf(why, sizeof why, "its file says that it takes powers of two only");
    return why;
}

static size_t scratch_bytes(const struct problem *problem)
{
    const struct scanbench_entry *entry = own_entry(problem);
    return entry != NULL && entry->scratch_bytes != NULL ? entry->scratch_bytes((size_t)problem->n)
                                                         : 0;
}

/* ---- Rows ---- */

static bool is_good_name(const char *name)
{
    static const char *const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789_-.";
    const size_t length = strlen(name);
    return length > 0 && length < NAME_BYTES && strspn(name, letters) == length && name[0] != '-' &&
           name[0] != '.';
}

static struct own_algorithm *make_algorithm(const char *file, const struct scanbench_entry *entry,
                                            enum operation op, enum device_kind kind)
{
    struct own_algorithm *own = allocate_or_die(NULL, sizeof *own);
    char *summary = allocate_or_die(NULL, strlen(file) + 32);
    sprintf(summary, "yours: line %d of %s", entry->line, file);
    void (*run)(const struct call *) = emulated_run_own;
#ifdef SCANBENCH_CUDA
    if (kind == DEVICE_GPU)
        run = gpu_run_own;
#endif
    (void)kind;
    *own = (struct own_algorithm){
        .algorithm = {.name = entry->name,
                      .op = op,
                      .family = FAMILY_USER,
                      .traits = TRAIT_SYNCHRONISES,
                      .narrow_key_types = TYPES_OF_NARROW_KEYS,
                      .summary = summary,
                      .source = file,
                      .supports = supports,
                      .scratch_bytes = scratch_bytes,
                      .run = run},
    };
    return own;
}

/* Does the first line solve whatever the second would, so that the second is never used? */
static bool covers(const struct scanbench_entry *first, const struct scanbench_entry *second)
{
    return strcmp(first->type, second->type) == 0 && first->exclusive >= second->exclusive &&
           first->inclusive >= second->inclusive && first->at_least <= second->at_least &&
           first->at_most >= second->at_most && first->powers_of_two <= second->powers_of_two;
}

/* Returns an earlier line of the algorithm that covers this one; NULL: there is none. The line
 * itself, of a file that is named twice, is none. */
static const struct scanbench_entry *find_covering(const struct own_algorithm *own,
                                                   const struct scanbench_entry *entry)
{
    for (size_t e = 0; e < own->entry_count; e++)
        if (own->entries[e] != entry && covers(own->entries[e], entry))
            return own->entries[e];
    return NULL;
}

/* A line of a file, and the same line of the file's observed object, or NULL. */
struct own_line {
    const struct scanbench_entry *entry, *observed;
};

/* Adds a line to an algorithm. */
static void add_entry(struct own_algorithm *own, struct own_line line)
{
    const struct scanbench_entry *entry = line.entry;
    struct algorithm *algorithm = &own->algorithm;
    if (own->entry_count == 0 && entry->only_enqueues)
        algorithm->traits &= ~(unsigned)TRAIT_SYNCHRONISES;
    else if (!entry->only_enqueues)
        algorithm->traits |= TRAIT_SYNCHRONISES;
    if (entry->takes_block)
        algorithm->traits |= TRAIT_HAS_BLOCK;
    if (entry->takes_block && algorithm->default_block == 0)
        algorithm->default_block = entry->default_block;
    if (entry->stable)
        algorithm->traits |= TRAIT_STABLE;
    size_t observed_count = own->entry_count;
    APPEND(own->observed, observed_count, line.observed);
    APPEND(own->entries, own->entry_count, entry);
}

/* Can a row have the line's name? Returns false after a complaint. `row` has the name already;
 * NULL: none has. */
static bool is_free(const char *file, const struct scanbench_entry *entry,
                    const struct table_row *row)
{
    if (!is_good_name(entry->name)) {
        char copy[SHORT_TEXT_BYTES];
        complain(
            "%s:%d: \"%s\" is no name for rows: letters, digits and - _ . make one, %d at most",
            entry->file, entry->line, shorten(entry->name, copy), NAME_BYTES - 1);
        return false;
    }
    if (row != NULL && (row->own_file == NULL || strcmp(row->own_file, file) != 0)) {
        complain("%s:%d: %s %s is the name of an algorithm of %s; give this one another%s",
                 entry->file, entry->line, entry->operation, entry->name,
                 row->own_file != NULL ? row->own_file : "scanbench",
                 row->own_file != NULL ? ", or measure one file per call, with --label" : "");
        return false;
    }
    return true;
}

/* Adds a further line to an algorithm of the file. Returns false after a complaint. */
static bool extend_algorithm(struct own_algorithm *own, struct own_line line)
{
    const struct scanbench_entry *entry = line.entry, *first = find_covering(own, entry);
    if (first != NULL) {
        complain("%s:%d: line %d has %s %s for %s already; give this one another name", entry->file,
                 entry->line, first->line, entry->operation, entry->name, entry->type);
        return false;
    }
    add_entry(own, line);
    return true;
}

/* Adds one line of the file. Returns false after a complaint. */
static bool add_line(const char *file, struct own_line line, enum device_kind kind)
{
    const struct scanbench_entry *entry = line.entry;
    const enum operation op = operation_named(entry->operation);
    if (op == OPERATION_COUNT) {
        complain("%s:%d: %s is not an operation", entry->file, entry->line, entry->operation);
        return false;
    }
    const struct table_row *row = table_row_named(op, entry->name);
    if (!is_free(file, entry, row))
        return false;
    if (row != NULL && row->on[kind] != NULL)
        return extend_algorithm((struct own_algorithm *)row->on[kind], line);
    struct own_algorithm *own = make_algorithm(file, entry, op, kind);
    struct table_row new_row = {.op = op, .name = entry->name, .own_file = file};
    if (row != NULL)
        new_row = *row;
    new_row.listed_on[DEVICE_GPU] = new_row.listed_on[DEVICE_EMULATOR] = true;
    new_row.on[kind] = &own->algorithm;
    add_entry(own, line);
    if (!table_put(&new_row)) {
        complain("%s:%d: there is no room for more algorithms", entry->file, entry->line);
        return false;
    }
    return true;
}

/* ---- Files ---- */

/* Static objects of the file may print when it is loaded. */
static void *load_quietly(const char *path)
{
    redirect_stdout();
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    restore_stdout();
    return object;
}

/* Loads an object, and finds its lines. Returns NULL after a complaint. */
static const struct scanbench_entries *load_entries(const char *file, const char *path)
{
    void *object = load_quietly(path);
    if (object == NULL) {
        complain("--algo=%s: cannot load it: %s", file, dlerror());
        return NULL;
    }
    const struct scanbench_entries *(*entries_of)(void) = NULL;
    *(void **)&entries_of = dlsym(object, "scanbench_own_entries");
    const struct scanbench_entries *entries = entries_of != NULL ? entries_of() : NULL;
    if (entries == NULL || entries->first == NULL) {
        complain("--algo=%s: it has no SCANBENCH_SCAN(\"name\", function) or the like, which "
                 "scanbench_own.h describes",
                 file);
        return NULL;
    }
    return entries;
}

/* `observed` is the path of the same file's observed object, or NULL. */
static bool load_object(const char *file, const char *path, const char *observed,
                        const bool wanted[DEVICE_KIND_COUNT])
{
    const struct scanbench_entries *entries = load_entries(file, path);
    if (entries == NULL)
        return false;
    if (entries->interface_version != SCANBENCH_OWN_INTERFACE) {
        complain("--algo=%s: it was compiled with a scanbench_own.h of another version; compile "
                 "it again",
                 file);
        return false;
    }
    const enum device_kind kind = entries->emulated ? DEVICE_EMULATOR : DEVICE_GPU;
    if (!wanted[kind]) {
        complain("--algo=%s: it was compiled for the %s; add --device=%s", file,
                 entries->emulated ? "emulator" : "GPU", device_kind_name(kind));
        return false;
    }
    const struct scanbench_entries *others = observed != NULL ? load_entries(file, observed) : NULL;
    struct own_line line = {entries->first, others != NULL ? others->first : NULL};
    while (line.entry != NULL) {
        if (!add_line(file, line, kind))
            return false;
        line.entry = line.entry->next;
        line.observed = line.observed != NULL ? line.observed->next : NULL;
    }
    return true;
}

static bool compile_and_load(const char *file, const char *compile_flags, enum device_kind kind,
                             const bool wanted[DEVICE_KIND_COUNT])
{
    char path[PATH_MAX], observed[PATH_MAX];
    struct target target = {.emulated = kind == DEVICE_EMULATOR,
                            .sanitized = kind == DEVICE_EMULATOR && has_sanitizer()};
#ifdef SCANBENCH_CUDA
    if (kind == DEVICE_GPU)
        target.compute_capability = gpu_compute_capability();
#endif
    return compile_source(file, compile_flags, target, path, observed) &&
           load_object(file, path, observed[0] != '\0' ? observed : NULL, wanted);
}

static bool is_source_or_object(const char *file)
{
    static const char *const endings[] = {".so", ".cu", ".cpp", ".cc", ".cxx"};
    struct stat status;
    bool known = false;
    for (size_t e = 0; e < sizeof endings / sizeof *endings; e++)
        known |= ends_with(file, endings[e]);
    if (access(file, R_OK) != 0 || stat(file, &status) != 0)
        complain("--algo=%s: cannot read it: %s", file, strerror(errno));
    else if (!S_ISREG(status.st_mode) || !known)
        complain("--algo=%s: it is neither a CUDA source, .cu, nor a shared object, .so", file);
    else
        return true;
    return false;
}

static bool load_file(const char *file, const char *compile_flags,
                      const bool wanted[DEVICE_KIND_COUNT])
{
    bool loaded = true;
    if (!is_source_or_object(file))
        return false;
    if (!wanted[DEVICE_GPU] && !wanted[DEVICE_EMULATOR]) {
        complain("--algo=%s: it runs on a GPU or in the emulator; add --device=emulator", file);
        return false;
    }
    if (ends_with(file, ".so")) {
        char path[PATH_MAX]; /* without a slash, dlopen() would look for it elsewhere */
        snprintf(path, sizeof path, "%s%s", strchr(file, '/') != NULL ? "" : "./", file);
        return load_object(file, path, NULL, wanted);
    }
    for (int kind = 0; kind < DEVICE_KIND_COUNT && loaded; kind++)
        if (wanted[kind] && kind != DEVICE_CPU)
            loaded = compile_and_load(file, compile_flags, (enum device_kind)kind, wanted);
    return loaded;
}

bool load_own_files(const char *const *words, size_t count, const char *compile_flags,
                    const bool wanted[DEVICE_KIND_COUNT])
{
    bool loaded = true;
    for (size_t w = 0; w < count && loaded; w++)
        if (is_own_file(words[w]))
            loaded = load_file(words[w], compile_flags != NULL ? compile_flags : "", wanted);
    return loaded;
}
