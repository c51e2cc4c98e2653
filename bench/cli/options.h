/* options.h: the command line as data.
 *
 * The first stage of options -> plan -> runner. It uses the table of algorithms to check names,
 * touches no device and runs nothing. */
#pragma once

#include "../../timing/cache_state.h"
#include "../../timing/statistics.h"
#include "../algorithm.h"
#include "../device/input.h"
#include "../registry.h"
#include "../rows/output_spec.h"
#include "../base/sizes.h"

#include <stdbool.h>
#include <stdio.h>

enum action {
    ACTION_RUN,
    ACTION_DRY_RUN,
    ACTION_LIST,
    ACTION_LIST_COLUMNS,
    ACTION_DEVICE_INFO,
    ACTION_MANUAL,
    ACTION_GENERATE,
    ACTION_VERSION,
    ACTION_HELP,
};

/* What --generate writes. */
enum generated { GENERATED_MAN, GENERATED_BASH, GENERATED_ZSH, GENERATED_FISH, GENERATED_COUNT };

enum progress_when { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER, PROGRESS_WHEN_COUNT };

/* One entry of --device. */
struct device_choice {
    enum device_kind kind;
    int index;        /* GPU number; else 0 */
    unsigned members; /* in this process, of a team from `index` on; 0: one device by itself */
};

/* One entry of --max or --keep. */
struct max_choice {
    uint64_t value;
    char text[TYPED_BYTES];
};
struct keep_choice {
    double value;
    char text[TYPED_BYTES];
};

/* One entry of --segments. */
struct segments_choice {
    struct segmentation value;
    char text[TYPED_BYTES];
};

enum {
    MAX_DEVICES = 16,
    MAX_BLOCKS = 8,
    MAX_THREADS = 64,
    MAX_GPU_COUNTS = 8,
    MAX_MAXIMA = 64,
    MAX_KEEPS = 64,
    MAX_SEGMENTS = 64,
};

/* What --op, --algo and --engine select of one row of the table. */
struct row_choice {
    bool on[DEVICE_KIND_COUNT];
    bool by[ENGINE_COUNT];
    bool named; /* by its name or a pattern, not by a group or the default alone */
};

/* --check, and which axes vary beyond what is given. */
struct check_spec {
    bool wanted;
    bool varies_values, varies_blocks;
    unsigned samples;     /* of each row, except in the emulator; 0: as of other runs */
    struct size_list few; /* sizes to vary them at; none: those of --n */
};

struct options {
    enum action action;
    enum generated generated; /* for ACTION_GENERATE */

    bool operations[OPERATION_COUNT];
    bool types[TYPE_COUNT];
    bool operators[OPERATOR_COUNT];
    bool kinds[KIND_COUNT];
    struct segments_choice segments[MAX_SEGMENTS];
    size_t segments_count; /* at least 1 */
    bool values[VALUE_TYPE_COUNT];
    bool cache[CACHE_STATE_COUNT];
    bool simd[SIMD_PATH_COUNT];

    bool engines[ENGINE_COUNT];

    const char **algo_words;   /* as typed, each matching a row of the table */
    size_t algo_word_count;    /* 0: all that can run here */
    const char *compile_flags; /* for files among them; NULL: none */
    struct row_choice *chosen; /* of each row of the table, in its order */
    bool named;                /* by --algo or --engine: what cannot run has a row that says why */

    struct size_list sizes;           /* --npot already applied */
    struct size_list simulated_sizes; /* the same number, of devices that are simulated: smaller
                                       * ones unless --n is given */

    unsigned blocks[MAX_BLOCKS];   /* 0: the algorithm's own default */
    size_t block_count;            /* at least 1 */
    unsigned threads[MAX_THREADS]; /* 0: all processors */
    size_t thread_count;           /* at least 1 */

    struct device_choice devices[MAX_DEVICES];
    size_t device_count;           /* 0: chosen per algorithm from the devices present */
    unsigned gpus[MAX_GPU_COUNTS]; /* 0: all */
    size_t gpus_count;             /* 0: no teams, unless there are several processes */

    bool inputs[INPUT_SHAPE_COUNT];
    bool input_given; /* else each operator has its own */
    struct max_choice maxima[MAX_MAXIMA];
    size_t max_count; /* 0: the default of each operation */
    struct keep_choice keeps[MAX_KEEPS];
    size_t keep_count; /* at least 1 */
    uint64_t seed;
    struct sampling sampling;
    double timeout_ms; /* of a turn; 0: the default, none except for the user's code */

    struct check_spec check;
    bool kernels;         /* also one row per launch */
    enum counting counts; /* also count accesses to memory, where the device can */
    enum scratch_state scratch;
    bool copies; /* also time with copies to and from the device */
    bool pinned; /* page-locked host memory for the copies */
    bool energy; /* also measure the energy per run */
    bool lock_clocks;

    struct output_spec output;
    char *label; /* K=V,K=V as given; NULL: none */
    enum progress_when progress;
    unsigned show;
    bool strict; /* a row that did not pass, skipped ones too, makes the exit code 3 */
    bool quiet;
    char *environment_flags;  /* the words of SCANBENCH_FLAGS; NULL: none */
    char **arguments;         /* these words and the command line, for whoever records them */
    struct given_flag *flags; /* the same, taken apart */
    size_t flag_count;
};
