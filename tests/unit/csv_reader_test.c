/* csv_reader_test: CSV that is complete, torn or malformed. */
#include "../../bench/rows/csv_reader.h"
#include "../../bench/base/errors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];
static struct csv csv;
static char why[CSV_REASON_BYTES];

static int make_path(void **state)
{
    (void)state;
    strcpy(path, "/tmp/scanbench-csv-XXXXXX");
    const int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

static int read_bytes(const char *text, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    fclose(file);
    return read_csv_file(path, &csv, why);
}

/* Compares the file as read: cells joined by '|', rows by '/'. */
static void expect(const char *text, const char *wanted)
{
    char got[512] = "";
    if (read_bytes(text, strlen(text)) != EXIT_OK)
        fail_msg("%s: %s", text, why);
    for (size_t r = 0; r <= csv.row_count; r++)
        for (size_t c = 0; c < csv.column_count; c++) {
            if (r + c > 0)
                strcat(got, c > 0 ? "|" : "/");
            strcat(got, r == 0 ? csv_name(&csv, c) : csv_cell(&csv, r - 1, (int)c));
        }
    assert_string_equal(got, wanted);
}

static void expect_good(const char *text, const char *wanted)
{
    expect(text, wanted);
    assert_false(csv.torn);
    free_csv(&csv);
}

static void expect_torn(const char *text, const char *wanted, size_t whole_bytes)
{
    expect(text, wanted);
    assert_true(csv.torn);
    assert_int_equal(csv.whole_bytes, whole_bytes);
    free_csv(&csv);
}

static void expect_refused(const char *text, const char *reason)
{
    if (read_bytes(text, strlen(text)) != EXIT_USAGE)
        fail_msg("%s was read", text);
    if (strstr(why, reason) == NULL)
        fail_msg("%s: \"%s\" is not in \"%s\"", text, reason, why);
}

static void good_files(void **state)
{
    (void)state;
    expect_good("a,b\n1,2\n3,4\n", "a|b/1|2/3|4");
    expect_good("a,b\r\n1,2\r\n", "a|b/1|2");
    expect_good("\xEF\xBB\xBF"
                "a,b\n1,2\n",
                "a|b/1|2");
    expect_good("a,b\n\"1,5\",\"say \"\"no\"\"\"\n", "a|b/1,5|say \"no\"");
    expect_good("a,b\n\"two\nlines\",\"\"\n3,4\n", "a|b/two\nlines|/3|4");
    expect_good("\"a\",\"b\"\r\n\"1\",2\r\n", "a|b/1|2");
    expect_good("a,b\n,\n", "a|b/|");
    expect_good("a,b,,\n1,2,,\n", "a|b||/1|2||");
    expect_good("a,b\n\n1,2\n\r\n\n", "a|b/1|2");
    expect_good("a\n1\n2\n", "a/1/2");
    expect_good("a,b\n x , y\n", "a|b/ x | y");
    expect_good("a,b\n", "a|b");
    expect_good("", "");
}

static void a_last_line_without_an_end(void **state)
{
    (void)state;
    expect("a,b\n1,2\n3,4", "a|b/1|2/3|4");
    assert_false(csv.torn || csv.ends_with_break);
    assert_int_equal(csv.whole_bytes, 8);
    free_csv(&csv);
    expect_good("a,b\n1,\"2\"", "a|b/1|2");
    expect_good("a,b\n1,2\r", "a|b/1|2");
}

static void blank_lines_at_the_end_are_whole(void **state)
{
    (void)state;
    expect("a,b\n1,2\n\n\r\n", "a|b/1|2");
    assert_int_equal(csv.whole_bytes, 11);
    free_csv(&csv);
    expect_torn("a,b\n1,2\n\n3", "a|b/1|2", 9);
}

static void torn_files(void **state)
{
    (void)state;
    expect_torn("a,b,c\n1,2,3\n4,5", "a|b|c/1|2|3", 12);
    expect_torn("a,b,c\n1,2,3\n4", "a|b|c/1|2|3", 12);
    expect_torn("a,b\n1,\"2", "a|b", 4);
    expect_torn("a,b\n1,\"2\n3,4\n", "a|b", 4);
}

static void wrong_files(void **state)
{
    (void)state;
    expect_refused("a,b\n1,2\n3\n4,5\n", "line 3: its number of fields differs");
    expect_refused("a,b\n1,2,3\n", "line 2: its number of fields differs");
    expect_refused("a,b\n1,2,3", "line 2: its number of fields differs");
    expect_refused("a,b\n\"x\ny\",2\n\"1\"2,3\n", "line 4: there is text after a closing quote");
    expect_refused("a,b,a\n1,2,3\n", "line 1: two columns have the same name");
    expect_refused("\n\na,b,a\n1,2,3\n", "line 3: two columns have the same name");
    assert_int_equal(read_bytes("a\0b\n", 4), EXIT_USAGE);
    assert_non_null(strstr(why, "zero byte"));
    assert_int_equal(read_csv_file("/nowhere/at/all.csv", &csv, why), EXIT_ERROR);
    assert_non_null(strstr(why, "No such file"));
    assert_int_equal(read_csv_file("/", &csv, why), EXIT_ERROR);
    assert_non_null(strstr(why, "directory"));
    free_csv(&csv);
}

static void columns_by_name(void **state)
{
    (void)state;
    expect("n,algo\n5,naive\n", "n|algo/5|naive");
    assert_int_equal(csv_column(&csv, "algo"), 1);
    assert_int_equal(csv_column(&csv, "alg"), NO_COLUMN);
    assert_string_equal(csv_cell(&csv, 0, csv_column(&csv, "algo")), "naive");
    assert_string_equal(csv_cell(&csv, 0, NO_COLUMN), "");
    assert_int_equal(csv.row_starts[0], 7);
    free_csv(&csv);
}

/* A file cut anywhere gives its complete rows and nothing else. */
static void cut_anywhere(void **state)
{
    (void)state;
    static const char text[] = "a,b\n1,\"x,\"\"y\"\n22,\"p\nq\"\r\n333,z\n";
    static const size_t ends[] = {4, 14, 24, 30};
    for (size_t length = 0; length < sizeof text; length++) {
        assert_int_equal(read_bytes(text, length), EXIT_OK);
        size_t whole = 0;
        while (whole < 4 && ends[whole] <= length)
            whole++;
        assert_int_equal(csv.whole_bytes, whole > 0 ? ends[whole - 1] : 0);
        assert_in_range(csv.row_count, whole > 0 ? whole - 1 : 0, whole);
        for (size_t r = 0; r + 1 < whole; r++)
            assert_int_equal(atoi(csv_cell(&csv, r, 0)), r == 0 ? 1 : r == 1 ? 22 : 333);
        free_csv(&csv);
    }
}

/* Random bytes are read or refused, without a crash. */
static void random_bytes(void **state)
{
    (void)state;
    static const char alphabet[] = "ab1,,\"\"\n\n\r";
    uint64_t random = 7;
    for (int round = 0; round < 2000; round++) {
        char text[24];
        size_t length = 0;
        for (; length < sizeof text; length++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            text[length] = alphabet[(random >> 33) % (sizeof alphabet - 1)];
        }
        if (read_bytes(text, length) != EXIT_OK)
            continue;
        for (size_t r = 0; r < csv.row_count; r++)
            for (size_t c = 0; c < csv.column_count; c++)
                assert_in_range(strlen(csv_cell(&csv, r, (int)c)), 0, sizeof text);
        free_csv(&csv);
    }
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, make_path, remove_path)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(good_files),
        WITH_FILE(a_last_line_without_an_end),
        WITH_FILE(blank_lines_at_the_end_are_whole),
        WITH_FILE(torn_files),
        WITH_FILE(wrong_files),
        WITH_FILE(columns_by_name),
        WITH_FILE(cut_anywhere),
        WITH_FILE(random_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
