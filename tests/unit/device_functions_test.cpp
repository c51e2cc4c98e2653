/* device_functions_test: device functions of kernels, called as on devices larger than the
 * emulator can simulate. */
#include "../../kernels/single_pass/lookahead.cuh"
#include "../../kernels/single_pass/lookback.cuh"
#include "../../kernels/single_pass/one_wave.cuh"
#include "../../kernels/sort/msd_host.cuh"
#include "../../kernels/sort/sample_division.cuh"
#include "../../kernels/sort/stable_msd_plan.cuh"

#include "emulator.h"

extern "C" {
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the headers it requires. */
#include <cmocka.h>
}

#include <algorithm>
#include <cmath>
#include <vector>

using namespace emulated;

enum { MOST_TILES = 700, EPOCH = 7, TAG = 14, BLOCK = 64 };

/* Published totals: tile i's total is i^2 + 1. */
template <class T> struct totals {
    std::vector<tile_status<T>> status{MOST_TILES};

    explicit totals(uint32_t tag)
    {
        for (uint64_t i = 0; i < MOST_TILES; i++)
            tell(i, (T)(i * i + 1), tag);
    }

    /* Does the same as publish(), which only kernels can call. */
    void tell(uint64_t tile, T value, uint32_t tag)
    {
        uint32_t half[sizeof(T) / 4];
        memcpy(half, &value, sizeof value);
        for (unsigned w = 0; w < sizeof(T) / 4; w++)
            status[tile].word[w] = (uint64_t)tag << 32 | half[w];
    }
};

static uint64_t squares_and_ones(uint64_t from, uint64_t to)
{
    uint64_t sum = 0;
    for (uint64_t i = from; i < to; i++)
        sum += i * i + 1;
    return sum;
}

/* Fails unless the kernel stored the sum of from..to-1 in `sum`. */
static void assert_sum(cudaError_t error, uint64_t sum, uint64_t from, uint64_t to)
{
    if (error != cudaSuccess)
        fail_msg("%s", emulator_error_detail());
    if (sum != squares_and_ones(from, to))
        fail_msg("%llu to %llu: %llu, where %llu is right", (unsigned long long)from,
                 (unsigned long long)to, (unsigned long long)sum,
                 (unsigned long long)squares_and_ones(from, to));
}

#define LAUNCH(kernel, grid, block, shared_bytes, ...)                                     \
    emulator_launch(kernel, #kernel, grid, block, shared_bytes, EMULATOR_IN_TURN, nullptr, \
                    __VA_ARGS__)

/* ---- Tile status: a value of two words under one tag ---- */

enum { MOST_TAG = 400, OTHER_HALF = 1000 };

static uint64_t value_of(uint32_t tag)
{
    return (uint64_t)(tag * OTHER_HALF) << 32 | tag;
}

/* The first warp publishes one value after another; the second reads them. */
static void publish_and_look_kernel(tile_status<uint64_t> *status, unsigned *seen_whole,
                                    unsigned *wrong)
{
    for (uint32_t tag = 1; threadIdx.x == 0 && tag <= MOST_TAG; tag++)
        publish(status, value_of(tag), tag);
    for (uint32_t tag = 0; threadIdx.x == WARP && tag < MOST_TAG;) {
        const observation<uint64_t> seen = look_at(status);
        tag = seen.tag;
        *seen_whole += seen.whole;
        *wrong += seen.whole && seen.value != value_of(seen.tag);
        spin_wait();
    }
}

static void values_are_seen_whole_or_not_at_all(void **)
{
    unsigned seen_whole = 0, wrong = 0;
    emulator_set_yield_rate(1000); /* between any two words */
    for (unsigned seed = 1; seed <= 8; seed++) {
        tile_status<uint64_t> status = {};
        emulator_set_seed(seed);
        assert_int_equal(LAUNCH(publish_and_look_kernel, 1, BLOCK, 0, &status, &seen_whole, &wrong),
                         cudaSuccess);
    }
    emulator_set_yield_rate(EMULATOR_DEFAULT_YIELD_PER_MILLE);
    assert_true(seen_whole > 8);
    assert_int_equal(wrong, 0);
}

/* ---- Look-ahead: a round of as many tiles as the device has multiprocessors ---- */

static void sum_of_totals_kernel(const tile_status<uint64_t> *status, uint64_t from, uint64_t to,
                                 uint64_t *sum)
{
    const uint64_t mine = warp_sum(share_of_values<lookahead::LOOKS>(
        status, from, to, lane_index(), WARP, TAG, [] { spin_wait(); }));
    if (threadIdx.x == 0)
        *sum = mine;
}

static void look_ahead_over_any_number_of_tiles(void **)
{
    const totals<uint64_t> totals(TAG);
    for (uint64_t from : {0, 1, 100})
        for (uint64_t to = from; to <= MOST_TILES; to++) {
            uint64_t sum = 0;
            const cudaError_t error =
                LAUNCH(sum_of_totals_kernel, 1, WARP, 0, totals.status.data(), from, to, &sum);
            assert_sum(error, sum, from, to);
        }
}

/* ---- Look-back: past many tiles that know only their own total ---- */

static void look_back_kernel(const tile_status<uint64_t> *status, unsigned tile, uint64_t *sum)
{
    const uint64_t mine = lookback::look_back(status, tile, EPOCH);
    if (threadIdx.x == 0)
        *sum = mine;
}

static void look_back_to_the_nearest_prefix(void **)
{
    const unsigned at[] = {0, 1, 31, 32, 33, 64, 300, MOST_TILES};
    for (const unsigned tile : at)
        for (const unsigned prefix : at) {
            totals<uint64_t> totals(aggregate_tag(EPOCH));
            if (prefix < tile)
                totals.tell(prefix, squares_and_ones(0, prefix + 1), prefix_tag(EPOCH));
            uint64_t sum = 0;
            const cudaError_t error =
                LAUNCH(look_back_kernel, 1, WARP, 0, totals.status.data(), tile, &sum);
            assert_sum(error, sum, 0, tile);
        }
}

/* ---- One wave: more blocks than a block has threads ---- */

template <class Sum> struct tiles_of_totals : one_wave::own_tiles<Sum> {
    const tile_status<Sum> *totals;

    const tile_status<Sum> *status() const
    {
        return totals;
    }
};

template <class Sum>
static void watch_before_kernel(const tile_status<Sum> *status, unsigned first, uint64_t *sums)
{
    const tiles_of_totals<Sum> tiles = {{{nullptr, 1, 0}, 0}, status};
    const Sum before =
        one_wave::watch_before(tiles, std::min(first, blockIdx.x), TAG, shared_memory<Sum>());
    if (threadIdx.x == BLOCK - 1)
        sums[blockIdx.x] = before;
}

template <class Sum> static void watch_any_number_of_tiles(void **)
{
    const totals<Sum> totals(TAG);
    for (const unsigned first : {0u, 1u, 300u}) {
        std::vector<uint64_t> sums(MOST_TILES);
        const cudaError_t error =
            LAUNCH(watch_before_kernel<Sum>, MOST_TILES, BLOCK, BLOCK / WARP * sizeof(Sum),
                   totals.status.data(), first, sums.data());
        for (uint64_t tile = 0; tile < MOST_TILES; tile++)
            assert_sum(error, sums[tile], std::min<uint64_t>(first, tile), tile);
    }
}

/* ---- Where segments begin, given their offsets ---- */

template <unsigned ROWS>
static void offset_heads_kernel(offset_heads heads, uint64_t n, unsigned *bits, uint64_t *segments)
{
    constexpr unsigned SIZE = ROWS * WARP * 4;
    auto *here = shared_memory<offset_heads::tile_bits>();
    const unsigned tile = blockDim.x / WARP * SIZE, earlier = threadIdx.x / WARP * SIZE;
    const uint64_t first = (uint64_t)blockIdx.x * tile;
    heads.find<true>(first, tile, n, here);
    const beginnings found = heads.begins<4, ROWS>(earlier, here);
    bits[global_thread()] = found.bits;
    segments[blockIdx.x] = found.segment;
}

/* Asks a block of so many warps per tile, and one past the end. */
template <unsigned ROWS>
static void find_beginnings(const std::vector<uint64_t> &offsets, uint64_t n, unsigned warps)
{
    constexpr unsigned SIZE = ROWS * WARP * 4;
    const unsigned tile = warps * SIZE;
    const auto tiles = (unsigned)(n / tile + 2);
    std::vector<bool> begins(tiles * tile);
    for (const uint64_t offset : offsets)
        begins[offset] = offset < n;
    std::vector<unsigned> bits(tiles * warps * WARP);
    std::vector<uint64_t> segments(tiles);
    const offset_heads heads = {
        {}, offsets.data(), offsets.size(), (float)offsets.size() / (float)n};
    if (LAUNCH(offset_heads_kernel<ROWS>, tiles, warps * WARP, offset_heads::tile_bits_bytes(tile),
               heads, n, bits.data(), segments.data()) != cudaSuccess)
        fail_msg("%s", emulator_error_detail());
    for (uint64_t i = 0; i < begins.size(); i++) {
        const uint64_t in_slice = i % SIZE, in_row = in_slice % (WARP * 4);
        const unsigned word = bits[i / SIZE * WARP + in_row / 4];
        assert_int_equal(word >> (in_slice / (WARP * 4) * 4 + in_row % 4) & 1, begins[i]);
        if (i % tile == 0 && i < n) {
            const auto after = std::upper_bound(offsets.begin(), offsets.end(), i);
            assert_int_equal(segments[i / tile], after == offsets.begin() ? 0 : after[-1]);
        }
    }
}

/* Offsets whose distances repeat. */
static std::vector<uint64_t> offsets_by(const std::vector<unsigned> &distances, uint64_t n)
{
    std::vector<uint64_t> offsets = {0};
    for (size_t k = 0; offsets.back() + distances[k % distances.size()] <= n; k++)
        offsets.push_back(offsets.back() + distances[k % distances.size()]);
    return offsets;
}

static void offsets_are_found_wherever_they_lie(void **)
{
    std::vector<unsigned> many_empty(1500, 0), some_empty(320, 3), few_empty(33, 0);
    many_empty[700] = 129;
    std::fill_n(some_empty.begin(), 300, 0);
    few_empty[0] = 31;
    for (const uint64_t n : {1, 31, 128, 5003}) {
        for (const auto &distances : std::vector<std::vector<unsigned>>{{1},
                                                                        {2, 1},
                                                                        {31, 33},
                                                                        {64},
                                                                        {127, 129},
                                                                        {1000},
                                                                        {6000},
                                                                        {0, 0, 5},
                                                                        few_empty,
                                                                        some_empty,
                                                                        many_empty}) {
            find_beginnings<1>(offsets_by(distances, n), n, 1);
            find_beginnings<5>(offsets_by(distances, n), n, 2);
            find_beginnings<8>(offsets_by(distances, n), n, 3);
        }
        find_beginnings<2>(std::vector<uint64_t>(300, n), n, 1); /* only empty ones, at the end */
    }
    /* Far from where they would be if all segments had the same length. */
    std::vector<uint64_t> dense_first, dense_last;
    for (uint64_t k = 0; k < 1000; k++) {
        dense_first.push_back(k < 900 ? k : 900 + (k - 900) * 40);
        dense_last.push_back(k < 100 ? k * 40 : 4000 + (k - 100));
    }
    for (const auto &offsets : {dense_first, dense_last}) {
        find_beginnings<1>(offsets, 5003, 1);
        find_beginnings<8>(offsets, 5003, 2);
    }
    find_beginnings<8>({}, 5003, 1);
}

/* ---- Sums of a warp ---- */

template <class T> static void warp_sum_kernel(const T *in, T *sums)
{
    sums[threadIdx.x] = warp_sum(in[threadIdx.x]);
}

/* Sums that wrap around, and that carry from every bit to the next. */
template <class T> static void warps_add_up(void **)
{
    for (unsigned bit = 0; bit < 8 * sizeof(T); bit++) {
        std::vector<T> in(WARP), sums(WARP);
        T wanted = 0;
        for (unsigned lane = 0; lane < WARP; lane++)
            wanted += in[lane] = (T)(T(-1) << bit) - (lane % 3 == 0 ? (T)lane : 0);
        if (LAUNCH(warp_sum_kernel<T>, 1, WARP, 0, in.data(), sums.data()) != cudaSuccess)
            fail_msg("%s", emulator_error_detail());
        for (const T sum : sums)
            assert_true(sum == wanted);
    }
}

/* ---- stable-msd: the counts of as many bins as very many pairs have ---- */

using stable_msd::half_counters, stable_msd::COUNT_THREADS;

struct bin_count {
    unsigned bin, count;
};

/* Both halves of a word, and of those beside it. */
static constexpr bin_count BIN_COUNTS[] = {
    {0, 1},
    {4, 32767},
    {5, 70000},
    {6, 65536},
    {half_counters::HALF - 1, 32769},
    {half_counters::HALF, 65535},
    {half_counters::HALF + 4, 32768},
    {half_counters::HALF + 5, 140001},
    {half_counters::HALF + 7, 2},
    {2 * half_counters::HALF - 1, 65537},
};

static void half_counters_kernel(unsigned *all)
{
    const half_counters counters = {shared_memory<unsigned>()};
    for (unsigned w = threadIdx.x; w < half_counters::HALF; w += COUNT_THREADS)
        counters.words[w] = 0;
    for (unsigned k = threadIdx.x, many = 1; many; k += COUNT_THREADS) {
        many = __syncthreads_or(k < 140001);
        for (const bin_count &bin : BIN_COUNTS)
            if (k < bin.count)
                counters.add(bin.bin, all);
    }
    __syncthreads();
    counters.add_to(all, 2 * half_counters::HALF);
}

static void half_counters_pass_their_bits(void **)
{
    constexpr size_t SHARED = half_counters::HALF * sizeof(unsigned);
    std::vector<unsigned> all(2 * half_counters::HALF);
    assert_int_equal(allow_shared_bytes(half_counters_kernel, SHARED), cudaSuccess);
    if (LAUNCH(half_counters_kernel, 1, COUNT_THREADS, SHARED, all.data()) != cudaSuccess)
        fail_msg("%s", emulator_error_detail());
    for (const bin_count &bin : BIN_COUNTS) {
        assert_int_equal(all[bin.bin], bin.count);
        all[bin.bin] = 0;
    }
    for (const unsigned count : all)
        assert_int_equal(count, 0);
}

/* Counts keys by so many bits, twice with the same plan: starts and the tiles of buckets are right,
 * and the counts are zero again. */
template <class Key> static void count_by(unsigned bits, unsigned blocks)
{
    constexpr unsigned N = 20001, WIDTH = 8 * sizeof(Key), CAPACITY = 5120, TILE = 100;
    std::vector<Key> keys(N);
    std::vector<unsigned> starts((1u << bits) + 1);
    for (unsigned i = 0; i < N; i++) {
        keys[i] = Key((i + 1) * 0x9E3779B97F4A7C15u >> (64 - WIDTH));
        starts[(unsigned)(keys[i] >> (WIDTH - bits)) + 1]++;
    }
    for (unsigned b = 0; b < 1u << bits; b++)
        starts[b + 1] += starts[b];
    std::vector<stable_msd::plan> plans(1);
    stable_msd::plan *const plan = plans.data();
    std::vector<onesweep::plan> others(1);
    const size_t shared =
        sizeof(stable_msd::count_layout<Key>) + stable_msd::counter_words(bits) * sizeof(unsigned);
    assert_int_equal(allow_shared_bytes(stable_msd::count_kernel<Key>, shared), cudaSuccess);
    for (unsigned call = 0; call < 2; call++) {
        if (LAUNCH(stable_msd::count_kernel<Key>, blocks, COUNT_THREADS, shared, keys.data(), N,
                   (key_order<Key>{0, 0}), (stable_msd::limits{bits, bits, N, CAPACITY}), TILE,
                   plan, others.data()) != cudaSuccess)
            fail_msg("%s", emulator_error_detail());
        assert_int_equal(plan->is_chosen, 1);
        assert_int_equal(others[0].disabled, 1);
        assert_int_equal(plan->bits, bits);
        assert_int_equal(plan->shift, WIDTH - bits);
        for (unsigned b = 0; b <= 1u << bits; b++)
            assert_int_equal(plan->starts[b], starts[b]);
        for (const unsigned count : plan->counts)
            assert_int_equal(count, 0);
        unsigned tiles = 0;
        for (unsigned digit = 0; digit < 1u << plan->first_bits(); digit++) {
            const unsigned first = starts[digit << plan->next_bits];
            const unsigned end = starts[(digit + 1) << plan->next_bits];
            assert_int_equal(plan->first_starts[digit], first);
            assert_int_equal(plan->first_tile[digit], tiles);
            tiles += (end - first + TILE - 1) / TILE;
        }
        assert_int_equal(plan->first_tile[stable_msd::DIGITS], tiles);
    }
}

static void counts_by_any_number_of_bits(void **)
{
    count_by<uint32_t>(9, 1);
    count_by<uint64_t>(12, 2);
    count_by<uint64_t>(15, 1);
    count_by<uint32_t>(16, 3);
    count_by<uint64_t>(16, 1);
}

/* ---- msd: digits of the sample ---- */

template <class Order, class Key = typename Order::key>
static void are_even_kernel(const Key *sample, int *are_even)
{
    auto *shared = shared_memory<msd::sampling_layout<Key>>();
    are_even[threadIdx.x] =
        msd::are_even<Order>(shared, sample[threadIdx.x], {sample[0], sample[msd::SAMPLE - 1]});
}

/* All threads must agree. */
template <class Order, class Key = typename Order::key>
static bool is_even_sample(const std::vector<Key> &sample)
{
    assert_int_equal(sample.size(), msd::SAMPLE);
    std::vector<int> even(msd::SAMPLE);
    const auto kernel = are_even_kernel<Order>;
    constexpr size_t SHARED_BYTES = sizeof(msd::sampling_layout<Key>);
    assert_int_equal(allow_shared_bytes(kernel, SHARED_BYTES), cudaSuccess);
    if (LAUNCH(kernel, 1, msd::SAMPLE, SHARED_BYTES, sample.data(), even.data()) != cudaSuccess)
        fail_msg("%s", emulator_error_detail());
    assert_true(std::ranges::all_of(even, [&](int each) { return each == even[0]; }));
    return even[0];
}

/* counts[i] keys of the sample have the value i - 3. The range from -3 to 5 is cut in the middle
 * between these values, so the first and the last part are half as wide. */
template <class Value> static bool are_even(const std::vector<int> &counts)
{
    using Key = bits_of_width<Value>;
    std::vector<Key> sample;
    for (size_t eighth = 0; eighth < counts.size(); eighth++)
        sample.insert(sample.end(), counts[eighth], rank_of(Value(-3 + (int)eighth)));
    return is_even_sample<float_order<Key>>(sample);
}

template <class Value> static void each_eighth_of_even_floats_has_its_share(void **)
{
    assert_true(are_even<Value>({64, 128, 128, 128, 128, 128, 128, 128, 64}));
    assert_true(are_even<Value>({40, 176, 128, 128, 128, 104, 128, 128, 64}));
    assert_true(are_even<Value>({88, 128, 80, 176, 80, 176, 128, 128, 40}));
    assert_false(are_even<Value>({39, 129, 128, 128, 128, 128, 128, 128, 88}));
    assert_false(are_even<Value>({89, 103, 128, 128, 128, 128, 128, 128, 64}));
    assert_false(are_even<Value>({64, 128, 128, 128, 128, 128, 128, 153, 39}));
    assert_false(are_even<Value>({64, 128, 177, 80, 127, 128, 128, 128, 64}));
    assert_false(are_even<Value>({64, 128, 128, 128, 128, 128, 79, 176, 65}));
    assert_false(are_even<Value>({16, 64, 128, 192, 224, 192, 128, 64, 16}));
}

/* counts[i] keys of the sample are near the end of an eighth of the range, whose ends have one. */
static bool are_even_integers(const std::vector<int> &counts)
{
    std::vector<uint32_t> sample = {3000};
    for (size_t eighth = 0; eighth < counts.size(); eighth++)
        sample.insert(sample.end(), counts[eighth] - (eighth % 7 == 0),
                      3000 + (uint32_t)eighth * 10000 + 9900);
    sample.push_back(3000 + 79999);
    return is_even_sample<unsigned_order<uint32_t>>(sample);
}

static void each_eighth_of_even_integers_has_its_share(void **)
{
    assert_true(are_even_integers({128, 128, 128, 128, 128, 128, 128, 128}));
    assert_true(are_even_integers({80, 176, 128, 128, 128, 128, 176, 80}));
    assert_false(are_even_integers({79, 128, 128, 128, 128, 128, 128, 177}));
    assert_false(are_even_integers({128, 128, 177, 79, 128, 128, 128, 128}));
    assert_true(is_even_sample<unsigned_order<uint32_t>>(std::vector<uint32_t>(msd::SAMPLE, 7)));
}

template <class Value> static void margins_of_floats_are_of_values(void **)
{
    using Key = bits_of_width<Value>;
    const auto wide = msd::wider<float_order<Key>>({rank_of(Value(-3)), rank_of(Value(5))}, 32);
    assert_true(wide.lowest == rank_of(Value(-3 - 8. / 32)));
    assert_true(wide.highest == rank_of(Value(5 + 8. / 32)));
}

/* They are wider still where two levels are launched. */
static void margins_of_uneven_keys_are_wider(void **)
{
    struct msd::shape shape = {};
    for (shape.levels = 0; shape.levels <= 2; shape.levels++) {
        assert_int_equal(msd::parts_per_margin(false, shape), shape.levels > 1 ? 6 : 32);
        assert_int_equal(msd::parts_per_margin(true, shape), 128);
    }
}

static void margins_of_integers_are_of_ranks(void **)
{
    const auto wide = msd::wider<unsigned_order<uint32_t>>({2000, 2000 + 1280}, 128);
    assert_int_equal(wide.lowest, 1990);
    assert_int_equal(wide.highest, 3290);
    const auto all = msd::wider<unsigned_order<uint32_t>>({5, UINT32_MAX - 5}, 128);
    assert_int_equal(all.lowest, 0);
    assert_int_equal(all.highest, UINT32_MAX);
}

/* More than evenly spread keys need, if three blocks fit into shared memory. */
static void bits_that_are_counted_at_once(void **)
{
    const auto most_bits = [](unsigned needed, unsigned kib) {
        struct device_limits device = {};
        device.shared_bytes_per_block = kib << 10;
        return msd::most_bits_of_two<uint32_t>(needed, &device);
    };
    assert_int_equal(most_bits(11, 227), 13);
    assert_int_equal(most_bits(13, 227), 14);
    assert_int_equal(most_bits(14, 227), 14);
    assert_int_equal(most_bits(15, 227), 15);
    assert_int_equal(most_bits(16, 227), 0);
    assert_int_equal(most_bits(13, 100), 13);
    assert_int_equal(most_bits(15, 100), 0);
}

template <class Order, class Key = typename Order::key>
static void choose_digits_kernel(const Key *sample, msd::shape shape, msd::sampling sampling,
                                 msd::choice *choice)
{
    auto *shared = shared_memory<msd::sampling_layout<Key>>();
    const leaf_sort::extent<Key> extent = {sample[0], sample[msd::SAMPLE - 1]};
    const Key rank = sample[threadIdx.x];
    const bool is_even = msd::are_even<Order>(shared, rank, extent);
    const auto wide = msd::wider<Order>(extent, msd::parts_per_margin(is_even, shape));
    const auto chosen =
        msd::choose_digits<Order>(shared, rank, extent, wide, is_even, shape, sampling);
    if (threadIdx.x == 0)
        *choice = chosen;
}

/* Chooses digits for n keys of 4 bytes by a sample, which is in order. */
template <class Order, class Key = typename Order::key>
static msd::choice chosen(const std::vector<Key> &sample, enum element_type type, uint64_t n)
{
    struct device_limits device = {};
    device.multiprocessors = device.members = 1;
    device.shared_bytes_per_block = 227 << 10;
    struct call call = {};
    call.problem.op = OP_SORT, call.problem.device = &device;
    call.problem.type = type, call.problem.n = n;
    std::vector<msd::choice> choice(1);
    const auto kernel = choose_digits_kernel<Order>;
    constexpr size_t SHARED_BYTES = sizeof(msd::sampling_layout<Key>);
    assert_int_equal(allow_shared_bytes(kernel, SHARED_BYTES), cudaSuccess);
    if (LAUNCH(kernel, 1, msd::SAMPLE, SHARED_BYTES, sample.data(),
               msd::shape_of<Key>(&call.problem), msd::sampling_of<Key>(&call),
               choice.data()) != cudaSuccess)
        fail_msg("%s", emulator_error_detail());
    return choice[0];
}

/* The sum of four uniform numbers, from 0 to 4, that more than a share of these sums are below. */
static double quantile_of_normal(double share)
{
    const auto share_below = [](double x) {
        double sum = 0;
        for (int k = 0, sign = 1, choose = 1; k < x; choose = choose * (4 - k) / (k + 1), k++)
            sum += sign * choose * pow(x - k, 4) / 24, sign = -sign;
        return sum;
    };
    double low = 0, high = 4;
    for (int step = 0; step < 50; step++)
        (share_below((low + high) / 2) < share ? low : high) = (low + high) / 2;
    return low;
}

template <class Value> static std::vector<Value> even_sample(Value low, Value high)
{
    std::vector<Value> sample;
    for (int i = 0; i < msd::SAMPLE; i++)
        sample.push_back(Value(low + (high - low) * (i / double{msd::SAMPLE})));
    return sample;
}

template <class Value> static std::vector<Value> normal_sample(Value low, Value high)
{
    std::vector<Value> sample;
    for (int i = 0; i < msd::SAMPLE; i++)
        sample.push_back(
            Value(low + (high - low) / 4 * quantile_of_normal((i + .5) / double{msd::SAMPLE})));
    return sample;
}

static std::vector<uint32_t> ranks_of(const std::vector<float> &values)
{
    std::vector<uint32_t> ranks;
    for (float value : values)
        ranks.push_back(rank_of(value));
    return ranks;
}

static msd::choice chosen_for(const std::vector<float> &sample, uint64_t n)
{
    return chosen<float_order<uint32_t>>(ranks_of(sample), TYPE_F32, n);
}

static msd::choice chosen_for(const std::vector<uint32_t> &sample, uint64_t n)
{
    return chosen<unsigned_order<uint32_t>>(sample, TYPE_U32, n);
}

static void assert_choice(const msd::choice &choice, msd::digit_kind kind, unsigned bits,
                          unsigned next_bits)
{
    assert_int_equal(choice.digits.kind, kind);
    assert_int_equal(choice.digits.bits, bits);
    assert_int_equal(choice.next_bits, next_bits);
    assert_true(choice.suits);
    assert_int_equal(choice.needing_more, 0);
}

/* The digits of n keys: as many of floats, which lie in bins of value, as of integers. */
struct wanted_digits {
    uint64_t n;
    unsigned bits, next_bits;
    msd::digit_kind kind_of_integers = msd::BITS_OF_RANK;
};

static void assert_digits(const std::vector<float> &floats, const std::vector<uint32_t> &integers,
                          const std::vector<wanted_digits> &cases)
{
    for (const auto &[n, bits, next_bits, kind_of_integers] : cases) {
        assert_choice(chosen_for(floats, n), msd::BINS_OF_VALUE, bits, next_bits);
        assert_choice(chosen_for(integers, n), kind_of_integers, bits, next_bits);
    }
}

/* As many as leaves of 2^14 keys need. */
static void digits_of_even_keys(void **)
{
    const auto floats = even_sample<float>(-1, 1);
    assert_digits(floats, even_sample<uint32_t>(0, UINT32_MAX),
                  {{1 << 20, 6, 0}, {1 << 22, 8, 0}, {1 << 24, 10, 0}, {1 << 28, 7, 7}});
    assert_choice(chosen_for(even_sample<float>(1, 2), 1 << 22), msd::BITS_OF_RANK, 8, 0);
    /* The outermost of 2^5 bins are half as wide, so that others would have too many keys. */
    assert_choice(chosen_for(floats, 1 << 19), msd::BINS_OF_VALUE, 6, 0);
}

/* Four times as many, if the launches count them at once; or each bucket of a second level has its
 * own. Where digits of one level are too wide, the second one is launched too. Integers have bins
 * where their range and its margins fill little more than half of a power of two. */
static void digits_of_normal_keys(void **)
{
    const auto floats = normal_sample<float>(-1, 1);
    assert_digits(floats, normal_sample<uint32_t>(0, UINT32_MAX),
                  {{1 << 22, 10, 0},
                   {7000000, 6, 5},
                   {1 << 23, 6, 5},
                   {1 << 24, 6, 6},
                   {1 << 25, 7, 6},
                   {1 << 28, 7, 10}});
    const uint32_t low = (1u << 30) + 10000000;
    assert_digits(floats, normal_sample<uint32_t>(low, low + (1u << 24)),
                  {{1 << 22, 10, 0, msd::BINS_OF_RANK},
                   {1 << 23, 6, 5, msd::BINS_OF_RANK},
                   {1 << 25, 7, 6, msd::BINS_OF_RANK},
                   {1 << 28, 7, 10}});
    /* Full leaves would hold what the sample says, and no more. */
    assert_choice(chosen_for(floats, 11400000), msd::BINS_OF_VALUE, 6, 6);
}

/* Each value may have a digit, up to some number of them. */
static void digits_of_few_normal_ranks(void **)
{
    for (unsigned bits = 11; bits <= 14; bits++) {
        const auto sample = normal_sample<uint32_t>(1 << bits, 5 << bits >> 1);
        const msd::choice choice = chosen_for(sample, 1 << 24);
        assert_int_equal(choice.digits.kind, bits > 12 ? msd::BINS_OF_RANK : msd::BITS_OF_RANK);
        assert_true(choice.suits);
    }
}

/* The bins of integers take any rank, and know where each begins and ends. */
template <class Key> static void bins_of_ranks_outside(void **)
{
    const Key low = (Key(~Key(0)) >> 2) + 1, width = low / 1000, high = low + 10 * width + 7;
    const msd::bins_of<unsigned_order<Key>> bins(low, high, 10);
    const Key highest = ~Key(0);
    for (Key below : {Key(0), Key(low - 1)})
        assert_int_equal(bins.of(below), 0);
    for (Key above : {Key(high + 1), highest})
        assert_int_equal(bins.of(above), bins.of(high));
    for (Key rank = low; rank < low + 9 * width; rank += width / 100) {
        const unsigned bin = bins.of(rank);
        assert_true(bins.first_of(bin) <= rank && rank <= bins.last_of(bin));
        assert_int_equal(bins.of(bins.first_of(bin)), bin);
        assert_int_equal(bins.of(bins.last_of(bin)), bin);
        assert_int_equal(bins.of(bins.last_of(bin) + 1), bin + 1);
    }
}

/* The first bin and the last have the keys outside. */
template <class Key> static void ranges_of_bins(void **)
{
    constexpr unsigned SHIFT = 8 * sizeof(Key) - 12; /* a bin has so many bits */
    const Key low = Key(1000) << SHIFT, highest = ~Key(0);
    static msd::control control;
    control.least = 7, control.greatest = highest;
    msd::task<Key> task = {};
    task.control = &control;
    const auto range = [&](unsigned first, unsigned last) {
        const even_bins<Key> bins(low, low + (Key(8) << SHIFT) - 1, 8);
        return msd::range_of_bins(bins, first, last, task);
    };
    assert_true(range(0, 1).base == 7);
    assert_int_equal(range(0, 1).bits, SHIFT + 10); /* up to 1001 */
    assert_true(range(2, 3).base == Key(1002) << SHIFT);
    assert_int_equal(range(2, 3).bits, SHIFT + 1);
    assert_true(range(6, 7).base == Key(1006) << SHIFT);
    assert_int_equal(range(6, 7).bits, SHIFT + 12);
}

/* Leaves know their bits of the rank, unless they may have keys outside. */
static void bits_that_leaves_know(void **)
{
    msd::bucket bucket = {};
    static msd::control control;
    bucket.base = 3 << 12, bucket.shift = 8, bucket.bits = 4;
    const auto known = [&](unsigned digit, unsigned digits) {
        return msd::known_bits(bucket, digit, digits, control);
    };
    assert_int_equal(known(0, 1), 8);
    assert_int_equal(known(2, 2), 9);
    assert_int_equal(known(3, 2), 0); /* it begins at an odd multiple of half its length */
    assert_int_equal(known(0, 3), 0);
    bucket.kind = msd::BINS_OF_RANK, bucket.base = 0;
    assert_int_equal(known(2, 1), 0); /* bins of any number of ranks */
    control.lowest = 3 << 12, control.log2_bins = 6, control.bin_shift = 6, bucket.bin_bits = 2;
    assert_int_equal(known(2, 1), 8);
    assert_int_equal(known(2, 2), 9);
    assert_int_equal(known(0, 1), 0);
    assert_int_equal(known(0, 2), 0);
    assert_int_equal(known(15, 1), 0);
    assert_int_equal(known(14, 2), 0);
}

/* Each digit is a value, and no margins are needed. */
static void digits_of_few_ranks(void **)
{
    const auto sample = normal_sample<uint32_t>(1024, 1024 + 800);
    const msd::first_digits digits = chosen_for(sample, 1 << 22).digits;
    assert_int_equal(digits.bits, 10);
    assert_int_equal(digits.shift, 0);
}

/* No bins for floats that may all be the same. */
static void digits_of_a_constant(void **)
{
    for (float value : {7.5f, -0.0f, INFINITY}) {
        const msd::choice choice = chosen_for(std::vector<float>(msd::SAMPLE, value), 1 << 22);
        assert_choice(choice, msd::BITS_OF_RANK, 8, 0);
    }
}

/* Floats from 1 to 4 are even by value, but twice as dense by rank from 2 on. */
static void even_floats_of_two_exponents(void **)
{
    assert_choice(chosen_for(even_sample<float>(1, 4), 17000000), msd::BINS_OF_VALUE, 6, 5);
}

/* Narrower digits do not divide keys of one value and its neighbours. */
static void digits_of_skewed_keys(void **)
{
    std::vector<uint32_t> sample = even_sample<uint32_t>(0, UINT32_MAX);
    for (unsigned i = 1; i < msd::SAMPLE / 2; i++)
        sample[i] = i;
    for (unsigned n : {1u << 22, 1u << 24, 1u << 28}) {
        const msd::choice choice = chosen_for(sample, n);
        assert_false(choice.suits);
        assert_true(choice.needing_more >= msd::SAMPLE / 2 - 1);
    }
}

/* ---- sample: the keys that divide the others ---- */

using sample_sort::OVERSAMPLING;

template <class Key> using sample_layout = sample_sort::shared_layout<unsigned_order<Key>>;

/* Each block stores the keys that it knows from the sample. */
template <class Key>
static void rank_sample_kernel(const Key *sample, sample_sort::shape shape,
                               sample_sort::state<Key> *state, Key *known)
{
    sample_sort::rank_large_sample<unsigned_order<Key>>(sample, shape, state);
    const auto *shared = shared_memory<sample_layout<Key>>();
    for (unsigned b = threadIdx.x; b < shape.buckets; b += blockDim.x)
        known[blockIdx.x * shape.buckets + b] = shared->sample[b * OVERSAMPLING];
}

/* Each key is one of `values`: few of them repeat in the same row of 32, more of them far apart. */
template <class Key> static void rank_sample(unsigned buckets, unsigned values)
{
    enum { BLOCKS = 3 };
    std::vector<Key> sample(buckets * OVERSAMPLING), known(BLOCKS * buckets);
    for (size_t i = 0; i < sample.size(); i++)
        sample[i] = Key(i * 7919 % values) * Key(0x9E3779B97F4A7C15);
    std::vector<sample_sort::state<Key>> state(1);
    assert_int_equal(allow_shared_bytes(rank_sample_kernel<Key>, sizeof(sample_layout<Key>)),
                     cudaSuccess);
    if (emulator_launch(rank_sample_kernel<Key>, "rank_sample_kernel", BLOCKS, sample_sort::THREADS,
                        sizeof(sample_layout<Key>), EMULATOR_ALL_RESIDENT, nullptr, sample.data(),
                        sample_sort::shape{0, 0, buckets}, state.data(),
                        known.data()) != cudaSuccess)
        fail_msg("%s", emulator_error_detail());
    std::ranges::sort(sample);
    for (size_t k = 0; k < known.size(); k++)
        assert_true(known[k] == sample[k % buckets * OVERSAMPLING]);
}

static void samples_are_ranked(void **)
{
    rank_sample<uint32_t>(256, 2048);
    rank_sample<uint32_t>(1024, 2999);
    rank_sample<uint64_t>(256, 611);
    rank_sample<uint64_t>(512, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_seen_whole_or_not_at_all),
        cmocka_unit_test(look_ahead_over_any_number_of_tiles),
        cmocka_unit_test(look_back_to_the_nearest_prefix),
        cmocka_unit_test(watch_any_number_of_tiles<uint32_t>),
        cmocka_unit_test(watch_any_number_of_tiles<uint64_t>),
        cmocka_unit_test(offsets_are_found_wherever_they_lie),
        cmocka_unit_test(warps_add_up<uint32_t>),
        cmocka_unit_test(warps_add_up<uint64_t>),
        cmocka_unit_test(half_counters_pass_their_bits),
        cmocka_unit_test(counts_by_any_number_of_bits),
        cmocka_unit_test(each_eighth_of_even_floats_has_its_share<float>),
        cmocka_unit_test(each_eighth_of_even_floats_has_its_share<double>),
        cmocka_unit_test(each_eighth_of_even_integers_has_its_share),
        cmocka_unit_test(margins_of_floats_are_of_values<float>),
        cmocka_unit_test(margins_of_floats_are_of_values<double>),
        cmocka_unit_test(margins_of_uneven_keys_are_wider),
        cmocka_unit_test(margins_of_integers_are_of_ranks),
        cmocka_unit_test(bits_that_are_counted_at_once),
        cmocka_unit_test(digits_of_even_keys),
        cmocka_unit_test(digits_of_normal_keys),
        cmocka_unit_test(digits_of_few_normal_ranks),
        cmocka_unit_test(bins_of_ranks_outside<uint32_t>),
        cmocka_unit_test(bins_of_ranks_outside<uint64_t>),
        cmocka_unit_test(ranges_of_bins<uint32_t>),
        cmocka_unit_test(ranges_of_bins<uint64_t>),
        cmocka_unit_test(bits_that_leaves_know),
        cmocka_unit_test(digits_of_few_ranks),
        cmocka_unit_test(digits_of_a_constant),
        cmocka_unit_test(even_floats_of_two_exponents),
        cmocka_unit_test(digits_of_skewed_keys),
        cmocka_unit_test(samples_are_ranked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
