/* list: --list, the table of algorithms. */
#include "list.h"

#include "../registry.h"
#include "../base/errors.h"
#include "../base/terminal.h"
#include "../base/text.h"
#include "choose_algorithms.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Before a summary stands "compact efficient-smem-padded cpu,gpu library  " at most. */
enum { SUMMARY_COLUMN = 47, SUMMARY_BYTES = 512 };

/* What the algorithm does, and what tells it from those that do the same over another scan; of
 * several devices, by which engines. */
static void summarize_row(const struct table_row *row, char text[SUMMARY_BYTES])
{
    static const char lacking[] = "not in this build: no CUDA";
    const struct algorithm *algorithm = row_descriptor(row);
    text[0] = '\0';
    append_text(text, SUMMARY_BYTES, "%s%s", row->of_team ? "several devices: " : "",
                algorithm != NULL ? algorithm->summary : lacking);
    if (algorithm != NULL && algorithm->over != NULL)
        append_text(text, SUMMARY_BYTES, ": %s", algorithm->over->summary);
    for (int e = 0; e < ENGINE_COUNT && row->of_team; e++) {
        const struct algorithm *by = row_descriptor_by(row, e);
        append_text(text, SUMMARY_BYTES, "%s%s (%s)", e == 0 ? "; by " : ", ", engine_name(e),
                    by != NULL ? by->engine->summary : lacking);
    }
}

/* What --list says of a row. */
struct listed {
    const char *op, *algo, *where, *family;
    char summary[SUMMARY_BYTES];
};

static struct listed describe_row(const struct table_row *row)
{
    static const char *const families[] = {"own", "library", "ceiling", "user"};
    const struct algorithm *algorithm = row_descriptor(row);
    const bool on_gpu = row->on[DEVICE_GPU] || row->on[DEVICE_EMULATOR] || row->needs_cuda_build;
    struct listed listed = {
        .op = operation_name(row->op),
        .algo = row->name,
        .where = on_gpu && row->on[DEVICE_CPU] ? "cpu,gpu"
                 : on_gpu                      ? "gpu"
                                               : "cpu",
        .family = algorithm != NULL ? families[algorithm->family] : "library",
    };
    summarize_row(row, listed.summary);
    return listed;
}

static void print_row(const struct listed *row, FILE *out)
{
    const int column =
        fprintf(out, "%-7s %-21s %-7s %s", row->op, row->algo, row->where, row->family);
    print_wrapped(out, terminal_width(fileno(out)), SUMMARY_COLUMN, column, row->summary);
}

static json_t *json_row(const struct listed *row)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s}", "op", row->op, "algo", row->algo, "where",
                     row->where, "family", row->family, "summary", row->summary);
}

void print_list(const struct options *options, FILE *out)
{
    json_t *array = options->output.format == FORMAT_JSON ? json_array() : NULL;
    if (array == NULL)
        fprintf(out, "%-7s %-21s %-7s %-7s  %s\n", "op", "algo", "where", "family", "summary");
    for (size_t i = 0; i < OPERATION_COUNT * table_row_count(); i++) {
        const struct table_row *row = table_row(i % table_row_count());
        if (row->op != i / table_row_count() || !is_row_chosen(options, i % table_row_count()))
            continue;
        const struct listed listed = describe_row(row);
        if (array == NULL)
            print_row(&listed, out);
        else
            json_array_append_new(array, json_row(&listed));
    }
    if (array == NULL && !table_is_whole())
        fprintf(out, "`make NVCC=` adds the other algorithms.\n");
    if (array != NULL) {
        json_dumpf(array, out, JSON_INDENT(2));
        fputc('\n', out);
    }
    json_decref(array);
}

struct missing {
    const char *name, *package;
};

/* Adds what this build lacks to the list, once per name. Returns the new count. */
static size_t add_missing(struct missing *list, size_t count, const char *name,
                          const struct algorithm *algorithm)
{
    const char *package = algorithm != NULL ? missing_package(algorithm) : "CUDA Toolkit";
    if (package == NULL)
        return count;
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return count;
    list[count] = (struct missing){name, package};
    return count + 1;
}

static size_t find_missing(const bool operations[OPERATION_COUNT], bool several,
                           struct missing *list)
{
    size_t count = 0;
    for (size_t r = 0; r < table_row_count(); r++) {
        const struct table_row *row = table_row(r);
        if (!operations[row->op] || row->is_choice)
            continue;
        if (!row->of_team)
            count = add_missing(list, count, row->name, row_descriptor(row));
        for (int e = 0; e < ENGINE_COUNT && row->of_team && several; e++)
            count = add_missing(list, count, engine_name(e), row_descriptor_by(row, e));
    }
    return count;
}

void list_missing(const bool operations[OPERATION_COUNT], bool several, char *text, size_t size)
{
    struct missing *list = allocate_or_die(NULL, (table_row_count() + ENGINE_COUNT) * sizeof *list);
    const size_t count = find_missing(operations, several, list);
    text[0] = '\0';
    if (!table_is_whole())
        append_text(text, size, "most algorithms (`make NVCC=` adds them)");
    for (size_t i = 0; i < count; i++) {
        const char *package = list[i].package;
        if (package == NULL)
            continue; /* listed with an earlier one */
        for (size_t k = i; k < count; k++) {
            if (list[k].package == NULL || strcmp(list[k].package, package) != 0)
                continue;
            append_text(text, size, "%s%s", comma_after(text), list[k].name);
            list[k].package = NULL;
        }
        append_text(text, size, " (%s)", package);
    }
    free(list);
}
