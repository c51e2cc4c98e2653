/* dry_run: prints the plan and the memory each row needs. */
#include "dry_run.h"

#include "../operations.h"
#include "../errors.h"
#include "../names.h"
#include "session.h"

static void print_plan_entry(const struct session *session, const struct plan_group *group,
                             const struct plan_entry *entry, FILE *out)
{
    char device[16], block[16] = "-", need[32], have[32], types[16];
    format_device(group->device, device, sizeof device);
    if (entry->block > 0)
        snprintf(block, sizeof block, "%u", entry->block);
    snprintf(types, sizeof types, group->values == VALUES_NONE ? "%s" : "%s+%s",
             type_name(group->type), value_type_name(group->values));
    const size_t bytes = entry_bytes(session, group, entry);
    const size_t available = session->device->can->free_memory_bytes(session->device);
    format_bytes((double)bytes, need, sizeof need);
    format_bytes((double)available, have, sizeof have);
    const char *why = entry_unsupported(session, group, entry);
    fprintf(out, "%-8s %-22s %-9s %-7s %-9s %14llu %6s %5s %12s  %s%s\n", operation_name(group->op),
            entry->row->name, device, types,
            operation_has(group->op, HAS_KIND) ? kind_name(group->kind) : "-",
            (unsigned long long)group->n, block, cache_state_name(group->cache), need,
            why != NULL         ? "skipped: "
            : bytes > available ? "skipped: free is only "
                                : "",
            why != NULL         ? why
            : bytes > available ? have
                                : "");
}

int print_plan(const struct options *options, struct plan *plan, FILE *out)
{
    struct session session = {0};
    size_t rows = 0;
    fprintf(out, "%-8s %-22s %-9s %-7s %-9s %14s %6s %5s %12s\n", "op", "algorithm", "device",
            "type", "kind", "n", "block", "cache", "memory");
    for (size_t g = 0; g < plan->group_count; g++) {
        struct plan_group *group = &plan->groups[g];
        const char *why = open_session(&session, group->device, options);
        if (why != NULL) {
            complain("%s", why);
            return EXIT_ERROR;
        }
        resolve_choices(&session, group);
        for (size_t e = 0; e < group->entry_count; e++)
            if (group->entries[e].printed) {
                print_plan_entry(&session, group, &group->entries[e], out);
                rows++;
            }
    }
    close_session(&session);
    fprintf(out, "%zu row%s would be measured; nothing was run\n", rows, rows == 1 ? "" : "s");
    return EXIT_OK;
}
