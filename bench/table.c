/* table: builds the rows from the lines of algorithms.def.
 *
 * Compile with -DSCANBENCH_TABLE='"tests/broken/broken.def"' to take the lines of that file.
 * SCANBENCH_CUDA says that the descriptors of the GPU are linked. */
#include "table.h"

#include "base/errors.h"
#include "choice.h"
#include "names.h"
#include "operations.h"

#include <string.h>

#ifndef SCANBENCH_TABLE
#define SCANBENCH_TABLE "algorithms.def"
#endif

/* Declares whatever a line may name. Nothing refers to what this build lacks. */
#define DECLARE(type, file) extern const struct type cpu_##file, gpu_##file, emulated_##file;
#define ALGORITHM(where, file) DECLARE(algorithm, file)
#define LIBRARY(file, its_op, its_name) DECLARE(algorithm, file)
#define OVER_SCANS(file) DECLARE(algorithm, file)
#define CEILING(where, file) DECLARE(algorithm, file)
#define CHOICES()
#define ENGINE(NAME, name, where) DECLARE(engine, engine_##name)
#include SCANBENCH_TABLE
#include "engines.def"
#undef ALGORITHM
#undef LIBRARY
#undef OVER_SCANS
#undef CEILING
#undef CHOICES
#undef ENGINE

/* The descriptors of a line, by kind of device. */
#ifdef SCANBENCH_CUDA
#define IN_CUDA(descriptor) descriptor
#else
#define IN_CUDA(descriptor) NULL
#endif
#define CPU(file) [DEVICE_CPU] = &cpu_##file
#define DEVICE(file) [DEVICE_GPU] = IN_CUDA(&gpu_##file)
#define GPU(file) DEVICE(file), [DEVICE_EMULATOR] = &emulated_##file
#define ANYWHERE(file) CPU(file), GPU(file)

static const struct line {
    enum { LINE_ALGORITHM, LINE_OVER_SCANS, LINE_CHOICES, LINE_CEILING } kind;
    const struct algorithm *on[DEVICE_KIND_COUNT];
    /* For a library, whose descriptor this build may lack. */
    enum operation op;
    const char *name;
} lines[] = {
#define ALGORITHM(where, file) {LINE_ALGORITHM, {where(file)}},
#define LIBRARY(file, its_op, its_name) {LINE_ALGORITHM, {DEVICE(file)}, OP_##its_op, its_name},
#define OVER_SCANS(file) {LINE_OVER_SCANS, {GPU(file)}},
#define CEILING(where, file) {LINE_CEILING, {where(file)}},
#define CHOICES() {LINE_CHOICES},
#include SCANBENCH_TABLE
};

static const struct engine *const engines[ENGINE_COUNT][DEVICE_KIND_COUNT] = {
#define ENGINE(NAME, name, where) {where(engine_##name)},
#include "engines.def"
};

/* An operation has at most one row per line of the table: each line gives it at most one, and
 * OVER_SCANS one per line of a scan. */
enum {
    LINE_COUNT = sizeof lines / sizeof *lines,
    MAX_ROWS = LINE_COUNT * OPERATION_COUNT,
    MAX_OWN_ROWS = 256,
};

static struct table_row rows[MAX_ROWS + MAX_OWN_ROWS];
static size_t row_count; /* 0 until first used */

/* Descriptors made here: one ceiling, one operation over a scan or one choice per row, and one
 * operation over slices per engine. */
static struct algorithm made[MAX_ROWS * DEVICE_KIND_COUNT];
static size_t made_count;

static struct algorithm *copy_of(const struct algorithm *algorithm)
{
    made[made_count] = *algorithm;
    return &made[made_count++];
}

static const struct algorithm *any_of(const struct algorithm *const on[DEVICE_KIND_COUNT])
{
    for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++)
        if (on[kind] != NULL)
            return on[kind];
    return NULL;
}

static struct table_row *find_row(enum operation op, const char *name)
{
    for (size_t i = 0; i < row_count; i++)
        if (rows[i].op == op && strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

/* Adds a device to the row of that name and operation, which is created if it does not exist
 * yet. `algorithm` may be missing from this build. */
static struct table_row *add_to_row(enum operation op, const char *name, int kind,
                                    const struct algorithm *algorithm)
{
    struct table_row *row = find_row(op, name);
    if (row == NULL) {
        row = &rows[row_count++];
        *row = (struct table_row){.op = op, .name = name};
    }
    if (row->listed_on[kind])
        BUG("%s %s is in the table twice", operation_name(op), name);
    if (algorithm != NULL && (strcmp(algorithm->name, name) != 0 || algorithm->op != op))
        BUG("the table's %s %s is called %s in its own file, or is another operation there",
            operation_name(op), name, algorithm->name);
    row->listed_on[kind] = true;
    row->on[kind] = algorithm;
    row->needs_cuda_build = !row->listed_on[DEVICE_CPU] && !row->listed_on[DEVICE_EMULATOR];
    return row;
}

/* What the emulator runs and what calls a library is for the GPU, though this build lack it. */
static bool is_listed_on(const struct line *line, int kind)
{
    return line->on[kind] != NULL ||
           (kind == DEVICE_GPU && (line->on[DEVICE_EMULATOR] != NULL || line->name != NULL));
}

static enum operation op_of(const struct line *line)
{
    return line->name != NULL ? line->op : any_of(line->on)->op;
}

static const char *name_of(const struct line *line)
{
    return line->name != NULL ? line->name : any_of(line->on)->name;
}

/* Makes the descriptor of the operation over slices with one engine. */
static const struct algorithm *put_on(const struct algorithm *operation,
                                      const struct engine *engine)
{
    if (operation == NULL || engine == NULL)
        return NULL;
    struct algorithm *slices = copy_of(operation);
    slices->traits |= engine->traits;
    if (operation->traits & TRAIT_HAS_RUNS)
        slices->traits |= engine->runs_traits;
    slices->library_version = engine->library_version;
    slices->supports = engine->supports;
    slices->engine = engine;
    return slices;
}

static void add_algorithm(const struct line *line)
{
    for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++) {
        if (!is_listed_on(line, kind))
            continue;
        const struct algorithm *algorithm = line->on[kind];
        struct table_row *row = add_to_row(op_of(line), name_of(line), kind, algorithm);
        if (line->name != NULL || any_of(line->on)->run_slices == NULL)
            continue;
        row->of_team = true;
        for (int e = 0; e < ENGINE_COUNT; e++)
            row->by[e][kind] = put_on(algorithm, engines[e][kind]);
    }
}

static void add_ceiling(const struct line *line)
{
    for (int op = 0; op < OPERATION_COUNT; op++)
        for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++) {
            struct algorithm *ceiling = line->on[kind] != NULL ? copy_of(line->on[kind]) : NULL;
            if (ceiling != NULL)
                ceiling->op = op;
            if (is_listed_on(line, kind))
                add_to_row(op, name_of(line), kind, ceiling);
        }
}

/* Adds `auto` to each operation that has choices. Which of them this build has is known once the
 * table is complete. */
static void add_choices(const struct line *line)
{
    (void)line;
    for (int op = 0; op < OPERATION_COUNT; op++) {
        const struct algorithm choice = choice_descriptor(op);
        for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++)
            if (has_choice(op, kind))
                add_to_row(op, choice.name, kind, copy_of(&choice))->is_choice = true;
    }
}

static void leave_out_missing_choices(void)
{
    for (size_t i = 0; i < row_count; i++)
        for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++)
            if (rows[i].is_choice && !choice_in_build(rows[i].op, kind, table_algorithm))
                rows[i].on[kind] = NULL;
}

/* Does the table have a separate line for this operation and name? */
static bool has_line(enum operation op, const char *name)
{
    for (size_t i = 0; i < LINE_COUNT; i++)
        if (lines[i].kind == LINE_ALGORITHM && op_of(&lines[i]) == op &&
            strcmp(name_of(&lines[i]), name) == 0)
            return true;
    return false;
}

/* Makes the descriptor of the operation over one scan, with the scan's name and block size. */
static const struct algorithm *put_over(const struct algorithm *operation,
                                        const struct algorithm *scan)
{
    if (operation == NULL || scan == NULL)
        return NULL;
    struct algorithm *over = copy_of(operation);
    over->name = scan->name;
    over->traits |= scan->traits & (TRAIT_HAS_BLOCK | TRAIT_SYNCHRONISES);
    over->default_block = scan->default_block;
    over->source = scan->source;
    over->over = scan;
    return over;
}

/* One of our own scans on one device. */
static bool is_scan_to_build_on(const struct algorithm *scan, enum operation op)
{
    return scan != NULL && scan->op == OP_SCAN && scan->family == FAMILY_OWN &&
           scan->run_slices == NULL && !(scan->traits & TRAIT_SEGMENTS_ONLY) &&
           !(operation_has(op, NEEDS_MANY_SCANS) && scan->traits & TRAIT_NO_SORT);
}

static void add_over_scans(const struct line *operation)
{
    const enum operation op = op_of(operation);
    for (size_t i = 0; i < LINE_COUNT; i++) {
        const struct algorithm *scan = lines[i].on[DEVICE_EMULATOR];
        if (lines[i].kind != LINE_ALGORITHM || !is_scan_to_build_on(scan, op) ||
            has_line(op, scan->name))
            continue;
        for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++)
            if (is_listed_on(operation, kind))
                add_to_row(op, scan->name, kind, put_over(operation->on[kind], lines[i].on[kind]));
    }
}

size_t table_row_count(void)
{
    static void (*const add[])(const struct line *line) = {
        [LINE_ALGORITHM] = add_algorithm,
        [LINE_OVER_SCANS] = add_over_scans,
        [LINE_CHOICES] = add_choices,
        [LINE_CEILING] = add_ceiling,
    };
    if (row_count == 0) {
        for (size_t i = 0; i < LINE_COUNT; i++)
            add[lines[i].kind](&lines[i]);
        leave_out_missing_choices();
    }
    return row_count;
}

const struct table_row *table_row(size_t index)
{
    if (index >= table_row_count())
        BUG("there is no row %zu", index);
    return &rows[index];
}

bool table_put(const struct table_row *row)
{
    struct table_row *place = table_row_count() > 0 ? find_row(row->op, row->name) : NULL;
    if (place == NULL && row_count == MAX_ROWS + MAX_OWN_ROWS)
        return false;
    if (place == NULL)
        place = &rows[row_count++];
    *place = *row;
    return true;
}

const struct table_row *table_row_named(enum operation op, const char *name)
{
    return table_row_count() > 0 ? find_row(op, name) : NULL;
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
    return any_of(row->on);
}

const struct algorithm *row_descriptor_by(const struct table_row *row, enum engine_id engine)
{
    return any_of(row->by[engine]);
}

bool is_ceiling(const struct table_row *row)
{
    const struct algorithm *algorithm = row_descriptor(row);
    return algorithm != NULL && algorithm->family == FAMILY_CEILING;
}

bool engine_listed_on(enum engine_id engine, enum device_kind kind)
{
    return kind == DEVICE_GPU || engines[engine][kind] != NULL;
}

bool table_is_whole(void)
{
#ifdef SCANBENCH_FIRST
    return false;
#else
    return true;
#endif
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
