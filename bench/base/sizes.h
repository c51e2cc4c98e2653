/* sizes.h: array sizes as users write them. Pure functions, no I/O. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The largest size in elements: 2^40 elements of eight bytes are 8 TiB. */
#define LARGEST_SIZE ((uint64_t)1 << 40)

/* The most sizes in a list, to catch a slip such as 1..2^30+1. */
enum { MAX_SIZES = 100000 };

struct size_list {
    uint64_t *n; /* in the order given, without duplicates; the caller frees it */
    size_t count;
};

/* Parses a list of sizes: `1000`, `2^26`, `2^26-3`, `1e6`, `64Ki` (binary), `64K` (decimal),
 * and inclusive ranges `a..b` (doubling), `a..b*4`, `a..b+step`. Appends to `list`, or on an
 * error leaves it unchanged. Returns NULL, or what is wrong and what would be right, as the end
 * of a sentence: `"2^99" is above the largest size, 2^40`. The text is valid until the next
 * call. */
const char *parse_sizes(const char *text, struct size_list *list);

/* Parses one number, 0..UINT64_MAX, in any of these spellings except a range. */
const char *parse_count(const char *text, uint64_t *value);

enum npot_rule { NPOT_FIVE_EIGHTHS, NPOT_MINUS_THREE };

/* The non-power-of-two partner of a size: 5/8 of it, or 3 less. A size below 8 has no useful
 * partner, and is returned unchanged. */
uint64_t npot_partner(uint64_t n, enum npot_rule rule);

/* Inserts the partner of each size after it, or with `only_partners` replaces the size. */
void add_npot_partners(struct size_list *list, enum npot_rule rule, bool only_partners);

bool is_power_of_two(uint64_t n);
