/* team_verify: checks every slice where it lies, and what links it to the others: a scan and a sort
 * go on from the last element before the slice, and a compaction knows the place of its part. */
#include "team.h"

#include "../base/errors.h"
#include "../operations.h"
#include "../base/processes.h"
#include "elements.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The last element of a slice; nothing if the slice is empty, and then so are all after it. */
static const char *read_last(struct device *member, enum element_type type, uint64_t n,
                             const struct buffer *output, struct seam *last)
{
    unsigned char raw[8] = {0};
    *last = (struct seam){.follows = n > 0};
    if (n == 0)
        return NULL;
    const char *why =
        member->can->read(member, raw, (const char *)output->data + (n - 1) * element_bytes(type),
                          element_bytes(type));
    last->before = element_load(type, raw, 0);
    return why;
}

/* Reads the last elements of all slices, in all processes. */
static const char *read_seams(struct team_device *team, const struct problem *problem,
                              const struct workspace *w, struct seam *all)
{
    const struct team *t = &team->team;
    struct seam mine[MOST_MEMBERS] = {{0}};
    const char *why = NULL;
    for (unsigned m = 0; m < t->here && why == NULL; m++) {
        const uint64_t n = slice_start(problem->n, t->size, t->first + m + 1) -
                           slice_start(problem->n, t->size, t->first + m);
        why = read_last(team->member[m], problem->type, n, &slices_of(&w->output)->of[m], &mine[m]);
    }
    why = agree_on(team, why);
    gather_from_processes(mine, t->here * sizeof *mine, all);
    return why;
}

static struct buffer part_of(const struct buffer *buffer, unsigned m)
{
    return buffer->data != NULL ? slices_of(buffer)->of[m] : (struct buffer){0};
}

/* What a member finds, and for a compaction what it gives as its place. */
struct finding {
    struct verdict verdict;
    uint64_t place;
};

static const char *verify_member(struct team_device *team, unsigned m,
                                 const struct problem *problem, enum result result,
                                 const struct input *input, struct seam seam,
                                 const struct workspace *w, struct finding *found)
{
    const unsigned member = team->team.first + m, size = team->team.size;
    const uint64_t start = slice_start(problem->n, size, member);
    const uint64_t end = slice_start(problem->n, size, member + 1);
    const struct input slice = input_slice(input, start, end);
    const struct workspace its_own = {
        .input = part_of(&w->input, m),
        .output = part_of(&w->output, m),
        .scratch = part_of(&w->scratch, m),
        .count = part_of(&w->count, m),
        .input_values = part_of(&w->input_values, m),
        .output_values = part_of(&w->output_values, m),
    };
    struct problem of_slice = *problem;
    of_slice.n = end - start;
    struct device *device = team->member[m];
    const char *why =
        verify_slice(device, &of_slice, result, &slice, seam, &its_own, &found->verdict);
    if (why == NULL && its_own.count.data != NULL && result == RESULT_OF_OPERATION)
        why = device->can->read(device, &found->place, (const uint64_t *)its_own.count.data + 1,
                                sizeof found->place);
    return why;
}

/* Combines what the members have found: the first failure counts. With one
 * member there is no place to check. */
static void judge(const struct problem *problem, enum result result, unsigned size,
                  struct finding *all, struct verdict *verdict)
{
    const bool has_places =
        size > 1 && operation_has(problem->op, HAS_COUNT) && result == RESULT_OF_OPERATION;
    *verdict = (struct verdict){.passed = true};
    for (unsigned k = 0; k < size; k++) {
        struct verdict *of_slice = &all[k].verdict;
        if (of_slice->passed && has_places && all[k].place != verdict->written) {
            snprintf(of_slice->reason, sizeof of_slice->reason,
                     "place: got %" PRIu64 ", wanted %" PRIu64, all[k].place, verdict->written);
            of_slice->passed = false;
        }
        if (!of_slice->passed && verdict->passed) {
            snprintf(verdict->reason, sizeof verdict->reason, "slice %u: %.230s", k,
                     of_slice->reason);
            verdict->passed = false;
        }
        verdict->written += of_slice->written;
        verdict->got.sum += of_slice->got.sum;
        verdict->got.parity ^= of_slice->got.parity;
        verdict->wanted.sum += of_slice->wanted.sum;
        verdict->wanted.parity ^= of_slice->wanted.parity;
    }
    judge_digests(verdict);
}

const char *team_verify(struct device *device, const struct problem *problem, enum result result,
                        const struct input *input, const struct workspace *workspace,
                        struct verdict *verdict)
{
    struct team_device *team = team_of(device);
    const struct team *t = &team->team;
    struct seam *lasts = allocate_or_die(NULL, t->size * sizeof *lasts);
    struct finding *all = allocate_or_die(NULL, t->size * sizeof *all);
    struct finding *mine = allocate_or_die(NULL, t->here * sizeof *mine);
    const char *why = read_seams(team, problem, workspace, lasts);
    const bool agreed = why == NULL;
    for (unsigned m = 0; m < t->here && why == NULL; m++) {
        const unsigned member = t->first + m;
        const struct seam seam = member > 0 ? lasts[member - 1] : (struct seam){0};
        why = verify_member(team, m, problem, result, input, seam, workspace, &mine[m]);
    }
    if (agreed)
        why = agree_on(team, why);
    if (why == NULL) {
        gather_from_processes(mine, t->here * sizeof *mine, all);
        judge(problem, result, t->size, all, verdict);
    }
    free(mine);
    free(all);
    free(lasts);
    return why;
}
