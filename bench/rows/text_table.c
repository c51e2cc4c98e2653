/* text_table: writes the table for people. */
#include "text_table.h"

#include "../base/errors.h"
#include "../base/terminal.h"
#include "../base/text.h"
#include "table_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    REASON_WIDTH = 24, /* a reason gets at least this */
    MOST_NAMES = 16,   /* devices and libraries in headings */
};

/* A formatted row. The time is apart, because the fastest is marked only when all are known. */
struct line {
    char *before, *time, *after;
    double contends_ms; /* NAN: not compared with the others */
};

struct names {
    char name[MOST_NAMES][CELL_BYTES];
    size_t count;
};

struct text_table {
    struct table_layout layout;
    bool colour;
    char *section;           /* the last line above rows that share an axis */
    char kernel[CELL_BYTES]; /* whose lines these rows are; "": they are no lines */
    struct names devices, libraries;
    struct line *lines;
    size_t line_count;
    struct text heading; /* lines to write before the next row */
};

struct text_table *new_text_table(const struct output_spec *spec, const struct column **chosen,
                                  size_t chosen_count, int width, bool colour)
{
    struct text_table *table = allocate_or_die(NULL, sizeof *table);
    *table = (struct text_table){.colour = colour};
    begin_layout(&table->layout, spec, chosen, chosen_count, width);
    open_text(&table->heading);
    return table;
}

static void free_lines(struct text_table *table)
{
    for (size_t l = 0; l < table->line_count; l++) {
        free(table->lines[l].before);
        free(table->lines[l].time);
        free(table->lines[l].after);
    }
    table->line_count = 0;
}

void free_text_table(struct text_table *table)
{
    if (table == NULL)
        return;
    free_lines(table);
    free(table->lines);
    close_text(&table->heading);
    free(table->heading.bytes);
    free(table->section);
    free(table);
}

static void add_name(struct names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->name[i], name) == 0)
            return;
    if (names->count < MOST_NAMES)
        snprintf(names->name[names->count++], CELL_BYTES, "%s", name);
}

void announce_to_table(struct text_table *table, const struct row *row)
{
    announce_axes(&table->layout, row);
    if (row->library_version != NULL)
        add_name(&table->libraries, row->library_version);
}

/* ---- headings ---- */

/* Words after words, and an indented line when one is full. */
struct flow {
    FILE *out;
    int column, width;
};

static void put_item(struct flow *flow, const char *item)
{
    const int width = shown_width(item);
    if (flow->column > 0 && flow->column + 2 + width + 1 > flow->width)
        flow->column = fprintf(flow->out, ",\n  ") - 2;
    else if (flow->column > 0)
        flow->column += fprintf(flow->out, ", ");
    fputs(item, flow->out);
    flow->column += width;
}

static void put_axis(struct flow *flow, const char *name, const char *value)
{
    char item[2 * CELL_BYTES];
    snprintf(item, sizeof item, "%s=%s", name, value);
    put_item(flow, item);
}

/* What a device brings with it. */
static void put_device(struct flow *flow, const struct row *row)
{
    const char *facts[] = {row->device_name, row->driver, row->cuda};
    for (size_t f = 0; f < sizeof facts / sizeof *facts; f++)
        if (facts[f] != NULL && facts[f][0] != '\0')
            put_item(flow, facts[f]);
}

/* The widest vector instructions and the number of processors are known only once the device is
 * open, which is after the rows are announced. */
static bool is_known(const struct axis *axis)
{
    return axis->value[0] != '\0' && strcmp(axis->value, "auto") != 0 &&
           (strcmp(axis->column->name, "threads") != 0 || strcmp(axis->value, "0") != 0);
}

/* Has it what rows had before it could have anything else? */
static bool is_usual(const struct axis *axis)
{
    return axis->column->before != NULL && strcmp(axis->value, axis->column->before) == 0;
}

static void put_constants(struct text_table *table, struct flow *flow)
{
    for (size_t i = 0; i < table->libraries.count; i++)
        put_item(flow, table->libraries.name[i]);
    for (size_t a = 0; a < table->layout.axis_count; a++)
        if (!is_column(&table->layout.axes[a]) && is_known(&table->layout.axes[a]) &&
            !is_usual(&table->layout.axes[a]))
            put_axis(flow, table->layout.axes[a].column->name, table->layout.axes[a].value);
}

static void put_cell(FILE *out, const char *text, int width, bool right)
{
    const int space = width - shown_width(text);
    if (right && space > 0)
        fprintf(out, "%*s", space, "");
    fputs(text, out);
    if (!right && space > 0)
        fprintf(out, "%*s", space, "");
}

static void write_titles(struct text_table *table, FILE *out)
{
    for (size_t p = 0; p < table->layout.part_count; p++) {
        const struct table_part *part = &table->layout.parts[p];
        const bool last = p + 1 == table->layout.part_count;
        put_cell(out, part->title, last && !part->right ? 0 : part->width, part->right);
        fprintf(out, "%*s", last ? 0 : GAP, "");
    }
    fputc('\n', out);
}

/* The heading of the whole table, or of a device that comes in later. */
static void head_table(struct text_table *table, const struct row *row)
{
    const size_t devices = table->devices.count;
    struct flow flow = {.out = table->heading.out, .width = table->layout.width};
    char program[CELL_BYTES];
    if (row->device_name != NULL)
        add_name(&table->devices, row->device_name);
    if (!table->layout.laid_out) {
        lay_out(&table->layout);
        snprintf(program, sizeof program, "scanbench %s%s%s", row->version ? row->version : "",
                 row->commit && row->commit[0] ? " " : "", row->commit ? row->commit : "");
        put_item(&flow, program);
        put_device(&flow, row);
        put_constants(table, &flow);
        fputc('\n', flow.out);
        write_titles(table, flow.out);
    } else if (table->devices.count > devices) {
        fprintf(flow.out, "%s: ", row->device);
        put_device(&flow, row);
        fputc('\n', flow.out);
    }
}

/* The line above rows that share what has no column of its own. */
static void head_section(struct text_table *table, const struct row *row)
{
    char value[CELL_BYTES];
    struct text section;
    open_text(&section);
    for (size_t s = 0; s < table->layout.section_count; s++) {
        const struct column *column = table->layout.sections[s]->column;
        format_axis(column, row, value);
        if (value[0] != '\0')
            fprintf(section.out, "%s%s=%s", ftell(section.out) > 0 ? ", " : "", column->name,
                    value);
    }
    close_text(&section);
    if (section.bytes[0] != '\0' &&
        (table->section == NULL || strcmp(section.bytes, table->section) != 0))
        fprintf(table->heading.out, "%s:\n", section.bytes);
    free(table->section);
    table->section = section.bytes;
}

/* The name of the row's kernel, without the ending that most have. */
static int put_kernel(FILE *out, const struct row *row)
{
    static const char suffix[] = "_kernel";
    size_t length = strlen(row->kernel);
    if (length >= strlen(suffix) && strcmp(row->kernel + length - strlen(suffix), suffix) == 0)
        length -= strlen(suffix);
    return fprintf(out, "%.*s", (int)length, row->kernel);
}

/* The line above the lines of a kernel's source. */
static void head_kernel(struct text_table *table, const struct row *row)
{
    const bool is_line = row->kernel != NULL && row->line != NULL && table->layout.time_part > 0;
    if (is_line && strcmp(table->kernel, row->kernel) != 0) {
        fputs("  ", table->heading.out);
        put_kernel(table->heading.out, row);
        fputc('\n', table->heading.out);
    }
    snprintf(table->kernel, sizeof table->kernel, "%s", is_line ? row->kernel : "");
}

/* Takes the lines of heading so far. */
static char *take_heading(struct text_table *table)
{
    close_text(&table->heading);
    char *text = table->heading.bytes;
    open_text(&table->heading);
    return text;
}

/* ---- rows ---- */

static const char *painted(const struct text_table *table, const char *code)
{
    return table->colour ? code : "";
}

static void write_part(const struct text_table *table, FILE *out, size_t p, const struct row *row)
{
    const struct table_part *part = &table->layout.parts[p];
    char text[CELL_BYTES] = "";
    if (!part->real || !row->simulated)
        part->format(part, row, text);
    const char *colour = painted(table, cell_colour(part, row));
    const bool last = p + 1 == table->layout.part_count;
    const int mark = part->overhangs && strchr(text, '!') != NULL;
    fputs(colour, out);
    put_cell(out, text, last && !part->right ? 0 : part->width + mark, part->right);
    fprintf(out, "%s%*s", colour[0] != '\0' ? PLAIN : "", last ? 0 : GAP - mark, "");
}

/* The columns before the time: the axes, or the name of a launch or line. After a name too long for
 * them, the row goes on in the next line. */
static void write_front(const struct text_table *table, FILE *out, const struct row *row)
{
    if (row->kernel == NULL || table->layout.time_part == 0) {
        for (size_t p = 0; p < table->layout.time_part; p++)
            write_part(table, out, p, row);
        return;
    }
    const int width = front_width(&table->layout) - GAP;
    int written = 0;
    if (row->line != NULL) {
        written = fprintf(out, "    %s", row->line);
    } else {
        written = fprintf(out, "  %lld ", (long long)row->launch);
        written += put_kernel(out, row);
    }
    if (written > width)
        fprintf(out, "\n%*s", width, "");
    fprintf(out, "%*s", GAP + (written < width ? width - written : 0), "");
}

/* In place of times: what kept the row from having any, in as many lines as it takes. */
static void write_reason(const struct text_table *table, FILE *out, const struct row *row)
{
    const bool skipped = strcmp(row->check, "skipped") == 0;
    int indent = front_width(&table->layout);
    if (table->layout.width - indent < REASON_WIDTH) {
        indent = GAP;
        fprintf(out, "\n%*s", indent, "");
    }
    char text[2 * CELL_BYTES];
    snprintf(text, sizeof text, "%s: %s", row->check, row->reason != NULL ? row->reason : "");
    fputs(painted(table, skipped ? GREY : RED), out);
    int column = indent;
    for (char *rest, *word = strtok_r(text, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        const int width = shown_width(word);
        if (column > indent && column + 1 + width > table->layout.width) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        }
        column += width + (column > indent ? fprintf(out, " ") : 0);
        fputs(word, out);
    }
    fputs(painted(table, PLAIN), out);
}

/* memcpy is what the others are compared with; an empty kernel moves nothing; and no time of a
 * simulated device says which is faster. */
static bool contends(const struct row *row)
{
    return !row->simulated && row->kernel == NULL && isfinite(row->gb_s) &&
           strcmp(row->algo, "memcpy") != 0;
}

static void cut_spaces(char *text)
{
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ')
        text[--length] = '\0';
}

static struct line make_line(struct text_table *table, const struct row *row)
{
    struct line line = {.contends_ms = contends(row) ? row->time_ms : NAN};
    struct text text;
    open_text(&text);
    char *heading = take_heading(table);
    fputs(heading, text.out);
    free(heading);
    write_front(table, text.out, row);
    close_text(&text);
    line.before = text.bytes;

    const bool passed = row->check == NULL || strcmp(row->check, "passed") == 0;
    const bool layout_is_ours = table->layout.time_part > 0;
    open_text(&text);
    if (layout_is_ours && passed)
        write_part(table, text.out, table->layout.time_part, row);
    close_text(&text);
    line.time = text.bytes;

    open_text(&text);
    if (layout_is_ours && !passed)
        write_reason(table, text.out, row);
    else
        for (size_t p = table->layout.time_part + layout_is_ours; p < table->layout.part_count; p++)
            write_part(table, text.out, p, row);
    close_text(&text);
    line.after = text.bytes;
    cut_spaces(line.after);
    return line;
}

void add_to_table(struct text_table *table, const struct row *row)
{
    if (!table->layout.laid_out && table->layout.axes[0].value[0] == '\0')
        announce_to_table(table, row);
    head_table(table, row);
    if (row->kernel == NULL)
        head_section(table, row);
    head_kernel(table, row);
    APPEND(table->lines, table->line_count, make_line(table, row));
}

/* The index of the fastest row; if there is nothing to compare it with, none. */
static size_t fastest_line(const struct text_table *table)
{
    size_t fastest = SIZE_MAX, contenders = 0;
    for (size_t l = 0; l < table->line_count; l++) {
        const double ms = table->lines[l].contends_ms;
        contenders += isfinite(ms);
        if (isfinite(ms) && (fastest == SIZE_MAX || ms < table->lines[fastest].contends_ms))
            fastest = l;
    }
    return contenders > 1 ? fastest : SIZE_MAX;
}

void flush_table(struct text_table *table, FILE *out)
{
    const size_t fastest = fastest_line(table);
    for (size_t l = 0; l < table->line_count; l++) {
        const struct line *line = &table->lines[l];
        fprintf(out, "%s%s%s%s%s\n", line->before, l == fastest ? painted(table, GREEN) : "",
                line->time, l == fastest ? painted(table, PLAIN) : "", line->after);
    }
    free_lines(table);
}
