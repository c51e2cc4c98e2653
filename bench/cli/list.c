/* list: --list, the table of algorithms. */
#include "list.h"

#include "../registry.h"

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
        fprintf(out, "%-8s %-22s %-8s %-8s %s%s\n", operation_name(row->op), row->name, where,
                algorithm ? families[algorithm->family] : "library",
                row->of_team ? "several devices: " : "",
                algorithm ? algorithm->summary : "not in this build, which has no CUDA");
    }
}
