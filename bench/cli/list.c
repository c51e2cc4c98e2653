/* list: --list, the table of algorithms. */
#include "list.h"

#include "../registry.h"
#include "../terminal.h"

#include <string.h>

enum { SUMMARY_COLUMN = 50 };

void print_list(FILE *out)
{
    static const char *const families[] = {"own", "library", "ceiling"};
    fprintf(out, "%-8s %-22s %-8s %-8s %s\n", "op", "algo", "where", "family", "summary");
    for (size_t i = 0; i < OPERATION_COUNT * registry_row_count(); i++) {
        const struct table_row *row = registry_row(i % registry_row_count());
        if (row->op != i / registry_row_count())
            continue;
        const struct algorithm *algorithm = row_descriptor(row);
        const bool on_gpu =
            row->on[DEVICE_GPU] || row->on[DEVICE_EMULATOR] || row->needs_cuda_build;
        const char *where = on_gpu && row->on[DEVICE_CPU] ? "cpu,gpu" : on_gpu ? "gpu" : "cpu";
        const int column = fprintf(out, "%-8s %-22s %-8s %s", operation_name(row->op), row->name,
                                   where, algorithm ? families[algorithm->family] : "library");
        print_wrapped(out, wrapping_width(out), SUMMARY_COLUMN, column,
                      algorithm ? algorithm->summary : "not in this build, which has no CUDA");
    }
}

/* Is an earlier row of the chosen operations of the same name? */
static bool listed_before(const bool operations[OPERATION_COUNT], size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (operations[registry_row(i)->op] &&
            strcmp(registry_row(i)->name, registry_row(index)->name) == 0)
            return true;
    return false;
}

void list_missing(const bool operations[OPERATION_COUNT], char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < registry_row_count(); i++) {
        const struct table_row *row = registry_row(i);
        const struct algorithm *algorithm = row_descriptor(row);
        const char *package = algorithm != NULL ? missing_package(algorithm) : "CUDA Toolkit";
        const size_t used = strlen(text);
        if (package != NULL && !row->is_choice && operations[row->op] &&
            !listed_before(operations, i))
            snprintf(text + used, size - used, "%s%s (%s)", used > 0 ? ", " : "", row->name,
                     package);
    }
}
