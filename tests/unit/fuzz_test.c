/* fuzz_test: replays the corpus of the fuzzers, tests/fuzz/corpus. `make fuzz` searches for
 * more. */
#include "../fuzz/one_input.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST_BYTES = 1 << 20, LEAST_FILES = 10 };

static void replay(const char *folder, void (*one)(const uint8_t *, size_t))
{
    static uint8_t bytes[MOST_BYTES];
    DIR *files = opendir(folder);
    assert_non_null(files);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(files)) != NULL;) {
        char path[512];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        const size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        one(bytes, size);
        count++;
    }
    closedir(files);
    assert_in_range(count, LEAST_FILES, 1 << 20);
}

static void csv_files(void **state)
{
    (void)state;
    replay("tests/fuzz/corpus/csv", one_csv_file);
}

static void command_lines(void **state)
{
    (void)state;
    replay("tests/fuzz/corpus/options", one_command_line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_files),
        cmocka_unit_test(command_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
