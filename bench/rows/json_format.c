/* json_format: an object with all rows and their context; JSON Lines, one row per line. */
#include "format.h"

#include "../base/decimal.h"
#include "../base/errors.h"
#include "../base/sizes.h"
#include "version.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Raised when a reader of an earlier version would misread the object. */
enum { JSON_SCHEMA_VERSION = 1 };

enum { JSON_DIGITS = 6, MOST_DIGITS = 17 };

/* Writes the number that the user typed, such as 2^31-1 or 0.75, with all of its digits. Returns
 * false if it is none. */
static bool write_json_typed(const char *text, FILE *out)
{
    char digits[32];
    uint64_t count;
    double number;
    if (parse_count(text, &count) == NULL) {
        fprintf(out, "%" PRIu64, count);
        return true;
    }
    if (!is_decimal(text, &number))
        return false;
    for (int p = JSON_DIGITS; p <= MOST_DIGITS; p++) {
        snprintf(digits, sizeof digits, "%.*g", p, number);
        if (strtod(digits, NULL) == number)
            break;
    }
    fputs(digits, out);
    return true;
}

static json_t *json_field(const struct column *column, const struct row *row)
{
    if (column_empty(column, row))
        return json_null();
    char text[FIELD_BYTES];
    column_text(column, row, text, sizeof text);
    switch (column->kind) {
    case FIELD_NUMBER:
        return json_real(strtod(text, NULL));
    case FIELD_COUNT:
        return json_integer(strtoll(text, NULL, 10));
    default:
        return json_string(text);
    }
}

/* Writes the value and releases it. */
static void write_json(json_t *value, FILE *out)
{
    if (json_dumpf(value, out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(JSON_DIGITS)) != 0)
        out_of_memory();
    json_decref(value);
}

void write_jsonl_row(const struct written_rows *rows, const struct row *row, FILE *out)
{
    for (size_t c = 0; c < rows->columns.count; c++) {
        const struct column *column = rows->columns.column[c];
        char text[FIELD_BYTES];
        column_text(column, row, text, sizeof text);
        fprintf(out, "%s\"%s\": ", c == 0 ? "{" : ", ", column->name);
        if (column->kind != FIELD_TYPED || !write_json_typed(text, out))
            write_json(json_field(column, row), out);
    }
    fputs("}\n", out);
}

static void note_device(const struct written_rows *rows, const struct row *row)
{
    static const char *const facts[] = {"device", "device_name", "driver", "cuda"};
    json_t *device = json_object();
    for (size_t f = 0; f < sizeof facts / sizeof *facts; f++)
        json_object_set_new(device, facts[f],
                            json_field(find_column(facts[f], strlen(facts[f])), row));
    for (size_t d = 0; d < json_array_size(rows->devices); d++)
        if (json_equal(json_array_get(rows->devices, d), device)) {
            json_decref(device);
            return;
        }
    json_array_append_new(rows->devices, device);
}

void begin_json(const struct written_rows *rows, FILE *out)
{
    (void)rows;
    fprintf(out, "{\"schema_version\": %d, \"rows\": [\n", JSON_SCHEMA_VERSION);
}

void write_json_row(const struct written_rows *rows, const struct row *row, FILE *out)
{
    note_device(rows, row);
    fputs(rows->count == 0 ? "" : ",", out);
    write_jsonl_row(rows, row, out);
}

/* JSON is UTF-8: of a text that is not, the bytes that cannot be shown become question marks. */
static json_t *json_text(const char *text)
{
    json_t *value = json_string(text);
    if (value != NULL)
        return value;
    char *copy = copy_text(text);
    replace_unprintable(copy);
    value = json_string(copy);
    free(copy);
    return value;
}

/* What rows have in common. It comes last, because the devices are known only then. */
static json_t *json_context(const struct written_rows *rows)
{
    char host[128] = "";
    json_t *arguments = json_array();
    for (char **argument = rows->arguments; argument != NULL && *argument; argument++)
        json_array_append_new(arguments, json_text(*argument));
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:O}", "version", SCANBENCH_VERSION, "commit",
                     SCANBENCH_COMMIT, "compiler", SCANBENCH_COMPILER, "host", json_text(host),
                     "arguments", arguments, "devices", rows->devices);
}

void end_json(const struct written_rows *rows, FILE *out)
{
    fputs("], \"context\": ", out);
    write_json(json_context(rows), out);
    fputs("}\n", out);
}
