/* sizes.h: array sizes as users write them. Pure functions, no I/O. */
#ifndef SCANBENCH_BENCH_SIZES_H
#define SCANBENCH_BENCH_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most elements a size may have: 2^40 of eight bytes is 8 TiB. */
#define LARGEST_SIZE ((uint64_t)1 << 40)

/* The most sizes one list may hold: a slip such as 1..2^30+1 is an error. */
enum { MAX_SIZES = 100000 };

struct size_list {
    uint64_t *n; /* in the order given, without repeats; the caller frees it */
    size_t count;
};

/* Parses a list of sizes: `1000`, `2^26`, `2^26-3`, `1e6`, `64Ki` (binary),
 * `64K` (decimal), and inclusive ranges `a..b` (times 2), `a..b*4`, `a..b+step`.
 * Appends to `list`, or on an error leaves it as it was. Returns NULL, or what
 * is wrong and what would be right, as the end of a sentence: `"2^99" is above
 * the largest size, 2^40`. The text stands until the next call. */
const char *parse_sizes(const char *text, struct size_list *list);

/* One number with the same spellings and no range, 0..UINT64_MAX. */
const char *parse_count(const char *text, uint64_t *value);

enum npot_rule { NPOT_FIVE_EIGHTHS, NPOT_MINUS_THREE };

/* The non-power-of-two partner of a size: 5/8 of it, or 3 less. A size below 8
 * has none that differs usefully, and stays as it is. */
uint64_t npot_partner(uint64_t n, enum npot_rule rule);

/* Puts the partner of each size behind it, or with `only_partners` in its place. */
void add_npot_partners(struct size_list *list, enum npot_rule rule, bool only_partners);

bool is_power_of_two(uint64_t n);

#endif
