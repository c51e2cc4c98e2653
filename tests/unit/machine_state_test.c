/* machine_state_test: what may disturb times, from files that stand for /proc and /sys. */
#include "../../bench/run/machine_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char root[64];

static void write_fact(const char *folder, const char *file, const char *text)
{
    char command[256], path[256];
    snprintf(command, sizeof command, "mkdir -p %s%s", root, folder);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s%s/%s", root, folder, file);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static void expect_disturbances(enum device_kind kind, const char *wanted)
{
    struct device device = {.can = backend_of(kind)};
    struct session session = {.device = &device};
    char text[DISTURBANCE_BYTES];
    find_disturbances(root, &session, text);
    if (strstr(text, wanted) == NULL || (wanted[0] == '\0' && text[0] != '\0'))
        fail_msg("\"%s\", not \"%s\"", text, wanted);
}

static void set_machine(const char *load, const char *governor)
{
    write_fact("/proc", "loadavg", load);
    write_fact("/sys/devices/system/cpu/cpu0/cpufreq", "scaling_governor", governor);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(load_and_governor)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command) == 0 ? failed : 1;
}
