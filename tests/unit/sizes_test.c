/* sizes_test: the grammar of --n. */
#include "../../bench/base/sizes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void expect_sizes(const char *text, const uint64_t *expected, size_t count)
{
    struct size_list list = {0};
    const char *wrong = parse_sizes(text, &list);
    if (wrong)
        fail_msg("%s: %s", text, wrong);
    assert_int_equal(list.count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(list.n[i], expected[i]);
    free(list.n);
}

#define EXPECT_SIZES(text, ...) \
    expect_sizes(text, (const uint64_t[]){__VA_ARGS__}, COUNT(((const uint64_t[]){__VA_ARGS__})))

static void single_sizes(void **state)
{
    (void)state;
    EXPECT_SIZES("0", 0);
    EXPECT_SIZES("1", 1);
    EXPECT_SIZES("1000", 1000);
    EXPECT_SIZES("007", 7);
    EXPECT_SIZES("2^0", 1);
    EXPECT_SIZES("2^26", 67108864);
    EXPECT_SIZES("10^6", 1000000);
    EXPECT_SIZES("2^26-3", 67108861);
    EXPECT_SIZES("2^26+1", 67108865);
    EXPECT_SIZES("2^10-1-1+5", 1027);
    EXPECT_SIZES("1e6", 1000000);
    EXPECT_SIZES("1E+06", 1000000);
    EXPECT_SIZES("1.5e6", 1500000);
    EXPECT_SIZES("1.50e1", 15);
    EXPECT_SIZES("3.000", 3);
    EXPECT_SIZES("64Ki", 65536);
    EXPECT_SIZES("64K", 64000);
    EXPECT_SIZES("64k", 64000);
    EXPECT_SIZES("1.5Ki", 1536);
    EXPECT_SIZES("1M", 1000000);
    EXPECT_SIZES("1Mi", 1048576);
    EXPECT_SIZES("1Gi", 1073741824);
    EXPECT_SIZES("1Gi-1", 1073741823);
    EXPECT_SIZES("2^40", LARGEST_SIZE);
    EXPECT_SIZES("2^64-2^64", 0);
}

static void lists_and_ranges(void **state)
{
    (void)state;
    EXPECT_SIZES("3,1,2", 3, 1, 2);
    EXPECT_SIZES("8,4,8,4,16", 8, 4, 16);
    EXPECT_SIZES("2^3..2^6", 8, 16, 32, 64);
    EXPECT_SIZES("3..20", 3, 6, 12);
    EXPECT_SIZES("2^4..2^10*4", 16, 64, 256, 1024);
    EXPECT_SIZES("10..50+10", 10, 20, 30, 40, 50);
    EXPECT_SIZES("0..2+1", 0, 1, 2);
    EXPECT_SIZES("2^4-1..2^6-1", 15, 30, 60);
    EXPECT_SIZES("2^4..2^5-2+7", 16, 23, 30);
    EXPECT_SIZES("1e3..1.5e3+250", 1000, 1250, 1500);
    EXPECT_SIZES("7..7", 7);
    EXPECT_SIZES("0..0", 0);
    EXPECT_SIZES("1..4,4..8,100", 1, 2, 4, 8, 100);
    EXPECT_SIZES("1..2^40*2^40", 1, LARGEST_SIZE);
}

static void a_long_list(void **state)
{
    (void)state;
    struct size_list list = {0};
    assert_null(parse_sizes("1..100000+1", &list));
    assert_int_equal(list.count, MAX_SIZES);
    assert_int_equal(list.n[99999], 100000);
    list.count = 0;
    assert_non_null(strstr(parse_sizes("1..100001+1", &list), "100000 at most"));
    assert_int_equal(list.count, 0);
    free(list.n);
}

static void bad_sizes(void **state)
{
    static const char *const cases[][2] = {
        {"", "needs a size"},
        {",", "empty item"},
        {"1,,2", "empty item"},
        {"1,", "empty item"},
        {"-5", "negative"},
        {"1,-5", "\"-5\" is negative"},
        {"3-5", "negative"},
        {"0x", "hexadecimal"},
        {"0x10", "hexadecimal"},
        {"0X10", "hexadecimal"},
        {"4B", "not bytes"},
        {"64KiB", "not bytes"},
        {"2^20B", "not bytes"},
        {"2^99", "\"2^99\" is above the largest size, 2^40"},
        {"2^64", "above the largest size"},
        {"2^99999999999999999999", "above the largest size"},
        {"2^200-2^200", "above the largest size"},
        {"1e30", "above the largest size"},
        {"1e999999999999", "above the largest size"},
        {"99999999999999999999999999999999999999999999999999999999", "above the largest"},
        {"2^40+1", "above the largest size"},
        {"1..2^41", "above the largest size"},
        {"1..2*2^41", "above the largest size"},
        {"1.5", "not a whole number"},
        {"1.00000000000000000000000000000000000000000000000001", "not a whole number"},
        {"1.2345e3", "not a whole number"},
        {"2^29..2^12", "goes down"},
        {"1..10*1", "never ends"},
        {"1..10*0", "never ends"},
        {"1..10+0", "never ends"},
        {"0..10", "never ends"},
        {"0..10*4", "never ends"},
        {"abc", "not a size"},
        {"1e", "not a size"},
        {"1e-3", "not a size"},
        {"1.", "not a size"},
        {".5", "not a size"},
        {"2^", "not a size"},
        {"0^5", "not a size"},
        {"2^10K", "not a size"},
        {"1..", "not a size"},
        {"..5", "not a size"},
        {"1...5", "not a size"},
        {"1..2..3", "not a size"},
        {"1..10*", "not a size"},
        {"1..10-", "not a size"},
        {"1 000", "not a size"},
        {" 1", "not a size"},
        {"1--1", "not a size"},
        {"+1", "not a size"},
        {"1\xff", "not a size"},
        {"nan", "not a size"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct size_list list = {0};
        assert_null(parse_sizes("77", &list));
        const char *wrong = parse_sizes(cases[i][0], &list);
        if (!wrong || !strstr(wrong, cases[i][1]))
            fail_msg("%s: %s, not: %s", cases[i][0], wrong ? wrong : "accepted", cases[i][1]);
        assert_int_equal(list.count, 1);
        assert_int_equal(list.n[0], 77);
        free(list.n);
    }
}

static void counts(void **state)
{
    (void)state;
    uint64_t value;
    assert_null(parse_count("2^64-1", &value));
    assert_true(value == UINT64_MAX);
    assert_null(parse_count("18446744073709551615", &value));
    assert_true(value == UINT64_MAX);
    assert_null(parse_count("0", &value));
    assert_int_equal(value, 0);
    assert_non_null(parse_count("2^64", &value));
    assert_non_null(parse_count("-1", &value));
    assert_non_null(parse_count("", &value));
    assert_non_null(parse_count("1..2", &value));
    assert_non_null(parse_count("1,2", &value));
    assert_non_null(parse_count("0.5", &value));
}

static void partners(void **state)
{
    (void)state;
    assert_int_equal(npot_partner(1024, NPOT_FIVE_EIGHTHS), 640);
    assert_int_equal(npot_partner(1024, NPOT_MINUS_THREE), 1021);
    assert_int_equal(npot_partner(8, NPOT_FIVE_EIGHTHS), 5);
    assert_int_equal(npot_partner(7, NPOT_FIVE_EIGHTHS), 7);
    assert_int_equal(npot_partner(0, NPOT_MINUS_THREE), 0);
    assert_int_equal(npot_partner(1000, NPOT_FIVE_EIGHTHS), 625);
    assert_int_equal(npot_partner(1001, NPOT_FIVE_EIGHTHS), 625);
    assert_true(npot_partner(UINT64_MAX, NPOT_FIVE_EIGHTHS) == UINT64_MAX / 8 * 5 + 4);

    struct size_list list = {0};
    assert_null(parse_sizes("4,16,10", &list));
    add_npot_partners(&list, NPOT_FIVE_EIGHTHS, false);
    assert_int_equal(list.count, 4);
    static const uint64_t both[] = {4, 16, 10, 6};
    assert_memory_equal(list.n, both, sizeof both);
    add_npot_partners(&list, NPOT_MINUS_THREE, true);
    static const uint64_t only[] = {4, 13, 7, 6};
    assert_memory_equal(list.n, only, sizeof only);
    free(list.n);
}

static void powers_of_two(void **state)
{
    (void)state;
    assert_false(is_power_of_two(0));
    assert_true(is_power_of_two(1));
    assert_false(is_power_of_two(3));
    assert_true(is_power_of_two((uint64_t)1 << 63));
    assert_false(is_power_of_two(UINT64_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_sizes),  cmocka_unit_test(lists_and_ranges),
        cmocka_unit_test(a_long_list),   cmocka_unit_test(bad_sizes),
        cmocka_unit_test(counts),        cmocka_unit_test(partners),
        cmocka_unit_test(powers_of_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
