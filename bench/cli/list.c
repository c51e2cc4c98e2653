/* list: --list, the table of algorithms. */
#include "list.h"

#include "../registry.h"
#include "../base/terminal.h"
#include "../base/text.h"
#include "option_rules.h"

#include <string.h>

/* Before a summary stands "compact efficient-smem-padded cpu,gpu library  " at most. */
enum { SUMMARY_COLUMN = 47, SUMMARY_BYTES = 512 };

/* What the algorithm does, and what tells it from those that do the same over another scan or with
 * another engine. */
static void summarize_row(const struct table_row *row, char text[SUMMARY_BYTES])
{
    const struct algorithm *algorithm = row_descriptor(row);
    text[0] = '\0';
    append_text(text, SUMMARY_BYTES, "%s%s", row->of_team ? "several devices: " : "",
                algorithm != NULL ? algorithm->summary : "not in this build: no CUDA");
    if (algorithm != NULL && algorithm->over != NULL)
        append_text(text, SUMMARY_BYTES, ": %s", algorithm->over->summary);
    if (algorithm != NULL && algorithm->engine != NULL)
        append_text(text, SUMMARY_BYTES, "; by %s", algorithm->engine->summary);
}

static void print_row(const struct table_row *row, FILE *out)
{
    static const char *const families[] = {"own", "library", "ceiling"};
    const struct algorithm *algorithm = row_descriptor(row);
    const bool on_gpu = row->on[DEVICE_GPU] || row->on[DEVICE_EMULATOR] || row->needs_cuda_build;
    const char *where = on_gpu && row->on[DEVICE_CPU] ? "cpu,gpu" : on_gpu ? "gpu" : "cpu";
    char summary[SUMMARY_BYTES];
    summarize_row(row, summary);
    const int column = fprintf(out, "%-7s %-21s %-7s %s", operation_name(row->op), row->name, where,
                               algorithm ? families[algorithm->family] : "library");
    print_wrapped(out, terminal_width(fileno(out)), SUMMARY_COLUMN, column, summary);
}

void print_list(const struct options *options, FILE *out)
{
    fprintf(out, "%-7s %-21s %-7s %-7s  %s\n", "op", "algo", "where", "family", "summary");
    for (size_t i = 0; i < OPERATION_COUNT * registry_row_count(); i++) {
        const struct table_row *row = registry_row(i % registry_row_count());
        if (row->op == i / registry_row_count() && is_row_chosen(options, row))
            print_row(row, out);
    }
}

/* The rows that a run could have. */
struct wanted_rows {
    const bool *operations;
    bool several; /* also those of several devices */
};

/* The package of a row that this build lacks, the first of its name that is wanted; else NULL. */
static const char *package_of(const struct wanted_rows *wanted, size_t index)
{
    const struct table_row *row = registry_row(index);
    const struct algorithm *algorithm = row_descriptor(row);
    if (row->is_choice || !wanted->operations[row->op] || (row->of_team && !wanted->several))
        return NULL;
    for (size_t i = 0; i < index; i++)
        if (wanted->operations[registry_row(i)->op] &&
            strcmp(registry_row(i)->name, row->name) == 0)
            return NULL;
    return algorithm != NULL ? missing_package(algorithm) : "CUDA Toolkit";
}

/* The next index from `from` on whose row the package would bring; the number of rows if none. */
static size_t next_of(const char *package, const struct wanted_rows *wanted, size_t from)
{
    for (; from < registry_row_count(); from++) {
        const char *its = package_of(wanted, from);
        if (its != NULL && (package == NULL || strcmp(its, package) == 0))
            break;
    }
    return from;
}

void list_missing(const bool operations[OPERATION_COUNT], bool several, char *text, size_t size)
{
    const struct wanted_rows wanted = {operations, several};
    const size_t count = registry_row_count();
    text[0] = '\0';
    for (size_t first = next_of(NULL, &wanted, 0); first < count;
         first = next_of(NULL, &wanted, first + 1)) {
        const char *package = package_of(&wanted, first);
        if (next_of(package, &wanted, 0) != first)
            continue; /* listed with an earlier row */
        for (size_t r = first; r < count; r = next_of(package, &wanted, r + 1))
            append_text(text, size, "%s%s", comma_after(text), registry_row(r)->name);
        append_text(text, size, " (%s)", package);
    }
}
