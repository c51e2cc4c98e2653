/* table: builds the rows from algorithms.def.
 *
 * Compile with -DSCANBENCH_EXTRA_TABLE='"tests/broken/broken.def"' to add the rows of that
 * file. SCANBENCH_CUDA says that the descriptors of the GPU are linked. */
#include "table.h"

#include "base/errors.h"
#include "names.h"
#include "operations.h"

#include <string.h>

#ifndef SCANBENCH_TABLE
#define SCANBENCH_TABLE "algorithms.def"
#endif

#define DECLARE_CPU(op_name) extern const struct algorithm cpu_##op_name;
#define DECLARE_GPU(op_name) \
    DECLARE_DEVICE(op_name)  \
    extern const struct algorithm emulated_##op_name;

/* The descriptor of an engine; NULL where it does not run. */
#define DECLARE_ENGINE_CPU(name) extern const struct engine cpu_engine_##name;
#define DECLARE_ENGINE_GPU(name) \
    DECLARE_ENGINE_DEVICE(name)  \
    extern const struct engine emulated_engine_##name;

#ifdef SCANBENCH_CUDA
#define DECLARE_DEVICE(op_name) extern const struct algorithm gpu_##op_name;
#define DECLARE_ENGINE_DEVICE(name) extern const struct engine gpu_engine_##name;
#define ON_GPU(op_name) &gpu_##op_name
#else
#define DECLARE_DEVICE(op_name)
#define DECLARE_ENGINE_DEVICE(name)
#define ON_GPU(op_name) NULL
#endif

#define ALGORITHM(where, op_name) DECLARE_##where(op_name)
#define OVER_SCANS(op_file) DECLARE_GPU(op_file)
#define SLICES(where, op_file) DECLARE_##where(op_file)
#define ENGINE(where, name) DECLARE_ENGINE_##where(name)
#define CEILING(where, name) DECLARE_##where(name)
#define CHOICES(name)
#include SCANBENCH_TABLE
#ifdef SCANBENCH_EXTRA_TABLE
#include SCANBENCH_EXTRA_TABLE
#endif
#undef ALGORITHM
#undef OVER_SCANS
#undef SLICES
#undef ENGINE
#undef CEILING
#undef CHOICES

enum line_kind {
    LINE_ALGORITHM,
    LINE_OVER_SCANS,
    LINE_SLICES,
    LINE_ENGINE,
    LINE_CEILING,
    LINE_CHOICES,
};

/* One line of algorithms.def. */
struct line {
    enum line_kind kind;
    const char *identifier; /* scan_efficient_smem */
    bool listed_on[DEVICE_KIND_COUNT];
    const struct algorithm *on[DEVICE_KIND_COUNT];
    const struct engine *engine_on[DEVICE_KIND_COUNT];
};

#define LINE_CPU(its_kind, name)         \
    {.kind = its_kind,                   \
     .identifier = #name,                \
     .listed_on = {[DEVICE_CPU] = true}, \
     .on = {[DEVICE_CPU] = &cpu_##name}},
#define LINE_GPU(its_kind, name)                                   \
    {.kind = its_kind,                                             \
     .identifier = #name,                                          \
     .listed_on = {[DEVICE_GPU] = true, [DEVICE_EMULATOR] = true}, \
     .on = {[DEVICE_GPU] = ON_GPU(name), [DEVICE_EMULATOR] = &emulated_##name}},
#define LINE_DEVICE(its_kind, name)      \
    {.kind = its_kind,                   \
     .identifier = #name,                \
     .listed_on = {[DEVICE_GPU] = true}, \
     .on = {[DEVICE_GPU] = ON_GPU(name)}},

#define LINE_ENGINE_CPU(name)            \
    {.kind = LINE_ENGINE,                \
     .identifier = #name,                \
     .listed_on = {[DEVICE_CPU] = true}, \
     .engine_on = {[DEVICE_CPU] = &cpu_engine_##name}},
#define LINE_ENGINE_GPU(name)                                      \
    {.kind = LINE_ENGINE,                                          \
     .identifier = #name,                                          \
     .listed_on = {[DEVICE_GPU] = true, [DEVICE_EMULATOR] = true}, \
     .engine_on = {                                                \
         [DEVICE_GPU] = ON_GPU(engine_##name), [DEVICE_EMULATOR] = &emulated_engine_##name}},
#define LINE_ENGINE_DEVICE(name)         \
    {.kind = LINE_ENGINE,                \
     .identifier = #name,                \
     .listed_on = {[DEVICE_GPU] = true}, \
     .engine_on = {[DEVICE_GPU] = ON_GPU(engine_##name)}},

static const struct line lines[] = {
#define ALGORITHM(where, op_name) LINE_##where(LINE_ALGORITHM, op_name)
#define OVER_SCANS(op_file) LINE_GPU(LINE_OVER_SCANS, op_file)
#define SLICES(where, op_file) LINE_##where(LINE_SLICES, op_file)
#define ENGINE(where, name) LINE_ENGINE_##where(name)
#define CEILING(where, name) LINE_##where(LINE_CEILING, name)
#define CHOICES(name) {.kind = LINE_CHOICES, .identifier = #name},
#include SCANBENCH_TABLE
#ifdef SCANBENCH_EXTRA_TABLE
#include SCANBENCH_EXTRA_TABLE
#endif
#undef ALGORITHM
#undef OVER_SCANS
#undef SLICES
#undef ENGINE
#undef CEILING
#undef CHOICES
};

/* An operation has at most one row per line of the table: each line gives it at most one,
 * OVER_SCANS one per line of a scan, and SLICES one per engine. */
enum {
    LINE_COUNT = sizeof lines / sizeof *lines,
    MAX_ROWS = LINE_COUNT * OPERATION_COUNT,
};

static struct table_row rows[MAX_ROWS];
static size_t row_count; /* 0 until first used */

/* Descriptors made here: one ceiling per operation, one operation per scan and per engine. */
static struct algorithm made[MAX_ROWS * DEVICE_KIND_COUNT];
static size_t made_count;

/* Copies "efficient_smem" as users write it: "efficient-smem". */
static void copy_name(const char *identifier, struct table_row *row)
{
    if (strlen(identifier) >= sizeof row->name)
        BUG("%s is too long a name for the table", identifier);
    strcpy(row->name, identifier);
    for (char *dash = row->name; (dash = strchr(dash, '_'));)
        *dash = '-';
}

/* Splits scan_efficient_smem into OP_SCAN and "efficient-smem". */
static void name_row(const char *op_name, struct table_row *row)
{
    for (int op = 0; op < OPERATION_COUNT; op++) {
        const char *operation = operation_name(op);
        size_t length = strlen(operation);
        if (strncmp(op_name, operation, length) != 0 || op_name[length] != '_')
            continue;
        row->op = op;
        copy_name(op_name + length + 1, row);
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

/* Adds a device to the row of that name and operation, which is created if it does not exist
 * yet. `algorithm` may be missing from this build. */
static void add_to_row(const struct table_row *named, int kind, const struct algorithm *algorithm)
{
    struct table_row *row = find_row(named->name, named->op);
    if (!row) {
        row = &rows[row_count++];
        *row = *named;
    }
    if (row->listed_on[kind])
        BUG("%s %s is in the table twice", operation_name(row->op), row->name);
    if (algorithm && (strcmp(algorithm->name, row->name) != 0 || algorithm->op != row->op))
        BUG("the table's %s %s is called %s in its own file, or is another operation there",
            operation_name(row->op), row->name, algorithm->name);
    row->listed_on[kind] = true;
    row->on[kind] = algorithm;
    row->needs_cuda_build = !row->listed_on[DEVICE_CPU] && !row->listed_on[DEVICE_EMULATOR];
}

static struct algorithm *copy_of(const struct algorithm *algorithm)
{
    struct algorithm *copy = &made[made_count++];
    *copy = *algorithm;
    return copy;
}

static void add_algorithm(const struct line *line)
{
    struct table_row named = {0};
    name_row(line->identifier, &named);
    for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++)
        if (line->listed_on[kind])
            add_to_row(&named, kind, line->on[kind]);
}

static void add_ceiling(const struct line *line)
{
    for (int op = 0; op < OPERATION_COUNT; op++) {
        struct table_row named = {.op = op};
        copy_name(line->identifier, &named);
        for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++) {
            struct algorithm *ceiling = line->on[kind] ? copy_of(line->on[kind]) : NULL;
            if (ceiling)
                ceiling->op = op;
            if (line->listed_on[kind])
                add_to_row(&named, kind, ceiling);
        }
    }
}

/* Adds a row for each operation, without devices so far. */
static void add_choices(const struct line *line)
{
    for (int op = 0; op < OPERATION_COUNT; op++) {
        struct table_row *row = &rows[row_count++];
        *row = (struct table_row){.op = op, .is_choice = true};
        copy_name(line->identifier, row);
    }
}

/* Does the table have a separate line for this operation and name? */
static bool has_line(const struct table_row *named)
{
    for (size_t i = 0; i < LINE_COUNT; i++) {
        struct table_row other = {0};
        if (lines[i].kind != LINE_ALGORITHM)
            continue;
        name_row(lines[i].identifier, &other);
        if (other.op == named->op && strcmp(other.name, named->name) == 0)
            return true;
    }
    return false;
}

/* Makes the descriptor of the operation over one scan, with the scan's name and block size. */
static const struct algorithm *put_over(const struct algorithm *operation,
                                        const struct algorithm *scan)
{
    if (!operation || !scan)
        return NULL;
    struct algorithm *over = copy_of(operation);
    over->name = scan->name;
    over->traits |= scan->traits & (TRAIT_HAS_BLOCK | TRAIT_SYNCHRONISES);
    over->default_block = scan->default_block;
    over->source = scan->source;
    over->over = scan;
    return over;
}

static void add_over_scans(const struct line *operation)
{
    struct table_row base = {0};
    name_row(operation->identifier, &base);
    for (size_t i = 0; i < LINE_COUNT; i++) {
        const struct algorithm *scan = lines[i].on[DEVICE_EMULATOR];
        if (lines[i].kind != LINE_ALGORITHM || !scan || scan->op != OP_SCAN ||
            scan->family != FAMILY_OWN ||
            (operation_has(base.op, NEEDS_MANY_SCANS) && scan->traits & TRAIT_NO_SORT))
            continue;
        struct table_row named = {.op = base.op};
        strcpy(named.name, scan->name);
        if (has_line(&named))
            continue;
        for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++)
            if (operation->listed_on[kind])
                add_to_row(&named, kind, put_over(operation->on[kind], lines[i].on[kind]));
    }
}

/* Makes the descriptor of the operation over slices with one engine, under the engine's name. */
static const struct algorithm *put_on(const struct algorithm *operation,
                                      const struct engine *engine)
{
    if (!operation || !engine)
        return NULL;
    struct algorithm *slices = copy_of(operation);
    slices->name = engine->name;
    slices->traits |= engine->traits;
    if (operation->traits & TRAIT_HAS_RUNS)
        slices->traits |= engine->runs_traits;
    slices->library_version = engine->library_version;
    slices->supports = engine->supports;
    slices->engine = engine;
    return slices;
}

static void add_slices(const struct line *operation)
{
    struct table_row named = {0};
    for (size_t i = 0; i < LINE_COUNT; i++) {
        const struct line *engine = &lines[i];
        if (engine->kind != LINE_ENGINE)
            continue;
        name_row(operation->identifier, &named);
        copy_name(engine->identifier, &named);
        named.of_team = true;
        for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++)
            if (operation->listed_on[kind] && engine->listed_on[kind])
                add_to_row(&named, kind, put_on(operation->on[kind], engine->engine_on[kind]));
    }
}

static void add_line(const struct line *line)
{
    switch (line->kind) {
    case LINE_ALGORITHM:
        add_algorithm(line);
        break;
    case LINE_OVER_SCANS:
        add_over_scans(line);
        break;
    case LINE_SLICES:
        add_slices(line);
        break;
    case LINE_ENGINE: /* a part of rows, not one */
        break;
    case LINE_CEILING:
        add_ceiling(line);
        break;
    case LINE_CHOICES:
        add_choices(line);
        break;
    }
}

size_t table_row_count(void)
{
    if (row_count == 0)
        for (size_t i = 0; i < LINE_COUNT; i++)
            add_line(&lines[i]);
    return row_count;
}

const struct table_row *table_row(size_t index)
{
    if (index >= table_row_count())
        BUG("there is no row %zu", index);
    return &rows[index];
}

const struct table_row *table_row_named(enum operation op, const char *name)
{
    return table_row_count() > 0 ? find_row(name, op) : NULL;
}

const struct algorithm *table_algorithm(enum operation op, const char *name, enum device_kind kind)
{
    const struct table_row *row = table_row_named(op, name);
    if (row == NULL)
        BUG("there is no %s %s in the table", operation_name(op), name);
    return row->on[kind];
}

const struct algorithm *row_descriptor(const struct table_row *row)
{
    for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++)
        if (row->on[kind])
            return row->on[kind];
    return NULL;
}

const char *missing_package(const struct algorithm *algorithm)
{
    const size_t length = strlen(NOT_IN_BUILD);
    if (algorithm->engine != NULL)
        return algorithm->engine->missing != NULL ? algorithm->engine->missing() : NULL;
    if (algorithm->run != NULL || algorithm->supports == NULL)
        return NULL;
    const struct device_limits nowhere = {0};
    const char *why =
        algorithm->supports(&(struct problem){.op = algorithm->op, .device = &nowhere});
    return why != NULL && strncmp(why, NOT_IN_BUILD, length) == 0 ? why + length : NULL;
}
