/* stack: the stack that calls on the CPU need, measured, in threads whose stack has exactly
 * SCANBENCH_STACK_BYTES. Prints the most per operation, over types, vector paths, sizes and inputs,
 * among them keys for which the sorts recurse deepest. */
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_STACK */
#include "../../library/handle.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    PAGE_BYTES = 4096,
    UNTOUCHED = 0x5A,
    THREADS = 2,                 /* few are enough */
    LARGE = 100000,              /* elements, enough for threads and for buckets in memory */
    SHORT_CALL_BYTES = 16 << 10, /* docs/library.md: sums, compaction */
    SORT_BYTES = 384 << 10,      /* docs/library.md: sorts */
};

enum action { EXCLUSIVE_SUM, INCLUSIVE_SUM, COMPACT_NONZERO, SORT_KEYS, SORT_PAIRS, ACTION_COUNT };
static const char *const NAMES[] = {"exclusive sum", "inclusive sum", "compaction", "sort of keys",
                                    "sort of pairs"};

enum shape { RANDOM, FEW_DIFFER, ONE_PER_DIGIT, TWO_DIGITS_EACH, SHAPE_COUNT };

/* One call, and the stack that it took. */
struct measurement {
    enum action action;
    scanbench_type type;
    size_t value_bytes;
    unsigned threads;
    enum simd_path simd;
    uint64_t n;
    scanbench_status status;
    const char *top; /* the thread's stack, at the call */
};

static uint64_t in[LARGE], out[LARGE], values[LARGE], out_values[LARGE];
static char *stack; /* its lowest byte, above a page that must not be touched */

static uint64_t next_random(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* Words of 64 bits, or twice as many of 32. Sorts that look at one digit after the other go
 * deepest if each digit tells one key from the rest, which are too many to be sorted directly. */
static void fill(enum shape shape, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        in[i] = shape == RANDOM ? next_random() : shape == FEW_DIFFER ? next_random() % 3 : 0;
        values[i] = next_random();
    }
    uint64_t filled = 0;
    if (shape == ONE_PER_DIGIT) /* of one bit or, while there are more keys, of two */
        for (int bit = 63, step = 2; bit >= 0 && filled < n; bit -= step) {
            in[filled++] = (uint64_t)1 << bit;
            step = bit > 32 ? 2 : 1;
        }
    if (shape == TWO_DIGITS_EACH) /* of four bits each */
        for (int bit = 63; bit >= 0 && filled < n; bit -= 8)
            in[filled++] = (uint64_t)1 << bit;
}

static void *call(void *context)
{
    struct measurement *m = context;
    m->top = __builtin_frame_address(0);
    scanbench_handle *handle;
    uint64_t count;
    m->status = scanbench_create_cpu(&handle, m->threads);
    if (m->status != SCANBENCH_OK)
        return NULL;
    handle->limits.best_simd = m->simd;
    switch (m->action) {
    case EXCLUSIVE_SUM:
        m->status = scanbench_exclusive_sum(handle, m->type, in, out, m->n, NULL);
        break;
    case INCLUSIVE_SUM:
        m->status = scanbench_inclusive_sum(handle, m->type, in, out, m->n, NULL);
        break;
    case COMPACT_NONZERO:
        m->status = scanbench_compact_nonzero(handle, m->type, in, out, &count, m->n, NULL);
        break;
    case SORT_KEYS:
        m->status = scanbench_sort_keys(handle, m->type, in, out, m->n, NULL);
        break;
    default:
        m->status = scanbench_sort_pairs(handle, m->type, in, out, m->value_bytes, values,
                                         out_values, m->n, NULL);
    }
    scanbench_destroy(handle);
    return NULL;
}

/* Makes the call in a thread of its own, and returns the bytes of stack that it took. */
static size_t measure(struct measurement m)
{
    pthread_attr_t attributes;
    pthread_t thread;
    memset(stack, UNTOUCHED, SCANBENCH_STACK_BYTES);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, SCANBENCH_STACK_BYTES);
    if (pthread_create(&thread, &attributes, call, &m) != 0 || pthread_join(thread, NULL) != 0) {
        printf("no thread with a stack of %d bytes\n", SCANBENCH_STACK_BYTES);
        exit(1);
    }
    pthread_attr_destroy(&attributes);
    if (m.status != SCANBENCH_OK) {
        printf("%s: %s\n", NAMES[m.action], scanbench_status_text(m.status));
        exit(1);
    }
    const char *lowest = stack;
    while (lowest < m.top && *lowest == UNTOUCHED)
        lowest++;
    return (size_t)(m.top - lowest);
}

static bool is_wide(scanbench_type type)
{
    return type == SCANBENCH_I64 || type == SCANBENCH_U64 || type == SCANBENCH_F64;
}

/* The most over types and values of each size. */
static size_t most_of_types(struct measurement m)
{
    size_t most = 0;
    for (int type = SCANBENCH_I32; type <= SCANBENCH_BF16; type++)
        for (m.value_bytes = 4; m.value_bytes <= 8; m.value_bytes += 4) {
            struct measurement one = m;
            one.type = (scanbench_type)type;
            one.n = is_wide(one.type) || m.n == LARGE ? m.n : 2 * m.n;
            if ((m.action < SORT_PAIRS && m.value_bytes > 4) ||
                (m.action == SORT_PAIRS && type >= SCANBENCH_U8))
                continue;
            const size_t bytes = measure(one);
            most = bytes > most ? bytes : most;
        }
    return most;
}

/* The most over inputs as well. */
static size_t most_of(enum action action, enum simd_path simd, unsigned threads)
{
    static const uint64_t sizes[] = {1, 33, 100, 177, 5000, LARGE};
    size_t most = 0;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (enum shape shape = RANDOM; shape < SHAPE_COUNT; shape++) {
            fill(shape, sizes[s]);
            const size_t bytes = most_of_types((struct measurement){
                .action = action, .simd = simd, .threads = threads, .n = sizes[s]});
            most = bytes > most ? bytes : most;
        }
    return most;
}

static enum simd_path best_simd(void)
{
    scanbench_handle *handle;
    if (scanbench_create_cpu(&handle, 1) != SCANBENCH_OK)
        exit(1);
    const enum simd_path best = handle->limits.best_simd;
    scanbench_destroy(handle);
    return best;
}

static bool check(const char *what, size_t bytes, size_t most)
{
    printf("%s: %zu bytes, at most %zu\n", what, bytes, most);
    return bytes <= most;
}

int main(void)
{
    bool passed = true;
    char *memory = mmap(NULL, PAGE_BYTES + SCANBENCH_STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, PAGE_BYTES, PROT_NONE) != 0)
        return 1;
    stack = memory + PAGE_BYTES;
    for (enum action action = EXCLUSIVE_SUM; action < ACTION_COUNT; action++) {
        size_t most = 0;
        for (enum simd_path simd = SIMD_PORTABLE; simd <= best_simd(); simd++) {
            const size_t bytes = most_of(action, simd, THREADS);
            most = bytes > most ? bytes : most;
        }
        passed &= check(NAMES[action], most, action < SORT_KEYS ? SHORT_CALL_BYTES : SORT_BYTES);
    }
    printf(passed ? "enough stack\n" : "too little stack\n");
    return !passed;
}
