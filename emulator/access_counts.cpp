/* access_counts.cpp: puts the accesses of a warp's lanes together, and counts them. */
#include "access_counts.h"
#include "line_counts.h"
#include "scheduler.h"

#include <algorithm>

inline namespace emulator_cuda
{

enum {
    BANKS = 32,
    BANK_BYTES = 4,
};

static bool counting; /* launches from here on are counted */
static std::vector<memory_counts> launches;
static memory_counts counts; /* of the running launch; accesses are counted by place */

/* --- Which request ---------------------------------------------------------- */

static bool same_site(const access_site &a, const access_site &b)
{
    return a.place == b.place && a.epoch == b.epoch && a.word == b.word && a.bytes == b.bytes &&
           a.kind == b.kind && a.space == b.space;
}

static uint32_t *slot_of(struct warp_accesses *accesses, const access_site &site)
{
    const uint32_t mask = (uint32_t)accesses->table.size() - 1;
    uint32_t i = (uint32_t)hash_with(site.place + site.word, site.epoch) & mask;
    while (accesses->table[i] != 0 &&
           !same_site(accesses->groups[accesses->table[i] - 1].site, site))
        i = (i + 1) & mask;
    return &accesses->table[i];
}

/* The table is at most half full. */
static void enlarge_table(struct warp_accesses *accesses)
{
    const size_t size = accesses->table.empty() ? 64 : 2 * accesses->table.size();
    accesses->table.assign(size, 0);
    for (size_t g = 0; g < accesses->groups.size(); g++)
        *slot_of(accesses, accesses->groups[g].site) = (uint32_t)g + 1;
}

static struct access_group *group_of(struct warp_accesses *accesses, const access_site &site,
                                     const struct memory_access *access)
{
    if (2 * accesses->groups.size() >= accesses->table.size())
        enlarge_table(accesses);
    uint32_t *slot = slot_of(accesses, site);
    if (*slot == 0) {
        accesses->groups.push_back({site, counts_of_place(site.place, access), NO_REQUEST, {}});
        std::fill_n(accesses->groups.back().latest, EMULATOR_WARP_SIZE, NO_REQUEST);
        *slot = (uint32_t)accesses->groups.size();
    }
    return &accesses->groups[*slot - 1];
}

/* The request after `latest` in the group, or the first; a new one if there is none. */
static uint32_t next_request(struct warp_accesses *accesses, struct access_group *group,
                             uint32_t latest)
{
    const uint32_t there = latest == NO_REQUEST ? group->first : accesses->requests[latest].next;
    if (there != NO_REQUEST)
        return there;
    const uint32_t made = (uint32_t)accesses->requests.size();
    accesses->requests.push_back({0, NO_REQUEST, {}});
    (latest == NO_REQUEST ? group->first : accesses->requests[latest].next) = made;
    return made;
}

static void add_access(uintptr_t address, access_site site, const struct memory_access *access)
{
    const unsigned index = current_index(), lane = index % EMULATOR_WARP_SIZE;
    struct warp_accesses *accesses = &current_block->warps[index / EMULATOR_WARP_SIZE].accesses;
    site.epoch = accesses->epoch[lane];
    struct access_group *group = group_of(accesses, site, access);
    const uint32_t r = next_request(accesses, group, group->latest[lane]);
    group->latest[lane] = r;
    accesses->requests[r].lanes |= 1u << lane;
    accesses->requests[r].address[lane] = address;
}

/* --- Counting a request ------------------------------------------------------ */

/* Sectors of one request, and which of their bytes are asked for. An access of up to 16 bytes that
 * is aligned to its size lies in one sector. */
struct touched_sectors {
    uintptr_t sector[EMULATOR_WARP_SIZE];
    uint32_t bytes[EMULATOR_WARP_SIZE]; /* bit mask */
    unsigned count;
};

static void touch(struct touched_sectors *touched, uintptr_t address, unsigned bytes)
{
    const uintptr_t sector = address / SECTOR_BYTES;
    const uint32_t asked = ((1u << bytes) - 1) << address % SECTOR_BYTES;
    for (unsigned s = touched->count; s-- > 0;)
        if (touched->sector[s] == sector) {
            touched->bytes[s] |= asked;
            return;
        }
    touched->sector[touched->count] = sector;
    touched->bytes[touched->count++] = asked;
}

static void count_global(const access_request &request, const access_site &site, memory_counts *c)
{
    struct touched_sectors touched;
    touched.count = 0;
    for (uint32_t rest = request.lanes; rest; rest &= rest - 1)
        touch(&touched, request.address[__builtin_ctz(rest)], site.bytes);
    uint64_t bytes = 0;
    for (unsigned s = 0; s < touched.count; s++)
        bytes += (unsigned)__builtin_popcount(touched.bytes[s]);
    const bool load = site.kind == EMULATOR_ACCESS_LOAD;
    (load ? c->load_requests : c->store_requests)++;
    (load ? c->load_sectors : c->store_sectors) += touched.count;
    (load ? c->load_bytes : c->store_bytes) += bytes;
}

/* How many passes over the banks some lanes take: as many as the bank with the most words. */
static unsigned passes(const access_request &request, uint32_t lanes, unsigned bytes)
{
    uintptr_t word[EMULATOR_WARP_SIZE];
    unsigned words = 0, of_bank[BANKS] = {}, most = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const uintptr_t first = request.address[__builtin_ctz(rest)] / BANK_BYTES;
        const unsigned count = bytes > BANK_BYTES ? bytes / BANK_BYTES : 1;
        for (unsigned w = 0; w < count; w++) {
            if (std::find(word, word + words, first + w) != word + words)
                continue;
            word[words++] = first + w;
            most = std::max(most, ++of_bank[(first + w) % BANKS]);
        }
    }
    return most;
}

/* Accesses of 8 bytes pass by half warps, those of 16 by quarters: each time 128 bytes. */
static void count_shared(const access_request &request, const access_site &site, memory_counts *c)
{
    const unsigned together = BANKS * BANK_BYTES / std::max<unsigned>(site.bytes, BANK_BYTES);
    const uint32_t part = together == EMULATOR_WARP_SIZE ? UINT32_MAX : (1u << together) - 1;
    c->shared_requests++;
    for (unsigned lane = 0; lane < EMULATOR_WARP_SIZE; lane += together)
        if (const uint32_t lanes = request.lanes & part << lane)
            c->bank_conflicts += passes(request, lanes, site.bytes) - 1;
}

static void count_request(const access_request &request, const access_site &site, memory_counts *c)
{
    const unsigned lanes = (unsigned)__builtin_popcount(request.lanes);
    c->requests++;
    c->lanes += lanes;
    if (site.kind == EMULATOR_ACCESS_ATOMIC)
        c->atomics += lanes;
    if (site.space == MEMORY_SHARED)
        count_shared(request, site, c);
    else if (site.kind != EMULATOR_ACCESS_ATOMIC)
        count_global(request, site, c);
}

static void count_warp(struct warp_accesses *accesses)
{
    for (const access_group &group : accesses->groups)
        for (uint32_t r = group.first; r != NO_REQUEST; r = accesses->requests[r].next)
            count_request(accesses->requests[r], group.site, group.counts);
    if (!accesses->groups.empty())
        std::fill(accesses->table.begin(), accesses->table.end(), 0);
    accesses->groups.clear();
    accesses->requests.clear();
    std::fill_n(accesses->epoch, EMULATOR_WARP_SIZE, 0u);
}

static void count_warps(struct block *block)
{
    for (struct warp &warp : block->warps)
        count_warp(&warp.accesses);
}

/* --- What is told ------------------------------------------------------------ */

/* The other half of a bulk copy takes no request. */
static void count_bulk_copy(const struct memory_access *access)
{
    if (access->kind != EMULATOR_ACCESS_BULK_LOAD || access->space != MEMORY_GLOBAL)
        return;
    const uintptr_t first = access->address / SECTOR_BYTES;
    const uintptr_t last = (access->address + access->bytes - 1) / SECTOR_BYTES;
    memory_counts *c = counts_of_place(place_of(access), access);
    c->load_sectors += last - first + 1;
    c->load_bytes += access->bytes;
}

/* An object of several words is copied by several instructions. */
static void count_access(const struct memory_access *access)
{
    if (access->kind == EMULATOR_ACCESS_BULK_LOAD || access->kind == EMULATOR_ACCESS_BULK_STORE) {
        count_bulk_copy(access);
        return;
    }
    const uint64_t place = place_of(access);
    if (access->space == MEMORY_OTHER) { /* a __device__ variable */
        if (access->kind == EMULATOR_ACCESS_ATOMIC)
            counts_of_place(place, access)->atomics++;
        return;
    }
    uintptr_t address = access->address;
    uint32_t word = 0;
    for (size_t bytes = access->bytes; bytes > 0;) {
        const size_t width = widest_access_bytes(address, bytes, access->bytes);
        add_access(address, {place, 0, word++, (uint8_t)width, access->kind, access->space},
                   access);
        address += width;
        bytes -= width;
    }
}

static void count_barrier(struct block *block)
{
    counts.barriers++;
    count_warps(block);
}

static void count_collective(struct block *block, struct warp *warp, unsigned mask, collective_op)
{
    counts.warp_collectives++;
    const size_t first = (size_t)(warp - block->warps.data()) * EMULATOR_WARP_SIZE;
    const size_t lanes = std::min<size_t>(EMULATOR_WARP_SIZE, block->threads.size() - first);
    struct warp_accesses *accesses = &warp->accesses;
    uint32_t latest = 0;
    bool all = true;
    for (unsigned lane = 0; lane < lanes; lane++) {
        if (mask >> lane & 1)
            latest = std::max(latest, accesses->epoch[lane]);
        else
            all = all && block->threads[first + lane].state == THREAD_EXITED;
    }
    if (all) {
        count_warp(accesses);
        return;
    }
    for (unsigned lane = 0; lane < lanes; lane++)
        if (mask >> lane & 1)
            accesses->epoch[lane] = latest + 1;
}

static void count_end_of_block(struct block *block)
{
    counts.blocks++;
    count_warps(block);
}

/* A counted launch has an order of blocks and threads of its own, whatever the seed, so that what
 * depends on the order is counted the same each time. */
static bool begin_counting_launch(uint64_t *random_state)
{
    if (!counting)
        return false;
    *random_state = launches.size();
    counts = {};
    begin_places(current_launch.request.name);
    return true;
}

static void end_counting_launch(void)
{
    end_places(&counts);
    launches.push_back(counts);
    for (struct block *block : active_blocks) /* of a launch that failed */
        for (struct warp &warp : block->warps)
            warp.accesses = {};
}

const struct access_observer counting_observer = {
    .begin_launch = begin_counting_launch,
    .access = count_access,
    .barrier = count_barrier,
    .collective = count_collective,
    .end_block = count_end_of_block,
    .end_launch = end_counting_launch,
};

} // namespace emulator_cuda

void emulator_start_counting(void)
{
    launches.clear();
    forget_places();
    counting = true;
}

void emulator_stop_counting(void)
{
    counting = false;
}

size_t emulator_counted_launches(void)
{
    return launches.size();
}

const struct memory_counts *emulator_counts_of_launch(size_t launch)
{
    return &launches[launch];
}
