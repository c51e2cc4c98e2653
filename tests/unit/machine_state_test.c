/* machine_state_test: what may disturb times, from files that stand for /proc and /sys. */
#include "../../bench/run/machine_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[64];

/* In the order in which they are made. */
static const char *const folders[] = {"/proc",
                                      "/sys",
                                      "/sys/devices",
                                      "/sys/devices/system",
                                      "/sys/devices/system/cpu",
                                      "/sys/devices/system/cpu/cpu0",
                                      "/sys/devices/system/cpu/cpu0/cpufreq"};
enum { FOLDER_COUNT = sizeof folders / sizeof *folders };
#define LOAD "/proc/loadavg"
#define GOVERNOR "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"

static const char *in_root(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s%s", root, name);
    return path;
}

static void write_fact(const char *name, const char *text)
{
    FILE *out = fopen(in_root(name), "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static void expect_disturbances(enum device_kind kind, const char *wanted)
{
    struct device device = {.can = backend_of(kind)};
    struct session session = {.device = &device};
    char text[DISTURBANCE_BYTES];
    find_disturbances(root, &session, false, text);
    if (strstr(text, wanted) == NULL || (wanted[0] == '\0' && text[0] != '\0'))
        fail_msg("\"%s\", not \"%s\"", text, wanted);
}

static void set_machine(const char *load, const char *governor)
{
    write_fact(LOAD, load);
    write_fact(GOVERNOR, governor);
}

static void load_and_governor(void **state)
{
    (void)state;
    expect_disturbances(DEVICE_CPU, ""); /* unknown */
    set_machine("3.21 1.00 0.50 4/300 12345\n", "powersave\n");
    expect_disturbances(DEVICE_CPU, "load 3.2 on ");
    expect_disturbances(DEVICE_CPU, ", CPU governor powersave, not performance");
    expect_disturbances(DEVICE_EMULATOR, "");
    set_machine("0.10 1.00 0.50 4/300 12345\n", "performance\n");
    expect_disturbances(DEVICE_CPU, "");
    set_machine("3.21 1.00 0.50 1/300 12345\n", "performance\n"); /* over */
    expect_disturbances(DEVICE_CPU, "");
}

int main(void)
{
    strcpy(root, "/tmp/scanbench-machine-XXXXXX");
    if (mkdtemp(root) == NULL)
        return 1;
    for (int f = 0; f < FOLDER_COUNT; f++)
        mkdir(in_root(folders[f]), 0700);
    const struct CMUnitTest tests[] = {cmocka_unit_test(load_and_governor)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(in_root(LOAD));
    unlink(in_root(GOVERNOR));
    for (int f = FOLDER_COUNT; f-- > 0;)
        rmdir(in_root(folders[f]));
    return rmdir(root) == 0 ? failed : 1;
}
