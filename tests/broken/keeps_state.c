/* keeps_state: a scan that is right only while the runner keeps its promises about call->kept:
 * NULL at first, then the entry's own, and released at the end of a size. */
#include "../../bench/algorithm.h"

#include <stdlib.h>

struct state {
    uint64_t n;
    unsigned threads;
};

static unsigned unreleased;
static uint64_t unreleased_n; /* the size they belong to */
static int left_behind;

static void prepare(const struct call *call)
{
    if (*call->kept != NULL)
        return;
    struct state *state = malloc(sizeof *state);
    if (state == NULL)
        abort();
    *state = (struct state){call->problem.n, call->problem.threads};
    *call->kept = state;
    left_behind |= unreleased > 0 && unreleased_n != call->problem.n;
    unreleased++;
    unreleased_n = call->problem.n;
}

static void run(const struct call *call)
{
    const struct state *state = *call->kept;
    const uint32_t *in = call->input;
    uint32_t *out = call->output, sum = 0;
    if (left_behind || state->n != call->problem.n || state->threads != call->problem.threads)
        sum = 1;
    for (uint64_t i = 0; i < call->problem.n; i++) {
        out[i] = sum;
        sum += in[i];
    }
}

static void release(const struct call *call)
{
    free(*call->kept);
    unreleased--;
}

const struct algorithm cpu_scan_keeps_state = {
    .name = "keeps-state",
    .op = OP_SCAN,
    .family = FAMILY_OWN,
    .traits = TRAIT_HAS_THREADS,
    .summary = "right if its kept state is its own and released after each size",
    .source = "none",
    .prepare = prepare,
    .run = run,
    .release = release,
};
