/* stress: runs our fastest algorithms repeatedly in one workspace, each time with fresh
 * random data, size, block, type and operation, sorts of keys or of pairs, scans of arrays or rows.
 *
 * stress [--repeats=10000] [--streams=2] [--max-n=40000000] [--seed=1]
 *        [--multiprocessors=N] [ALGO...]
 * stress --gpus=N [--repeats=10000] [--max-n=40000000] [--seed=1] [--multiprocessors=N]
 *
 * Each stream has a workspace, and all streams work at the same time. A repeat is one
 * problem per stream, run RUNS times on as many inputs with scratch prepared once. Every
 * result, and MARGIN bytes on both sides of it and of scratch, is compared with those of
 * another implementation. --multiprocessors makes algorithms see a device of N
 * multiprocessors, at most those it has. Without ALGO: the single-pass algorithms and sorts.
 * With --gpus, `peer` on several devices takes their place: few multiprocessors make even short
 * slices come in parts and batches.
 * The last line says how many results were wrong.
 * Exit: 0 all right, 1 device error, 2 wrong usage, 3 a wrong result. */
#include "../../bench/device/backend.h"
#include "../../bench/device/input_elements.h"
#include "../../kernels/launch.cuh"
#ifndef __CUDACC__
#include "emulator.h"
#endif
extern "C" {
#include "../../bench/choice.h"
#include "../../bench/operations.h"
#include "../../bench/device/backend.h"
#include "../../bench/registry.h"
#include "../../bench/base/sizes.h"
#include "stress_team.h"
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
constexpr const char *FASTEST[] = {"lookback",   "one-wave", "cluster",     "lookahead",
                                   "msd",        "sample",   "adaptive",    "onesweep",
                                   "stable-msd", "counting", "enumeration", "single-pass"};
static const struct backend &backend = gpu_backend;

/* The algorithm that the others of a problem are compared with. */
static const char *reference_of(const struct problem *problem)
{
    return problem->segments != SEGMENTS_NONE ? "segmented" : "cub";
}
#else
constexpr enum device_kind KIND = DEVICE_EMULATOR;
constexpr const char *FASTEST[] = {"lookback", "one-wave", "cluster",     "lookahead",
                                   "msd",      "sample",   "enumeration", "single-pass"};
static const struct backend &backend = emulated_backend;

static const char *reference_of(const struct problem *problem)
{
    return problem->segments != SEGMENTS_NONE ? "segmented"
           : problem->op == OP_SORT           ? "onesweep"
           : problem->op == OP_REDUCE         ? "tree-smem"
                                              : "naive";
}
#endif

enum { RUNS = 4, TEST_BLOCK = 256, TEST_BLOCKS = 512, MARGIN = 4096, TRIES = 10000 };

static void must(const char *why, int code = 1)
{
    if (why == nullptr)
        return;
    fprintf(stderr, "stress: %s\n", why);
    exit(code);
}

static void must(cudaError_t error)
{
    must(error == cudaSuccess ? nullptr : cudaGetErrorString(error));
}

__global__ void fill_kernel(const __grid_constant__ struct input input, void *array)
{
    for (uint64_t i = global_thread(); i < input.n; i += (uint64_t)gridDim.x * blockDim.x)
        element_store(input.type, array, i, input_element(&input, i));
}

/* Counts the words that differ, including the number of kept elements. */
__global__ void compare_kernel(const uint32_t *got, const uint32_t *wanted, uint64_t words,
                               const uint64_t *counts, unsigned long long *wrong)
{
    unsigned long long mine = global_thread() == 0 && counts[0] != counts[1];
    for (uint64_t i = global_thread(); i < words; i += (uint64_t)gridDim.x * blockDim.x)
        mine += got[i] != wanted[i];
    if (mine > 0)
        atomicAdd(wrong, mine);
}

/* Counts the bytes that are no longer poison. */
__global__ void margin_kernel(const unsigned char *front, const unsigned char *back,
                              unsigned long long *wrong)
{
    for (unsigned i = threadIdx.x; i < MARGIN; i += blockDim.x) {
        const unsigned mine = (front[i] != POISON_BYTE) + (back[i] != POISON_BYTE);
        if (mine > 0)
            atomicAdd(wrong, (unsigned long long)mine);
    }
}

/* A sequence of random numbers. */
struct draws {
    uint64_t seed, drawn;

    uint64_t below(uint64_t end)
    {
        return random_bits(seed, drawn++) % end;
    }
};

/* Draws a size: half of them near a power of two or 5/8 of one, the others anywhere between two
 * powers. */
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

/* Device memory with a margin on both sides. */
struct memory {
    unsigned char *data = nullptr; /* after the first margin */
    size_t bytes = 0;

    unsigned char *start() const
    {
        return data - MARGIN;
    }

    void release()
    {
        if (data != nullptr)
            must(cudaFree(start()));
        *this = {};
    }

    void reserve(size_t wanted)
    {
        if (data != nullptr && wanted <= bytes)
            return;
        release();
        must(cudaMalloc(&data, wanted + 2 * MARGIN));
        data += MARGIN;
        bytes = wanted;
    }
};

/* A stream and its workspace. */
struct stream_work {
    queue work = {};
    struct call call = {};
    ::device *device;
    const struct algorithm *algorithm;
    struct tally *tally;
    memory in, out, wanted, scratch, reference_scratch;
    memory in_values, out_values, wanted_values; /* sorts of pairs */
    uint64_t *counts;                            /* got, wanted */
    unsigned long long *wrong;
};

/* The results of one algorithm of an operation. */
struct tally {
    enum operation op;
    std::string name;
    const struct algorithm *algorithm;
    const char *unsupported; /* why a problem was not run, if any */
    uint64_t results, wrong, smallest, largest;
};

struct settings {
    uint64_t repeats = 10000, streams = 2, max_n = 40000000, seed = 1;
    uint64_t multiprocessors = 0; /* 0: as many as the device has */
    uint64_t gpus = 0;            /* 0: one device, not as a team */
    std::vector<std::string> names;
};

/* NULL: there is none. */
static const struct algorithm *find(enum operation op, const std::string &name)
{
    for (size_t r = 0; r < table_row_count(); r++) {
        const struct table_row *row = table_row(r);
        if (row->op == op && name == row->name)
            return row->on[KIND];
    }
    return nullptr;
}

static size_t scratch_of(const struct algorithm *algorithm, const struct problem *problem)
{
    return algorithm->scratch_bytes != nullptr ? algorithm->scratch_bytes(problem) : 0;
}

static const struct device_limits *open_device(unsigned multiprocessors, struct device **device)
{
    static struct device_info info;
    static struct device_limits limits;
#ifndef __CUDACC__
    emulator_set_multiprocessors(multiprocessors);
#endif
    must(backend.open(0, 1, &info, &limits, device));
    if (multiprocessors > (unsigned)limits.multiprocessors)
        must("the device has fewer multiprocessors", 2);
    if (multiprocessors > 0)
        limits.multiprocessors = (int)multiprocessors;
    limits.kind = KIND;
    limits.name = info.name;
    return &limits;
}

static size_t result_bytes(const struct problem *problem)
{
    return problem->n * element_bytes(problem->type);
}

static size_t values_bytes(const struct problem *problem)
{
    return problem->n * value_bytes(problem->values);
}

/* Pairs are compared one by one, so that both sorts must be stable. */
static enum value_type draw_values(const struct algorithm *algorithm, draws *draw)
{
    constexpr unsigned NEEDED = TRAIT_PAIRS | TRAIT_STABLE;
    if (algorithm->op != OP_SORT || (algorithm->traits & NEEDED) != NEEDED)
        return VALUES_NONE;
    return (enum value_type)draw->below(VALUE_TYPE_COUNT);
}

static enum element_type draw_type(draws *draw)
{
    static constexpr enum element_type TYPES[] = {TYPE_I32, TYPE_I64, TYPE_I16, TYPE_U8};
    return TYPES[draw->below(4)];
}

/* Makes rows of some of the problems whose algorithm scans rows, as the one does that it is
 * compared with. */
static void draw_rows(struct problem *problem, const struct algorithm *algorithm, draws *draw)
{
    if (problem->op != OP_SCAN || element_bytes(problem->type) != 4 ||
        !(algorithm->segment_types >> problem->type & 1) || draw->below(2) == 0)
        return;
    problem->segments = SEGMENTS_ROWS;
    problem->segment_length = 1 + draw->below(draw->below(2) == 0 ? 200 : problem->n);
    problem->segment_count = ceil_div(problem->n, problem->segment_length);
}

/* Replaces `auto`, which has no run(), by what it stands for, if anything. */
static void take_choice(stream_work *s)
{
    struct problem *problem = &s->call.problem;
    const struct resolved resolved = resolve_choice(problem, table_algorithm);
    if (resolved.algorithm == nullptr)
        return;
    s->algorithm = resolved.algorithm;
    problem->block = resolved.block;
    problem->scan = resolved.algorithm->over;
}

/* Returns NULL, or why the algorithm, or what it is compared with, does not take the problem. */
static const char *why_not(const struct algorithm *algorithm, const struct problem *problem)
{
    const char *why = why_unsupported(algorithm, problem);
    return why != nullptr ? why
                          : why_not_combined(find(problem->op, reference_of(problem)), problem);
}

/* Draws another problem; an algorithm may not support some of them, or on some devices any. The
 * first of each algorithm has the largest size, so that --max-n says which sizes were run. */
static void draw_problem(stream_work *s, const settings &settings, std::vector<tally> *tallies,
                         const struct device_limits *limits, draws *draw)
{
    unsigned tries = 0;
    do {
        s->tally = &(*tallies)[draw->below(tallies->size())];
        s->algorithm = s->tally->algorithm;
        s->call.problem = {
            .op = s->tally->op,
            .type = draw_type(draw),
            .kind = draw->below(2) == 0 ? KIND_EXCLUSIVE : KIND_INCLUSIVE,
            .values = draw_values(s->algorithm, draw),
            .n = s->tally->results == 0 && tries < TRIES / 2 ? settings.max_n
                                                             : draw_size(draw, settings.max_n),
            .block = s->algorithm->traits & TRAIT_HAS_BLOCK ? 32u << draw->below(6) : 0,
            .scan = s->algorithm->over,
            .device = limits,
        };
        draw_rows(&s->call.problem, s->algorithm, draw);
        if (s->algorithm->run == nullptr)
            take_choice(s);
        s->tally->unsupported = why_not(s->algorithm, &s->call.problem);
        must(++tries == TRIES ? s->tally->unsupported : nullptr);
    } while (s->tally->unsupported != nullptr);
}

static void fill(stream_work *s, draws *draw)
{
    static constexpr double KEEP[] = {0, 0.01, 0.5, 0.75, 1};
    static constexpr enum input_shape SHAPES[] = {INPUT_UNIFORM, INPUT_NORMAL, INPUT_SIGNED,
                                                  INPUT_SORTED, INPUT_ONES};
    const struct problem *problem = &s->call.problem;
    const bool is_sort = problem->op == OP_SORT;
    const struct input input = {
        .op = problem->op,
        .type = problem->type,
        .shape = is_sort ? SHAPES[draw->below(std::size(SHAPES))] : INPUT_UNIFORM,
        .n = problem->n,
        .max = draw->below(2) == 0 ? 49u
                                   : std::min(largest_value(problem->type), (uint64_t)0x7FFFFFFF),
        .seed = random_bits(draw->seed, draw->drawn++),
        .sparse = operation_has(problem->op, HAS_KEEP) != 0,
        .keep = KEEP[draw->below(5)],
        .plain = is_sort};
    launch<fill_kernel>(&s->work, {TEST_BLOCKS, TEST_BLOCK}, input, (void *)s->in.data);
    if (problem->values != VALUES_NONE)
        launch<fill_kernel>(&s->work, {TEST_BLOCKS, TEST_BLOCK},
                            index_input(problem->values, problem->n), (void *)s->in_values.data);
}

static void poison(const stream_work *s, void *start, size_t bytes)
{
    must(cudaMemsetAsync(start, POISON_BYTE, bytes, s->work.stream));
}

/* Computes the result with another implementation. */
static void make_reference(stream_work *s)
{
    const struct algorithm *reference = find(s->call.problem.op, reference_of(&s->call.problem));
    struct call call = s->call;
    call.problem.block = reference->traits & TRAIT_HAS_BLOCK ? TEST_BLOCK : 0;
    call.problem.scan = reference->over;
    call.scratch_bytes = scratch_of(reference, &call.problem);
    s->reference_scratch.reserve(call.scratch_bytes);
    call.output = s->wanted.data;
    call.output_values = s->wanted_values.data;
    call.count = &s->counts[1];
    call.scratch = s->reference_scratch.data;
    call.epoch = 1;
    poison(s, s->wanted.start(), result_bytes(&call.problem) + 2 * MARGIN);
    poison(s, s->wanted_values.start(), values_bytes(&call.problem) + 2 * MARGIN);
    must(cudaMemsetAsync(s->counts, 0, 2 * sizeof *s->counts, s->work.stream));
    if (reference->prepare != nullptr)
        reference->prepare(&call);
    reference->run(&call);
}

static void prepare(stream_work *s)
{
    s->call.scratch_bytes = scratch_of(s->algorithm, &s->call.problem);
    s->scratch.reserve(s->call.scratch_bytes);
    poison(s, s->scratch.start(), MARGIN);
    poison(s, s->scratch.data + s->call.scratch_bytes, MARGIN);
    s->call.scratch = s->scratch.data;
    s->call.epoch = 0;
    must(cudaMemsetAsync(s->wrong, 0, RUNS * sizeof *s->wrong, s->work.stream));
    if (s->algorithm->prepare != nullptr)
        s->algorithm->prepare(&s->call);
}

/* With the margins. */
static void compare(stream_work *s, unsigned run, const memory &got, const memory &wanted,
                    size_t bytes)
{
    launch<compare_kernel>(&s->work, {TEST_BLOCKS, TEST_BLOCK},
                           reinterpret_cast<const uint32_t *>(got.start()),
                           reinterpret_cast<const uint32_t *>(wanted.start()),
                           (bytes + 2 * MARGIN) / sizeof(uint32_t), s->counts, &s->wrong[run]);
}

static void run_and_compare(stream_work *s, unsigned run)
{
    const size_t bytes = result_bytes(&s->call.problem), values = values_bytes(&s->call.problem);
    poison(s, s->out.start(), bytes + 2 * MARGIN);
    poison(s, s->out_values.start(), values + 2 * MARGIN);
    if (s->call.problem.op == OP_COMPACT)
        poison(s, s->counts, sizeof *s->counts);
    s->call.epoch++;
    s->algorithm->run(&s->call);
    compare(s, run, s->out, s->wanted, bytes);
    if (values > 0)
        compare(s, run, s->out_values, s->wanted_values, values);
    launch<margin_kernel>(&s->work, {1, TEST_BLOCK}, s->scratch.start(),
                          s->scratch.data + s->call.scratch_bytes, &s->wrong[run]);
}

/* Waits for the stream; returns how many results were wrong. */
static uint64_t judge(stream_work *s)
{
    must(cudaStreamSynchronize(s->work.stream));
    must(s->work.error[0] != '\0' ? s->work.error : nullptr);
    unsigned long long wrong[RUNS];
    must(backend.read(s->device, wrong, s->wrong, sizeof wrong));
    const struct problem *problem = &s->call.problem;
    tally *tally = s->tally;
    tally->smallest = std::min(tally->smallest, problem->n);
    tally->largest = std::max(tally->largest, problem->n);
    tally->results += RUNS;
    const auto bad = (uint64_t)(RUNS - std::count(wrong, wrong + RUNS, 0));
    tally->wrong += bad;
    for (unsigned run = 0; run < RUNS; run++)
        if (wrong[run] > 0)
            printf("WRONG  %s %s: %s%s%s, %s, n = %" PRIu64 ", rows of %" PRIu64
                   ", blocks of %u, run %u: %llu differences\n",
                   operation_name(problem->op), tally->name.c_str(), type_name(problem->type),
                   problem->values != VALUES_NONE ? "+" : "",
                   problem->values != VALUES_NONE ? value_type_name(problem->values) : "",
                   problem->kind == KIND_INCLUSIVE ? "inclusive" : "exclusive", problem->n,
                   problem->segments == SEGMENTS_NONE ? problem->n : problem->segment_length,
                   problem->block, run + 1, wrong[run]);
    return bad;
}

static void open_work(stream_work *s, ::device *device, const settings &settings)
{
    s->device = device;
    must(cudaStreamCreateWithFlags(&s->work.stream, cudaStreamNonBlocking));
    for (memory *array :
         {&s->in, &s->out, &s->wanted, &s->in_values, &s->out_values, &s->wanted_values})
        array->reserve(settings.max_n * sizeof(uint64_t));
    must(cudaMalloc(&s->counts, 2 * sizeof *s->counts));
    must(cudaMalloc(&s->wrong, RUNS * sizeof *s->wrong));
    s->call.input = s->in.data;
    s->call.output = s->out.data;
    s->call.input_values = s->in_values.data;
    s->call.output_values = s->out_values.data;
    s->call.count = s->counts;
    s->call.queue = &s->work;
}

static void close_work(stream_work *s)
{
    for (memory *array : {&s->in, &s->out, &s->wanted, &s->scratch, &s->reference_scratch,
                          &s->in_values, &s->out_values, &s->wanted_values})
        array->release();
    must(cudaFree(s->counts));
    must(cudaFree(s->wrong));
    must(cudaStreamDestroy(s->work.stream));
}

/* The named algorithms, for each operation that has them and whose calls need a stream only. */
static std::vector<tally> tallies_of(const std::vector<std::string> &names)
{
    std::vector<tally> tallies;
    for (const std::string &name : names) {
        const size_t before = tallies.size();
        std::string why = "no such algorithm: " + name;
        for (int op = 0; op < OPERATION_COUNT; op++) {
            const struct algorithm *algorithm = find((enum operation)op, name);
            const struct problem without_rows = {.op = (enum operation)op};
            if (algorithm == nullptr)
                continue;
            if (name == reference_of(&without_rows))
                why = name + " is what others are compared with";
            else if (algorithm->hand_over != nullptr || algorithm->release != nullptr ||
                     (algorithm->traits & TRAIT_SYNCHRONISES) != 0)
                why = name + " needs more than a stream";
            else
                tallies.push_back(
                    {(enum operation)op, name, algorithm, nullptr, 0, 0, UINT64_MAX, 0});
        }
        must(tallies.size() == before ? why.c_str() : nullptr, 2);
    }
    return tallies;
}

static void print(const tally &tally)
{
    printf("%-8s %-22s ", operation_name(tally.op), tally.name.c_str());
    if (tally.results > 0)
        printf("%8" PRIu64 " results, %" PRIu64 " wrong, n = %" PRIu64 " to %" PRIu64 "\n",
               tally.results, tally.wrong, tally.smallest, tally.largest);
    else
        printf("not run: %s\n",
               tally.unsupported != nullptr ? tally.unsupported : "too few repeats");
}

/* Returns how many results were wrong. */
static uint64_t stress(const settings &settings)
{
    std::vector<tally> tallies = tallies_of(settings.names);
    ::device *device;
    const struct device_limits *limits = open_device((unsigned)settings.multiprocessors, &device);
    std::vector<stream_work> streams(settings.streams);
    for (stream_work &s : streams)
        open_work(&s, device, settings);

    draws draw = {settings.seed, 0};
    uint64_t wrong = 0;
    for (uint64_t repeat = 0; repeat < settings.repeats; repeat++) {
        for (stream_work &s : streams) {
            draw_problem(&s, settings, &tallies, limits, &draw);
            prepare(&s);
        }
        for (unsigned run = 0; run < RUNS; run++)
            for (stream_work &s : streams) {
                fill(&s, &draw);
                make_reference(&s);
                run_and_compare(&s, run);
            }
        for (stream_work &s : streams)
            wrong += judge(&s);
    }
    for (const tally &tally : tallies)
        print(tally);
    for (stream_work &s : streams)
        close_work(&s);
    backend.close(device);
    return wrong;
}

static uint64_t stress_gpus(const settings &settings)
{
    const char *why;
    if (settings.gpus > MOST_MEMBERS || !settings.names.empty())
        must("--gpus takes at most 64, and no algorithms", 2);
    if (backend.set_device_count != nullptr)
        backend.set_device_count((int)settings.gpus);
    if ((uint64_t)backend.device_count(&why) < settings.gpus)
        must("there are fewer devices", 2);
    const team_settings of_team = {&backend,         (unsigned)settings.gpus,
                                   settings.repeats, settings.max_n,
                                   settings.seed,    (int)settings.multiprocessors};
    return stress_team(&of_team);
}

} // namespace SCANBENCH_BACKEND

using namespace SCANBENCH_BACKEND;

static void usage()
{
    fprintf(stderr, "usage: stress [--repeats=N] [--streams=N] [--max-n=N] [--seed=N] "
                    "[--multiprocessors=N] [--gpus=N] [ALGO...], N above 0\n");
    exit(2);
}

int main(int argc, char **argv)
{
    settings settings;
    static const struct option flags[] = {{"repeats", required_argument, nullptr, 'r'},
                                          {"streams", required_argument, nullptr, 's'},
                                          {"max-n", required_argument, nullptr, 'n'},
                                          {"seed", required_argument, nullptr, 'e'},
                                          {"multiprocessors", required_argument, nullptr, 'm'},
                                          {"gpus", required_argument, nullptr, 'g'},
                                          {}};
    for (int flag; (flag = getopt_long(argc, argv, "", flags, nullptr)) != -1;) {
        uint64_t *value = flag == 'r'   ? &settings.repeats
                          : flag == 's' ? &settings.streams
                          : flag == 'n' ? &settings.max_n
                          : flag == 'm' ? &settings.multiprocessors
                          : flag == 'g' ? &settings.gpus
                                        : &settings.seed;
        if (flag == '?' || parse_count(optarg, value) != nullptr || *value == 0)
            usage();
    }
    settings.names.assign(argv + optind, argv + argc);
    if (settings.names.empty() && settings.gpus == 0)
        settings.names.assign(std::begin(FASTEST), std::end(FASTEST));
    const uint64_t wrong = settings.gpus > 0 ? stress_gpus(settings) : stress(settings);
    printf("%" PRIu64 " repeats on each of %" PRIu64 " %s, %" PRIu64 " results wrong\n",
           settings.repeats, settings.gpus > 0 ? settings.gpus : settings.streams,
           settings.gpus > 0 ? "devices" : "streams", wrong);
    return wrong > 0 ? 3 : 0;
}
