/* option_table.h: the table of all flags.
 *
 * getopt_long's arrays, --help and the suggestion for a misspelt flag are built from it. A flag
 * is one enumerator here and one row in option_table.c. */
#pragma once

#include "options.h"

/* In the order of --help, group by group; option_groups says with which flag a group begins. */
enum option_id {
    OPTION_OP,
    OPTION_ALGO,
    OPTION_COMPILE_FLAGS,
    OPTION_CHECK,
    OPTION_N,
    OPTION_POT,
    OPTION_NPOT,
    OPTION_BLOCK,
    OPTION_THREADS,
    OPTION_SIMD,
    OPTION_TYPE,
    OPTION_OPERATOR,
    OPTION_KIND,
    OPTION_EXCLUSIVE,
    OPTION_INCLUSIVE,
    OPTION_SEGMENTS,
    OPTION_VALUES,
    OPTION_DEVICE,
    OPTION_GPUS,
    OPTION_ENGINE,
    OPTION_INPUT,
    OPTION_MAX,
    OPTION_KEEP,
    OPTION_SEED,
    OPTION_SAMPLES,
    OPTION_MAX_NOISE,
    OPTION_MIN_TIME,
    OPTION_MAX_TIME,
    OPTION_TIMEOUT,
    OPTION_WARMUP,
    OPTION_CACHE,
    OPTION_KERNELS,
    OPTION_COUNTS,
    OPTION_SCRATCH,
    OPTION_COPIES,
    OPTION_PINNED,
    OPTION_ENERGY,
    OPTION_LOCK_CLOCKS,
    OPTION_FORMAT,
    OPTION_OUTPUT,
    OPTION_APPEND,
    OPTION_RESUME,
    OPTION_COLUMNS,
    OPTION_LABEL,
    OPTION_SAMPLES_FILE,
    OPTION_JUNIT,
    OPTION_TRACE,
    OPTION_BASELINE,
    OPTION_FAIL_SLOWER,
    OPTION_STRICT,
    OPTION_SHOW,
    OPTION_PROGRESS,
    OPTION_QUIET,
    OPTION_LIST,
    OPTION_LIST_COLUMNS,
    OPTION_DEVICE_INFO,
    OPTION_DRY_RUN,
    OPTION_MANUAL,
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

/* The state of reading a command line. */
struct command_line {
    struct options *options;
    const struct option_row *row;    /* the current flag */
    const char *given[OPTION_COUNT]; /* NULL: not given; "": given without a value */
    enum npot_rule npot_rule;
};

/* Room for a list of flags or words in a message. */
enum { LIST_BYTES = 256 };

/* Stores a flag's value in line->options. Returns NULL, or what is wrong and what would be
 * right, as the end of a sentence that begins with the value. If only one item of a list is
 * wrong, the text begins with that item in quotes. The text is valid until the next call. */
typedef const char *parse_value(struct command_line *line, const char *value);

/* The name of value 0, 1, ... of a closed set. */
typedef const char *name_of(int value);

struct option_row {
    const char *name; /* block, for --block */
    char letter;      /* b, for -b; or 0 */
    bool argument_optional;
    const char *argument; /* LIST, for --block=LIST; NULL: takes no value */
    const char *help;     /* one or two sentences; --help breaks the lines */
    parse_value *parse;   /* NULL: only whether it was given matters */
    size_t at, bytes;     /* where a shared `parse` stores the value, in struct options */
    parse_value *take;    /* takes an item of a list, for parse_items() */
    size_t count_at;      /* where the number of these items is, in struct options */
    unsigned least, most; /* a number's limits */
    const char *needs;    /* the message for an empty text */
    name_of *word;        /* names of the allowed values or items; NULL: any */
    int word_count;
    bool writes_file; /* its value names a file that the run writes, or it says how */
};

extern const struct option_row option_rows[OPTION_COUNT];

/* A group has the flags from its first one up to that of the next group. */
struct option_group_row {
    enum option_id first;
    const char *title;
};
extern const struct option_group_row option_groups[OPTION_GROUP_COUNT];
enum option_group group_of_option(enum option_id id);
