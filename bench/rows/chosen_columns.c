/* chosen_columns: reads --columns. */
#include "chosen_columns.h"

#include "../base/errors.h"
#include "../base/nearest.h"
#include "../base/text.h"
#include "table_cells.h"

#include <stdio.h>
#include <string.h>

/* Those of a table of lines, which are not timed. */
static const char of_lines[] =
    "op,algo,kernel,line,device,type,n,block,global_load_requests,global_load_sectors,"
    "global_store_requests,global_store_sectors,sector_use_pct,shared_requests,bank_conflicts,"
    "active_lanes,atomics,check";

/* The columns that a person wants of other rows. */
static const char of_rows[] = "op,algo,kernel,device,type,n,block,threads,cache,time_ms,noise_pct,"
                              "share_pct,gb_s,memcpy_pct,baseline_ratio,change,check";

/* Would the column of these be empty in every row? */
static bool is_never_filled(const struct output_spec *spec, const struct column *column)
{
    const bool of_launches =
                   column == &columns[COLUMN_kernel] || column == &columns[COLUMN_share_pct],
               of_baseline =
                   column == &columns[COLUMN_baseline_ratio] || column == &columns[COLUMN_change];
    return (of_launches && !spec->launches && spec->counts != COUNTS_BY_LINE) ||
           (of_baseline && spec->baseline_path == NULL);
}

static bool unknown_column(const char *name, size_t length)
{
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    const char *names[COLUMN_COUNT + 1] = {BASIC_COLUMNS};
    for (size_t c = 0; c < COLUMN_COUNT; c++)
        names[c + 1] = columns[c].name;
    const char *nearest = nearest_match(word, names, COLUMN_COUNT + 1);
    const struct column *of_title[2];
    if (length == 0)
        complain("--columns: an empty name; write a list such as algo,n,time_ms");
    else if (columns_of_title(word, of_title))
        complain("--columns=%s: no such column; \"%s\" in the table is %s%s%s", word, word,
                 of_title[0]->name, of_title[1] != NULL ? " plus " : "",
                 of_title[1] != NULL ? of_title[1]->name : "");
    else if (!is_near(word, nearest))
        complain("--columns=%s: no such column (--list-columns shows all)", word);
    else
        complain("--columns=%s: no such column; did you mean \"%s\"? (--list-columns shows all)",
                 word, nearest);
    return false;
}

static bool is_chosen(const struct chosen_columns *chosen, const struct column *column)
{
    for (size_t c = 0; c < chosen->count; c++)
        if (chosen->column[c] == column)
            return true;
    return false;
}

static void choose_basic(const struct output_spec *spec, struct chosen_columns *chosen)
{
    for (const char *list = spec->counts == COUNTS_BY_LINE ? of_lines : of_rows; list != NULL;) {
        const size_t length = strcspn(list, ",");
        const struct column *column = find_column(list, length);
        if (!is_chosen(chosen, column) && !is_never_filled(spec, column))
            chosen->column[chosen->count++] = column;
        list = list[length] == ',' ? list + length + 1 : NULL;
    }
}

/* Says which of the columns only rows of a run with another flag have. */
static void note_missing_flags(const struct output_spec *spec, const struct chosen_columns *chosen)
{
    const struct {
        const char *name;
        bool given;
    } flags[] = {{"--kernels", spec->launches || spec->counts == COUNTS_BY_LINE},
                 {"--counts", spec->counts != COUNTS_NOTHING},
                 {"--copies", spec->copies},
                 {"--baseline", spec->baseline_path != NULL}};
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
        char names[256] = "";
        size_t count = 0;
        for (size_t c = 0; c < chosen->count && !flags[f].given; c++)
            if (needs_flag(chosen->column[c], flags[f].name))
                append_text(names, sizeof names, "%s%s", count++ > 0 ? ", " : "",
                            chosen->column[c]->name);
        if (count > 0)
            complain("--columns: %s %s empty without %s", names, count > 1 ? "stay" : "stays",
                     flags[f].name);
    }
}

bool choose_columns(const struct output_spec *spec, struct chosen_columns *chosen)
{
    const bool markdown = spec->columns == NULL && spec->format == FORMAT_MARKDOWN;
    const char *list = markdown ? BASIC_COLUMNS : spec->columns;
    chosen->column = allocate_or_die(NULL, COLUMN_COUNT * sizeof(struct column *));
    for (size_t c = 0; list == NULL && c < COLUMN_COUNT; c++)
        chosen->column[chosen->count++] = &columns[c];
    while (list != NULL) {
        const size_t length = strcspn(list, ",");
        const struct column *column = find_column(list, length);
        if (length == strlen(BASIC_COLUMNS) && strncmp(list, BASIC_COLUMNS, length) == 0) {
            choose_basic(spec, chosen);
        } else if (length == 0 || column == NULL) {
            return unknown_column(list, length);
        } else if (is_chosen(chosen, column)) {
            complain("--columns: \"%s\" is listed twice; name each column once", column->name);
            return false;
        } else {
            chosen->column[chosen->count++] = column;
        }
        list = list[length] == ',' ? list + length + 1 : NULL;
    }
    /* The columns of a file that is continued are those that it has. */
    if (spec->columns != NULL && spec->opening == FILE_NEW && !spec->quiet)
        note_missing_flags(spec, chosen);
    return true;
}
