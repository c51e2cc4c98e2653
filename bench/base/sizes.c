/* sizes: the grammar of --n, read by a cursor that moves over the text.
 *
 *   list   = item { "," item }
 *   item   = sum | sum ".." number { "-" number } [ "*" sum | "+" sum ]
 *   sum    = number { ("+" | "-") number }
 *   number = digits "^" digits | digits [ "." digits ] [ "e" digits ] [ unit ]
 *   unit   = ("K" | "M" | "G" | "T") [ "i" ]
 */
#include "sizes.h"

#include "errors.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Wide enough to add numbers below LARGEST_NUMBER without overflow, and to hold 2^64-1. */
__extension__ typedef __int128 wide;
#define LARGEST_NUMBER ((wide)1 << 100)

/* What can be wrong with one item. */
enum fault {
    FAULT_NONE,
    FAULT_MALFORMED,
    FAULT_HEXADECIMAL,
    FAULT_GROUPED,
    FAULT_NEGATIVE,
    FAULT_NOT_WHOLE,
    FAULT_TOO_LARGE,
    FAULT_DESCENDING,
    FAULT_ENDLESS_FACTOR,
    FAULT_ENDLESS_START,
    FAULT_ENDLESS_STEP,
    FAULT_TOO_MANY,
};

bool is_power_of_two(uint64_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

static enum fault multiply(wide *value, wide factor)
{
    if (*value > LARGEST_NUMBER / factor)
        return FAULT_TOO_LARGE;
    *value *= factor;
    return FAULT_NONE;
}

/* Appends decimal digits to `value`. */
static enum fault read_digits(const char **cursor, wide *value)
{
    if (!isdigit((unsigned char)**cursor))
        return FAULT_MALFORMED;
    enum fault fault = FAULT_NONE;
    for (; isdigit((unsigned char)**cursor); ++*cursor) {
        if (!fault)
            fault = multiply(value, 10);
        if (!fault)
            *value += **cursor - '0';
    }
    return fault;
}

/* Reads the digits after `^` or `e`. Values above 1000 all count as 1000. */
static enum fault read_exponent(const char **cursor, int *exponent)
{
    wide value = 0;
    enum fault fault = read_digits(cursor, &value);
    if (fault == FAULT_MALFORMED)
        return fault;
    *exponent = fault || value > 1000 ? 1000 : (int)value;
    return FAULT_NONE;
}

/* Reads a unit, if there is one: K is 1000, Ki is 1024. */
static wide read_unit(const char **cursor)
{
    static const char letters[] = "KMGT";
    const char *letter = **cursor ? strchr(letters, toupper((unsigned char)**cursor)) : NULL;
    if (!letter)
        return 1;
    ++*cursor;
    bool binary = **cursor == 'i';
    if (binary)
        ++*cursor;
    wide unit = 1;
    for (int power = 0; power <= letter - letters; power++)
        unit *= binary ? 1024 : 1000;
    return unit;
}

/* Reads and counts the digits after a decimal point, without trailing zeros, so that 1.50e1 is
 * a whole number. */
static enum fault read_fraction(const char **cursor, wide *value, int *digits)
{
    size_t span = strspn(*cursor, "0123456789");
    const char *end = *cursor + span;
    while (span > 0 && (*cursor)[span - 1] == '0')
        span--;
    enum fault fault = FAULT_NONE;
    for (size_t i = 0; i < span && !fault; i++) {
        fault = multiply(value, 10);
        if (!fault)
            *value += (*cursor)[i] - '0';
    }
    *digits = (int)span;
    *cursor = end;
    /* A fraction whose digits overflow cannot be scaled to a whole number. */
    return fault ? FAULT_NOT_WHOLE : FAULT_NONE;
}

/* Reads the optional parts of a number after its first digits: a fraction, a power of ten, a
 * unit. */
static enum fault read_scale(const char **cursor, wide *value)
{
    int fraction_digits = 0;
    int exponent = 0;
    enum fault fault = FAULT_NONE;
    if (**cursor == '.' && isdigit((unsigned char)(*cursor)[1])) {
        ++*cursor;
        fault = read_fraction(cursor, value, &fraction_digits);
    }
    if (!fault && (**cursor == 'e' || **cursor == 'E')) {
        *cursor += (*cursor)[1] == '+' ? 2 : 1;
        fault = read_exponent(cursor, &exponent);
    }
    if (!fault)
        fault = multiply(value, read_unit(cursor));
    for (; !fault && exponent > fraction_digits; exponent--)
        fault = multiply(value, 10);
    for (; !fault && exponent < fraction_digits; exponent++) {
        if (*value % 10 != 0)
            return FAULT_NOT_WHOLE;
        *value /= 10;
    }
    return fault;
}

static enum fault read_number(const char **cursor, wide *value)
{
    *value = 0;
    if (**cursor == '-')
        return FAULT_NEGATIVE;
    if ((*cursor)[0] == '0' && ((*cursor)[1] == 'x' || (*cursor)[1] == 'X'))
        return FAULT_HEXADECIMAL;
    enum fault fault = read_digits(cursor, value);
    if (fault)
        return fault;
    if (**cursor != '^')
        return read_scale(cursor, value);

    ++*cursor;
    wide base = *value;
    int exponent;
    fault = read_exponent(cursor, &exponent);
    *value = 1;
    for (; !fault && exponent > 0; exponent--)
        fault = base == 0 ? FAULT_MALFORMED : multiply(value, base);
    return fault;
}

/* Reads a number followed by additions and subtractions; `signs` says which of the two are
 * allowed. */
static enum fault read_sum(const char **cursor, const char *signs, wide *value)
{
    enum fault fault = read_number(cursor, value);
    while (!fault && **cursor && strchr(signs, **cursor)) {
        bool minus = *(*cursor)++ == '-';
        wide term;
        fault = read_number(cursor, &term);
        if (fault == FAULT_NEGATIVE)
            fault = FAULT_MALFORMED;
        if (!fault)
            *value += minus ? -term : term;
    }
    return !fault && *value < 0 ? FAULT_NEGATIVE : fault;
}

/* The capacity of a list is always the next power of two above its count, so it need not be
 * stored. */
static void append(struct size_list *list, uint64_t n)
{
    if (list->count == 0 || is_power_of_two(list->count))
        list->n = allocate_or_die(list->n, 2 * (list->count + 1) * sizeof *list->n);
    list->n[list->count++] = n;
}

/* One item: the sizes from `first` to `last`, each the previous times `factor` or, if that is
 * 0, plus `step`. */
struct range {
    wide first, last, factor, step;
};

static enum fault read_range(const char *item, struct range *range)
{
    const char *cursor = item;
    enum fault fault = read_sum(&cursor, "+-", &range->first);
    range->last = range->first;
    range->factor = 2;
    range->step = 0;
    if (fault || !*cursor)
        return fault;

    if (strncmp(cursor, "..", 2) != 0)
        return FAULT_MALFORMED;
    cursor += 2;
    fault = read_sum(&cursor, "-", &range->last);
    if (!fault && *cursor == '*') {
        cursor++;
        fault = read_sum(&cursor, "+-", &range->factor);
        if (!fault && range->factor < 2)
            return FAULT_ENDLESS_FACTOR;
    } else if (!fault && *cursor == '+') {
        cursor++;
        range->factor = 0;
        fault = read_sum(&cursor, "+-", &range->step);
        if (!fault && range->step == 0)
            return FAULT_ENDLESS_STEP;
    }
    if (!fault && *cursor)
        return FAULT_MALFORMED;
    if (!fault && range->factor && range->first == 0 && range->last != 0)
        return FAULT_ENDLESS_START;
    return fault;
}

static enum fault append_item(const char *item, struct size_list *list)
{
    struct range range;
    enum fault fault = read_range(item, &range);
    if (fault)
        return fault;
    const wide largest = (wide)LARGEST_SIZE;
    if (range.first > largest || range.last > largest)
        return FAULT_TOO_LARGE;
    if (range.factor > largest || range.step > largest)
        return FAULT_TOO_LARGE;
    if (range.first > range.last)
        return FAULT_DESCENDING;
    for (wide n = range.first; n <= range.last;) {
        if (list->count >= MAX_SIZES)
            return FAULT_TOO_MANY;
        append(list, (uint64_t)n);
        if (range.first == range.last)
            break;
        n = range.factor ? n * range.factor : n + range.step;
    }
    return FAULT_NONE;
}

struct place {
    uint64_t n;
    size_t index;
};

static int by_size_then_index(const void *left, const void *right)
{
    const struct place *a = left;
    const struct place *b = right;
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Keeps the first of equal sizes. Sorts, since a list may be long. */
static void drop_repeats(struct size_list *list)
{
    if (list->count < 2)
        return;
    struct place *places = allocate_or_die(NULL, list->count * sizeof *places);
    bool *repeated = allocate_or_die(NULL, list->count * sizeof *repeated);
    for (size_t i = 0; i < list->count; i++)
        places[i] = (struct place){list->n[i], i};
    qsort(places, list->count, sizeof *places, by_size_then_index);
    for (size_t i = 0; i < list->count; i++)
        repeated[places[i].index] = i > 0 && places[i].n == places[i - 1].n;

    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (!repeated[i])
            list->n[kept++] = list->n[i];
    list->count = kept;
    free(places);
    free(repeated);
}

/* Is the item like "4B", "64KiB" or "4bytes", which means bytes? */
static bool looks_like_bytes(const char *item)
{
    const char *rest = item + strspn(item, "0123456789.^");
    if (rest == item)
        return false;
    read_unit(&rest);
    return *rest == 'B' || *rest == 'b';
}

static const char *explain(enum fault fault, const char *item)
{
    static const char *const texts[] = {
        [FAULT_MALFORMED] = "is not a size; write 1000, 2^20, 2^20-3, 1e6, 64Ki or 2^12..2^20",
        [FAULT_HEXADECIMAL] = "is hexadecimal; write it in decimal or as a power, such as 2^20",
        [FAULT_GROUPED] =
            "has leading zeros; commas separate sizes, so write 1,000,000 as 1000000 or 1e6",
        [FAULT_NEGATIVE] = "is negative; a size is 0 or more, and a range is written 1000..2000",
        [FAULT_NOT_WHOLE] = "is not a whole number of elements",
        [FAULT_TOO_LARGE] = "is above the largest size, 2^40",
        [FAULT_DESCENDING] = "goes down; write the smaller end first",
        [FAULT_ENDLESS_FACTOR] = "never ends; the factor after * must be 2 or more",
        [FAULT_ENDLESS_START] = "never ends; a range that multiplies must start at 1 or more",
        [FAULT_ENDLESS_STEP] = "never ends; the step after + must be 1 or more",
        [FAULT_TOO_MANY] = "gives too many sizes; a list holds 100000 at most",
    };
    static char message[256];
    char copy[SHORT_TEXT_BYTES];
    const char *text = texts[fault];
    if (fault == FAULT_MALFORMED && looks_like_bytes(item))
        text = "looks like bytes; sizes count elements, not bytes: leave the B out";
    snprintf(message, sizeof message, "\"%s\" %s", shorten(item, copy), text);
    return message;
}

const char *parse_sizes(const char *text, struct size_list *list)
{
    if (!*text)
        return "needs a size, such as 1000, 2^20, 1e6, 64Ki or 2^12..2^20";

    size_t count_before = list->count;
    const char *wrong = NULL;
    char *copy = copy_text(text);
    for (char *item = copy; item && !wrong;) {
        char *comma = strchr(item, ',');
        if (comma)
            *comma = '\0';
        enum fault fault = *item ? append_item(item, list) : FAULT_NONE;
        if (item > copy && item[0] == '0' && strspn(item, "0123456789") == 3 && item[3] == '\0')
            fault = FAULT_GROUPED; /* 1,000,000 */
        if (!*item)
            wrong = "has an empty item; write sizes with one comma between them";
        else if (fault)
            wrong = explain(fault, item);
        item = comma ? comma + 1 : NULL;
    }
    free(copy);
    if (wrong)
        list->count = count_before;
    else
        drop_repeats(list);
    return wrong;
}

const char *parse_count(const char *text, uint64_t *value)
{
    const char *cursor = text;
    wide number;
    enum fault fault = read_sum(&cursor, "+-", &number);
    if (fault == FAULT_NEGATIVE)
        return "is negative";
    if (fault == FAULT_NOT_WHOLE)
        return "is not a whole number";
    if (fault == FAULT_TOO_LARGE || (!fault && !*cursor && number > (wide)UINT64_MAX))
        return "is above the largest number, 2^64-1";
    if (fault || *cursor)
        return "is not a number; write 1000, 2^20, 2^20-3, 1e6 or 64Ki";
    *value = (uint64_t)number;
    return NULL;
}

uint64_t npot_partner(uint64_t n, enum npot_rule rule)
{
    if (n < 8)
        return n;
    return rule == NPOT_MINUS_THREE ? n - 3 : n / 8 * 5 + n % 8 * 5 / 8;
}

void add_npot_partners(struct size_list *list, enum npot_rule rule, bool only_partners)
{
    struct size_list both = {0};
    for (size_t i = 0; i < list->count; i++) {
        if (!only_partners)
            append(&both, list->n[i]);
        append(&both, npot_partner(list->n[i], rule));
    }
    free(list->n);
    *list = both;
    drop_repeats(list);
}
