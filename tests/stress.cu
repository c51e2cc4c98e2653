/* stress: the single-pass algorithms again and again, each time with fresh random data
 * and at another size, block, type and operation, in one workspace.
 *
 * stress [--repeats=10000] [--streams=2] [--max-n=12000000] [--seed=1] [ALGO...]
 *
 * Each stream has a workspace, and all have work at the same time. A repeat is such a
 * problem on each stream, run RUNS times; every result is compared with that of an
 * algorithm which works differently, what is behind the elements that compaction keeps
 * included. Without ALGO: lookback, one-wave and lookahead. The last line says how many
 * results were wrong; if any, it ends with 1. */
#include "../bench/elements.h"
#include "../kernels/launch.cuh"
extern "C" {
#include "../bench/registry.h"
#include "../bench/sizes.h"
}

#include <algorithm>
#include <cinttypes>
#include <cstdlib>
#include <getopt.h>
#include <string>
#include <vector>

namespace SCANBENCH_BACKEND
{

#ifdef __CUDACC__
constexpr enum device_kind KIND = DEVICE_GPU;
constexpr const char *REFERENCE = "cub";
static const struct backend &device = gpu_backend;
#else
constexpr enum device_kind KIND = DEVICE_EMULATOR;
constexpr const char *REFERENCE = "naive";
static const struct backend &device = emulated_backend;
#endif

enum { RUNS = 4, TEST_BLOCK = 256, TEST_BLOCKS = 512 };

static void must(const char *why)
{
    if (why == nullptr)
        return;
    fprintf(stderr, "stress: %s\n", why);
    exit(1);
}

static void must(cudaError_t error)
{
    must(error == cudaSuccess ? nullptr : cudaGetErrorString(error));
}

__global__ void fill_kernel(struct input input, void *array)
{
    for (uint64_t i = global_thread(); i < input.n; i += (uint64_t)gridDim.x * blockDim.x)
        element_store(input.type, array, i, input_element(&input, i));
}

/* Counts the words that differ; the number of elements kept is one more. */
__global__ void compare_kernel(const uint32_t *got, const uint32_t *wanted, uint64_t words,
                               const uint64_t *counts, unsigned long long *wrong)
{
    unsigned long long mine = global_thread() == 0 && counts[0] != counts[1];
    for (uint64_t i = global_thread(); i < words; i += (uint64_t)gridDim.x * blockDim.x)
        mine += got[i] != wanted[i];
    if (mine > 0)
        atomicAdd(wrong, mine);
}

/* Random numbers, one after the other. */
struct draws {
    uint64_t seed, drawn;

    uint64_t below(uint64_t end)
    {
        return random_bits(seed, drawn++) % end;
    }
};

/* Half of them next to a power of two or 5/8 of one, the others anywhere between
 * two powers. */
static uint64_t draw_size(draws *draw, uint64_t max_n)
{
    unsigned bits = 0;
    while (max_n >> bits > 1)
        bits++;
    const uint64_t power = (uint64_t)1 << draw->below(bits + 1);
    uint64_t n = power + draw->below(power);
    if (draw->below(2) == 0)
        n = (draw->below(2) == 0 ? power : power - power / 8 * 3) + draw->below(7) - 3;
    return n - 1 < max_n ? n : 1 + draw->below(max_n);
}

struct memory {
    void *data = nullptr;
    size_t bytes = 0;

    void reserve(size_t wanted)
    {
        if (wanted <= bytes)
            return;
        must(cudaFree(data));
        must(cudaMalloc(&data, wanted));
        bytes = wanted;
    }
};

/* A stream, and what its problem works in. */
struct lane {
    queue work = {};
    struct call call = {};
    const struct algorithm *algorithm;
    struct tally *tally;
    memory in, out, wanted, scratch, reference_scratch;
    uint64_t *counts; /* got, wanted */
    unsigned long long *wrong;
};

/* What came of an algorithm of an operation. */
struct tally {
    enum operation op;
    std::string name;
    const struct algorithm *algorithm;
    uint64_t results, wrong, smallest, largest;
};

struct settings {
    uint64_t repeats = 10000, streams = 2, max_n = 12000000, seed = 1;
    std::vector<std::string> names;
};

/* NULL: there is none. */
static const struct algorithm *find(enum operation op, const std::string &name)
{
    for (size_t r = 0; r < registry_row_count(); r++) {
        const struct table_row *row = registry_row(r);
        if (row->op == op && name == row->name)
            return row->on[KIND];
    }
    return nullptr;
}

static size_t scratch_of(const struct algorithm *algorithm, const struct problem *problem)
{
    return algorithm->scratch_bytes != nullptr ? algorithm->scratch_bytes(problem) : 0;
}

static const struct device_limits *limits_of_device()
{
    static struct device_info info;
    static struct device_limits limits;
    must(device.open(0, 1, &info, &limits));
    limits.kind = KIND;
    return &limits;
}

/* Another problem; there are some that an algorithm does not do. */
static void draw_problem(lane *lane, const settings &settings, std::vector<tally> *tallies,
                         const struct device_limits *limits, draws *draw)
{
    static constexpr double KEEP[] = {0, 0.01, 0.5, 0.75, 1};
    do {
        lane->tally = &(*tallies)[draw->below(tallies->size())];
        lane->algorithm = lane->tally->algorithm;
        lane->call.problem = {
            .op = lane->tally->op,
            .type = draw->below(2) == 0 ? TYPE_I32 : TYPE_I64,
            .kind = draw->below(2) == 0 ? KIND_EXCLUSIVE : KIND_INCLUSIVE,
            .n = draw_size(draw, settings.max_n),
            .block = lane->algorithm->traits & TRAIT_HAS_BLOCK ? 32u << draw->below(6) : 0,
            .scan = lane->algorithm->over,
            .device = limits,
        };
    } while (lane->algorithm->supports != nullptr &&
             lane->algorithm->supports(&lane->call.problem) != nullptr);

    const struct problem *problem = &lane->call.problem;
    const struct input input = {.op = problem->op,
                                .type = problem->type,
                                .shape = INPUT_UNIFORM,
                                .n = problem->n,
                                .max = draw->below(2) == 0 ? 49u : 0x7FFFFFFFu,
                                .seed = random_bits(draw->seed, draw->drawn++),
                                .keep = KEEP[draw->below(5)]};
    launch<fill_kernel>(&lane->work, {TEST_BLOCKS, TEST_BLOCK}, input, lane->in.data);
}

static void poison(lane *lane, void *array)
{
    const struct problem *problem = &lane->call.problem;
    must(cudaMemsetAsync(array, POISON_BYTE, problem->n * element_bytes(problem->type),
                         lane->work.stream));
}

/* What another algorithm makes of the problem. */
static void make_reference(lane *lane)
{
    const struct algorithm *reference = find(lane->call.problem.op, REFERENCE);
    struct call call = lane->call;
    call.problem.block = reference->traits & TRAIT_HAS_BLOCK ? TEST_BLOCK : 0;
    call.problem.scan = reference->over;
    lane->reference_scratch.reserve(scratch_of(reference, &call.problem));
    call.output = lane->wanted.data;
    call.count = &lane->counts[1];
    call.scratch = lane->reference_scratch.data;
    call.epoch = 1;
    poison(lane, lane->wanted.data);
    must(cudaMemsetAsync(lane->counts, 0, 2 * sizeof *lane->counts, lane->work.stream));
    if (reference->prepare != nullptr)
        reference->prepare(&call);
    reference->run(&call);
}

static void prepare(lane *lane)
{
    const struct problem *problem = &lane->call.problem;
    lane->scratch.reserve(scratch_of(lane->algorithm, problem));
    lane->call.scratch = lane->scratch.data;
    lane->call.epoch = 0;
    must(cudaMemsetAsync(lane->wrong, 0, RUNS * sizeof *lane->wrong, lane->work.stream));
    if (lane->algorithm->prepare != nullptr)
        lane->algorithm->prepare(&lane->call);
}

static void run_and_compare(lane *lane, unsigned run)
{
    const struct problem *problem = &lane->call.problem;
    poison(lane, lane->out.data);
    if (problem->op == OP_COMPACT)
        must(cudaMemsetAsync(lane->counts, POISON_BYTE, sizeof *lane->counts, lane->work.stream));
    lane->call.epoch++;
    lane->algorithm->run(&lane->call);
    launch<compare_kernel>(&lane->work, {TEST_BLOCKS, TEST_BLOCK},
                           static_cast<const uint32_t *>(lane->out.data),
                           static_cast<const uint32_t *>(lane->wanted.data),
                           problem->n * element_bytes(problem->type) / sizeof(uint32_t),
                           lane->counts, &lane->wrong[run]);
}

/* Waits for the stream; returns how many results were wrong. */
static uint64_t judge(lane *lane)
{
    static const char *const types[] = {"i32", "", "i64"};
    must(cudaStreamSynchronize(lane->work.stream));
    must(lane->work.error[0] != '\0' ? lane->work.error : nullptr);
    unsigned long long wrong[RUNS];
    must(device.read(wrong, lane->wrong, sizeof wrong));
    const struct problem *problem = &lane->call.problem;
    tally *tally = lane->tally;
    tally->smallest = std::min(tally->smallest, problem->n);
    tally->largest = std::max(tally->largest, problem->n);
    tally->results += RUNS;
    const auto bad = (uint64_t)(RUNS - std::count(wrong, wrong + RUNS, 0));
    tally->wrong += bad;
    for (unsigned run = 0; run < RUNS; run++)
        if (wrong[run] > 0)
            printf("WRONG  %s %s: %s, %s, n = %" PRIu64 ", blocks of %u, run %u: %llu words\n",
                   operation_name(problem->op), tally->name.c_str(), types[problem->type],
                   problem->kind == KIND_INCLUSIVE ? "inclusive" : "exclusive", problem->n,
                   problem->block, run + 1, wrong[run]);
    return bad;
}

static void open_lane(lane *lane, const settings &settings)
{
    must(cudaStreamCreateWithFlags(&lane->work.stream, cudaStreamNonBlocking));
    for (memory *array : {&lane->in, &lane->out, &lane->wanted})
        array->reserve(settings.max_n * sizeof(uint64_t));
    must(cudaMalloc(&lane->counts, 2 * sizeof *lane->counts));
    must(cudaMalloc(&lane->wrong, RUNS * sizeof *lane->wrong));
    lane->call.input = lane->in.data;
    lane->call.output = lane->out.data;
    lane->call.count = lane->counts;
    lane->call.queue = &lane->work;
}

static void close_lane(lane *lane)
{
    for (memory *array :
         {&lane->in, &lane->out, &lane->wanted, &lane->scratch, &lane->reference_scratch})
        must(cudaFree(array->data));
    must(cudaFree(lane->counts));
    must(cudaFree(lane->wrong));
    must(cudaStreamDestroy(lane->work.stream));
}

static uint64_t stress(const settings &settings)
{
    const struct device_limits *limits = limits_of_device();
    std::vector<tally> tallies;
    for (const std::string &name : settings.names) {
        const size_t before = tallies.size();
        for (const enum operation op : {OP_SCAN, OP_COMPACT})
            if (find(op, name) != nullptr)
                tallies.push_back({op, name, find(op, name), 0, 0, UINT64_MAX, 0});
        must(tallies.size() == before ? ("no such algorithm: " + name).c_str() : nullptr);
    }
    std::vector<lane> lanes(settings.streams);
    for (lane &lane : lanes)
        open_lane(&lane, settings);

    draws draw = {settings.seed, 0};
    uint64_t wrong = 0;
    for (uint64_t repeat = 0; repeat < settings.repeats; repeat++) {
        for (lane &lane : lanes) {
            draw_problem(&lane, settings, &tallies, limits, &draw);
            make_reference(&lane);
            prepare(&lane);
        }
        for (unsigned run = 0; run < RUNS; run++)
            for (lane &lane : lanes)
                run_and_compare(&lane, run);
        for (lane &lane : lanes)
            wrong += judge(&lane);
    }
    for (const tally &tally : tallies)
        printf("%-8s %-10s %8" PRIu64 " results, %" PRIu64 " wrong, n = %" PRIu64 " to %" PRIu64
               "\n",
               operation_name(tally.op), tally.name.c_str(), tally.results, tally.wrong,
               tally.smallest, tally.largest);
    for (lane &lane : lanes)
        close_lane(&lane);
    device.close();
    return wrong;
}

} // namespace SCANBENCH_BACKEND

using namespace SCANBENCH_BACKEND;

static void usage()
{
    fprintf(stderr, "usage: stress [--repeats=N] [--streams=N] [--max-n=N] [--seed=N] [ALGO...]\n");
    exit(2);
}

int main(int argc, char **argv)
{
    settings settings;
    static const struct option flags[] = {{"repeats", required_argument, nullptr, 'r'},
                                          {"streams", required_argument, nullptr, 's'},
                                          {"max-n", required_argument, nullptr, 'n'},
                                          {"seed", required_argument, nullptr, 'e'},
                                          {}};
    for (int flag; (flag = getopt_long(argc, argv, "", flags, nullptr)) != -1;) {
        uint64_t *value = flag == 'r'   ? &settings.repeats
                          : flag == 's' ? &settings.streams
                          : flag == 'n' ? &settings.max_n
                                        : &settings.seed;
        if (flag == '?' || parse_count(optarg, value) != nullptr || settings.max_n == 0)
            usage();
    }
    settings.names.assign(argv + optind, argv + argc);
    if (settings.names.empty())
        settings.names = {"lookback", "one-wave", "lookahead"};
    const uint64_t wrong = stress(settings);
    printf("%" PRIu64 " repeats on each of %" PRIu64 " streams, %" PRIu64 " results wrong\n",
           settings.repeats, settings.streams, wrong);
    return wrong > 0;
}
