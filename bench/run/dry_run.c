/* dry_run: prints the plan and the memory each row needs. */
#include "dry_run.h"

#include "../operations.h"
#include "../base/errors.h"
#include "../base/processes.h"
#include "../names.h"
#include "../base/text.h"
#include "../base/terminal.h"
#include "progress.h"
#include "sampling.h"
#include "format.h"
#include "task.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { TEXT_BYTES = 256, ENTRY_INDENT = 2, NOTE_INDENT = 54 };

/* The columns of the plan, as text. */
struct plan_line {
    char device[16], types[16], block[16], threads[16], max[TYPED_BYTES], memory[32],
        note[TEXT_BYTES];
    const char *kind, *keep;
};

/* What is combined how, and by how many devices, if it is not the usual. */
static void describe_problem(const struct plan_group *group, char text[TEXT_BYTES])
{
    text[0] = '\0';
    if (group->binary_operator != OPERATOR_SUM)
        append_text(text, TEXT_BYTES, "operator=%s ", operator_name(group->binary_operator));
    if (group->input.segments.form != SEGMENTS_NONE)
        append_text(text, TEXT_BYTES, "segments=%s ", group->input.segments_text);
    if (group->device.members > 0 && backend_of(group->device.kind)->has_blocks)
        append_text(text, TEXT_BYTES, "gpus=%llu ",
                    (unsigned long long)group->device.members * processes.count);
}

/* Returns whether it would be measured. */
static bool describe_entry(const struct session *session, const struct plan_group *group,
                           const struct plan_entry *entry, bool copies, struct plan_line *line)
{
    char free_bytes[32], bound[MEMORY_BOUND_BYTES];
    *line = (struct plan_line){
        .block = "-",
        .threads = "-",
        .kind = operation_has(group->op, HAS_KIND) ? kind_name(group->kind) : "-",
        .keep = operation_has(group->op, HAS_KEEP) ? group->input.keep_text : "-"};
    format_max(&group->input, line->max, sizeof line->max);
    format_device(group->device, line->device, sizeof line->device);
    if (entry->block > 0)
        snprintf(line->block, sizeof line->block, "%u", entry->block);
    if (session->device->can->has_threads)
        snprintf(line->threads, sizeof line->threads, "%u", used_threads(session, entry));
    snprintf(line->types, sizeof line->types, group->values == VALUES_NONE ? "%s" : "%s+%s",
             type_name(group->type), value_type_name(group->values));
    const struct task task = make_task(session, group, entry);
    const size_t available = session->device->can->free_memory_bytes(session->device);
    format_bytes((double)buffer_bytes(session, &task), line->memory, sizeof line->memory);
    format_bytes((double)available, free_bytes, sizeof free_bytes);
    const char *why = why_impossible(session, entry, &task);
    describe_problem(group, line->note);
    if (entry->simd != SIMD_AUTO)
        append_text(line->note, sizeof line->note, "simd=%s ", simd_path_name(entry->simd));
    size_t length = strlen(line->note);
    const bool too_large = needed_bytes(session, &task, group->cache, copies) > available;
    if (why != NULL)
        snprintf(line->note + length, sizeof line->note - length, "skipped: %s", why);
    else if (too_large) {
        format_memory_bound(session, bound);
        snprintf(line->note + length, sizeof line->note - length, "skipped: free is only %s%s",
                 free_bytes, bound);
    } else if (length > 0) {
        line->note[length - 1] = '\0'; /* the blank before what follows */
    }
    return why == NULL && !too_large;
}

/* Files and pipes get one line for each row. */
static void print_line(const struct plan_group *group, const struct plan_entry *entry,
                       const struct plan_line *line, FILE *out)
{
    fprintf(out, "%-8s %-22s %-9s %-7s %-9s %14llu %6s %7s %5s %-13s %20s %5s %12s%s%s\n",
            operation_name(group->op), entry->name, line->device, line->types, line->kind,
            (unsigned long long)group->n, line->block, line->threads,
            cache_state_name(group->cache), input_shape_name(group->input.shape), line->max,
            line->keep, line->memory, line->note[0] != '\0' ? "  " : "", line->note);
}

/* On a terminal, what the rows of a group share is above them. */
static void print_head(const struct plan_group *group, const struct plan_line *line, int width,
                       FILE *out)
{
    char text[2 * TEXT_BYTES] = "";
    append_text(text, sizeof text, "op=%s, device=%s, type=%s", operation_name(group->op),
                line->device, line->types);
    if (operation_has(group->op, HAS_KIND))
        append_text(text, sizeof text, ", kind=%s", line->kind);
    append_text(text, sizeof text, ", n=%llu, cache=%s, input=%s, max=%s",
                (unsigned long long)group->n, cache_state_name(group->cache),
                input_shape_name(group->input.shape), line->max);
    if (operation_has(group->op, HAS_KEEP))
        append_text(text, sizeof text, ", keep=%s", line->keep);
    append_text(text, sizeof text, ":");
    print_wrapped(out, width, 0, 0, text);
}

static void print_short_line(const struct plan_entry *entry, const struct plan_line *line,
                             int width, FILE *out)
{
    const int column = fprintf(out, "%*s%-22s %5s %7s %12s", ENTRY_INDENT, "", entry->name,
                               line->block, line->threads, line->memory);
    if (line->note[0] != '\0')
        print_wrapped(out, width, NOTE_INDENT, column, line->note);
    else
        fputc('\n', out);
}

/* The rows of a plan. */
struct row_counts {
    size_t printed;
    size_t skipped; /* of those */
    size_t sampled; /* until they are steady, also those that others are compared with */
    size_t counted; /* with a fixed number of samples */
    unsigned samples;
};

static void print_group(const struct session *session, const struct options *options,
                        const struct plan_group *group, int width, struct row_counts *rows,
                        FILE *out)
{
    const struct sampling sampling = device_sampling(options, backend_of(group->device.kind));
    bool headed = false;
    for (size_t e = 0; e < group->entry_count; e++) {
        const struct plan_entry *entry = &group->entries[e];
        struct plan_line line;
        const bool runs = describe_entry(session, group, entry, options->copies, &line);
        if (runs)
            (*(sampling.samples > 0 ? &rows->counted : &rows->sampled))++;
        rows->samples = sampling.samples > 0 ? sampling.samples : rows->samples;
        if (!entry->printed)
            continue;
        rows->skipped += !runs;
        if (width == INT_MAX) {
            print_line(group, entry, &line, out);
        } else {
            if (!headed)
                print_head(group, &line, width, out);
            print_short_line(entry, &line, width, out);
        }
        headed = true;
        rows->printed++;
    }
}

/* "0.3 s", "2 min 5 s" */
static void format_time(double ms, char *text, size_t size)
{
    if (ms < 100)
        snprintf(text, size, "%.3g ms", ms);
    else if (ms < 10e3)
        snprintf(text, size, "%.1f s", ms / 1e3);
    else
        format_duration(ms / 1e3, text, size);
}

/* What is known of the time before anything has run. */
static void print_time(const struct sampling *sampling, const struct row_counts *rows, int width,
                       FILE *out)
{
    char text[2 * TEXT_BYTES] = "", least[32], most[32], each[32];
    const double least_ms = fmax(sampling->min_time_ms, fmin(MIN_SPAN_MS, sampling->max_time_ms));
    format_time((double)rows->sampled * least_ms, least, sizeof least);
    format_time((double)rows->sampled * sampling->max_time_ms, most, sizeof most);
    format_time(sampling->max_time_ms, each, sizeof each);
    if (rows->sampled > 0)
        append_text(text, sizeof text,
                    "sampling would take %s to %s, checks excluded: at most %s (--max-time) per "
                    "row; a row has at least %d samples, even if they take longer",
                    least, most, each, MIN_SAMPLES);
    if (rows->counted > 0)
        append_text(text, sizeof text,
                    "%s%zu row%s would have %u sample%s, whose time is not known beforehand",
                    text[0] != '\0' ? "; " : "", rows->counted, rows->counted == 1 ? "" : "s",
                    rows->samples, rows->samples == 1 ? "" : "s");
    if (text[0] != '\0')
        print_wrapped(out, width, 0, 0, text);
}

/* memcpy is measured in every group, printed or not, and so is a single GPU beside a team. */
static void print_counts(const struct row_counts *rows, bool resumes, int width, FILE *out)
{
    char text[TEXT_BYTES] = "";
    const size_t measured = rows->printed - rows->skipped;
    const size_t beside = rows->sampled + rows->counted - measured;
    append_text(text, sizeof text, "%zu row%s would be measured", measured,
                measured == 1 ? "" : "s");
    if (rows->skipped > 0)
        append_text(text, sizeof text, " and %zu skipped", rows->skipped);
    if (beside > 0)
        append_text(text, sizeof text, ", and %zu more to compare with", beside);
    append_text(text, sizeof text, "%s; nothing was run",
                resumes ? ", except those that the file has (--resume)" : "");
    print_wrapped(out, width, 0, 0, text);
}

static void print_titles(int width, FILE *out)
{
    if (width == INT_MAX)
        fprintf(out, "%-8s %-22s %-9s %-7s %-9s %14s %6s %7s %5s %-13s %20s %5s %12s\n", "op",
                "algorithm", "device", "type", "kind", "n", "block", "threads", "cache", "input",
                "max", "keep", "memory");
    else
        fprintf(out, "%*s%-22s %5s %7s %12s\n", ENTRY_INDENT, "", "algorithm", "block", "threads",
                "memory");
}

int print_plan(const struct options *options, const struct plan *plan, FILE *out)
{
    struct session session = {0};
    struct row_counts rows = {0};
    const int width = wrapping_width(out);
    print_titles(width, out);
    for (size_t g = 0; g < plan->group_count; g++) {
        const struct plan_group *group = &plan->groups[g];
        const char *why = open_session(&session, group->device, options);
        if (why != NULL) {
            complain("%s", why);
            return EXIT_ERROR;
        }
        print_group(&session, options, group, width, &rows, out);
    }
    close_session(&session);
    print_time(&options->sampling, &rows, width, out);
    print_counts(&rows, options->output.opening == FILE_RESUME, width, out);
    return EXIT_OK;
}
