/* thread_pool: runs the parts of a job on the caller and on helpers that are awake.
 *
 * A call opens the pool, wakes helpers, does part 0 and then whatever no helper has begun, closes
 * the pool and waits for the helpers inside it. A helper that is stopped outside is not waited for:
 * it finds the pool closed. */
#define _GNU_SOURCE /* pthread_attr_setaffinity_np */
#include "thread_pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

enum {
    CACHE_LINE_BYTES = 64,
    STACK_BYTES = 2 << 20,
    SPINS_BEFORE_YIELD = 4000,
    SPINS_BEFORE_SLEEP = 8000,
    SLEEP_NS = 50000,
    NOBODY = MOST_PARTS,  /* no number of a helper */
    LOOKS_PER_ROUND = 64, /* at the pool, between looks at the clock */
    /* A helper spins before it sleeps, since waking it takes longer than a short job; only briefly
     * where others want its processor, or it would be preempted within the next job. A round of
     * STOPPED_NS was interrupted. One interruption happens anywhere; two within a
     * few calls make a busy processor. */
    LONG_SPIN_NS = 16000000,
    SHORT_SPIN_NS = 20000,
    STOPPED_NS = 2000000,
    ONE_STOP = 64,
    BUSY = ONE_STOP * 3 / 2,
};

struct pool;

/* In a cache line of its own, so that helpers do not wait for each other's lines. */
struct helper {
    _Alignas(CACHE_LINE_BYTES) _Atomic uint32_t asleep; /* a futex: 1 until it is woken */
    _Atomic bool is_inside;                             /* or about to find the pool closed */
    _Atomic uint64_t begun_in; /* the call in which its part was begun last */
    unsigned number;           /* from 1; its part */
    unsigned stops;            /* ONE_STOP for each; an eighth is forgotten with each call */
    struct pool *pool;
};

struct pool {
    /* The number of the call, its parts, and whether it is open. */
    _Alignas(CACHE_LINE_BYTES) _Atomic uint64_t state;
    part_job *job;
    void *context;
    unsigned helper_count;
    struct pool *next_idle;
    struct helper *helpers[MOST_PARTS]; /* by number */
};

enum { IS_OPEN = 1, CALL_SHIFT = 14, MOST_OF_STATE = (1 << (CALL_SHIFT - 1)) - 1 };
_Static_assert((int)MOST_PARTS <= (int)MOST_OF_STATE, "a state has no room for so many parts");

static uint64_t open_state(uint64_t call, unsigned parts)
{
    return call << CALL_SHIFT | parts << 1 | IS_OPEN;
}

static uint64_t call_of(uint64_t state)
{
    return state >> CALL_SHIFT;
}

static unsigned parts_of(uint64_t state)
{
    return state >> 1 & MOST_OF_STATE;
}

static void spin(void)
{
#ifdef __x86_64__
    _mm_pause();
#endif
}

/* To yield is not enough for a thread of lower priority. */
void spin_or_yield(unsigned *spins)
{
    if (++*spins >= SPINS_BEFORE_SLEEP)
        nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
    else if (*spins >= SPINS_BEFORE_YIELD)
        sched_yield();
    else
        spin();
}

/* ---- Sleeping and waking ---- */

static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* The first helper that is to sleep at once, as are all after it. */
static _Atomic unsigned resting = NOBODY;

static bool is_called(struct pool *pool, uint64_t last_call)
{
    return call_of(atomic_load(&pool->state)) != last_call;
}

/* Returns whether a call came while the helper spun. */
static bool spin_for_call(struct helper *helper, uint64_t last_call)
{
    const int64_t start = now_ns(), most = helper->stops < BUSY ? LONG_SPIN_NS : SHORT_SPIN_NS;
    for (int64_t now = start, then; now - start < most; now = then) {
        for (int look = 0; look < LOOKS_PER_ROUND; look++) {
            if (is_called(helper->pool, last_call))
                return true;
            spin();
        }
        if (helper->number >= atomic_load_explicit(&resting, memory_order_relaxed))
            return false;
        then = now_ns();
        if (then - now >= STOPPED_NS) {
            helper->stops += ONE_STOP;
            return false;
        }
    }
    return false;
}

static void sleep_until_call(struct helper *helper, uint64_t last_call)
{
    while (!is_called(helper->pool, last_call)) {
        atomic_store(&helper->asleep, 1);
        if (!is_called(helper->pool, last_call))
            syscall(SYS_futex, &helper->asleep, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
        atomic_store(&helper->asleep, 0);
    }
}

static void await_call(struct helper *helper, uint64_t last_call, bool was_needed)
{
    if (!was_needed || !spin_for_call(helper, last_call))
        sleep_until_call(helper, last_call);
    helper->stops -= helper->stops / 8;
}

static void wake(struct helper *helper)
{
    if (atomic_load(&helper->asleep) == 1 && atomic_exchange(&helper->asleep, 0) == 1)
        syscall(SYS_futex, &helper->asleep, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* ---- Parts ---- */

/* The first thread that asks for a helper's part begins it. */
static bool begin(struct helper *helper, uint64_t call)
{
    return atomic_load_explicit(&helper->begun_in, memory_order_relaxed) != call &&
           atomic_exchange(&helper->begun_in, call) != call;
}

/* The last part that has a helper. */
static unsigned last_helped(const struct pool *pool, unsigned parts)
{
    return parts - 1 < pool->helper_count ? parts - 1 : pool->helper_count;
}

/* Does the parts that no helper has begun, from the last on, whose helper was woken last. */
static void do_parts_left(struct pool *pool, uint64_t state)
{
    for (unsigned part = last_helped(pool, parts_of(state)); part > 0; part--)
        if (begin(pool->helpers[part], call_of(state)))
            pool->job(pool->context, part, parts_of(state));
}

static void do_own_part(struct helper *helper, uint64_t state)
{
    struct pool *pool = helper->pool;
    if (begin(helper, call_of(state)))
        pool->job(pool->context, helper->number, parts_of(state));
}

static void *help(void *context)
{
    struct helper *helper = context;
    struct pool *pool = helper->pool;
    uint64_t last_call = 0;
    bool was_needed = true;
    for (;;) {
        await_call(helper, last_call, was_needed);
        atomic_store(&helper->is_inside, true);
        const uint64_t state = atomic_load(&pool->state);
        last_call = call_of(state);
        was_needed = helper->number < parts_of(state);
        if (state & IS_OPEN && was_needed) {
            do_own_part(helper, state);
            do_parts_left(pool, state);
        }
        atomic_store(&helper->is_inside, false);
    }
    return NULL;
}

/* ---- Helpers ---- */

static void choose_processor(pthread_attr_t *attributes, unsigned number, const cpu_set_t *all)
{
    unsigned left = number % (unsigned)CPU_COUNT(all);
    for (int processor = 0; processor < CPU_SETSIZE; processor++)
        if (CPU_ISSET(processor, all) && left-- == 0) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(processor, &one);
            pthread_attr_setaffinity_np(attributes, sizeof one, &one);
            return;
        }
}

/* Signals to the process are for threads of its own; a fault is of the thread that causes it. */
static void fill_with_foreign_signals(sigset_t *signals)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigfillset(signals);
    for (size_t f = 0; f < sizeof faults / sizeof *faults; f++)
        sigdelset(signals, faults[f]);
}

static bool start_helper(struct helper *helper, const cpu_set_t *processors)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t foreign, before;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    if (processors != NULL && CPU_COUNT(processors) > 0)
        choose_processor(&attributes, helper->number, processors);
    fill_with_foreign_signals(&foreign);
    pthread_sigmask(SIG_BLOCK, &foreign, &before);
    const bool started = pthread_create(&thread, &attributes, help, helper) == 0;
    if (started) /* here, because on a busy machine the thread itself would be late to say so */
        pthread_setname_np(thread, "helper");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

static void start_helpers(struct pool *pool, unsigned parts, const void *processors)
{
    while (pool->helper_count + 1 < parts && pool->helper_count + 1 < MOST_PARTS) {
        struct helper *helper = aligned_alloc(CACHE_LINE_BYTES, sizeof *helper);
        if (helper == NULL)
            return;
        *helper = (struct helper){.pool = pool, .number = pool->helper_count + 1};
        if (!start_helper(helper, processors)) {
            free(helper);
            return;
        }
        pool->helpers[++pool->helper_count] = helper;
    }
}

/* ---- Pools that no call uses ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pool *idle;

/* A child of fork() has none of the helpers. */
static void forget_pools(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    idle = NULL;
    atomic_store(&resting, NOBODY);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_pools);
}

static struct pool *take_pool(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&lock);
    struct pool *pool = idle;
    if (pool != NULL)
        idle = pool->next_idle;
    pthread_mutex_unlock(&lock);
    if (pool == NULL && (pool = aligned_alloc(CACHE_LINE_BYTES, sizeof *pool)) != NULL)
        memset(pool, 0, sizeof *pool);
    return pool;
}

static void give_back(struct pool *pool)
{
    pthread_mutex_lock(&lock);
    pool->next_idle = idle;
    idle = pool;
    pthread_mutex_unlock(&lock);
}

/* Parts for which no helper could be started are the caller's. */
static void do_parts_without_helper(struct pool *pool, unsigned parts)
{
    pool->job(pool->context, 0, parts);
    for (unsigned part = last_helped(pool, parts) + 1; part < parts; part++)
        pool->job(pool->context, part, parts);
}

static void await_helpers(struct pool *pool, unsigned parts)
{
    unsigned spins = 0;
    for (unsigned part = last_helped(pool, parts); part > 0; part--)
        while (atomic_load(&pool->helpers[part]->is_inside))
            spin_or_yield(&spins);
}

void run_parts(unsigned parts, const void *processors, part_job *job, void *context)
{
    struct pool *pool = parts > 1 ? take_pool() : NULL;
    if (pool == NULL) {
        for (unsigned part = 0; part < parts; part++)
            job(context, part, parts);
        return;
    }
    start_helpers(pool, parts, processors);
    pool->job = job;
    pool->context = context;
    const uint64_t state = open_state(call_of(atomic_load(&pool->state)) + 1, parts);
    atomic_store(&pool->state, state);
    for (unsigned part = 1; part <= last_helped(pool, parts); part++)
        wake(pool->helpers[part]);
    do_parts_without_helper(pool, parts);
    do_parts_left(pool, state);
    atomic_store(&pool->state, state & ~(uint64_t)IS_OPEN);
    await_helpers(pool, parts);
    give_back(pool);
}

void rest_helpers(unsigned first)
{
    unsigned spins = 0;
    pthread_mutex_lock(&lock);
    atomic_store(&resting, first);
    for (const struct pool *pool = idle; pool != NULL; pool = pool->next_idle)
        for (unsigned number = first; number <= pool->helper_count; number++)
            while (atomic_load(&pool->helpers[number]->asleep) == 0)
                spin_or_yield(&spins);
    atomic_store(&resting, NOBODY);
    pthread_mutex_unlock(&lock);
}
