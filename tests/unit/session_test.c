/* session_test: device names and memory sizes as text; opening a device; an entry's memory, and
 * what `auto` resolves to. */
#include "../../bench/choice.h"
#include "../../bench/run/session.h"

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

static size_t ten_elements(const struct problem *problem)
{
    return 10 * element_bytes(problem->type);
}

/* Input, output and scratch, each between two guard zones. */
static void memory_an_entry_needs(void **state)
{
    (void)state;
    struct session session = {0};
    assert_null(open_session(&session, (struct device_choice){.kind = DEVICE_CPU}, &defaults));
    struct algorithm algorithm = {.name = "x", .op = OP_SCAN};
    const struct plan_entry entry = {.algorithm = &algorithm};
    const struct plan_group group = {.op = OP_SCAN, .type = TYPE_F64, .n = 1000};
    assert_int_equal(entry_bytes(&session, &group, &entry), 2 * (8000 + 2 * GUARD_BYTES));
    algorithm.scratch_bytes = ten_elements;
    assert_int_equal(entry_scratch_bytes(&session, &group, &entry), 80);
    assert_int_equal(entry_bytes(&session, &group, &entry),
                     2 * (8000 + 2 * GUARD_BYTES) + 80 + 2 * GUARD_BYTES);
    close_session(&session);
}

/* One entry of `auto` on the emulator. */
static struct plan_entry entry_of_auto(enum operation op)
{
    for (size_t i = 0; i < registry_row_count(); i++) {
        const struct table_row *row = registry_row(i);
        if (row->op == op && strcmp(row->name, "auto") == 0)
            return (struct plan_entry){.row = row, .algorithm = row->on[DEVICE_EMULATOR]};
    }
    fail_msg("no auto");
    return (struct plan_entry){0};
}

/* From then on the entry has the chosen algorithm's code, scratch and block. */
static void auto_is_resolved_once(void **state)
{
    (void)state;
    struct session session = {0};
    assert_null(open_session(&session, (struct device_choice){.kind = DEVICE_EMULATOR}, &defaults));
    for (int op = 0; op < OPERATION_COUNT; op++) {
        char text[64], wanted[64];
        struct plan_entry entry = entry_of_auto(op);
        struct plan_group group = {.op = op, .n = 50000, .entries = &entry, .entry_count = 1};
        const struct problem asked = entry_problem(&session, &group, &entry);
        const struct resolved resolved = resolve_choice(&asked, table_algorithm);
        resolve_choices(&session, &group);
        assert_non_null(entry.algorithm->run);
        assert_ptr_equal(entry.algorithm, resolved.algorithm);
        assert_int_equal(entry.block, 0);
        const struct problem problem = entry_problem(&session, &group, &entry);
        assert_int_equal(problem.block, resolved.block);
        assert_ptr_equal(problem.scan, resolved.algorithm->over);
        assert_int_equal(entry_scratch_bytes(&session, &group, &entry),
                         resolved.algorithm->scratch_bytes(&problem));
        assert_null(entry_unsupported(&session, &group, &entry));
        assert_true(format_choice(&entry, text, sizeof text));
        if (resolved.block > 0)
            snprintf(wanted, sizeof wanted, "%s block %u", resolved.algorithm->name,
                     resolved.block);
        else
            snprintf(wanted, sizeof wanted, "%s", resolved.algorithm->name);
        assert_string_equal(text, wanted);
    }
    close_session(&session);
}

static void what_auto_cannot_resolve_is_unsupported(void **state)
{
    (void)state;
    struct session session = {0};
    assert_null(open_session(&session, (struct device_choice){.kind = DEVICE_EMULATOR}, &defaults));
    session.limits.kind = DEVICE_CPU; /* the CPU has no choices */
    struct plan_entry entry = entry_of_auto(OP_SCAN);
    struct plan_group group = {.op = OP_SCAN, .n = 1000, .entries = &entry, .entry_count = 1};
    resolve_choices(&session, &group);
    assert_string_equal(entry_unsupported(&session, &group, &entry),
                        "none of scanbench's own algorithms supports this");
    assert_int_equal(entry_scratch_bytes(&session, &group, &entry), 0);
    close_session(&session);
}

static void what_is_named_is_not_resolved(void **state)
{
    (void)state;
    struct session session = {0};
    const struct table_row *row = table_row_named(OP_SCAN, "naive");
    char text[64] = "as it was";
    struct plan_entry entry = {.row = row, .algorithm = row->on[DEVICE_EMULATOR], .block = 64};
    struct plan_group group = {.op = OP_SCAN, .n = 1000, .entries = &entry, .entry_count = 1};
    assert_null(open_session(&session, (struct device_choice){.kind = DEVICE_EMULATOR}, &defaults));
    resolve_choices(&session, &group);
    assert_ptr_equal(entry.algorithm, row->on[DEVICE_EMULATOR]);
    assert_int_equal(entry_problem(&session, &group, &entry).block, 64);
    assert_false(format_choice(&entry, text, sizeof text));
    assert_string_equal(text, "as it was");
    close_session(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices),
        cmocka_unit_test(bytes),
        cmocka_unit_test(opening),
        cmocka_unit_test(memory_an_entry_needs),
        cmocka_unit_test(auto_is_resolved_once),
        cmocka_unit_test(what_auto_cannot_resolve_is_unsupported),
        cmocka_unit_test(what_is_named_is_not_resolved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
