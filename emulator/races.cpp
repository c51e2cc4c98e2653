/* races.cpp: finds accesses of a launch that nothing orders: two threads, the same bytes, and one
 * of the two writes.
 *
 * What orders threads: a barrier those of its block, a barrier of the grid or of the cluster all of
 * them, a warp collective the lanes of its mask, and an mbarrier who arrives before who waits. A
 * fence followed by an atomic or a volatile store, the release, orders what came before the fence
 * before what follows an atomic or a volatile load of the same word that comes later, the
 * acquisition, for which no fence is asked. As volatile count as well __ldcg, __ldcv, __stcg and
 * __stwt. Lanes of a warp are not in step. Every collective orders lanes, although CUDA promises
 * that of __syncwarp alone.
 *
 * Atomics and volatile accesses do not race with each other. Volatile accesses to shared memory by
 * lanes of one warp do: that was how lanes in step exchanged values, which they are no longer.
 * Stores do not race with each other if all store the same value.
 *
 * Each word of memory has a few of the accesses that a later one could race with. If there are
 * more, one is forgotten, so of many racing pairs not all would be found; the first one found ends
 * the launch. */
#include "races.h"
#include "source_lines.h"

#include "clocks.h"
#include "scheduler.h"

#include <algorithm>
#include <memory>
#include <string.h>
#include <unordered_map>
#include <vector>

inline namespace emulator_cuda
{

enum {
    SEEN = 4, /* accesses that a word has: 64 bytes, a cache line */
    LOG2_PAGE_WORDS = 10,
    PAGE_WORDS = 1 << LOG2_PAGE_WORDS,
    MOST_PAGES_KEPT = 4096, /* from one launch to the next: 256 MiB */
    RECENT_PAGES = 64,
    CALLS = 4, /* of a place: functions of the emulator's may come before the kernel's */
    SYNCHRONISED_BYTES = 8,
};

static bool finding;

/* --- What each word has seen -------------------------------------------------- */

enum : uint8_t { SEEN_WRITES = 1, SEEN_ATOMIC = 2, SEEN_VOLATILE = 4 };

/* An access, as far as it is remembered. */
struct seen_access {
    uint32_t block;
    uint32_t time; /* 0: none */
    uint32_t place;
    uint16_t thread;
    uint8_t bytes; /* of the word: bit mask */
    uint8_t how;
};

struct word_history {
    seen_access seen[SEEN];
};

struct history_page {
    uint64_t launch; /* for which it holds */
    word_history words[PAGE_WORDS];
};

/* By the address of the first word, in pages. */
static std::unordered_map<uintptr_t, std::unique_ptr<history_page>> pages;
static struct {
    uintptr_t number;
    history_page *page;
} recent_pages[RECENT_PAGES];

static history_page *page_of(uintptr_t number)
{
    auto &recent = recent_pages[number % RECENT_PAGES];
    if (recent.page && recent.number == number)
        return recent.page;
    std::unique_ptr<history_page> &page = pages[number];
    if (!page || page->launch != current_launch.number) {
        if (!page)
            page = std::make_unique_for_overwrite<history_page>();
        memset((void *)page.get(), 0, sizeof *page);
        page->launch = current_launch.number;
    }
    recent = {number, page.get()};
    return page.get();
}

static word_history *history_of(uintptr_t address)
{
    const uintptr_t word = address / WORD_BYTES;
    return &page_of(word >> LOG2_PAGE_WORDS)->words[word % PAGE_WORDS];
}

static void forget_pages(void)
{
    memset(recent_pages, 0, sizeof recent_pages);
    if (pages.size() > MOST_PAGES_KEPT)
        pages.clear();
}

/* For the next block whose shared memory it is. */
static void forget_words(const char *start, size_t bytes)
{
    if (!start)
        return;
    const uintptr_t first = (uintptr_t)start / WORD_BYTES;
    const uintptr_t end = ((uintptr_t)start + bytes + WORD_BYTES - 1) / WORD_BYTES;
    for (uintptr_t word = first; word < end;) {
        const uintptr_t next = std::min(end, (word / PAGE_WORDS + 1) * PAGE_WORDS);
        const auto page = pages.find(word >> LOG2_PAGE_WORDS);
        if (page != pages.end())
            memset((void *)&page->second->words[word % PAGE_WORDS], 0,
                   (next - word) * sizeof(word_history));
        word = next;
    }
}

/* --- Places ------------------------------------------------------------------- */

struct code_place {
    uintptr_t calls[CALLS];
};

static std::vector<code_place> places;
static std::unordered_map<uint64_t, uint32_t> place_numbers; /* by a hash of the calls */

static uint32_t place_number(const struct memory_access *access)
{
    code_place place = {};
    uint64_t hash = 0;
    const int count = calls_of(access, place.calls, CALLS);
    for (int i = 0; i < count; i++)
        hash = hash_with(hash, place.calls[i]);
    const auto [at, is_new] = place_numbers.try_emplace(hash, (uint32_t)places.size());
    if (is_new)
        places.push_back(place);
    return at->second;
}

/* --- What orders threads -------------------------------------------------------- */

/* A thread's part. What it knows of its own block's threads is in three places: what all of them
 * knew at the block's last barrier, what lanes of its warp have told it, and what it has acquired.
 */
struct thread_order {
    uint32_t time;           /* of its accesses from here on */
    uint32_t fence;          /* the time before its last fence; 0: none */
    launch_clock acquired;   /* of all blocks */
    launch_clock to_release; /* what it would release; NULL: not known yet */
    uintptr_t awaited;       /* the synchronised word of its last volatile load; 0: none */
    uint64_t awaited_turn;   /* in which that was */
};

struct lane_order {
    uint32_t up_to[EMULATOR_WARP_SIZE]; /* what is known of each lane */
};

struct block_order {
    uint64_t launch; /* for which it holds */
    bool begun;
    uint32_t barrier; /* the time of the last one */
    std::vector<thread_order> threads;
    std::vector<lane_order> lanes; /* as many as threads, in whole warps */
};

static uint32_t now;                                         /* events so far */
static uint32_t grid_barrier;                                /* the time of the last one */
static std::unordered_map<uintptr_t, launch_clock> released; /* by word */

static struct block_order *order_of(struct block *block)
{
    if (!block->order)
        block->order = new block_order();
    struct block_order *order = block->order;
    if (order->begun && order->launch == current_launch.number)
        return order;
    order->launch = current_launch.number;
    order->begun = true;
    order->barrier = 0;
    order->threads.assign(block->threads.size(), {.time = ++now});
    order->lanes.assign(block->warps.size() * EMULATOR_WARP_SIZE, {});
    return order;
}

static unsigned lane_of(unsigned thread)
{
    return thread % EMULATOR_WARP_SIZE;
}

static bool same_warp(const seen_access &a, const seen_access &b)
{
    return a.block == b.block && a.thread / EMULATOR_WARP_SIZE == b.thread / EMULATOR_WARP_SIZE;
}

/* Does all that `earlier` stands for come before what the running thread does next? */
static bool comes_before(const seen_access &earlier, const seen_access &next)
{
    const struct block_order *order = current_block->order;
    if (earlier.time < grid_barrier)
        return true;
    if (earlier.block == next.block) {
        if (earlier.thread == next.thread || earlier.time < order->barrier)
            return true;
        if (same_warp(earlier, next) &&
            earlier.time <= order->lanes[next.thread].up_to[lane_of(earlier.thread)])
            return true;
    }
    return clock_knows(order->threads[next.thread].acquired, earlier.block, earlier.thread,
                       earlier.time);
}

static void acquire(struct thread_order *thread, uintptr_t word)
{
    const auto at = released.find(word);
    if (at == released.end())
        return;
    const launch_clock all = join_clocks(thread->acquired, at->second);
    if (all != thread->acquired)
        thread->to_release = NULL;
    thread->acquired = all;
}

/* The running thread's clock, as of its last fence. */
static launch_clock clock_to_release(struct block_order *order, unsigned index)
{
    struct thread_order *thread = &order->threads[index];
    if (thread->to_release)
        return thread->to_release;
    struct block_clock own = {order->barrier, {}};
    const unsigned first = index - lane_of(index);
    for (unsigned lane = 0; lane < EMULATOR_WARP_SIZE; lane++) {
        const uint32_t time =
            first + lane == index ? thread->fence : order->lanes[index].up_to[lane];
        if (time > 0 && time >= own.before)
            own.up_to.push_back({(uint16_t)(first + lane), time});
    }
    thread->to_release = add_to_clock(thread->acquired, current_block->index, std::move(own));
    return thread->to_release;
}

/* Without a fence, a thread releases nothing. */
static void release(struct block_order *order, unsigned index, uintptr_t word)
{
    if (order->threads[index].fence == 0)
        return;
    launch_clock &clock = released[word];
    clock = join_clocks(clock, clock_to_release(order, index));
}

static void fence(struct thread_order *thread)
{
    thread->fence = thread->time;
    thread->time = ++now;
    thread->to_release = NULL;
}

static uintptr_t synchronised_word(uintptr_t address)
{
    return address / SYNCHRONISED_BYTES * SYNCHRONISED_BYTES;
}

/* --- Races ---------------------------------------------------------------------- */

struct found_race {
    seen_access first, second;
    memory_space space;
    uintptr_t word;
};

static bool found;
static struct found_race the_race;

/* Stores that race unless they leave the word as it is, which shows once they are made. */
static struct doubtful_store {
    struct found_race race;
    unsigned char before[WORD_BYTES];
} doubtful[4];
static unsigned doubtful_count;

static void fail_with(const struct found_race &race)
{
    if (found)
        return;
    found = true;
    the_race = race;
    current_launch.failed = true;
}

static bool has_changed(const struct doubtful_store &store)
{
    const auto *bytes = (const unsigned char *)store.race.word;
    const unsigned both = store.race.first.bytes & store.race.second.bytes;
    for (unsigned b = 0; b < WORD_BYTES; b++)
        if (both >> b & 1 && bytes[b] != store.before[b])
            return true;
    return false;
}

static void settle_doubtful(void)
{
    for (unsigned d = 0; d < doubtful_count; d++)
        if (has_changed(doubtful[d]))
            fail_with(doubtful[d].race);
    doubtful_count = 0;
}

/* Nothing after a race is worth running. */
static void end_if_found(void)
{
    if (found)
        abandon_launch();
}

static bool orders(const seen_access &access)
{
    return access.how & (SEEN_ATOMIC | SEEN_VOLATILE);
}

static bool can_race(const seen_access &a, const seen_access &b, memory_space space)
{
    if (!((a.how | b.how) & SEEN_WRITES) || (a.block == b.block && a.thread == b.thread))
        return false;
    const bool both = orders(a) && orders(b);
    const bool in_step =
        space == MEMORY_SHARED && same_warp(a, b) && ((a.how | b.how) & SEEN_VOLATILE);
    return !both || in_step;
}

static void note_race(const struct found_race &race)
{
    const bool both_store = race.first.how & race.second.how & SEEN_WRITES;
    const bool atomic = (race.first.how | race.second.how) & SEEN_ATOMIC;
    if (!both_store || atomic) {
        fail_with(race);
    } else if (doubtful_count < sizeof doubtful / sizeof *doubtful) {
        doubtful[doubtful_count].race = race;
        memcpy(doubtful[doubtful_count++].before, (const void *)race.word, WORD_BYTES);
    }
}

/* Does whatever races with the old access race with the new one as well? Atomics of one word have
 * an order, so what comes after the new one comes after the old one. */
static bool replaces(const seen_access &fresh, const seen_access &old, bool after)
{
    return (old.bytes & ~fresh.bytes) == 0 &&
           (fresh.how & SEEN_WRITES || !(old.how & SEEN_WRITES)) &&
           (orders(fresh) ? orders(old) : after);
}

/* Which of the accesses is forgotten for a new one; SEEN: the new one. A store is kept for the
 * loads after it, and of loads those of different warps. */
static unsigned least_needed(const word_history *history, const seen_access &fresh)
{
    unsigned any_load = SEEN;
    for (unsigned s = 0; s < SEEN; s++) {
        if (history->seen[s].how & SEEN_WRITES)
            continue;
        any_load = s;
        if (same_warp(history->seen[s], fresh))
            break;
    }
    return any_load == SEEN && fresh.how & SEEN_WRITES ? fresh.time % SEEN : any_load;
}

static void look_at_word(word_history *history, const seen_access &fresh, memory_space space,
                         uintptr_t word)
{
    unsigned place = SEEN;
    for (unsigned s = 0; s < SEEN; s++) {
        seen_access &old = history->seen[s];
        if (old.time == 0) {
            place = s;
            continue;
        }
        if (!(old.bytes & fresh.bytes))
            continue;
        const bool after = comes_before(old, fresh);
        if (!after && can_race(old, fresh, space)) {
            note_race({old, fresh, space, word});
        } else if (replaces(fresh, old, after)) {
            old.time = 0;
            place = s;
        }
    }
    if (place == SEEN)
        place = least_needed(history, fresh);
    if (place < SEEN)
        history->seen[place] = fresh;
}

/* --- What is told ----------------------------------------------------------------- */

static void look_at_words(const struct memory_access *access, seen_access fresh)
{
    const uintptr_t end = access->address + access->bytes;
    for (uintptr_t at = access->address; at < end;) {
        const uintptr_t word = at / WORD_BYTES * WORD_BYTES;
        const uintptr_t next = std::min<uintptr_t>(end, word + WORD_BYTES);
        fresh.bytes = (uint8_t)(((1u << (next - at)) - 1) << (at - word));
        look_at_word(history_of(word), fresh, access->space, word);
        at = next;
    }
}

/* A thread in a loop of volatile loads may be interrupted between what is told of a load and the
 * load itself, which then sees what others have released since. */
static void acquire_again(struct thread_order *thread)
{
    if (thread->awaited && thread->awaited_turn != current_launch.switches)
        acquire(thread, thread->awaited);
    thread->awaited = 0;
}

/* A loop of volatile loads would be interrupted as well, but only after a while (watch.cpp). */
static void let_others_store(void)
{
    leave_scheduler();
    emulator_yield_point();
    enter_scheduler();
}

static void find_races_of(const struct memory_access *access)
{
    if (access->is_volatile)
        let_others_store();
    struct block_order *order = order_of(current_block);
    const unsigned index = current_index();
    struct thread_order *thread = &order->threads[index];
    const bool atomic = access->kind == ACCESS_ATOMIC;
    const bool writes = atomic || access->kind == ACCESS_STORE || access->kind == ACCESS_BULK_STORE;
    const bool orders = atomic || access->is_volatile;
    const uintptr_t word = synchronised_word(access->address);
    settle_doubtful();
    acquire_again(thread);
    if (access->space != MEMORY_OTHER)
        look_at_words(access, {.block = current_block->index,
                               .time = thread->time,
                               .place = place_number(access),
                               .thread = (uint16_t)index,
                               .how = (uint8_t)((writes ? SEEN_WRITES : 0) |
                                                (atomic                ? SEEN_ATOMIC
                                                 : access->is_volatile ? SEEN_VOLATILE
                                                                       : 0))});
    end_if_found();
    if (orders && (atomic || !writes)) {
        acquire(thread, word);
        thread->awaited = word;
        thread->awaited_turn = current_launch.switches;
    }
    if (orders && writes)
        release(order, index, word);
}

static void note_order(ordering kind, const void *address)
{
    struct block_order *order = order_of(current_block);
    const unsigned index = current_index();
    struct thread_order *thread = &order->threads[index];
    settle_doubtful();
    end_if_found();
    acquire_again(thread);
    if (kind == ORDER_ACQUIRE)
        acquire(thread, synchronised_word((uintptr_t)address));
    else
        fence(thread);
    if (kind == ORDER_RELEASE)
        release(order, index, synchronised_word((uintptr_t)address));
}

static void order_block(struct block *block)
{
    struct block_order *order = order_of(block);
    settle_doubtful();
    launch_clock acquired = NULL;
    for (thread_order &thread : order->threads) {
        acquire_again(&thread);
        acquired = join_clocks(acquired, thread.acquired);
    }
    order->barrier = ++now;
    for (thread_order &thread : order->threads) {
        thread.time = now;
        thread.acquired = acquired;
        thread.to_release = NULL;
    }
    end_if_found();
}

static void order_lanes(struct block *block, struct warp *warp, unsigned mask, collective_op)
{
    struct block_order *order = order_of(block);
    const size_t first = (size_t)(warp - block->warps.data()) * EMULATOR_WARP_SIZE;
    struct lane_order known = {};
    launch_clock acquired = NULL;
    settle_doubtful();
    for (unsigned rest = mask; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        struct thread_order *thread = &order->threads[first + lane];
        acquire_again(thread);
        acquired = join_clocks(acquired, thread->acquired);
        for (unsigned other = 0; other < EMULATOR_WARP_SIZE; other++)
            known.up_to[other] =
                std::max(known.up_to[other], order->lanes[first + lane].up_to[other]);
    }
    for (unsigned rest = mask; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        known.up_to[lane] = order->threads[first + lane].time;
    }
    now++;
    for (unsigned rest = mask; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        struct thread_order *thread = &order->threads[first + lane];
        order->lanes[first + lane] = known;
        thread->time = now;
        thread->acquired = acquired;
        thread->to_release = NULL;
    }
    end_if_found();
}

/* All blocks are resident, and all threads are there. A cluster's barrier, at which threads need
 * not wait, is a release and an acquire. */
static void order_grid(bool waits)
{
    if (!waits)
        return;
    settle_doubtful();
    grid_barrier = ++now;
    for (struct block *block : active_blocks)
        for (thread_order &thread : order_of(block)->threads) {
            thread.time = now;
            thread.to_release = NULL;
        }
    end_if_found();
}

static void forget_block(struct block *block)
{
    settle_doubtful();
    forget_words(block->shared, current_launch.request.shared_bytes);
    forget_words(block->static_shared, block->static_shared_bytes);
    if (block->order)
        block->order->begun = false;
}

static bool begin_finding(uint64_t *)
{
    if (!finding)
        return false;
    found = false;
    doubtful_count = 0;
    now = grid_barrier = 0;
    released.clear();
    places.clear();
    place_numbers.clear();
    forget_pages();
    clear_clocks((uint32_t)current_launch.request.grid);
    return true;
}

static void name_access(const seen_access &seen, struct racing_access *access)
{
    access->block = seen.block;
    access->thread = seen.thread;
    access->writes = seen.how & SEEN_WRITES;
    find_line(places[seen.place].calls, CALLS, access->place, sizeof access->place);
}

/* Two accesses of the same lines are told in the same order each time: a store before a load. */
static bool in_order(const struct racing_access &a, const struct racing_access &b)
{
    return a.writes != b.writes ? a.writes : strcmp(a.place, b.place) <= 0;
}

static void end_finding(void)
{
    if (!found)
        return;
    struct race race = {};
    const unsigned both = the_race.first.bytes & the_race.second.bytes;
    race.space = the_race.space;
    race.address = (const char *)the_race.word + __builtin_ctz(both);
    race.bytes = (unsigned)__builtin_popcount(both);
    name_access(the_race.first, &race.first);
    name_access(the_race.second, &race.second);
    if (!in_order(race.first, race.second))
        std::swap(race.first, race.second);
    describe_race(&race);
}

const struct access_observer race_observer = {
    .begin_launch = begin_finding,
    .access = find_races_of,
    .barrier = order_block,
    .launch_barrier = order_grid,
    .collective = order_lanes,
    .order = note_order,
    .end_block = forget_block,
    .end_launch = end_finding,
};

} // namespace emulator_cuda

void emulator_find_races(bool wanted)
{
    finding = wanted;
}

bool emulator_finds_races(void)
{
    return finding;
}
