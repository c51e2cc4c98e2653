/* choice: `auto`, resolved with the table of choices.def. */
#include "choice.h"

#include <string.h>

/* One line of choices.def. */
struct choice {
    enum device_kind kind;
    const char *device;
    enum operation op;
    unsigned bytes;
    uint64_t up_to;
    const char *algo;
    unsigned block;
    bool scales;          /* up_to is of a GPU with MULTIPROCESSORS */
    uint64_t longest_row; /* for rows that are no longer, not in place; 0: for any problem */
};

enum { MULTIPROCESSORS = 132 };

static const struct choice choices[] = {
#define CHOICE(...) {__VA_ARGS__, false, 0},
#define SCALED_CHOICE(...) {__VA_ARGS__, true, 0},
#define ROWS_CHOICE(LONGEST, ...) {__VA_ARGS__, true, LONGEST},
#include "choices.def"
#undef CHOICE
#undef SCALED_CHOICE
#undef ROWS_CHOICE
};

enum { CHOICE_COUNT = sizeof choices / sizeof *choices };

/* The emulator runs the GPU's choice. */
static enum device_kind listed_kind(enum device_kind kind)
{
    return kind == DEVICE_EMULATOR ? DEVICE_GPU : kind;
}

static uint64_t largest_n(const struct choice *choice, const struct device_limits *device)
{
    if (!choice->scales || choice->up_to == UINT64_MAX)
        return choice->up_to;
    return choice->up_to * (uint64_t)device->multiprocessors / MULTIPROCESSORS;
}

static bool fits_rows(const struct choice *choice, const struct problem *problem)
{
    return choice->longest_row == 0 || (problem->segments == SEGMENTS_ROWS && !problem->in_place &&
                                        problem->segment_length <= choice->longest_row);
}

static bool fits(const struct choice *choice, const struct problem *problem)
{
    const struct device_limits *device = problem->device;
    return choice->op == problem->op && choice->kind == listed_kind(device->kind) &&
           strncmp(device->name, choice->device, strlen(choice->device)) == 0 &&
           (choice->bytes == 0 || choice->bytes == element_bytes(problem->type)) &&
           fits_rows(choice, problem) && problem->n <= largest_n(choice, device);
}

/* Does the algorithm obey what this problem asks for? */
static bool supports(const struct algorithm *algorithm, const struct problem *problem)
{
    if (problem->unaligned && !(algorithm->traits & TRAIT_UNALIGNED))
        return false;
    if (problem->in_place && !(algorithm->traits & TRAIT_IN_PLACE))
        return false;
    return why_unsupported(algorithm, problem) == NULL;
}

struct resolved resolve_choice(const struct problem *problem, find_algorithm *find)
{
    for (size_t c = 0; c < CHOICE_COUNT; c++) {
        if (!fits(&choices[c], problem))
            continue;
        const struct algorithm *algorithm =
            find(problem->op, choices[c].algo, problem->device->kind);
        if (algorithm == NULL)
            continue;
        struct problem its_own = *problem;
        its_own.scan = algorithm->over;
        its_own.block = 0;
        if (algorithm->traits & TRAIT_HAS_BLOCK)
            its_own.block = choices[c].block > 0 ? choices[c].block : algorithm->default_block;
        if (supports(algorithm, &its_own))
            return (struct resolved){algorithm, its_own.block};
    }
    return (struct resolved){NULL, 0};
}

struct algorithm choice_descriptor(enum operation op)
{
    return (struct algorithm){
        .name = "auto",
        .op = op,
        .family = FAMILY_OWN,
        .summary = "scanbench's own best choice by device, type and n, without knowing the data",
        .source = "bench/choices.def",
        .traits = TRAIT_PAIRS,
        .wide_sum_types = TYPES_OF_WIDE_SUMS,
        .operator_types = ALL_TYPES,
        .recurrence_types = ALL_TYPES,
        .segment_types = ALL_TYPES,
        .narrow_key_types = TYPES_OF_NARROW_KEYS,
    };
}

bool has_choice(enum operation op, enum device_kind kind)
{
    for (size_t c = 0; c < CHOICE_COUNT; c++)
        if (choices[c].op == op && choices[c].kind == listed_kind(kind))
            return true;
    return false;
}

bool choice_in_build(enum operation op, enum device_kind kind, find_algorithm *find)
{
    for (size_t c = 0; c < CHOICE_COUNT; c++)
        if (choices[c].op == op && choices[c].kind == listed_kind(kind) &&
            find(op, choices[c].algo, kind) != NULL)
            return true;
    return false;
}
