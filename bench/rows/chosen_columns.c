/* chosen_columns: reads --columns. */
#include "chosen_columns.h"

#include "../base/errors.h"
#include "../base/nearest.h"

#include <stdio.h>
#include <string.h>

/* Those of a table of lines, which are not timed. */
static const char of_lines[] =
    "op,algo,kernel,line,device,type,n,block,global_load_requests,global_load_sectors,"
    "global_store_requests,global_store_sectors,sector_use_pct,shared_requests,bank_conflicts,"
    "active_lanes,atomics,check";

/* The columns that a person wants. */
static const char *basic_columns(const struct output_spec *spec)
{
    if (spec->counts == COUNTS_BY_LINE)
        return of_lines;
    return spec->launches ? "op,algo,kernel,device,type,n,block,threads,cache,time_ms,noise_pct,"
                            "share_pct,gb_s,memcpy_pct,check"
                          : "op,algo,device,type,n,block,threads,cache,time_ms,noise_pct,gb_s,"
                            "memcpy_pct,check";
}

static bool unknown_column(const char *name, size_t length)
{
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    const char *names[COLUMN_COUNT + 1] = {BASIC_COLUMNS};
    for (size_t c = 0; c < COLUMN_COUNT; c++)
        names[c + 1] = columns[c].name;
    const char *nearest = nearest_match(word, names, COLUMN_COUNT + 1);
    if (length == 0)
        complain("--columns: an empty name; write a list such as algo,n,time_ms");
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
    for (const char *list = basic_columns(spec); list != NULL;) {
        const size_t length = strcspn(list, ",");
        const struct column *column = find_column(list, length);
        if (!is_chosen(chosen, column))
            chosen->column[chosen->count++] = column;
        list = list[length] == ',' ? list + length + 1 : NULL;
    }
}

static const char *columns_wanted(const struct output_spec *spec)
{
    if (spec->columns == NULL && spec->format == FORMAT_MARKDOWN)
        return spec->counts == COUNTS_BY_LINE ? of_lines
               : spec->launches ? "op,algo,kernel,device,type,n,block,cache,time_ms,share_pct,gb_s,"
                                  "memcpy_pct,check"
                                : "op,algo,device,type,n,block,cache,time_ms,gb_s,memcpy_pct,check";
    return spec->columns;
}

bool choose_columns(const struct output_spec *spec, struct chosen_columns *chosen)
{
    const char *list = columns_wanted(spec);
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
    return true;
}
