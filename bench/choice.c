#include "choice.h"

#include "errors.h"
#include "registry.h"

#include <stdint.h>
#include <stdio.h>
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
};

static const struct choice choices[] = {
#define CHOICE(...) {__VA_ARGS__},
#include "choices.def"
#undef CHOICE
};

enum { CHOICE_COUNT = sizeof choices / sizeof *choices };

static const struct algorithm *algorithm_of(const struct choice *choice, enum device_kind kind)
{
    for (size_t r = 0; r < registry_row_count(); r++) {
        const struct table_row *row = registry_row(r);
        if (row->op == choice->op && strcmp(row->name, choice->algo) == 0)
            return row->on[kind];
    }
    BUG("choices.def names %s, which the table does not have", choice->algo);
}

/* The emulator runs what a GPU would. */
static enum device_kind listed_kind(enum device_kind kind)
{
    return kind == DEVICE_EMULATOR ? DEVICE_GPU : kind;
}

static bool fits(const struct choice *choice, const struct problem *problem)
{
    const struct device_limits *device = problem->device;
    return choice->op == problem->op && choice->kind == listed_kind(device->kind) &&
           strncmp(device->name, choice->device, strlen(choice->device)) == 0 &&
           (choice->bytes == 0 || choice->bytes == element_bytes(problem->type)) &&
           problem->n <= choice->up_to;
}

/* The chosen algorithm, and the problem as it is to see it; NULL if there is none. */
static const struct algorithm *choose(const struct problem *problem, struct problem *its_own)
{
    for (size_t c = 0; c < CHOICE_COUNT; c++) {
        if (!fits(&choices[c], problem))
            continue;
        const struct algorithm *algorithm = algorithm_of(&choices[c], problem->device->kind);
        if (algorithm == NULL)
            continue;
        *its_own = *problem;
        its_own->scan = algorithm->over;
        if (algorithm->traits & TRAIT_HAS_BLOCK)
            its_own->block = choices[c].block > 0 ? choices[c].block : algorithm->default_block;
        if (algorithm->supports == NULL || algorithm->supports(its_own) == NULL)
            return algorithm;
    }
    return NULL;
}

static const char *supports(const struct problem *problem)
{
    struct problem its_own;
    return choose(problem, &its_own) != NULL ? NULL : "none of our own supports this";
}

static size_t scratch_bytes(const struct problem *problem)
{
    struct problem its_own;
    const struct algorithm *chosen = choose(problem, &its_own);
    return chosen != NULL && chosen->scratch_bytes != NULL ? chosen->scratch_bytes(&its_own) : 0;
}

static void prepare(const struct call *call)
{
    struct call its_own = *call;
    const struct algorithm *chosen = choose(&call->problem, &its_own.problem);
    if (chosen->prepare != NULL)
        chosen->prepare(&its_own);
}

static void run(const struct call *call)
{
    struct call its_own = *call;
    choose(&call->problem, &its_own.problem)->run(&its_own);
}

static void explain(const struct problem *problem, char *text, size_t size)
{
    struct problem its_own;
    const struct algorithm *chosen = choose(problem, &its_own);
    if (its_own.block > 0)
        snprintf(text, size, "%s block %u", chosen->name, its_own.block);
    else
        snprintf(text, size, "%s", chosen->name);
}

int has_choice(enum operation op, enum device_kind kind)
{
    for (size_t c = 0; c < CHOICE_COUNT; c++)
        if (choices[c].op == op && choices[c].kind == listed_kind(kind))
            return 1;
    return 0;
}

struct algorithm choice_for(enum operation op)
{
    return (struct algorithm){
        .name = "auto",
        .op = op,
        .family = FAMILY_OWN,
        .traits = op == OP_SORT ? TRAIT_SYNCHRONISES : 0,
        .summary = "the fastest of our own for this device, type and n, as measured",
        .source = "bench/choices.def",
        .supports = supports,
        .scratch_bytes = scratch_bytes,
        .prepare = prepare,
        .run = run,
        .explain = explain,
    };
}
