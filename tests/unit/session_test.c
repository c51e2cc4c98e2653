/* session_test: device names and memory sizes as text; opening a device. */
#include "../../bench/run/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct options defaults = {.seed = 1, .sampling = {.max_time_ms = 1000}};

static void expect_device(enum device_kind kind, int index, const char *wanted)
{
    char text[16];
    format_device((struct device_choice){.kind = kind, .index = index}, text, sizeof text);
    assert_string_equal(text, wanted);
}

static void devices(void **state)
{
    (void)state;
    expect_device(DEVICE_CPU, 0, "cpu");
    expect_device(DEVICE_EMULATOR, 0, "emulator");
    expect_device(DEVICE_GPU, 0, "gpu0");
    expect_device(DEVICE_GPU, 13, "gpu13");
}

static void expect_bytes(double bytes, const char *wanted)
{
    char text[32];
    format_bytes(bytes, text, sizeof text);
    assert_string_equal(text, wanted);
}

static void bytes(void **state)
{
    (void)state;
    expect_bytes(0, "0 B");
    expect_bytes(1, "1 B");
    expect_bytes(1023, "1023 B");
    expect_bytes(1024, "1.0 KiB");
    expect_bytes(1536, "1.5 KiB");
    expect_bytes(48 * 1024, "48.0 KiB");
    expect_bytes(0x1p20, "1.0 MiB");
    expect_bytes(0x1p30, "1.0 GiB");
    expect_bytes(141.0 * 0x1p30, "141.0 GiB");
    expect_bytes(0x1p43, "8.0 TiB");
    expect_bytes(0x1p63, "8192.0 PiB");
}

/* The CPU is always available; an open device is not opened again. */
static void opening(void **state)
{
    (void)state;
    struct session session = {0};
    const struct device_choice cpu = {.kind = DEVICE_CPU};
    assert_null(open_session(&session, cpu, &defaults));
    assert_ptr_equal(session.device->can, &cpu_backend);
    assert_true(session.info.name[0] != '\0');
    assert_true(session.limits.multiprocessors >= 1);
    assert_null(open_session(&session, cpu, &defaults));
    assert_null(open_session(&session, (struct device_choice){.kind = DEVICE_EMULATOR}, &defaults));
    assert_ptr_equal(session.device->can, &emulated_backend);
    close_session(&session);
    assert_null(session.device);
    close_session(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices),
        cmocka_unit_test(bytes),
        cmocka_unit_test(opening),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
