/* list: --list, the table of algorithms. */
#include "list.h"

#include "../registry.h"
#include "../base/terminal.h"
#include "../base/text.h"
#include "option_rules.h"

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

static void print_row(const struct table_row *row, FILE *out)
{
    static const char *const families[] = {"own", "library", "ceiling", "user"};
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
    for (size_t i = 0; i < OPERATION_COUNT * table_row_count(); i++) {
        const struct table_row *row = table_row(i % table_row_count());
        if (row->op == i / table_row_count() && is_row_chosen(options, i % table_row_count()))
            print_row(row, out);
    }
}

/* What a run could have: the rows of the table and, after them, the engines. */
struct wanted {
    const bool *operations;
    bool several; /* also engines */
};

static size_t wanted_count(void)
{
    return table_row_count() + ENGINE_COUNT;
}

static const char *wanted_name(size_t index)
{
    const size_t rows = table_row_count();
    return index < rows ? table_row(index)->name : engine_name(index - rows);
}

/* The package of an engine that this build lacks; else NULL. */
static const char *package_of_engine(const struct wanted *wanted, enum engine_id engine)
{
    for (size_t r = 0; r < table_row_count() && wanted->several; r++) {
        const struct algorithm *by = row_descriptor_by(table_row(r), engine);
        if (table_row(r)->of_team)
            return by != NULL ? missing_package(by) : "CUDA Toolkit";
    }
    return NULL;
}

/* The package of a row that this build lacks, the first of its name that is wanted; else NULL. */
static const char *package_of(const struct wanted *wanted, size_t index)
{
    if (index >= table_row_count())
        return package_of_engine(wanted, index - table_row_count());
    const struct table_row *row = table_row(index);
    const struct algorithm *algorithm = row_descriptor(row);
    if (row->is_choice || row->of_team || !wanted->operations[row->op])
        return NULL;
    for (size_t i = 0; i < index; i++)
        if (wanted->operations[table_row(i)->op] && strcmp(table_row(i)->name, row->name) == 0)
            return NULL;
    return algorithm != NULL ? missing_package(algorithm) : "CUDA Toolkit";
}

/* The next index from `from` on whose name the package would bring; the end if none. */
static size_t next_of(const char *package, const struct wanted *wanted, size_t from)
{
    for (; from < wanted_count(); from++) {
        const char *its = package_of(wanted, from);
        if (its != NULL && (package == NULL || strcmp(its, package) == 0))
            break;
    }
    return from;
}

void list_missing(const bool operations[OPERATION_COUNT], bool several, char *text, size_t size)
{
    const struct wanted wanted = {operations, several};
    const size_t count = wanted_count();
    text[0] = '\0';
    for (size_t first = next_of(NULL, &wanted, 0); first < count;
         first = next_of(NULL, &wanted, first + 1)) {
        const char *package = package_of(&wanted, first);
        if (next_of(package, &wanted, 0) != first)
            continue; /* listed with an earlier row */
        for (size_t i = first; i < count; i = next_of(package, &wanted, i + 1))
            append_text(text, size, "%s%s", comma_after(text), wanted_name(i));
        append_text(text, size, " (%s)", package);
    }
}
