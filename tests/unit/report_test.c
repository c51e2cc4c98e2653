/* report_test: rows as CSV, JSON and text, read back. */
#include "../../bench/rows/columns.h"
#include "../../bench/rows/report.h"
#include "../../bench/base/errors.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { FILE_BYTES = 1 << 16, MOST_FIELDS = 128 };

static char path[64];         /* path of the file that a test writes */
static char text[FILE_BYTES]; /* contents of that file */

static int make_path(void **state)
{
    (void)state;
    strcpy(path, "/tmp/scanbench-report-XXXXXX");
    const int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

/* Writes the rows in the given format and reads the file back into `text`. */
static void write_rows(enum format format, const char *columns_wanted, const struct row *rows,
                       size_t count)
{
    const struct output_spec spec = {
        .format = format, .path = path, .columns = columns_wanted, .quiet = true};
    int code;
    struct report *report = open_report(&spec, &code);
    assert_non_null(report);
    assert_int_equal(code, EXIT_OK);
    for (size_t i = 0; i < count; i++)
        assert_true(report_row(report, &rows[i], NULL, 0));
    assert_int_equal(close_report(report), EXIT_OK);

    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
}

static void expect_csv(const char *columns_wanted, const struct row *row, const char *wanted)
{
    write_rows(FORMAT_CSV, columns_wanted, row, 1);
    const char *line = strchr(text, '\n');
    assert_non_null(line);
    assert_string_equal(line + 1, wanted);
    assert_int_equal(truncate(path, 0), 0);
}

/* An independent reader of RFC 4180. Cuts one record off `*at`, with its unquoted fields in
 * `fields`, in place. Returns the number of fields; -1: malformed. */
static int read_record(char **at, char *fields[MOST_FIELDS])
{
    int count = 0;
    for (char *from = *at;;) {
        char *to = from;
        const int quoted = *from == '"';
        fields[count++] = to;
        from += quoted;
        for (;; from++) {
            if (*from == '\0' || *from == '\r' || count == MOST_FIELDS)
                return -1;
            if (quoted && *from == '"' && *++from != '"')
                break;
            if (!quoted && (*from == ',' || *from == '\n'))
                break;
            if (!quoted && *from == '"')
                return -1;
            *to++ = *from;
        }
        const char end = *from++;
        *to = '\0';
        if (end == '\n') {
            *at = from;
            return count;
        }
        if (end != ',')
            return -1;
    }
}

static struct row full_row(void)
{
    struct row row = empty_row();
    row.op = "scan";
    row.algo = "naive";
    row.type = "i32";
    row.kind = "exclusive";
    row.n = 1000;
    row.block = 64;
    row.device = "cpu";
    row.cache = "cold";
    row.time_ms = 0.125;
    row.gb_s = 1234.5678;
    row.check = "passed";
    return row;
}

static void header_and_rows_have_the_same_fields(void **state)
{
    (void)state;
    struct row rows[3] = {full_row(), empty_row(), full_row()};
    rows[2].reason = "a, \"b\" and\nc";
    rows[2].label = "x=1,y=2";
    rows[2].host = "\"";
    write_rows(FORMAT_CSV, NULL, rows, 3);
    char *at = text, *fields[MOST_FIELDS];
    assert_int_equal(read_record(&at, fields), COLUMN_COUNT);
    for (size_t c = 0; c < COLUMN_COUNT; c++)
        assert_string_equal(fields[c], columns[c].name);
    for (int r = 0; r < 3; r++)
        assert_int_equal(read_record(&at, fields), COLUMN_COUNT);
    assert_string_equal(at, "");
}

static void column_names_are_unique_and_plain(void **state)
{
    (void)state;
    for (size_t a = 0; a < COLUMN_COUNT; a++) {
        assert_int_equal(strspn(columns[a].name, "abcdefghijklmnopqrstuvwxyz0123456789_"),
                         strlen(columns[a].name));
        assert_true(columns[a].meaning[0] != '\0');
        for (size_t b = 0; b < a; b++)
            assert_string_not_equal(columns[a].name, columns[b].name);
    }
}

static void fields_are_quoted_where_they_must_be(void **state)
{
    (void)state;
    struct row row = empty_row();
    row.reason = "plain words";
    expect_csv("reason", &row, "plain words\n");
    row.reason = "a,b";
    expect_csv("reason", &row, "\"a,b\"\n");
    row.reason = "say \"no\"";
    expect_csv("reason", &row, "\"say \"\"no\"\"\"\n");
    row.reason = "\"";
    expect_csv("reason", &row, "\"\"\"\"\n");
}

static void a_field_stays_on_its_line(void **state)
{
    (void)state;
    struct row row = empty_row();
    row.reason = "two\nlines\r\tand a tab";
    write_rows(FORMAT_CSV, "reason", &row, 1);
    int lines = 0;
    for (const char *c = text; *c; c++) {
        lines += *c == '\n';
        assert_true(*c == '\n' || (*c >= 0x20 && *c < 0x7F));
    }
    assert_int_equal(lines, 2);
}

static void no_text_is_a_formula(void **state)
{
    (void)state;
    static const char *const formulas[] = {"=1+1", "+1", "-1", "@x", "=cmd|' /C calc'!A0"};
    for (size_t f = 0; f < sizeof formulas / sizeof *formulas; f++) {
        struct row row = empty_row();
        row.label = formulas[f];
        write_rows(FORMAT_CSV, "label", &row, 1);
        char *at = text, *fields[MOST_FIELDS];
        assert_int_equal(read_record(&at, fields), 1);
        assert_int_equal(read_record(&at, fields), 1);
        assert_null(strchr("=+-@", fields[0][0]));
        assert_non_null(strstr(fields[0], formulas[f])); /* and nothing is lost */
        assert_int_equal(truncate(path, 0), 0);
    }
}

static void only_ascii_is_written(void **state)
{
    (void)state;
    struct row row = empty_row();
    row.device_name = "GPU\xC2\xAE \x1b[31m\x7f!";
    write_rows(FORMAT_CSV, "device_name", &row, 1);
    for (const char *c = text; *c; c++)
        assert_true(*c == '\n' || (*c >= 0x20 && *c < 0x7F));
    assert_non_null(strstr(text, "GPU"));
    assert_non_null(strstr(text, "!"));
}

static void what_is_not_known_is_empty(void **state)
{
    (void)state;
    struct row row = empty_row();
    expect_csv("algo,n,time_ms,check", &row, ",,,\n");
    row.algo = "";
    row.time_ms = INFINITY;
    row.time_min_ms = -INFINITY;
    row.gb_s = NAN;
    row.n = -1;
    expect_csv("algo,n,time_ms,time_min_ms,gb_s", &row, ",,,,\n");
}

static void zero_is_a_value(void **state)
{
    (void)state;
    struct row row = empty_row();
    row.n = 0;
    row.time_stddev_ms = 0;
    expect_csv("n,time_stddev_ms", &row, "0,0\n");
}

static void numbers(void **state)
{
    (void)state;
    struct row row = empty_row();
    row.n = ((int64_t)1 << 40) + 1;
    row.time_ms = 0.001234567;
    row.gb_s = 3456.789;
    row.temperature_c = 45;
    expect_csv("n,time_ms,gb_s,temperature_c", &row, "1099511627777,0.00123457,3456.79,45\n");
}

/* A row that has a value in every column. */
static struct row row_of_values(void)
{
    struct row row = empty_row();
    for (size_t c = 0; c < COLUMN_COUNT; c++) {
        void *at = (char *)&row + columns[c].offset;
        if (is_text(&columns[c]))
            *(const char **)at = columns[c].name;
        else if (columns[c].kind == FIELD_NUMBER)
            *(double *)at = (double)c;
        else
            *(int64_t *)at = (int64_t)c;
    }
    return row;
}

static void a_launch_inherits_no_measure(void **state)
{
    (void)state;
    const struct row whole = row_of_values(), launch = row_without_measures(&whole);
    int measures[FIELD_COUNT + 1] = {0}; /* of each kind */
    for (size_t c = 0; c < COLUMN_COUNT; c++) {
        char had[64], has[64];
        column_text(&columns[c], &whole, had, sizeof had);
        column_text(&columns[c], &launch, has, sizeof has);
        assert_true(had[0] != '\0');
        measures[columns[c].kind] += columns[c].class == CLASS_MEASURE;
        assert_string_equal(has, columns[c].class == CLASS_MEASURE ? "" : had);
    }
    assert_true(measures[FIELD_TEXT] > 0 && measures[FIELD_NUMBER] > 0);
    assert_true(measures[FIELD_COUNT] > 0);
    expect_csv("op,n,samples,time_ms,launches,check,grid,registers,change,bytes", &launch,
               "op,5,,,,check,,,,\n");
}

static void the_list_is_aligned(void **state)
{
    (void)state;
    FILE *file = fopen(path, "w+");
    assert_non_null(file);
    print_columns(file);
    rewind(file);
    size_t c = 0, start = 0;
    for (; fgets(text, sizeof text, file) != NULL; c++) {
        const size_t name = strcspn(text, " "), meaning = name + strspn(text + name, " ");
        text[strcspn(text, "\n")] = '\0';
        assert_string_equal(text + meaning, columns[c].meaning);
        assert_int_equal(meaning, c == 0 ? meaning : start);
        start = meaning;
    }
    assert_int_equal(c, COLUMN_COUNT);
    fclose(file);
}

static void chosen_columns_in_their_order(void **state)
{
    (void)state;
    const struct row row = full_row();
    write_rows(FORMAT_CSV, "n,check,algo", &row, 1);
    assert_string_equal(text, "n,check,algo\n1000,passed,naive\n");
}

static void json_says_the_same(void **state)
{
    (void)state;
    struct row rows[2] = {full_row(), empty_row()};
    rows[1].reason = "a \"b\"\\,\n";
    write_rows(FORMAT_JSON, NULL, rows, 2);
    json_error_t error;
    json_t *whole = json_loads(text, 0, &error), *array = json_object_get(whole, "rows");
    if (whole == NULL)
        fail_msg("line %d: %s", error.line, error.text);
    assert_int_equal(json_integer_value(json_object_get(whole, "schema_version")), 1);
    assert_int_equal(json_array_size(array), 2);
    json_t *first = json_array_get(array, 0), *second = json_array_get(array, 1);
    assert_int_equal(json_object_size(first), COLUMN_COUNT);
    assert_int_equal(json_object_size(second), COLUMN_COUNT);
    assert_string_equal(json_string_value(json_object_get(first, "algo")), "naive");
    assert_int_equal(json_integer_value(json_object_get(first, "n")), 1000);
    assert_true(json_real_value(json_object_get(first, "time_ms")) == 0.125);
    assert_true(json_is_null(json_object_get(first, "occupancy_pct")));
    assert_true(json_is_null(json_object_get(second, "algo")));
    assert_non_null(strstr(json_string_value(json_object_get(second, "reason")), "a \"b\"\\,"));
    json_decref(whole);
}

static void json_has_numbers_as_numbers(void **state)
{
    (void)state;
    struct row row = full_row();
    row.max = "2^31-1";
    row.keep = "0.250";
    row.label = "7";
    write_rows(FORMAT_JSONL, "max,keep,label,n", &row, 1);
    assert_string_equal(text,
                        "{\"max\": 2147483647, \"keep\": 0.25, \"label\": \"7\", \"n\": 1000}\n");
}

static void json_keeps_every_digit_typed(void **state)
{
    (void)state;
    struct row row = full_row();
    row.seed = "18446744073709551615";
    row.max = "2^63";
    row.keep = "0.1234567";
    write_rows(FORMAT_JSONL, "seed,max,keep", &row, 1);
    assert_string_equal(text, "{\"seed\": 18446744073709551615, \"max\": 9223372036854775808, "
                              "\"keep\": 0.1234567}\n");
}

static void json_names_each_device_once(void **state)
{
    (void)state;
    struct row rows[3] = {full_row(), full_row(), full_row()};
    rows[1].device = "gpu0";
    rows[1].device_name = "NVIDIA H200";
    write_rows(FORMAT_JSON, NULL, rows, 3);
    json_t *whole = json_loads(text, 0, NULL), *context = json_object_get(whole, "context");
    json_t *devices = json_object_get(context, "devices");
    assert_int_equal(json_array_size(devices), 2);
    json_t *name = json_object_get(json_array_get(devices, 1), "device_name");
    assert_string_equal(json_string_value(name), "NVIDIA H200");
    assert_true(json_is_string(json_object_get(context, "host")));
    assert_true(json_is_array(json_object_get(context, "arguments")));
    json_decref(whole);
}

static void json_without_rows(void **state)
{
    (void)state;
    write_rows(FORMAT_JSON, NULL, NULL, 0);
    json_t *whole = json_loads(text, 0, NULL), *array = json_object_get(whole, "rows");
    assert_true(json_is_array(array));
    assert_int_equal(json_array_size(array), 0);
    json_decref(whole);
}

/* Else samples of two configurations could not be told apart. */
static void samples_have_every_axis(void **state)
{
    (void)state;
    const struct output_spec spec = {
        .format = FORMAT_CSV, .path = "/dev/null", .samples_path = path, .quiet = true};
    int code;
    struct report *report = open_report(&spec, &code);
    assert_non_null(report);
    assert_int_equal(close_report(report), EXIT_OK);
    FILE *file = fopen(path, "r");
    char *at = text, *fields[MOST_FIELDS];
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    const int count = read_record(&at, fields);
    assert_true(count > 2);
    for (size_t c = 0; c < COLUMN_COUNT; c++) {
        int f = 0;
        while (f < count && strcmp(fields[f], columns[c].name) != 0)
            f++;
        if (columns[c].class == CLASS_AXIS && c != COLUMN_line && f == count) /* not of lines */
            fail_msg("no %s", columns[c].name);
    }
}

static int code_of_opening(const char *output, const char *columns_wanted)
{
    const struct output_spec spec = {
        .format = FORMAT_CSV, .path = output, .columns = columns_wanted, .quiet = true};
    int code = -1;
    assert_null(open_report(&spec, &code));
    return code;
}

static void bad_columns_and_files(void **state)
{
    (void)state;
    assert_int_equal(code_of_opening(path, "algo,bogus"), EXIT_USAGE);
    assert_int_equal(code_of_opening(path, "algo,,n"), EXIT_USAGE);
    assert_int_equal(code_of_opening(path, "algo,n,algo"), EXIT_USAGE);
    assert_int_equal(code_of_opening(path, "alg"), EXIT_USAGE);
    assert_int_equal(code_of_opening("/nowhere/at/all.csv", NULL), EXIT_ERROR);
    assert_int_equal(code_of_opening("/", NULL), EXIT_ERROR);
}

static void somebodys_file_is_left_alone(void **state)
{
    (void)state;
    FILE *file = fopen(path, "w");
    fputs("mine\n", file);
    fclose(file);
    assert_int_equal(code_of_opening(path, NULL), EXIT_USAGE);
    file = fopen(path, "r");
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "mine\n");
}

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    const struct output_spec spec = {
        .format = FORMAT_CSV, .path = "/dev/full", .columns = NULL, .quiet = true};
    int code;
    struct report *report = open_report(&spec, &code);
    assert_non_null(report);
    const struct row row = full_row();
    assert_false(report_row(report, &row, NULL, 0));
    assert_int_equal(close_report(report), EXIT_ERROR);
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, make_path, remove_path)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(header_and_rows_have_the_same_fields),
        cmocka_unit_test(column_names_are_unique_and_plain),
        WITH_FILE(fields_are_quoted_where_they_must_be),
        WITH_FILE(a_field_stays_on_its_line),
        WITH_FILE(no_text_is_a_formula),
        WITH_FILE(only_ascii_is_written),
        WITH_FILE(what_is_not_known_is_empty),
        WITH_FILE(zero_is_a_value),
        WITH_FILE(numbers),
        WITH_FILE(a_launch_inherits_no_measure),
        WITH_FILE(the_list_is_aligned),
        WITH_FILE(chosen_columns_in_their_order),
        WITH_FILE(json_says_the_same),
        WITH_FILE(json_has_numbers_as_numbers),
        WITH_FILE(json_keeps_every_digit_typed),
        WITH_FILE(json_names_each_device_once),
        WITH_FILE(json_without_rows),
        WITH_FILE(samples_have_every_axis),
        WITH_FILE(bad_columns_and_files),
        WITH_FILE(somebodys_file_is_left_alone),
        cmocka_unit_test(a_full_disk_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
