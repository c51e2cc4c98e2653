/* sort_kernels: distributes keys over up to 2048 buckets by their top bits in one pass through
 * memory, then sorts each bucket in the second-level cache. */
#include "sort_kernels.h"

#include "simd_paths.h"
#include "team.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { FEW_KEYS = 24, BLOCK_KEYS = 256 };

/* The order of keys that have been transformed. */
static const struct key_order AS_UNSIGNED = {.positive = 0, .negative = 0};

/* The number of bits up to the topmost one that varies. */
static unsigned bits_up_to(uint64_t varying)
{
    return varying == 0 ? 0 : 64 - (unsigned)__builtin_clzll(varying);
}

/* The topmost of `bits` bits that leaves runs of about two of n keys, if they are spread evenly. */
static struct digit run_digit(uint64_t n, unsigned bits)
{
    struct digit digit = {.bits = 0};
    while (digit.bits < MOST_BUCKET_BITS && digit.bits < bits && n >> digit.bits > 2)
        digit.bits++;
    digit.shift = bits - digit.bits;
    return digit;
}

#ifdef SIMD_X86
#define PATH AVX512
#define T uint32_t
#include "sort_of_width.h"
#define T uint64_t
#include "sort_of_width.h"
#undef PATH

#define PATH AVX2
#define T uint32_t
#include "sort_of_width.h"
#define T uint64_t
#include "sort_of_width.h"
#undef PATH
#endif

#define PATH PORTABLE
#define T uint32_t
#include "sort_of_width.h"
#define T uint64_t
#include "sort_of_width.h"
#undef PATH

/* ---- Interface ---- */

const struct sort_kernels *sort_kernels(enum element_type type, enum simd_path path)
{
    static const struct {
        struct sort_kernels of_32_bits, of_64_bits;
    } kernels[SIMD_PATH_COUNT - SIMD_PORTABLE] = {
#define KERNELS(T, path)                                                         \
    {transform_##T##_##path,     count_##T##_##path,       scatter_##T##_##path, \
     scatter_lines_##T##_##path, sort_bucket_##T##_##path, stream_keys_##T##_##path}
#define KERNELS_OF_PATH(path)                            \
    {                                                    \
        KERNELS(uint32_t, path), KERNELS(uint64_t, path) \
    }
        [0] = KERNELS_OF_PATH(PORTABLE),
#ifdef SIMD_X86
        [SIMD_AVX2 - SIMD_PORTABLE] = KERNELS_OF_PATH(AVX2),
        [SIMD_AVX512 - SIMD_PORTABLE] = KERNELS_OF_PATH(AVX512),
#endif
    };
    const bool wide = element_bytes(type) == sizeof(uint64_t);
    const unsigned row = path - SIMD_PORTABLE;
    return wide ? &kernels[row].of_64_bits : &kernels[row].of_32_bits;
}

/* ---- A whole sort ---- */

/* Up to BUCKET_BYTES an array is one bucket; a larger one is put into buckets of half the size. */
enum { SAMPLES = 16, BUCKET_BYTES = 32 << 10 };

/* One sort, at the start of the call's scratch; after it come the shares, the threads' spare
 * keys and the keys in buckets. */
struct sort {
    const struct call *call;
    const struct sort_kernels *kernels;
    struct key_order order, back;
    struct share *shares;
    char *spare, *keys;
    size_t key_bytes;
    unsigned share_count;
    struct digit digit;
    uint64_t first; /* the first key, transformed */
    _Atomic uint64_t next_bucket;
    uint64_t bucket_start[MOST_BUCKETS + 1];
};

static size_t whole_lines(size_t bytes)
{
    return (bytes + CACHE_LINE_BYTES - 1) / CACHE_LINE_BYTES * CACHE_LINE_BYTES;
}

size_t radix_sort_keys_scratch_bytes(const struct problem *problem, unsigned threads)
{
    const size_t key = element_bytes(problem->type);
    return CACHE_LINE_BYTES + whole_lines(sizeof(struct sort)) +
           threads * (sizeof(struct share) + SPARE_KEYS * key) + problem->n * key;
}

static struct sort *lay_out(const struct call *call, unsigned threads)
{
    char *at = (char *)call->scratch + bytes_to_line(call->scratch);
    struct sort *sort = (struct sort *)at;
    sort->call = call;
    sort->kernels = sort_kernels(call->problem.type, call->problem.simd);
    sort->order = key_order(call->problem.type);
    sort->back = (struct key_order){sort->order.negative, sort->order.positive};
    sort->key_bytes = element_bytes(call->problem.type);
    sort->share_count = threads;
    at += whole_lines(sizeof *sort);
    sort->shares = (struct share *)at;
    at += threads * sizeof *sort->shares;
    sort->spare = at;
    sort->keys = at + threads * SPARE_KEYS * sort->key_bytes;
    return sort;
}

static size_t keys_bytes(const struct sort *sort)
{
    return sort->call->problem.n * sort->key_bytes;
}

/* Are arrays stored past the caches? */
static bool streams(const struct sort *sort)
{
    return keys_bytes(sort) >= STREAM_BYTES;
}

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

/* Shares are equal parts of the input. */
static uint64_t share_begin(const struct sort *sort, unsigned share)
{
    const uint64_t n = sort->call->problem.n;
    return n / sort->share_count * share + (share == sort->share_count ? n % sort->share_count : 0);
}

static void count_shares(void *context, unsigned member, unsigned size)
{
    const struct sort *sort = context;
    for (unsigned s = member; s < sort->share_count; s += size) {
        const uint64_t begin = share_begin(sort, s);
        struct share *share = &sort->shares[s];
        share->varying = sort->kernels->count(key_at(sort, begin), share_begin(sort, s + 1) - begin,
                                              sort->order, sort->digit, sort->first, share->start);
    }
}

static void scatter_shares(void *context, unsigned member, unsigned size)
{
    const struct sort *sort = context;
    for (unsigned s = member; s < sort->share_count; s += size) {
        const uint64_t begin = share_begin(sort, s), n = share_begin(sort, s + 1) - begin;
        const char *keys = key_at(sort, begin);
        struct share *share = &sort->shares[s];
        if (streams(sort))
            sort->kernels->scatter_lines(keys, sort->keys, n, sort->order, sort->digit, share);
        else
            sort->kernels->scatter(keys, sort->keys, n, sort->order, sort->digit, share->next);
    }
}

static void sort_bucket(const struct sort *sort, uint64_t bucket, unsigned member)
{
    const struct sort_kernels *kernels = sort->kernels;
    const size_t bytes = sort->key_bytes;
    const uint64_t start = sort->bucket_start[bucket];
    const uint64_t n = sort->bucket_start[bucket + 1] - start;
    char *to = (char *)sort->call->output + start * bytes;
    char *other = n <= SPARE_KEYS ? sort->spare + member * SPARE_KEYS * bytes : to;
    if (n == 0)
        return;
    void *sorted = kernels->sort_bucket(sort->keys + start * bytes, other, n, sort->digit.shift);
    if (streams(sort) && sorted != to)
        kernels->stream_keys(sorted, to, n, sort->back);
    else
        kernels->transform(sorted, to, n, sort->back);
}

static void sort_buckets(void *context, unsigned member, unsigned size)
{
    (void)size;
    struct sort *sort = context;
    const uint64_t buckets = (uint64_t)1 << sort->digit.bits;
    for (;;) {
        const uint64_t b = atomic_fetch_add_explicit(&sort->next_bucket, 1, memory_order_relaxed);
        if (b >= buckets)
            return;
        sort_bucket(sort, b, member);
    }
}

/* Chooses as many buckets as needed for each to fit the caches, by the topmost bits that vary. */
static struct digit bucket_digit(size_t bytes, unsigned bits)
{
    struct digit digit = {.bits = 0};
    while (digit.bits < MOST_BUCKET_BITS && digit.bits < bits &&
           bytes >> digit.bits > BUCKET_BYTES / 2)
        digit.bits++;
    digit.shift = bits - digit.bits;
    return digit;
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

/* Counts keys by the digit that the samples suggest, and again if they were wrong. */
static void count_keys(struct sort *sort, unsigned threads)
{
    uint64_t varying = sample_varying(sort);
    unsigned bits, guess;
    do {
        guess = bits_up_to(varying);
        sort->digit = bucket_digit(keys_bytes(sort), guess);
        run_team(sort->call->problem.device, threads, count_shares, sort);
        for (unsigned s = 0; s < sort->share_count; s++)
            varying |= sort->shares[s].varying;
        bits = bits_up_to(varying);
    } while (bits != guess);
}

/* Turns counts into positions: bucket by bucket, and within a bucket share by share. */
static void place_shares(struct sort *sort)
{
    uint32_t before = 0;
    for (size_t b = 0; b < (size_t)1 << sort->digit.bits; b++) {
        sort->bucket_start[b] = before;
        for (unsigned s = 0; s < sort->share_count; s++) {
            const uint32_t count = sort->shares[s].start[b];
            sort->shares[s].start[b] = sort->shares[s].next[b] = before;
            before += count;
        }
    }
    sort->bucket_start[(size_t)1 << sort->digit.bits] = before;
}

/* Sorts an array that fits the cache. */
static void sort_one_bucket(const struct sort *sort)
{
    const struct call *call = sort->call;
    const uint64_t n = call->problem.n;
    const uint64_t varying = sort->kernels->transform(call->input, call->output, n, sort->order);
    const void *sorted =
        sort->kernels->sort_bucket(call->output, sort->spare, n, bits_up_to(varying));
    sort->kernels->transform(sorted, call->output, n, sort->back);
}

void radix_sort_keys(const struct call *call, unsigned threads)
{
    if (call->problem.n == 0)
        return;
    struct sort *sort = lay_out(call, threads);
    if (keys_bytes(sort) <= BUCKET_BYTES) {
        sort_one_bucket(sort);
        return;
    }
    sort->first = transformed_key(sort, 0);
    atomic_store(&sort->next_bucket, 0);
    count_keys(sort, threads);
    place_shares(sort);
    run_team(sort->call->problem.device, threads, scatter_shares, sort);
    run_team(sort->call->problem.device, threads, sort_buckets, sort);
}
