/* task_test: an entry's algorithm, problem and memory on an open device, and what `auto` stands
 * for there. */
#include "../../bench/choice.h"
#include "../../bench/registry.h"
#include "../../bench/run/task.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct options defaults = {.seed = 1, .sampling = {.max_time_ms = 1000}};

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
    const struct table_row row = {.name = "x", .op = OP_SCAN};
    const struct plan_entry entry = {.row = &row, .algorithm = &algorithm};
    const struct plan_group group = {.op = OP_SCAN, .type = TYPE_F64, .n = 1000};
    struct task task = make_task(&session, &group, &entry);
    assert_int_equal(buffer_bytes(&session, &task), 2 * (8000 + 2 * GUARD_BYTES));
    algorithm.scratch_bytes = ten_elements;
    task = make_task(&session, &group, &entry);
    assert_int_equal(task.scratch_bytes, 80);
    assert_int_equal(buffer_bytes(&session, &task),
                     2 * (8000 + 2 * GUARD_BYTES) + 80 + 2 * GUARD_BYTES);
    close_session(&session);
}

/* One entry of `auto` on the emulator. */
static struct plan_entry entry_of_auto(enum operation op)
{
    for (size_t i = 0; i < table_row_count(); i++) {
        const struct table_row *row = table_row(i);
        if (row->op == op && strcmp(row->name, "auto") == 0)
            return (struct plan_entry){.row = row, .algorithm = row->on[DEVICE_EMULATOR]};
    }
    fail_msg("no auto");
    return (struct plan_entry){0};
}

/* The task has the chosen algorithm's code, scratch and block, and the plan's entry stays. */
static void auto_is_resolved_into_the_task(void **state)
{
    (void)state;
    struct session session = {0};
    assert_null(open_session(&session, (struct device_choice){.kind = DEVICE_EMULATOR}, &defaults));
    for (int op = 0; op < OPERATION_COUNT; op++) {
        const struct plan_entry entry = entry_of_auto(op);
        const struct plan_group group = {.op = op, .n = 50000};
        const struct task task = make_task(&session, &group, &entry);
        const struct resolved resolved = resolve_choice(&task.problem, table_algorithm);
        assert_non_null(task.algorithm->run);
        assert_ptr_equal(task.algorithm, resolved.algorithm);
        assert_int_equal(task.problem.block, resolved.block);
        assert_ptr_equal(task.problem.scan, resolved.algorithm->over);
        assert_int_equal(task.scratch_bytes, resolved.algorithm->scratch_bytes(&task.problem));
        assert_null(why_impossible(&session, &entry, &task));
        assert_null(entry.algorithm->run);
    }
    close_session(&session);
}

static void what_auto_cannot_resolve_is_unsupported(void **state)
{
    (void)state;
    struct session session = {0};
    assert_null(open_session(&session, (struct device_choice){.kind = DEVICE_EMULATOR}, &defaults));
    session.limits.kind = DEVICE_CPU; /* the CPU has no choices */
    const struct plan_entry entry = entry_of_auto(OP_SCAN);
    const struct plan_group group = {.op = OP_SCAN, .n = 1000};
    struct task task = make_task(&session, &group, &entry);
    assert_string_equal(why_impossible(&session, &entry, &task),
                        "auto has no algorithm for i32 with operator sum and segments none; it "
                        "has one for no type");
    assert_int_equal(task.scratch_bytes, 0);
    /* Of what it would resolve for other types, these are named. */
    session.limits.kind = DEVICE_EMULATOR;
    const struct plan_group recurrence = {
        .op = OP_SCAN, .n = 1000, .type = TYPE_U8, .binary_operator = OPERATOR_RECURRENCE};
    task = make_task(&session, &recurrence, &entry);
    assert_string_equal(why_impossible(&session, &entry, &task),
                        "auto has no algorithm for u8 with operator recurrence and segments "
                        "none; it has one for i32, u32, f32");
    close_session(&session);
}

static void what_is_named_is_not_resolved(void **state)
{
    (void)state;
    struct session session = {0};
    const struct table_row *row = table_row_named(OP_SCAN, "naive");
    const struct plan_entry entry = {
        .row = row, .algorithm = row->on[DEVICE_EMULATOR], .block = 64};
    const struct plan_group group = {.op = OP_SCAN, .n = 1000};
    assert_null(open_session(&session, (struct device_choice){.kind = DEVICE_EMULATOR}, &defaults));
    const struct task task = make_task(&session, &group, &entry);
    assert_ptr_equal(task.algorithm, row->on[DEVICE_EMULATOR]);
    assert_int_equal(task.problem.block, 64);
    close_session(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_an_entry_needs),
        cmocka_unit_test(auto_is_resolved_into_the_task),
        cmocka_unit_test(what_auto_cannot_resolve_is_unsupported),
        cmocka_unit_test(what_is_named_is_not_resolved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
