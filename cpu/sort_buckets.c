/* sort_buckets: distributes keys over buckets by their top bits in one pass through memory, then
 * sorts each bucket in the second-level cache.
 *
 * Keys are first taken to be evenly spread: each thread moves its share to slots of its own, one
 * per bucket and a little longer than they need to be. Where that fails, keys are counted, and
 * moved to buckets of the right length. */
#include "sort_kernels.h"
#include "threads.h"

#include <stdatomic.h>
#include <string.h>

enum {
    SAMPLES = 16,
    PARTS = 16, /* of a share, at least; slots are looked at after each */
    PART_KEYS = 1 << 17,
    SLOT_MARGIN = 512,      /* keys: many times what chance adds to a short slot */
    SLACK_BYTES = 16 << 20, /* the most that all slots take beyond the keys */
    DEVIATIONS = 6,         /* of a slot's number of keys, which its length allows for */
};

/* One thread's share of the input on its way to buckets. */
struct share {
    uint32_t next[MOST_BUCKETS]; /* number of keys, or position of the next one */
    uint64_t varying;            /* bits in which transformed keys differ from the first */
    bool skewed;                 /* a slot had too many keys */
};

/* The slots of every share: one per bucket. Counted in keys. */
struct slots {
    unsigned bits;      /* of the digit that selects a slot */
    uint64_t slack;     /* the most that a slot is longer than the mean */
    uint64_t length;    /* of a slot */
    uint64_t part;      /* the part of a share that is moved before slots are looked at */
    uint64_t per_share; /* a part more than the slots, since the last one may prove too short;
                         * enough for fewer bits, too */
};

/* One sort, at the start of the call's scratch; after it come the shares, the threads' memory and
 * either slots or an array of keys. */
struct sort {
    const struct call *call;
    const struct sort_kernels *kernels;
    struct key_order order, back;
    struct share *shares;
    struct bucket_memory *memory;
    char *keys_in_slots;
    char *keys, *other; /* the keys in buckets: in the output, unless it is the input */
    size_t key_bytes;
    unsigned share_count;
    bool in_slots;
    struct slots slots;
    struct digit digit;
    uint64_t first; /* the first key, transformed */
    _Atomic uint64_t next_bucket;
    uint64_t bucket_start[MOST_BUCKETS + 1];
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static size_t whole_lines(size_t bytes)
{
    return (bytes + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES;
}

/* As many buckets as leave few keys in each, or many if there were too many buckets otherwise. */
static struct digit bucket_digit(const struct sort_kernels *kernels, uint64_t n, unsigned bits)
{
    const struct digit digit = top_digit(n, bits, kernels->few_keys, FAST_BUCKET_BITS);
    return digit.bits < FAST_BUCKET_BITS || n >> digit.bits <= kernels->many_keys
               ? digit
               : top_digit(n, bits, kernels->many_keys, MOST_BUCKET_BITS);
}

/* More buckets, because most of the keys share some of them. */
static struct digit skewed_digit(const struct sort_kernels *kernels, uint64_t n, unsigned bits)
{
    return top_digit(n, bits, kernels->few_keys / 8, MOST_BUCKET_BITS);
}

/* ---- Slots ---- */

/* How many keys a slot can hold, if n keys of a share are evenly spread. */
static uint64_t slot_keys(const struct slots *slots, uint64_t n)
{
    const uint64_t mean = n >> slots->bits;
    return mean + least(mean / 16 + SLOT_MARGIN, slots->slack);
}

static struct slots slots_for(uint64_t n, unsigned shares, unsigned bits, size_t key_bytes)
{
    const uint64_t share = n / shares + shares, slack = SLACK_BYTES / key_bytes / shares;
    struct slots slots = {.bits = bits, .slack = slack >> bits};
    slots.length = slot_keys(&slots, share);
    slots.part = least(share / PARTS + 1, PART_KEYS);
    slots.per_share =
        share + least(share / 16 + ((uint64_t)SLOT_MARGIN << bits), slack) + slots.part;
    return slots;
}

/* Does chance leave evenly spread keys in their slots, and does a bucket fit in a thread's
 * memory? */
static bool may_fit(const struct sort *sort)
{
    const uint64_t length = sort->slots.length;
    const uint64_t mean = sort->call->problem.n / sort->share_count >> sort->slots.bits;
    const uint64_t slack = length - mean;
    return slack * slack >= DEVIATIONS * DEVIATIONS * mean &&
           length * sort->share_count * sort->key_bytes <= SPARE_BYTES;
}

/* ---- Scratch ---- */

size_t radix_sort_keys_scratch_bytes(const struct problem *problem, unsigned threads)
{
    const struct sort_kernels *kernels = sort_kernels(problem->type, problem->simd);
    const size_t key_bytes = element_bytes(problem->type);
    const unsigned bits = bucket_digit(kernels, problem->n, 8 * (unsigned)key_bytes).bits;
    const struct slots slots = slots_for(problem->n, threads, bits, key_bytes);
    return CACHE_LINE_BYTES + whole_lines(sizeof(struct sort)) +
           threads * (whole_lines(sizeof(struct share)) + sizeof(struct bucket_memory) +
                      slots.per_share * key_bytes);
}

static struct sort *lay_out(const struct call *call, unsigned threads)
{
    const bool in_place = call->input == call->output;
    char *at = (char *)call->scratch + bytes_to_line(call->scratch);
    struct sort *sort = (struct sort *)at;
    sort->call = call;
    sort->kernels = sort_kernels(call->problem.type, call->problem.simd);
    sort->order = key_order(call->problem.type);
    sort->back = (struct key_order){sort->order.negative, sort->order.positive};
    sort->key_bytes = element_bytes(call->problem.type);
    sort->share_count = threads;
    at += whole_lines(sizeof *sort);
    sort->memory = (struct bucket_memory *)at;
    at += threads * sizeof *sort->memory;
    sort->shares = (struct share *)at;
    at += threads * whole_lines(sizeof *sort->shares);
    sort->keys_in_slots = at;
    sort->keys = in_place ? at : call->output;
    sort->other = in_place ? call->output : at;
    return sort;
}

/* ---- Keys ---- */

static const char *key_at(const struct sort *sort, uint64_t i)
{
    return (const char *)sort->call->input + i * sort->key_bytes;
}

static uint64_t transformed_key(const struct sort *sort, uint64_t i)
{
    uint64_t key = 0;
    memcpy(&key, key_at(sort, i), sort->key_bytes);
    return key ^ (key >> (8 * sort->key_bytes - 1) ? sort->order.negative : sort->order.positive);
}

/* Takes sorted keys back to what they were. */
static void transform_back(const struct sort *sort, char *keys, uint64_t n)
{
    if (sort->back.positive != 0)
        sort->kernels->transform(keys, keys, n, sort->back);
}

/* The bits in which sampled keys differ: an estimate for all keys. */
static uint64_t sample_varying(const struct sort *sort)
{
    const uint64_t n = sort->call->problem.n;
    const uint64_t stride = n / SAMPLES > 0 ? n / SAMPLES : 1;
    uint64_t varying = 0;
    for (uint64_t i = 0; i < n; i += stride)
        varying |= transformed_key(sort, i) ^ sort->first;
    return varying;
}

static size_t bucket_count(const struct sort *sort)
{
    return (size_t)1 << sort->digit.bits;
}

static uint64_t share_begin(const struct sort *sort, unsigned share)
{
    return slice_start(sort->call->problem.n, sort->share_count, share);
}

/* ---- Into slots ---- */

static char *share_slots(const struct sort *sort, unsigned share)
{
    return sort->keys_in_slots + share * sort->slots.per_share * sort->key_bytes;
}

/* Are the first n keys of a share spread evenly, and do they differ in no bits above the digit? */
static bool fit_slots(const struct sort *sort, const struct share *share, uint64_t n)
{
    const uint64_t most = slot_keys(&sort->slots, n);
    for (size_t b = 0; b < bucket_count(sort); b++)
        if (share->next[b] - b * sort->slots.length > most)
            return false;
    return bits_up_to(share->varying) <= sort->digit.shift + sort->digit.bits;
}

/* Moves keys to slots, and leaves their numbers in share->next. */
static void fill_slots(void *context, unsigned s, unsigned shares)
{
    (void)shares;
    const struct sort *sort = context;
    struct share *share = &sort->shares[s];
    const uint64_t begin = share_begin(sort, s), n = share_begin(sort, s + 1) - begin;
    const uint64_t length = sort->slots.length, part = sort->slots.part;
    share->varying = 0;
    share->skewed = false;
    for (size_t b = 0; b < bucket_count(sort); b++)
        share->next[b] = (uint32_t)(b * length);
    for (uint64_t i = 0, end; i < n && !share->skewed; i = end) {
        end = i + part < n ? i + part : n;
        share->varying |=
            sort->kernels->scatter(key_at(sort, begin + i), share_slots(sort, s), end - i,
                                   sort->order, sort->digit, sort->first, share->next);
        share->skewed = !fit_slots(sort, share, end);
    }
    for (size_t b = 0; b < bucket_count(sort); b++)
        share->next[b] -= (uint32_t)(b * length);
}

/* Returns false if keys are not evenly spread, or if slots would be too short or too long. */
static bool move_to_slots(struct sort *sort, unsigned threads)
{
    const uint64_t n = sort->call->problem.n;
    uint64_t before = 0;
    sort->digit = bucket_digit(sort->kernels, n, bits_up_to(sample_varying(sort)));
    sort->slots = slots_for(n, sort->share_count, sort->digit.bits, sort->key_bytes);
    if (!may_fit(sort))
        return false;
    run_on_threads(sort->call->problem.device, threads, fill_slots, sort);
    for (unsigned s = 0; s < sort->share_count; s++)
        if (sort->shares[s].skewed)
            return false;
    for (size_t b = 0; b < bucket_count(sort); b++) {
        sort->bucket_start[b] = before;
        for (unsigned s = 0; s < sort->share_count; s++)
            before += sort->shares[s].next[b];
    }
    sort->bucket_start[bucket_count(sort)] = before;
    return true;
}

/* Returns where all keys of a bucket are: in the only slot, or put together at `out`. */
static char *gather_slots(const struct sort *sort, size_t bucket, char *out)
{
    const size_t slot = bucket * sort->slots.length * sort->key_bytes;
    if (sort->share_count == 1)
        return share_slots(sort, 0) + slot;
    size_t bytes = 0;
    for (unsigned s = 0; s < sort->share_count; s++) {
        const size_t more = sort->shares[s].next[bucket] * sort->key_bytes;
        memcpy(out + bytes, share_slots(sort, s) + slot, more);
        bytes += more;
    }
    return out;
}

/* ---- Into buckets of the right length ---- */

static void count_share(void *context, unsigned s, unsigned shares)
{
    (void)shares;
    const struct sort *sort = context;
    const uint64_t begin = share_begin(sort, s);
    struct share *share = &sort->shares[s];
    share->varying = sort->kernels->count(key_at(sort, begin), share_begin(sort, s + 1) - begin,
                                          sort->order, sort->digit, sort->first, share->next);
}

static void scatter_share(void *context, unsigned s, unsigned shares)
{
    (void)shares;
    const struct sort *sort = context;
    const uint64_t begin = share_begin(sort, s);
    sort->kernels->scatter(key_at(sort, begin), sort->keys, share_begin(sort, s + 1) - begin,
                           sort->order, sort->digit, sort->first, sort->shares[s].next);
}

/* Counts keys by the digit that the samples suggest, and again if they were wrong. */
static void count_keys(struct sort *sort, unsigned threads)
{
    uint64_t varying = sample_varying(sort);
    unsigned bits, guess;
    do {
        guess = bits_up_to(varying);
        sort->digit = skewed_digit(sort->kernels, sort->call->problem.n, guess);
        run_on_threads(sort->call->problem.device, threads, count_share, sort);
        for (unsigned s = 0; s < sort->share_count; s++)
            varying |= sort->shares[s].varying;
        bits = bits_up_to(varying);
    } while (bits != guess);
}

/* Turns counts into positions: bucket by bucket, and within a bucket share by share. */
static void place_shares(struct sort *sort)
{
    uint32_t before = 0;
    for (size_t b = 0; b < bucket_count(sort); b++) {
        sort->bucket_start[b] = before;
        for (unsigned s = 0; s < sort->share_count; s++) {
            const uint32_t count = sort->shares[s].next[b];
            sort->shares[s].next[b] = before;
            before += count;
        }
    }
    sort->bucket_start[bucket_count(sort)] = before;
}

static void move_to_buckets(struct sort *sort, unsigned threads)
{
    count_keys(sort, threads);
    place_shares(sort);
    run_on_threads(sort->call->problem.device, threads, scatter_share, sort);
}

/* ---- A whole sort ---- */

static void sort_bucket(const struct sort *sort, size_t bucket, struct bucket_memory *memory)
{
    const uint64_t n = sort->bucket_start[bucket + 1] - sort->bucket_start[bucket];
    const size_t start = sort->bucket_start[bucket] * sort->key_bytes;
    char *out = (char *)sort->call->output + start;
    char *keys = sort->in_slots ? gather_slots(sort, bucket, out) : sort->keys + start;
    char *other = n * sort->key_bytes <= SPARE_BYTES ? memory->spare : sort->other + start;
    if (n == 0)
        return;
    sort->kernels->sort_bucket(keys, other, out, n, sort->digit.shift, memory);
    transform_back(sort, out, n);
}

/* Each part of the job takes buckets in turns, in memory of its own. */
static void sort_buckets(void *context, unsigned part, unsigned parts)
{
    (void)parts;
    struct sort *sort = context;
    for (;;) {
        const uint64_t b = atomic_fetch_add_explicit(&sort->next_bucket, 1, memory_order_relaxed);
        if (b >= bucket_count(sort))
            return;
        sort_bucket(sort, b, &sort->memory[part]);
    }
}

/* Sorts an array that fits the cache. */
static void sort_one_bucket(const struct sort *sort)
{
    const struct call *call = sort->call;
    const uint64_t n = call->problem.n;
    char *out = call->output;
    const uint64_t varying = sort->kernels->transform(call->input, out, n, sort->order);
    sort->kernels->sort_bucket(out, sort->memory->spare, out, n, bits_up_to(varying), sort->memory);
    transform_back(sort, out, n);
}

void radix_sort_keys(const struct call *call, unsigned threads)
{
    if (call->problem.n == 0)
        return;
    struct sort *sort = lay_out(call, threads);
    if (call->problem.n <= sort->kernels->few_keys) {
        sort_one_bucket(sort);
        return;
    }
    sort->first = transformed_key(sort, 0);
    atomic_store(&sort->next_bucket, 0);
    sort->in_slots = move_to_slots(sort, threads);
    if (!sort->in_slots)
        move_to_buckets(sort, threads);
    run_on_threads(call->problem.device, threads, sort_buckets, sort);
}
