/* games: algorithms on the CPU whose results are right whenever a check after the last run looks at
 * them, because of work that was skipped, remembered, or done where it is not timed. i32 and u32
 * only, but for the sort. */
#include "../../bench/algorithm.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void scan_to(const struct call *call, uint32_t *out)
{
    const uint32_t *in = call->input;
    uint32_t sum = 0;
    for (uint64_t i = 0; i < call->problem.n; i++) {
        out[i] = sum + (call->problem.kind == KIND_INCLUSIVE ? in[i] : 0);
        sum += in[i];
    }
}

static void scan(const struct call *call)
{
    scan_to(call, call->output);
}

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1);
    if (memory == NULL)
        abort();
    return memory;
}

static size_t output_bytes(const struct problem *problem)
{
    return problem->n * sizeof(uint32_t);
}

/* ---- work that is skipped ---- */

/* How often each of them was called, whatever the harness says. */
static unsigned calls;

static void every_other_call(const struct call *call)
{
    if (calls++ % 2 == 0)
        scan(call);
}

static void half_in_every_other_call(const struct call *call)
{
    uint32_t *out = call->output;
    const uint64_t half = call->problem.n / 2;
    if (calls++ % 2 == 0) {
        scan(call);
        return;
    }
    uint32_t *result = allocate(output_bytes(&call->problem));
    scan_to(call, result);
    memcpy(out, result, half * sizeof *out);
    free(result);
}

static void wrong_fifth(const struct call *call)
{
    uint32_t *out = call->output;
    scan(call);
    if (++calls % 5 == 0)
        for (uint64_t i = 0; i < call->problem.n; i++)
            out[i]++;
}

/* One element, in half of the calls. */
static void wrong_element_in_every_other_call(const struct call *call)
{
    scan(call);
    if (calls++ % 2 == 1)
        ((uint32_t *)call->output)[call->problem.n / 2]++;
}

/* ---- work that is remembered ---- */

/* In prepare(), from the input that is there then. */
static void works_ahead_prepare(const struct call *call)
{
    if (*call->kept == NULL)
        *call->kept = allocate(output_bytes(&call->problem));
    scan_to(call, *call->kept);
}

static void works_ahead(const struct call *call)
{
    memcpy(call->output, *call->kept, output_bytes(&call->problem));
}

static void release(const struct call *call)
{
    free(*call->kept);
}

struct answers {
    uint32_t first[2];
    uint32_t *of[2];
    unsigned known;
};

/* Knows an input by its first element. */
static void remembers_two(const struct call *call)
{
    const uint32_t *in = call->input;
    const size_t bytes = output_bytes(&call->problem);
    struct answers *answers = *call->kept;
    if (answers == NULL) {
        *call->kept = answers = allocate(sizeof *answers);
        *answers = (struct answers){.of = {allocate(bytes), allocate(bytes)}};
    }
    for (unsigned a = 0; a < 2 && a < answers->known; a++)
        if (answers->first[a] == in[0]) {
            memcpy(call->output, answers->of[a], bytes);
            return;
        }
    scan(call);
    const unsigned place = answers->known++ % 2;
    answers->first[place] = in[0];
    memcpy(answers->of[place], call->output, bytes);
}

static void release_answers(const struct call *call)
{
    struct answers *answers = *call->kept;
    free(answers->of[0]);
    free(answers->of[1]);
    free(answers);
}

/* ---- work that is done elsewhere ---- */

static void nothing(const struct call *call)
{
    (void)call;
}

struct task {
    pthread_t thread;
    struct call call;
};

static void *work_late(void *argument)
{
    const struct task *task = argument;
    nanosleep(&(struct timespec){.tv_nsec = 5 * 1000 * 1000}, NULL);
    scan(&task->call);
    return NULL;
}

static void join(const struct call *call)
{
    struct task *task = *call->kept;
    if (task != NULL)
        pthread_join(task->thread, NULL);
    free(task);
    *call->kept = NULL;
}

static void starts_a_thread(const struct call *call)
{
    join(call);
    struct task *task = *call->kept = allocate(sizeof *task);
    task->call = *call;
    if (pthread_create(&task->thread, NULL, work_late, task) != 0)
        abort();
}

/* ---- memory that is not its own ---- */

/* Adds to what is in scratch, which is zero at first in memory fresh from the system. */
static void trusts_scratch(const struct call *call)
{
    const uint32_t *in = call->input;
    uint32_t *out = call->output, *sum = call->scratch;
    for (uint64_t i = 0; i < call->problem.n; i++) {
        out[i] = *sum + (call->problem.kind == KIND_INCLUSIVE ? in[i] : 0);
        *sum += in[i];
    }
    *sum = 0;
}

static size_t one_word(const struct problem *problem)
{
    (void)problem;
    return sizeof(uint32_t);
}

static void reads_past(const struct call *call)
{
    const volatile uint32_t *in = call->input;
    scan(call);
    (void)in[call->problem.n];
}

static void reads_before(const struct call *call)
{
    const volatile uint32_t *in = call->input;
    scan(call);
    (void)in[-1];
}

/* Uses the input as scratch, and puts it back. */
static void puts_back(const struct call *call)
{
    volatile uint32_t *in = (uint32_t *)call->input;
    scan(call);
    in[0] ^= 1;
    in[0] ^= 1;
}

static const char *only_32_bit_integers(const struct problem *problem)
{
    return problem->type == TYPE_I32 || problem->type == TYPE_U32 ? NULL : "i32 and u32 only";
}

#define GAME(op_name, its_name, its_run, its_summary, ...)                         \
    const struct algorithm cpu_scan_##op_name = {.name = its_name,                 \
                                                 .op = OP_SCAN,                    \
                                                 .family = FAMILY_OWN,             \
                                                 .summary = its_summary,           \
                                                 .source = "none",                 \
                                                 .supports = only_32_bit_integers, \
                                                 .run = its_run,                   \
                                                 __VA_ARGS__};

GAME(every_other_call, "every-other-call", every_other_call, "works in every other call")
GAME(half_in_every_other_call, "half-in-every-other-call", half_in_every_other_call,
     "leaves out half of the output in every other call")
GAME(wrong_fifth, "wrong-fifth", wrong_fifth, "wrong in every fifth call")
GAME(wrong_element_in_every_other_call, "wrong-element-in-every-other-call",
     wrong_element_in_every_other_call, "one element is wrong in every other call")
GAME(works_ahead, "works-ahead", works_ahead, "works in prepare()", .prepare = works_ahead_prepare,
     .release = release)
GAME(remembers_two, "remembers-two", remembers_two, "remembers two answers",
     .release = release_answers)
GAME(hands_over, "hands-over", nothing, "works in hand_over()", .hand_over = scan)
GAME(joins_late, "joins-late", starts_a_thread, "waits for its work in hand_over()",
     .hand_over = join, .release = join)
GAME(trusts_scratch, "trusts-scratch", trusts_scratch, "relies on scratch that is zero",
     .scratch_bytes = one_word)
GAME(reads_past, "reads-past", reads_past, "reads input[n]")
GAME(reads_before, "reads-before", reads_before, "reads input[-1]")
GAME(puts_back, "puts-back", puts_back, "changes input[0] and puts it back")

/* ---- a sort ---- */

enum { SIGN = 0x80000000u };

/* The order of floats by their bits, but with 0 and -0 in each other's place. */
static uint32_t rank(uint32_t bits)
{
    if (bits == 0 || bits == SIGN)
        bits ^= SIGN;
    return bits & SIGN ? ~bits : bits ^ SIGN;
}

static int by_rank(const void *a, const void *b)
{
    const uint32_t x = rank(*(const uint32_t *)a), y = rank(*(const uint32_t *)b);
    return (x > y) - (x < y);
}

static void zeros_swapped(const struct call *call)
{
    memcpy(call->output, call->input, call->problem.n * sizeof(float));
    qsort(call->output, call->problem.n, sizeof(float), by_rank);
}

static const char *only_f32(const struct problem *problem)
{
    return problem->type == TYPE_F32 ? NULL : "f32 only";
}

const struct algorithm cpu_sort_zeros_swapped = {
    .name = "zeros-swapped",
    .op = OP_SORT,
    .family = FAMILY_OWN,
    .summary = "0 before -0",
    .source = "none",
    .supports = only_f32,
    .run = zeros_swapped,
};
