/* races.cpp: finds accesses of a launch that nothing orders: two threads, the same bytes, and one
 * of the two writes. race_order.cpp knows what orders threads.
 *
 * Atomics and volatile accesses do not race with each other. Volatile accesses to shared memory by
 * lanes of one warp do: that was how lanes in step exchanged values, which they are no longer.
 * Stores do not race with each other if all store the same value.
 *
 * Each word of memory has a few of the accesses that a later one could race with. If there are
 * more, one is forgotten, so of many racing pairs not all would be found; the first one found ends
 * the launch. */
#include "races.h"

#include "race_order.h"
#include "scheduler.h"
#include "source_lines.h"

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
};

static bool finding;

/* --- What each word has seen -------------------------------------------------- */

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
    const bool atomic = access->kind == EMULATOR_ACCESS_ATOMIC;
    const bool writes = atomic || access->kind == EMULATOR_ACCESS_STORE ||
                        access->kind == EMULATOR_ACCESS_BULK_STORE;
    const bool orders = atomic || access->is_volatile;
    settle_doubtful();
    acquire_again();
    if (access->space != MEMORY_OTHER)
        look_at_words(access, {.block = current_block->index,
                               .time = time_of_accesses(),
                               .place = place_number(access),
                               .thread = (uint16_t)current_index(),
                               .how = (uint8_t)((writes ? SEEN_WRITES : 0) |
                                                (atomic                ? SEEN_ATOMIC
                                                 : access->is_volatile ? SEEN_VOLATILE
                                                                       : 0))});
    end_if_found();
    if (orders && (atomic || !writes))
        await_at(access->address);
    if (orders && writes)
        release_at(access->address);
}

static void note_order(ordering kind, const void *address)
{
    settle_doubtful();
    end_if_found();
    acquire_again();
    if (kind == ORDER_ACQUIRE)
        acquire_at((uintptr_t)address);
    else
        order_by_fence();
    if (kind == ORDER_RELEASE)
        release_at((uintptr_t)address);
}

static void note_barrier(struct block *block)
{
    settle_doubtful();
    order_by_barrier(block);
    end_if_found();
}

static void note_collective(struct block *block, struct warp *warp, unsigned mask, collective_op)
{
    settle_doubtful();
    order_by_collective(block, warp, mask);
    end_if_found();
}

/* A cluster's barrier, at which threads need not wait, is a release and an acquire. */
static void note_launch_barrier(bool waits)
{
    if (!waits)
        return;
    settle_doubtful();
    order_by_launch_barrier();
    end_if_found();
}

static void forget_block(struct block *block)
{
    settle_doubtful();
    forget_words(block->shared, current_launch.request.shared_bytes);
    forget_words(block->static_shared, block->static_shared_bytes);
    forget_order(block);
}

static bool begin_finding(uint64_t *)
{
    if (!finding)
        return false;
    found = false;
    doubtful_count = 0;
    places.clear();
    place_numbers.clear();
    forget_pages();
    clear_order();
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
    .barrier = note_barrier,
    .launch_barrier = note_launch_barrier,
    .collective = note_collective,
    .order = note_order,
    .end_block = forget_block,
    .end_launch = end_finding,
};

} // namespace emulator_cuda

void emulator_find_races(bool wanted)
{
    finding = wanted;
    found &= !wanted;
}

bool emulator_found_race(void)
{
    return found;
}

bool emulator_finds_races(void)
{
    return finding;
}
