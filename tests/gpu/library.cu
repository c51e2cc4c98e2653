/* library: the library on a GPU, as programs use it: arrays in device memory at any alignment and
 * in place, graphs, scans by operators and of rows, two handles at the same time, and more than
 * 2^32 elements.
 *
 *   make library-test && build/tests/library
 *   compute-sanitizer build/tests/library quick
 *
 * Prints a line for each test, and exits with 1 if one failed. `quick` tries fewer and smaller
 * sizes, as the emulator does, which knows neither time nor large memories. */
#include <scanbench.h>

#include "../library_calls.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#ifdef __CUDACC__
static bool is_quick = false;
#else
static bool is_quick = true;
#endif

static std::vector<uint64_t> sizes()
{
    return is_quick ? std::vector<uint64_t>{1, 1000, 7013}
                    : std::vector<uint64_t>{1, 1000, 70001, 1 << 20, 3000001, 20000003};
}

/* The operation on two arrays. */
constexpr operation_name PAIRS = OPERATIONS;
static const char *const NAMES[] = {"exclusive", "inclusive", "compact", "sort", "pairs"};

static int failures;

static void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    printf("%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

static void must(scanbench_status status, const scanbench_handle *handle)
{
    if (status == SCANBENCH_OK)
        return;
    printf("%s: %s\n", scanbench_status_text(status), scanbench_error(handle));
    exit(1);
}

static void report(const char *what, const char *operation, uint64_t n, bool is_right)
{
    if (!is_right)
        printf("WRONG %s, %s, n = %llu\n", what, operation, (unsigned long long)n);
    failures += !is_right;
}

static void report(const char *what, operation_name operation, uint64_t n, bool is_right)
{
    report(what, NAMES[operation], n, is_right);
}

/* An array of the device. */
template <class T = int32_t> struct array {
    T *data = nullptr;

    explicit array(uint64_t n)
    {
        must(cudaMalloc(&data, n * sizeof *data), "cudaMalloc");
    }
    ~array()
    {
        cudaFree(data);
    }
};

enum { SMALLEST = -500, LARGEST = 499 };

static std::vector<int32_t> make_input(uint64_t n, uint32_t seed)
{
    std::vector<int32_t> input(n);
    for (uint64_t i = 0; i < n; i++) {
        seed = seed * 1664525 + 1013904223;
        input[i] = seed >> 30 == 0 ? 0 : (int32_t)(seed >> 8) % (LARGEST - SMALLEST + 1) + SMALLEST;
    }
    return input;
}

template <class T> static void upload(T *to, const std::vector<T> &from, cudaStream_t stream)
{
    must(cudaMemcpyAsync(to, from.data(), from.size() * sizeof from[0], cudaMemcpyHostToDevice,
                         stream),
         "upload");
}

template <class T>
static bool equals(const T *there, const std::vector<T> &wanted, cudaStream_t stream)
{
    std::vector<T> here(wanted.size());
    must(cudaMemcpyAsync(here.data(), there, wanted.size() * sizeof wanted[0],
                         cudaMemcpyDeviceToHost, stream),
         "download");
    must(cudaStreamSynchronize(stream), "kernel");
    return here == wanted;
}

static cudaStream_t new_stream()
{
    cudaStream_t stream;
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    return stream;
}

/* ---- The tests ---- */

/* Aligned, by one element, and in place; the count on the device, page-locked and pageable. */
static void arrays_anywhere(scanbench_handle *handle, cudaStream_t stream)
{
    uint64_t *counts[3], on_host;
    must(cudaMalloc(&counts[0], sizeof(uint64_t)), "count");
    must(cudaMallocHost((void **)&counts[1], sizeof(uint64_t)), "count");
    counts[2] = &on_host;
    for (const uint64_t n : sizes()) {
        const std::vector<int32_t> input = make_input(n, (uint32_t)n);
        array<> in(n + 3), out(n + 3);
        for (int o = 0; o < OPERATIONS; o++) {
            const auto operation = (operation_name)o;
            const std::vector<int32_t> wanted = reference(operation, input);
            for (int way = 0; way < 3; way++) {
                int32_t *from = in.data + (way == 1), *to = way == 2 ? from : out.data + way;
                upload(from, input, stream);
                must(call(handle, operation, SCANBENCH_I32, from, to, counts[way], n, stream),
                     handle);
                bool is_right = equals(to, wanted, stream);
                uint64_t count = wanted.size();
                if (operation == COMPACT)
                    must(cudaMemcpy(&count, counts[way], sizeof count, cudaMemcpyDefault), "count");
                report(way == 2 ? "in place" : "arrays", operation, n,
                       is_right && count == wanted.size());
            }
        }
    }
    must(cudaFree(counts[0]), "count");
    must(cudaFreeHost(counts[1]), "count");
}

/* Captures what `enqueue` enqueues. */
template <class Enqueue> static cudaGraphExec_t capture(cudaStream_t stream, Enqueue enqueue)
{
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
    enqueue();
    must(cudaStreamEndCapture(stream, &graph), "capture");
    must(cudaGraphInstantiate(&executable, graph, 0), "graph");
    must(cudaGraphDestroy(graph), "graph");
    return executable;
}

static void graphs(scanbench_handle *handle, cudaStream_t stream)
{
    uint64_t *count;
    must(cudaMalloc(&count, sizeof *count), "count");
    for (const uint64_t n : sizes())
        for (int o = 0; o < OPERATIONS; o++) {
            const auto operation = (operation_name)o;
            array<> in(n), out(n);
            must(scanbench_reserve(handle, (scanbench_operation)std::max(0, o - 1), SCANBENCH_I32,
                                   n),
                 handle);
            const cudaGraphExec_t executable = capture(stream, [&] {
                must(call(handle, operation, SCANBENCH_I32, in.data, out.data, count, n, stream),
                     handle);
            });
            bool is_right = true;
            for (uint32_t launch = 0; launch < 8; launch++) {
                const std::vector<int32_t> input = make_input(n, launch);
                upload(in.data, input, stream);
                must(cudaGraphLaunch(executable, stream), "graph");
                is_right = equals(out.data, reference(operation, input), stream) && is_right;
                /* Another call in between, of another size. */
                must(call(handle, operation, SCANBENCH_I32, in.data, out.data, count, n - n / 3,
                          stream),
                     handle);
            }
            report("graph", operation, n, is_right);
            must(cudaGraphExecDestroy(executable), "graph");
        }
    must(cudaFree(count), "count");
}

/* Pairs on the host: keys of which many are equal, and values that tell their order. */
template <class Value> struct pairs {
    std::vector<int32_t> keys;
    std::vector<Value> values;

    pairs(uint64_t n, uint32_t seed) : keys(make_input(n, seed)), values(n)
    {
        for (uint64_t i = 0; i < n; i++)
            values[i] = (Value)((n - i) * 0x300000001);
    }
    /* By counting. */
    void sort()
    {
        const pairs before = *this;
        std::vector<uint64_t> next(LARGEST - SMALLEST + 2);
        for (const int32_t key : before.keys)
            next[(size_t)(key - SMALLEST + 1)]++;
        std::partial_sum(next.begin(), next.end(), next.begin());
        for (uint64_t i = 0; i < before.keys.size(); i++) {
            const uint64_t at = next[(size_t)(before.keys[i] - SMALLEST)]++;
            keys[at] = before.keys[i];
            values[at] = before.values[i];
        }
    }
};

enum way { APART, UNALIGNED, IN_PLACE, BY_GRAPH, WAYS };
static const char *const WAY_NAMES[WAYS] = {"arrays", "unaligned", "in place", "graph"};

template <class Value>
static bool sorts_pairs(scanbench_handle *handle, cudaStream_t stream, uint64_t n, way way)
{
    const array<> in(n + 1), out(n + 1);
    const array<Value> in_values(n + 1), out_values(n + 1);
    const unsigned offset = way == UNALIGNED;
    int32_t *from = in.data + offset, *to = way == IN_PLACE ? from : out.data;
    Value *values = in_values.data;
    Value *values_to = way == IN_PLACE ? values : out_values.data + offset;
    const auto sort = [&] {
        must(scanbench_sort_pairs(handle, SCANBENCH_I32, from, to, sizeof(Value), values, values_to,
                                  n, stream),
             handle);
    };
    const cudaGraphExec_t graph = way == BY_GRAPH ? capture(stream, sort) : nullptr;
    bool is_right = true;
    for (uint32_t round = 0; round < 2; round++) {
        pairs<Value> pairs(n, (uint32_t)n + round);
        upload(from, pairs.keys, stream);
        upload(values, pairs.values, stream);
        if (graph != nullptr)
            must(cudaGraphLaunch(graph, stream), "graph");
        else
            sort();
        pairs.sort();
        is_right =
            equals(to, pairs.keys, stream) && equals(values_to, pairs.values, stream) && is_right;
    }
    if (graph != nullptr)
        must(cudaGraphExecDestroy(graph), "graph");
    return is_right;
}

template <class Value> static void pairs_anywhere(scanbench_handle *handle, cudaStream_t stream)
{
    for (const uint64_t n : sizes()) {
        must(scanbench_reserve_pairs(handle, SCANBENCH_I32, sizeof(Value), n), handle);
        for (int way = 0; way < WAYS; way++)
            report(WAY_NAMES[way], PAIRS, n, sorts_pairs<Value>(handle, stream, n, (enum way)way));
    }
}

/* Twice with new data; in a graph the same launches. */
static bool scans(scanbench_handle *handle, cudaStream_t stream, const scan &scan, uint64_t n,
                  way way)
{
    const array<> first(n + 1), second(n + 1), apart(n + 1);
    const unsigned offset = way == UNALIGNED;
    int32_t *in = first.data + offset, *b = second.data;
    int32_t *out = way != IN_PLACE ? apart.data + offset : scan.op == RECURRENCE ? b : in;
    const auto enqueue = [&] {
        must(call(handle, scan, SCANBENCH_I32, in, b, out, n, stream), handle);
    };
    const cudaGraphExec_t graph = way == BY_GRAPH ? capture(stream, enqueue) : nullptr;
    bool is_right = true;
    for (uint32_t round = 0; round < 2; round++) {
        const std::vector<int32_t> input =
            scan.op == RECURRENCE ? factors<int32_t>(n, round) : make_input(n, (uint32_t)n + round);
        const std::vector<int32_t> its_second = make_input(n, round);
        upload(in, input, stream);
        upload(b, its_second, stream);
        if (graph != nullptr)
            must(cudaGraphLaunch(graph, stream), "graph");
        else
            enqueue();
        is_right = equals(out, reference(scan, input, its_second), stream) && is_right;
    }
    if (graph != nullptr)
        must(cudaGraphExecDestroy(graph), "graph");
    return is_right;
}

/* Scans by every operator, of rows, and recurrences take turns with the handle's scratch. */
static void scans_anywhere(scanbench_handle *handle, cudaStream_t stream)
{
    static const struct {
        const char *name;
        scan what;
    } cases[] = {{"max", {SCANBENCH_OPERATOR_MAX, SCANBENCH_INCLUSIVE, 0}},
                 {"rows of 1", {SCANBENCH_OPERATOR_SUM, SCANBENCH_INCLUSIVE, 1}},
                 {"recurrence", {RECURRENCE, SCANBENCH_INCLUSIVE, 0}},
                 {"rows of 77", {SCANBENCH_OPERATOR_SUM, SCANBENCH_EXCLUSIVE, 77}},
                 {"min", {SCANBENCH_OPERATOR_MIN, SCANBENCH_EXCLUSIVE, 0}},
                 {"rows of 5000", {SCANBENCH_OPERATOR_SUM, SCANBENCH_INCLUSIVE, 5000}},
                 {"xor", {SCANBENCH_OPERATOR_XOR, SCANBENCH_EXCLUSIVE, 0}}};
    for (const uint64_t n : sizes()) {
        must(scanbench_reserve(handle, SCANBENCH_SCAN, SCANBENCH_I32, n), handle);
        must(scanbench_reserve(handle, SCANBENCH_LINEAR_RECURRENCE, SCANBENCH_I32, n), handle);
        for (int way = 0; way < WAYS; way++)
            for (const auto &[name, what] : cases)
                report(WAY_NAMES[way], name, n, scans(handle, stream, what, n, (enum way)way));
    }
}

/* All that is enqueued runs at the same time, or in turns: it must not stop. */
static void two_handles()
{
    const uint64_t n = sizes().back() / 2;
    const int rounds = is_quick ? 4 : 200;
    const std::vector<int32_t> input = make_input(n, 5);
    array<> in(n), out_0(n), out_1(n);
    int32_t *outs[2] = {out_0.data, out_1.data};
    scanbench_handle *handles[2];
    cudaStream_t streams[2];
    for (int i = 0; i < 2; i++) {
        streams[i] = new_stream();
        must(scanbench_create_gpu(&handles[i], 0), nullptr);
    }
    upload(in.data, input, streams[0]);
    must(cudaStreamSynchronize(streams[0]), "upload");
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < 2; i++) {
            const auto operation = (round + i) % 2 == 0 ? INCLUSIVE : SORT;
            const uint64_t part = round == rounds - 1 ? n : n / (unsigned)(1 + round % 9);
            must(call(handles[i], operation, SCANBENCH_I32, in.data, outs[i], nullptr, part,
                      streams[i]),
                 handles[i]);
        }
    for (int i = 0; i < 2; i++) {
        const auto operation = (rounds - 1 + i) % 2 == 0 ? INCLUSIVE : SORT;
        report("two handles", operation, n,
               equals(outs[i], reference(operation, input), streams[i]));
        scanbench_destroy(handles[i]);
        must(cudaStreamDestroy(streams[i]), "stream");
    }
}

/* Sums of ones, modulo 256, in place: element i is i + 1. */
static void more_than_32_bits(scanbench_handle *handle, cudaStream_t stream)
{
    const uint64_t n = ((uint64_t)1 << 32) + 12345;
    uint8_t *data, last[64];
    size_t free_bytes, total;
    must(cudaMemGetInfo(&free_bytes, &total), "memory");
    if (is_quick || free_bytes < n + n / 8) {
        printf("not run: more than 2^32 elements\n");
        return;
    }
    must(cudaMalloc(&data, n), "cudaMalloc");
    must(cudaMemsetAsync(data, 1, n, stream), "memset");
    must(scanbench_inclusive_sum(handle, SCANBENCH_U8, data, data, n, stream), handle);
    must(cudaMemcpyAsync(last, data + n - sizeof last, sizeof last, cudaMemcpyDeviceToHost, stream),
         "download");
    must(cudaStreamSynchronize(stream), "kernel");
    bool is_right = true;
    for (uint64_t i = 0; i < sizeof last; i++)
        is_right = is_right && last[i] == (uint8_t)(n - sizeof last + i + 1);
    report("more than 2^32 elements", INCLUSIVE, n, is_right);
    must(cudaFree(data), "cudaFree");
}

int main(int argc, char **argv)
{
    is_quick = is_quick || (argc == 2 && strcmp(argv[1], "quick") == 0);
    cudaStream_t stream = new_stream();
    scanbench_handle *handle = nullptr;
    must(scanbench_create_gpu(&handle, 0), nullptr);
    arrays_anywhere(handle, stream);
    graphs(handle, stream);
    pairs_anywhere<uint32_t>(handle, stream);
    pairs_anywhere<uint64_t>(handle, stream);
    scans_anywhere(handle, stream);
    more_than_32_bits(handle, stream);
    scanbench_destroy(handle);
    must(cudaStreamDestroy(stream), "stream");
    two_handles();
    printf(failures == 0 ? "all correct\n" : "%d wrong\n", failures);
    return failures > 0;
}
