/* registry: the rows of algorithms.def, read by the preprocessor.
 *
 * Compile with -DSCANBENCH_EXTRA_TABLE='"tests/broken.def"' for a binary that
 * has those rows too. SCANBENCH_CUDA says that the gpu_ descriptors are there. */
#include "registry.h"

#include "exit_code.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#ifndef SCANBENCH_TABLE
#define SCANBENCH_TABLE "algorithms.def"
#endif

#define DECLARE_CPU(op_name) extern const struct algorithm cpu_##op_name;
#define DECLARE_GPU(op_name) \
    DECLARE_DEVICE(op_name)  \
    extern const struct algorithm emulated_##op_name;

#ifdef SCANBENCH_CUDA
#define DECLARE_DEVICE(op_name) extern const struct algorithm gpu_##op_name;
#define ON_GPU(op_name) &gpu_##op_name
#else
#define DECLARE_DEVICE(op_name)
#define ON_GPU(op_name) NULL
#endif

#define ALGORITHM(where, op_name) DECLARE_##where(op_name)
#include SCANBENCH_TABLE
#ifdef SCANBENCH_EXTRA_TABLE
#include SCANBENCH_EXTRA_TABLE
#endif
#undef ALGORITHM

/* One line of algorithms.def. */
struct line {
    const char *op_name; /* scan_efficient_smem */
    bool listed_on[DEVICE_KIND_COUNT];
    const struct algorithm *on[DEVICE_KIND_COUNT];
};

#define LINE_CPU(identifier)             \
    {.op_name = #identifier,             \
     .listed_on = {[DEVICE_CPU] = true}, \
     .on = {[DEVICE_CPU] = &cpu_##identifier}},
#define LINE_GPU(identifier)                                       \
    {.op_name = #identifier,                                       \
     .listed_on = {[DEVICE_GPU] = true, [DEVICE_EMULATOR] = true}, \
     .on = {[DEVICE_GPU] = ON_GPU(identifier), [DEVICE_EMULATOR] = &emulated_##identifier}},
#define LINE_DEVICE(identifier)          \
    {.op_name = #identifier,             \
     .listed_on = {[DEVICE_GPU] = true}, \
     .on = {[DEVICE_GPU] = ON_GPU(identifier)}},

static const struct line lines[] = {
#define ALGORITHM(where, op_name) LINE_##where(op_name)
#include SCANBENCH_TABLE
#ifdef SCANBENCH_EXTRA_TABLE
#include SCANBENCH_EXTRA_TABLE
#endif
#undef ALGORITHM
};

enum { LINE_COUNT = sizeof lines / sizeof *lines };

static struct table_row rows[LINE_COUNT];
static size_t row_count; /* 0 until the first use builds the rows */

static const char *const operation_names[OPERATION_COUNT] = {
    [OP_SCAN] = "scan",
    [OP_COMPACT] = "compact",
    [OP_SORT] = "sort",
};

static const char *const groups[] = {"all", "cpu", "gpu", "own", "library"};
enum { GROUP_COUNT = sizeof groups / sizeof *groups };

/* Cuts scan_efficient_smem into OP_SCAN and "efficient-smem". */
static void name_row(const char *op_name, struct table_row *row)
{
    for (int op = 0; op < OPERATION_COUNT; op++) {
        size_t length = strlen(operation_names[op]);
        if (strncmp(op_name, operation_names[op], length) != 0 || op_name[length] != '_')
            continue;
        const char *name = op_name + length + 1;
        if (strlen(name) >= sizeof row->name)
            BUG("the name of %s is too long for the table", op_name);
        row->op = op;
        strcpy(row->name, name);
        for (char *dash = row->name; (dash = strchr(dash, '_'));)
            *dash = '-';
        return;
    }
    BUG("%s in the table begins with no operation", op_name);
}

static struct table_row *find_row(const char *name, enum operation op)
{
    for (size_t i = 0; i < row_count; i++)
        if (rows[i].op == op && strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

static void add_line(const struct line *line)
{
    struct table_row named = {0};
    name_row(line->op_name, &named);
    struct table_row *row = find_row(named.name, named.op);
    if (!row) {
        row = &rows[row_count++];
        *row = named;
    }
    for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++) {
        if (!line->listed_on[kind])
            continue;
        const struct algorithm *algorithm = line->on[kind];
        if (row->listed_on[kind])
            BUG("%s is in the table twice", line->op_name);
        if (algorithm && (strcmp(algorithm->name, row->name) != 0 || algorithm->op != row->op))
            BUG("the table's %s is called %s in its own file, or is another operation there",
                line->op_name, algorithm->name);
        row->listed_on[kind] = true;
        row->on[kind] = algorithm;
    }
    row->needs_cuda_build = !row->listed_on[DEVICE_CPU] && !row->listed_on[DEVICE_EMULATOR];
}

size_t registry_row_count(void)
{
    if (row_count == 0)
        for (size_t i = 0; i < LINE_COUNT; i++)
            add_line(&lines[i]);
    return row_count;
}

const struct table_row *registry_row(size_t index)
{
    if (index >= registry_row_count())
        BUG("there is no row %zu", index);
    return &rows[index];
}

const struct algorithm *row_descriptor(const struct table_row *row)
{
    for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++)
        if (row->on[kind])
            return row->on[kind];
    return NULL;
}

/* What this build lacks is known by its place in the table: the emulator has
 * the same kernel, and without one it is a DEVICE line, a library. */
static enum family family_on(const struct table_row *row, enum device_kind kind)
{
    if (row->on[kind])
        return row->on[kind]->family;
    return row->on[DEVICE_EMULATOR] ? row->on[DEVICE_EMULATOR]->family : FAMILY_LIBRARY;
}

bool row_matches_on(const struct table_row *row, enum device_kind kind, const char *word)
{
    if (!row->listed_on[kind])
        return false;
    if (strcmp(word, "all") == 0)
        return true;
    if (strcmp(word, "cpu") == 0)
        return kind == DEVICE_CPU;
    if (strcmp(word, "gpu") == 0)
        return kind != DEVICE_CPU;
    if (strcmp(word, "own") == 0)
        return family_on(row, kind) == FAMILY_OWN;
    if (strcmp(word, "library") == 0)
        return family_on(row, kind) == FAMILY_LIBRARY;
    return fnmatch(word, row->name, FNM_NOESCAPE) == 0;
}

bool row_matches(const struct table_row *row, const char *word)
{
    for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++)
        if (row_matches_on(row, kind, word))
            return true;
    return false;
}

bool registry_knows(const char *word)
{
    for (size_t i = 0; i < GROUP_COUNT; i++)
        if (strcmp(word, groups[i]) == 0)
            return true;
    for (size_t i = 0; i < registry_row_count(); i++)
        if (row_matches(registry_row(i), word))
            return true;
    return false;
}

const char *registry_nearest(const char *word)
{
    const char *candidates[LINE_COUNT + GROUP_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < registry_row_count(); i++)
        candidates[count++] = registry_row(i)->name;
    for (size_t i = 0; i < GROUP_COUNT; i++)
        candidates[count++] = groups[i];
    return nearest_match(word, candidates, count);
}

const char *operation_name(enum operation op)
{
    return operation_names[op];
}

const char *type_name(enum element_type type)
{
    static const char *const names[TYPE_COUNT] = {
        [TYPE_I32] = "i32", [TYPE_U32] = "u32", [TYPE_I64] = "i64",
        [TYPE_U64] = "u64", [TYPE_F32] = "f32", [TYPE_F64] = "f64",
    };
    return names[type];
}

const char *kind_name(enum scan_kind kind)
{
    return kind == KIND_INCLUSIVE ? "inclusive" : "exclusive";
}

const char *device_kind_name(enum device_kind kind)
{
    static const char *const names[DEVICE_KIND_COUNT] = {
        [DEVICE_CPU] = "cpu",
        [DEVICE_GPU] = "gpu",
        [DEVICE_EMULATOR] = "emulator",
    };
    return names[kind];
}

/* What is longer than any name is compared by its beginning. */
enum { COMPARED_BYTES = 2 * ALGORITHM_NAME_BYTES };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Edit distance in which two letters swapped count as one slip, and upper and
 * lower case are the same (optimal string alignment, three rows of the table). */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows_of_table[3][COMPARED_BYTES + 1];
    size_t *before = rows_of_table[0], *above = rows_of_table[1], *here = rows_of_table[2];
    size_t a_length = strnlen(a, COMPARED_BYTES);
    size_t b_length = strnlen(b, COMPARED_BYTES);
    for (size_t j = 0; j <= b_length; j++)
        here[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *oldest = before;
        before = above;
        above = here;
        here = oldest;
        here[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            here[j] = above[j - 1] + !same_letter(a[i - 1], b[j - 1]);
            here[j] = smaller(here[j], smaller(above[j], here[j - 1]) + 1);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                same_letter(a[i - 2], b[j - 1]))
                here[j] = smaller(here[j], before[j - 2] + 1);
        }
    }
    return here[b_length];
}

/* A beginning is a slip of half a letter: above what is exact, below any slip. */
static size_t half_slips(const char *word, const char *candidate)
{
    size_t length = strlen(word);
    if (length > 0 && length < strlen(candidate) && strncmp(word, candidate, length) == 0)
        return 1;
    return 2 * edit_distance(word, candidate);
}

const char *nearest_match(const char *word, const char *const *candidates, size_t count)
{
    const char *nearest = NULL;
    size_t fewest = 0;
    for (size_t i = 0; i < count; i++) {
        size_t slips = half_slips(word, candidates[i]);
        if (!nearest || slips < fewest) {
            nearest = candidates[i];
            fewest = slips;
        }
    }
    return nearest;
}

bool is_near(const char *word, const char *candidate)
{
    size_t a = strnlen(word, COMPARED_BYTES), b = strlen(candidate);
    return half_slips(word, candidate) <= (a > b ? a : b);
}

void print_list(FILE *out)
{
    static const char *const families[] = {"own", "library", "ceiling"};
    fprintf(out, "%-8s %-22s %-8s %-8s %s\n", "op", "algo", "where", "family", "summary");
    for (size_t r = 0; r < registry_row_count(); r++) {
        const struct table_row *row = registry_row(r);
        const struct algorithm *algorithm = row_descriptor(row);
        const bool on_gpu =
            row->on[DEVICE_GPU] || row->on[DEVICE_EMULATOR] || row->needs_cuda_build;
        const char *where = on_gpu && row->on[DEVICE_CPU] ? "cpu,gpu" : on_gpu ? "gpu" : "cpu";
        fprintf(out, "%-8s %-22s %-8s %-8s %s\n", operation_name(row->op), row->name, where,
                algorithm ? families[algorithm->family] : "library",
                algorithm ? algorithm->summary : "not in this build, which has no CUDA");
    }
}
