/* text_table: lays out and writes the table for people. */
#include "text_table.h"

#include "../errors.h"
#include "../terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CELL_BYTES = 256,
    GAP = 2,           /* spaces between two columns */
    REASON_WIDTH = 24, /* a reason gets at least this */
    LAUNCH_WIDTH = 26, /* "  1 " and the name of a kernel */
    MOST_NAMES = 16,   /* devices and libraries in headings */
};

/* What is known of an axis from the rows announced. */
struct axis {
    const struct column *column;
    char value[CELL_BYTES]; /* the first that is not empty */
    bool varies;
    int width;
};

/* One column of the table. */
struct part {
    const char *title;
    int width;
    bool right;                  /* numbers end together */
    bool spared;                 /* left out if the table is too wide */
    const struct column *column; /* NULL: a measure */
    void (*format)(const struct part *part, const struct row *row, char text[CELL_BYTES]);
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
    const struct output_spec *spec;
    int width;
    bool colour, laid_out;
    struct axis axes[COLUMN_COUNT];
    size_t axis_count;
    struct part parts[COLUMN_COUNT + 16];
    size_t part_count, time_part; /* time_part: index of the first measure */
    const struct axis *sections[COLUMN_COUNT];
    size_t section_count;
    char *section; /* the last such line */
    struct names devices, libraries;
    struct line *lines;
    size_t line_count;
    char *heading; /* lines to write before the next row */
    size_t heading_bytes;
    FILE *heading_out;
};

/* Begins a text in memory, which complete() ends. */
static FILE *begin(char **text, size_t *bytes)
{
    FILE *out = open_memstream(text, bytes);
    if (out == NULL)
        out_of_memory();
    return out;
}

static void complete(FILE *out)
{
    if (fclose(out) != 0)
        out_of_memory();
}

/* ---- cells ---- */

static void format_time(double ms, char text[CELL_BYTES])
{
    static const struct {
        double ms;
        const char *unit;
    } units[] = {{1e3, "s"}, {1, "ms"}, {0, "us"}};
    size_t u = 0;
    if (!isfinite(ms))
        return;
    while (ms < units[u].ms * 0.99995)
        u++;
    const double value = units[u].ms > 0 ? ms / units[u].ms : ms * 1e3;
    const int decimals = value < 9.9995 ? 3 : value < 99.995 ? 2 : value < 999.95 ? 1 : 0;
    snprintf(text, CELL_BYTES, "%.*f %s", decimals, value, units[u].unit);
}

static void format_number(double value, const char *unit, char text[CELL_BYTES])
{
    if (isfinite(value))
        snprintf(text, CELL_BYTES, "%.1f%s", value, unit);
}

static void time_cell(const struct part *part, const struct row *row, char text[CELL_BYTES])
{
    (void)part;
    format_time(row->time_ms, text);
}

static bool too_noisy(const struct row *row)
{
    return row->steady != NULL && strcmp(row->steady, "no") == 0;
}

static void noise_cell(const struct part *part, const struct row *row, char text[CELL_BYTES])
{
    (void)part;
    if (isfinite(row->noise_pct) && row->samples > 1)
        snprintf(text, CELL_BYTES, "%.*f %%%s", row->noise_pct < 9.95, row->noise_pct,
                 too_noisy(row) ? "!" : " ");
}

static void gb_s_cell(const struct part *part, const struct row *row, char text[CELL_BYTES])
{
    (void)part;
    format_number(row->gb_s, "", text);
}

static void memcpy_cell(const struct part *part, const struct row *row, char text[CELL_BYTES])
{
    (void)part;
    format_number(row->memcpy_pct, "", text);
}

static void copies_cell(const struct part *part, const struct row *row, char text[CELL_BYTES])
{
    (void)part;
    format_time(row->copies_ms, text);
}

static void share_cell(const struct part *part, const struct row *row, char text[CELL_BYTES])
{
    (void)part;
    format_number(row->share_pct, "%", text);
}

static void grid_cell(const struct part *part, const struct row *row, char text[CELL_BYTES])
{
    (void)part;
    if (row->grid >= 0)
        snprintf(text, CELL_BYTES, "%lld", (long long)row->grid);
}

static void occupancy_cell(const struct part *part, const struct row *row, char text[CELL_BYTES])
{
    (void)part;
    format_number(row->occupancy_pct, " %", text);
}

static void change_cell(const struct part *part, const struct row *row, char text[CELL_BYTES])
{
    (void)part;
    if (isfinite(row->baseline_ratio))
        snprintf(text, CELL_BYTES, "%+.1f %% %-6s", 100 * (row->baseline_ratio - 1),
                 strcmp(row->change, "none") == 0 ? "" : row->change);
}

static void check_cell(const struct part *part, const struct row *row, char text[CELL_BYTES])
{
    (void)part;
    if (row->kernel == NULL && row->check != NULL)
        snprintf(text, CELL_BYTES, "%s", row->check);
}

static void plain_cell(const struct part *part, const struct row *row, char text[CELL_BYTES])
{
    column_text(part->column, row, text, CELL_BYTES);
}

/* An axis as it is typed: 2^20 in place of 1048576. */
static void format_axis(const struct column *column, const struct row *row, char text[CELL_BYTES])
{
    column_text(column, row, text, CELL_BYTES);
    if (strcmp(column->name, "n") != 0 || row->n < 1024)
        return;
    for (int log2_n = 10; log2_n < 63; log2_n++)
        if (row->n == (int64_t)1 << log2_n)
            snprintf(text, CELL_BYTES, "2^%d", log2_n);
}

static void axis_cell(const struct part *part, const struct row *row, char text[CELL_BYTES])
{
    format_axis(part->column, row, text);
    if (text[0] == '\0')
        strcpy(text, "-");
}

/* ---- the columns ---- */

static bool always(const struct output_spec *spec)
{
    (void)spec;
    return true;
}

static bool with_launches(const struct output_spec *spec)
{
    return spec->launches;
}

static bool without_launches(const struct output_spec *spec)
{
    return !spec->launches;
}

static bool with_copies(const struct output_spec *spec)
{
    return spec->copies;
}

static bool with_baseline(const struct output_spec *spec)
{
    return spec->baseline_path != NULL;
}

/* The measures, in the order of the table. The time is first. */
static const struct {
    struct part part;
    bool (*wanted)(const struct output_spec *spec);
} measures[] = {
    {{"time", 8, .right = true, .format = time_cell}, always},
    {{"± ", 7, .right = true, .format = noise_cell}, without_launches},
    {{"GB/s", 6, .right = true, .spared = true, .format = gb_s_cell}, always},
    {{"% memcpy", 8, .right = true, .spared = true, .format = memcpy_cell}, without_launches},
    {{"copies", 8, .right = true, .format = copies_cell}, with_copies},
    {{"share", 6, .right = true, .format = share_cell}, with_launches},
    {{"grid", 6, .right = true, .format = grid_cell}, with_launches},
    {{"occupancy", 9, .right = true, .spared = true, .format = occupancy_cell}, with_launches},
    {{"change", 13, .right = true, .format = change_cell}, with_baseline},
    {{"check", 6, .format = check_cell}, always},
};
enum { MEASURE_COUNT = sizeof measures / sizeof *measures };

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Axes that differ among neighbouring rows stay columns in any case. */
static bool stays_column(const struct column *column)
{
    static const char *const own[] = {"algo", "block", "threads", "simd"};
    return is_one_of(column->name, own, sizeof own / sizeof *own);
}

static void add_part(struct text_table *table, struct part part)
{
    const int title = shown_width(part.title);
    part.width = part.width > title ? part.width : title;
    table->parts[table->part_count++] = part;
}

/* The width of some columns, with the gap after each. */
static int width_of(const struct text_table *table, size_t from, size_t to)
{
    int width = 0;
    for (size_t p = from; p < to; p++)
        width += table->parts[p].width + GAP;
    return width;
}

/* The kernels of --kernels stand below their algorithm, in the columns before the time. */
static int front_width(const struct text_table *table)
{
    const int width = width_of(table, 0, table->time_part);
    const int least = table->spec->launches ? LAUNCH_WIDTH + GAP : 0;
    return width > least ? width : least;
}

static int total_width(const struct text_table *table)
{
    return front_width(table) + width_of(table, table->time_part, table->part_count) - GAP;
}

static void remove_part(struct text_table *table, size_t p)
{
    memmove(table->parts + p, table->parts + p + 1,
            (--table->part_count - p) * sizeof *table->parts);
    table->time_part -= p < table->time_part;
}

static struct axis *axis_of(struct text_table *table, const struct column *column)
{
    for (size_t a = 0; a < table->axis_count; a++)
        if (table->axes[a].column == column)
            return &table->axes[a];
    return NULL;
}

/* Makes the table fit: axes become lines above their rows, then measures go. */
static void make_fit(struct text_table *table)
{
    for (size_t p = 0; p < table->time_part && total_width(table) > table->width;) {
        if (stays_column(table->parts[p].column)) {
            p++;
            continue;
        }
        table->sections[table->section_count++] = axis_of(table, table->parts[p].column);
        remove_part(table, p);
    }
    for (size_t p = table->part_count; p-- > 0 && total_width(table) > table->width;)
        if (table->parts[p].spared)
            remove_part(table, p);
}

static bool is_column(const struct axis *axis)
{
    return axis->varies || strcmp(axis->column->name, "algo") == 0;
}

static void lay_out(struct text_table *table)
{
    table->laid_out = true;
    if (table->part_count > 0)
        return; /* --columns */
    for (size_t a = 0; a < table->axis_count; a++) {
        const struct axis *axis = &table->axes[a];
        if (is_column(axis))
            add_part(table, (struct part){.title = axis->column->name,
                                          .width = axis->width,
                                          .right = axis->column->kind == FIELD_COUNT,
                                          .column = axis->column,
                                          .format = axis_cell});
    }
    table->time_part = table->part_count;
    for (size_t m = 0; m < MEASURE_COUNT; m++)
        if (measures[m].wanted(table->spec))
            add_part(table, measures[m].part);
    make_fit(table);
    table->parts[table->time_part - 1].width +=
        front_width(table) - width_of(table, 0, table->time_part);
}

static void choose_parts(struct text_table *table, const struct column **chosen, size_t count)
{
    for (size_t c = 0; c < count; c++)
        add_part(table, (struct part){.title = chosen[c]->name,
                                      .width = chosen[c]->kind == FIELD_NUMBER ? 8 : 0,
                                      .right = chosen[c]->kind != FIELD_TEXT,
                                      .column = chosen[c],
                                      .format = plain_cell});
}

struct text_table *new_text_table(const struct output_spec *spec, const struct column **chosen,
                                  size_t chosen_count, int width, bool colour)
{
    struct text_table *table = allocate_or_die(NULL, sizeof *table);
    *table = (struct text_table){.spec = spec, .width = width, .colour = colour};
    for (size_t c = 0; c < COLUMN_COUNT; c++)
        if (columns[c].class == CLASS_AXIS)
            table->axes[table->axis_count++].column = &columns[c];
    choose_parts(table, chosen, chosen_count);
    table->heading_out = begin(&table->heading, &table->heading_bytes);
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
    fclose(table->heading_out);
    free(table->heading);
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
    for (size_t a = 0; a < table->axis_count; a++) {
        struct axis *axis = &table->axes[a];
        char text[CELL_BYTES];
        format_axis(axis->column, row, text);
        const int width = (int)strlen(text);
        axis->width = width > axis->width ? width : axis->width;
        axis->varies |= text[0] != '\0' && axis->value[0] != '\0' && strcmp(text, axis->value) != 0;
        if (axis->value[0] == '\0')
            strcpy(axis->value, text);
    }
    for (size_t p = 0; p < table->part_count; p++) { /* those of --columns */
        char text[CELL_BYTES];
        plain_cell(&table->parts[p], row, text);
        const int width = (int)strlen(text);
        table->parts[p].width = width > table->parts[p].width ? width : table->parts[p].width;
    }
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

static void put_constants(struct text_table *table, struct flow *flow)
{
    for (size_t i = 0; i < table->libraries.count; i++)
        put_item(flow, table->libraries.name[i]);
    for (size_t a = 0; a < table->axis_count; a++)
        if (!is_column(&table->axes[a]) && is_known(&table->axes[a]))
            put_axis(flow, table->axes[a].column->name, table->axes[a].value);
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
    for (size_t p = 0; p < table->part_count; p++) {
        const struct part *part = &table->parts[p];
        const bool last = p + 1 == table->part_count;
        put_cell(out, part->title, last && !part->right ? 0 : part->width, part->right);
        fprintf(out, "%*s", last ? 0 : GAP, "");
    }
    fputc('\n', out);
}

/* The heading of the whole table, or of a device that comes in later. */
static void head_table(struct text_table *table, const struct row *row)
{
    const size_t devices = table->devices.count;
    struct flow flow = {.out = table->heading_out, .width = table->width};
    char program[CELL_BYTES];
    if (row->device_name != NULL)
        add_name(&table->devices, row->device_name);
    if (!table->laid_out) {
        lay_out(table);
        if (table->spec->going_on)
            return;
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
    char *section, value[CELL_BYTES];
    size_t bytes;
    FILE *out = begin(&section, &bytes);
    for (size_t s = 0; s < table->section_count; s++) {
        const struct column *column = table->sections[s]->column;
        format_axis(column, row, value);
        if (value[0] != '\0')
            fprintf(out, "%s%s=%s", ftell(out) > 0 ? ", " : "", column->name, value);
    }
    complete(out);
    if (section[0] != '\0' && (table->section == NULL || strcmp(section, table->section) != 0))
        fprintf(table->heading_out, "%s:\n", section);
    free(table->section);
    table->section = section;
}

/* Takes the lines of heading so far. */
static char *take_heading(struct text_table *table)
{
    complete(table->heading_out);
    char *text = table->heading;
    table->heading_out = begin(&table->heading, &table->heading_bytes);
    return text;
}

/* ---- rows ---- */

static const char *painted(const struct text_table *table, const char *code)
{
    return table->colour ? code : "";
}

static const char *const RED = "\033[31m", *const GREEN = "\033[1;32m", *const YELLOW = "\033[33m",
                         *const GREY = "\033[90m", *const PLAIN = "\033[0m";

static const char *colour_of(const struct part *part, const struct row *row)
{
    if (part->format == noise_cell && too_noisy(row))
        return YELLOW;
    if (part->format == change_cell && row->change != NULL)
        return strcmp(row->change, "slower") == 0   ? RED
               : strcmp(row->change, "faster") == 0 ? GREEN
                                                    : "";
    return "";
}

static void write_part(const struct text_table *table, FILE *out, size_t p, const struct row *row)
{
    const struct part *part = &table->parts[p];
    char text[CELL_BYTES] = "";
    part->format(part, row, text);
    const char *colour = painted(table, colour_of(part, row));
    const bool last = p + 1 == table->part_count;
    fputs(colour, out);
    put_cell(out, text, last && !part->right ? 0 : part->width, part->right);
    fprintf(out, "%s%*s", colour[0] != '\0' ? PLAIN : "", last ? 0 : GAP, "");
}

/* The columns before the time: the axes, or the name of a launch. */
static void write_front(const struct text_table *table, FILE *out, const struct row *row)
{
    if (row->kernel == NULL || table->time_part == 0) {
        for (size_t p = 0; p < table->time_part; p++)
            write_part(table, out, p, row);
        return;
    }
    const int width = front_width(table) - GAP;
    const char *suffix = strstr(row->kernel, "_kernel");
    const int length = suffix != NULL ? (int)(suffix - row->kernel) : (int)strlen(row->kernel);
    char name[CELL_BYTES];
    snprintf(name, sizeof name, "  %lld %.*s", (long long)row->launch, length, row->kernel);
    fprintf(out, "%-*.*s%*s", width, width, name, GAP, "");
}

/* In place of times: what kept the row from having any, in as many lines as it takes. */
static void write_reason(const struct text_table *table, FILE *out, const struct row *row)
{
    const bool skipped = strcmp(row->check, "skipped") == 0;
    int indent = front_width(table);
    if (table->width - indent < REASON_WIDTH) {
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
        if (column > indent && column + 1 + width > table->width) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        }
        column += width + (column > indent ? fprintf(out, " ") : 0);
        fputs(word, out);
    }
    fputs(painted(table, PLAIN), out);
}

/* memcpy is what the others are compared with; an empty kernel moves nothing. */
static bool contends(const struct row *row)
{
    return row->kernel == NULL && isfinite(row->gb_s) && strcmp(row->algo, "memcpy") != 0;
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
    size_t bytes;
    FILE *out = begin(&line.before, &bytes);
    char *heading = take_heading(table);
    fputs(heading, out);
    free(heading);
    write_front(table, out, row);
    complete(out);

    const bool passed = row->check == NULL || strcmp(row->check, "passed") == 0;
    const bool layout_is_ours = table->time_part > 0;
    out = begin(&line.time, &bytes);
    if (layout_is_ours && passed)
        write_part(table, out, table->time_part, row);
    complete(out);

    out = begin(&line.after, &bytes);
    if (layout_is_ours && !passed)
        write_reason(table, out, row);
    else
        for (size_t p = table->time_part + layout_is_ours; p < table->part_count; p++)
            write_part(table, out, p, row);
    complete(out);
    cut_spaces(line.after);
    return line;
}

void add_to_table(struct text_table *table, const struct row *row)
{
    if (!table->laid_out && table->axes[0].value[0] == '\0')
        announce_to_table(table, row);
    head_table(table, row);
    if (row->kernel == NULL)
        head_section(table, row);
    table->lines = allocate_or_die(table->lines, (table->line_count + 1) * sizeof *table->lines);
    table->lines[table->line_count++] = make_line(table, row);
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
