/* backend_cpu_test: filling and checking with several threads gives the results of one thread. */
#include "../../bench/device/backend.h"
#include "../../bench/device/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* Several parts, the last one partial. */
static const struct input input = {.op = OP_COMPACT,
                                   .type = TYPE_I32,
                                   .shape = INPUT_UNIFORM,
                                   .n = (1 << 21) + 12345,
                                   .max = 49,
                                   .seed = 1,
                                   .keep = 0.75};

static struct device *cpu;

static int open_cpu(void **state)
{
    (void)state;
    struct device_info info;
    struct device_limits limits;
    return cpu_backend.open(0, 1, &info, &limits, &cpu) != NULL;
}

static int close_cpu(void **state)
{
    (void)state;
    cpu_backend.close(cpu);
    return 0;
}

/* The result of compaction, from a plain loop. */
static uint64_t keep(uint32_t *output)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < input.n; i++) {
        const uint64_t element = input_element(&input, i);
        if (element_is_kept(input.type, element))
            output[kept++] = (uint32_t)element;
    }
    return kept;
}

static uint32_t *array(void)
{
    uint32_t *elements = malloc(input.n * sizeof *elements);
    assert_non_null(elements);
    return elements;
}

static int64_t first_wrong(enum check_kind kind, const void *elements)
{
    const struct check check = {.kind = kind, .input = input, .array = elements};
    int64_t index;
    assert_null(cpu_backend.first_wrong(cpu, &check, &index));
    return index;
}

static void the_input(void **state)
{
    (void)state;
    uint32_t *elements = array();
    assert_null(cpu_backend.fill_input(cpu, &input, elements));
    for (uint64_t i = 0; i < input.n; i++)
        if (elements[i] != (uint32_t)input_element(&input, i))
            fail_msg("element %llu", (unsigned long long)i);
    assert_int_equal(first_wrong(CHECK_INPUT, elements), NO_INDEX);
    elements[input.n - 1]++;
    assert_int_equal(first_wrong(CHECK_INPUT, elements), input.n - 1);
    elements[1000000]++;
    assert_int_equal(first_wrong(CHECK_INPUT, elements), 1000000);
    elements[0]++;
    assert_int_equal(first_wrong(CHECK_INPUT, elements), 0);
    free(elements);
}

static void what_is_kept(void **state)
{
    (void)state;
    uint32_t *elements = array();
    const uint64_t kept = keep(elements);
    uint64_t count;
    assert_null(cpu_backend.count_kept(cpu, &input, &count));
    assert_int_equal(count, kept);
    assert_int_equal(first_wrong(CHECK_KEPT, elements), NO_INDEX);
    const uint64_t places[] = {kept - 1, 1200000, 524288, 1, 0};
    for (int p = 0; p < 5; p++) { /* each before the indices that are already wrong */
        elements[places[p]]++;
        assert_int_equal(first_wrong(CHECK_KEPT, elements), places[p]);
    }
    free(elements);
}

static void the_digest(void **state)
{
    (void)state;
    uint32_t *elements = array();
    struct digest one = {0}, made, of_array;
    for (uint64_t i = 0; i < input.n; i++) {
        elements[i] = (uint32_t)input_element(&input, input.n - 1 - i);
        digest_element(&one, elements[i]);
    }
    assert_null(cpu_backend.digest(cpu, &input, NULL, &made));
    assert_null(cpu_backend.digest(cpu, &input, elements, &of_array));
    assert_int_equal(made.sum, one.sum);
    assert_int_equal(made.parity, one.parity);
    assert_int_equal(of_array.sum, one.sum);
    assert_int_equal(of_array.parity, one.parity);
    free(elements);
}

static void the_sum(void **state)
{
    (void)state;
    for (int type = 0; type < TYPE_COUNT; type++) {
        struct input scanned = input;
        scanned.op = OP_SCAN;
        scanned.type = type;
        uint64_t wanted = 0, sum = 1;
        for (uint64_t i = 0; i < input.n; i++)
            wanted = element_add(type, wanted, input_element(&scanned, i));
        assert_null(cpu_backend.reduce_input(cpu, &scanned, &sum));
        assert_int_equal(sum, wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_input),
        cmocka_unit_test(what_is_kept),
        cmocka_unit_test(the_digest),
        cmocka_unit_test(the_sum),
    };
    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
