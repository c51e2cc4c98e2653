/* option_table.h: every flag there is, as one table.
 *
 * getopt_long's arrays, --help and the nearest match of a misspelt flag are made
 * from it. A flag is one enumerator here and one row in option_table.c. */
#ifndef SCANBENCH_BENCH_CLI_OPTION_TABLE_H
#define SCANBENCH_BENCH_CLI_OPTION_TABLE_H

#include "options.h"

/* In --help's order, group by group. */
enum option_id {
    OPTION_OP,
    OPTION_ALGO,
    OPTION_N,
    OPTION_POT,
    OPTION_NPOT,
    OPTION_BLOCK,
    OPTION_THREADS,
    OPTION_SIMD,
    OPTION_TYPE,
    OPTION_KIND,
    OPTION_EXCLUSIVE,
    OPTION_INCLUSIVE,
    OPTION_DEVICE,
    OPTION_INPUT,
    OPTION_MAX,
    OPTION_KEEP,
    OPTION_SEED,
    OPTION_SAMPLES,
    OPTION_MAX_NOISE,
    OPTION_MIN_TIME,
    OPTION_MAX_TIME,
    OPTION_WARMUP,
    OPTION_CACHE,
    OPTION_KERNELS,
    OPTION_SCRATCH,
    OPTION_COPIES,
    OPTION_PINNED,
    OPTION_ENERGY,
    OPTION_FORMAT,
    OPTION_OUTPUT,
    OPTION_APPEND,
    OPTION_RESUME,
    OPTION_COLUMNS,
    OPTION_LABEL,
    OPTION_SAMPLES_FILE,
    OPTION_BASELINE,
    OPTION_FAIL_SLOWER,
    OPTION_SHOW,
    OPTION_PROGRESS,
    OPTION_QUIET,
    OPTION_LIST,
    OPTION_LIST_COLUMNS,
    OPTION_DEVICE_INFO,
    OPTION_DRY_RUN,
    OPTION_GENERATE,
    OPTION_VERSION,
    OPTION_HELP,
    OPTION_COUNT,
};

enum option_group {
    GROUP_WHAT,
    GROUP_DATA,
    GROUP_MEASURING,
    GROUP_RESULTS,
    GROUP_QUESTIONS,
    OPTION_GROUP_COUNT,
};

/* A command line as far as it is read. */
struct command_line {
    struct options *options;
    const struct option_row *row;    /* the flag that is being read */
    const char *given[OPTION_COUNT]; /* NULL: not given; "" where it has no value */
    enum npot_rule npot_rule;
};

/* Puts a flag's value into line->options. Returns NULL, or what is wrong and
 * what would be right, as the end of a sentence that begins with the value; or,
 * where only an item of a list is wrong, one that begins with the item in quotes.
 * The text stands until the next call. */
typedef const char *parse_value(struct command_line *line, const char *value);

/* The name of value 0, 1, ... of a closed set. */
typedef const char *name_of(int value);

struct option_row {
    const char *name; /* block, for --block */
    char letter;      /* b, for -b; or 0 */
    bool argument_optional;
    const char *argument; /* LIST, for --block=LIST; NULL: takes none */
    enum option_group group;
    const char *help;   /* one or two sentences; --help breaks the lines */
    parse_value *parse; /* NULL: that it was given is all there is to know */
    size_t at;          /* for a `parse` that several share: the value's place in struct options */
    unsigned least, most; /* a number's limits */
    const char *needs;    /* the message where a text is empty */
    name_of *word;        /* what the value, or an item of the LIST, can be; NULL: no closed set */
    int word_count;
};

extern const struct option_row option_rows[OPTION_COUNT];
extern const char *const option_group_titles[OPTION_GROUP_COUNT];

#endif
