/* fenced_memory: maps arrays between pages that must not be touched. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "fenced_memory.h"

#include "../base/errors.h"
#include "guard.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FENCE_BYTES = 64 << 10, PAGE_AT_MOST = 64 << 10 }; /* multiples of every page size */

/* The mapped arrays; data NULL: a free slot. */
static struct fenced_array {
    unsigned char *data;
    size_t bytes;
} arrays[FENCED_ARRAYS];

static const char *volatile running;

/* The first touch of a closed array. */
static volatile bool touched;
static struct fenced_array touched_array;
static const unsigned char *volatile touched_at;

static unsigned char *round_up(unsigned char *at, size_t alignment)
{
    return at + (alignment - (uintptr_t)at % alignment) % alignment;
}

/* The whole mapping: fence, zone, array, zone, fence. */
static unsigned char *mapping_start(const struct fenced_array *array)
{
    return array->data - GUARD_BYTES - FENCE_BYTES;
}

static unsigned char *mapping_end(const struct fenced_array *array)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return round_up(array->data + array->bytes + GUARD_BYTES, page) + FENCE_BYTES;
}

static struct fenced_array *find_array(const void *data)
{
    for (int a = 0; a < FENCED_ARRAYS; a++)
        if (arrays[a].data == data)
            return &arrays[a];
    BUG("no such array, or no slot for another");
}

/* Unmaps what alignment leaves over on either side. */
static bool map_array(struct fenced_array *array, size_t bytes, size_t alignment)
{
    const size_t aside = GUARD_BYTES + FENCE_BYTES;
    const size_t total = bytes + 2 * aside + PAGE_AT_MOST + alignment;
    unsigned char *base =
        mmap(NULL, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return false;
    *array = (struct fenced_array){.data = round_up(base + aside, alignment), .bytes = bytes};
    unsigned char *start = mapping_start(array), *end = mapping_end(array);
    if (start > base)
        munmap(base, (size_t)(start - base));
    munmap(end, (size_t)(base + total - end));
    if (mprotect(start + FENCE_BYTES, (size_t)(end - start) - 2 * FENCE_BYTES,
                 PROT_READ | PROT_WRITE) == 0)
        return true;
    munmap(start, (size_t)(end - start));
    *array = (struct fenced_array){0};
    return false;
}

void *fenced_allocate(size_t bytes, size_t alignment)
{
    struct fenced_array *array = find_array(NULL);
    return map_array(array, bytes, alignment < PAGE_AT_MOST ? PAGE_AT_MOST : alignment)
               ? array->data
               : NULL;
}

void fenced_release(void *data)
{
    struct fenced_array *array = find_array(data);
    unsigned char *start = mapping_start(array);
    munmap(start, (size_t)(mapping_end(array) - start));
    *array = (struct fenced_array){0};
}

static void describe_touch(const struct fenced_array *array, const unsigned char *at, char *text,
                           size_t size)
{
    const unsigned long long bytes = array->bytes;
    if (at < array->data)
        snprintf(text, size, "touched memory %llu bytes before the start of a buffer of %llu bytes",
                 (unsigned long long)(array->data - at), bytes);
    else if (at < array->data + bytes)
        snprintf(text, size, "wrote to its input, at byte %llu of %llu",
                 (unsigned long long)(at - array->data), bytes);
    else
        snprintf(text, size, "touched memory %llu bytes past the end of a buffer of %llu bytes",
                 (unsigned long long)(at - array->data) - bytes, bytes);
}

/* ---- closing the margins ---- */

static bool protect(unsigned char *begin, unsigned char *end, int how)
{
    return begin >= end || mprotect(begin, (size_t)(end - begin), how) == 0;
}

/* Only whole pages can be closed. A page that is the end of the array and the start of its margin
 * stays open. */
static bool set_access(const struct fenced_array *array, int margins, int data)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *end = array->data + array->bytes, *after = round_up(end, page);
    return protect(array->data - GUARD_BYTES, array->data, margins) &&
           protect(array->data, end - (uintptr_t)end % page, data) &&
           protect(after, after + GUARD_BYTES, margins);
}

static bool open_array(const struct fenced_array *array)
{
    return set_access(array, PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE);
}

bool fenced_close(void *data, bool read_only)
{
    return set_access(find_array(data), PROT_NONE, read_only ? PROT_READ : PROT_READ | PROT_WRITE);
}

/* A second attempt follows a failure: the array must be open for whoever uses it next. */
bool fenced_open(void *data)
{
    const struct fenced_array *array = find_array(data);
    return open_array(array) || (open_array(array), false);
}

bool fenced_touch(char *text, size_t size)
{
    if (!touched)
        return false;
    touched = false;
    describe_touch(&touched_array, touched_at, text, size);
    return true;
}

/* ---- when a fence is touched ---- */

static struct sigaction action_before;

static void report_touch(const struct fenced_array *array, const unsigned char *at)
{
    char touch[128], words[LAST_WORDS_BYTES];
    describe_touch(array, at, touch, sizeof touch);
    snprintf(words, sizeof words, "%s %s", running, touch);
    end_process(EXIT_WRONG_ANSWER, words);
}

/* The first touch of a closed array is noted, and the array opened, so that the run goes on. */
static void note_touch(struct fenced_array *array, const unsigned char *at)
{
    if (!touched) {
        touched_array = *array;
        touched_at = at;
        touched = true;
    }
    open_array(array);
}

static void on_segmentation_fault(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    const unsigned char *at = info->si_addr;
    for (int a = 0; a < FENCED_ARRAYS; a++) {
        struct fenced_array *array = &arrays[a];
        if (array->data == NULL || at < mapping_start(array) || at >= mapping_end(array))
            continue;
        const bool outer = at < array->data - GUARD_BYTES || at >= mapping_end(array) - FENCE_BYTES;
        if (outer)
            report_touch(array, at);
        note_touch(array, at); /* another thread may have opened it a moment ago */
        return;
    }
    /* Not one of our fences: the instruction runs again and fails as it would have. */
    sigaction(signal_number, &action_before, NULL);
}

/* Others install handlers too: a test framework, a library. */
void watch_fences(const char *name)
{
    struct sigaction action;
    running = name;
    sigaction(SIGSEGV, NULL, &action);
    if (action.sa_flags & SA_SIGINFO && action.sa_sigaction == on_segmentation_fault)
        return;
    action_before = action;
    action = (struct sigaction){.sa_flags = SA_SIGINFO};
    action.sa_sigaction = on_segmentation_fault;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, NULL);
}
