/* library_streams: calls on several devices and streams, and calls that a graph captures. Of
 * library_test. */
#include "library_testing.h"

/* ---- Devices, streams and errors ---- */

void another_device_is_current(void **)
{
    int32_t in[4] = {1, 2, 3, 4}, out[4];
    emulator_set_device_count(2);
    scanbench_handle *handle;
    ok(create_handle(&handle, &emulated_side, 1));
    int current = -1;
    ok(cudaGetDevice(&current));
    assert_int_equal(current, 0); /* as before */
    expect_status(scanbench_exclusive_sum(handle, SCANBENCH_I32, in, out, 4, nullptr),
                  SCANBENCH_ERROR_DEVICE, handle, "the current device is GPU 0: it must be GPU 1");
    cudaStream_t of_device_0;
    ok(cudaStreamCreate(&of_device_0));
    ok(cudaSetDevice(1));
    expect_status(scanbench_exclusive_sum(handle, SCANBENCH_I32, in, out, 4, of_device_0),
                  SCANBENCH_ERROR_CUDA, handle);
    assert_int_equal(cudaGetLastError(), cudaSuccess); /* it was reported */
    ok(scanbench_exclusive_sum(handle, SCANBENCH_I32, in, out, 4, nullptr), handle);
    assert_int_equal(out[3], 6);
    scanbench_destroy(handle);
    ok(cudaSetDevice(0));
    ok(cudaStreamDestroy(of_device_0));
    emulator_set_device_count(0);
}

void two_handles_on_two_streams(void **)
{
    const std::vector<int32_t> input = make_input<int32_t>(10007, 3);
    scanbench_handle *handle[2] = {create(ON_GPU), create(ON_GPU)};
    cudaStream_t stream[2];
    for (cudaStream_t &s : stream)
        ok(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    for (int round = 0; round < 6; round++) {
        std::vector<int32_t> out(input.size());
        const auto operation = round % 3 == 0 ? SORT : INCLUSIVE;
        const int one = round % 2;
        ok(call(handle[one], operation, SCANBENCH_I32, input.data(), out.data(), nullptr,
                input.size() - (unsigned)round, stream[one]),
           handle[one]);
        const std::vector<int32_t> part(input.begin(), input.end() - round);
        const std::vector<int32_t> wanted = reference(operation, part);
        assert_true(std::equal(wanted.begin(), wanted.end(), out.begin()));
    }
    for (int i = 0; i < 2; i++) {
        scanbench_destroy(handle[i]);
        ok(cudaStreamDestroy(stream[i]));
    }
}

/* ---- Graphs ---- */

struct capture {
    cudaStream_t stream;
    cudaGraph_t captured;
    cudaGraphExec_t executable = nullptr;

    capture()
    {
        ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    }
    void end()
    {
        ok(cudaStreamEndCapture(stream, &captured));
        ok(cudaGraphInstantiate(&executable, captured, 0));
    }
    void launch()
    {
        ok(cudaGraphLaunch(executable, stream));
        ok(cudaStreamSynchronize(stream));
    }
    ~capture()
    {
        cudaGraphExecDestroy(executable);
        cudaGraphDestroy(captured);
        cudaStreamDestroy(stream);
    }
};

/* Captured once and launched often, with new data each time and other calls in between. */
template <class T> static void replay(operation_name operation, uint64_t n)
{
    scanbench_handle *handle = create(ON_GPU);
    std::vector<T> in(n), out(n);
    uint64_t count = 0;
    const auto group = operation < COMPACT ? SCANBENCH_SUM : (scanbench_operation)(operation - 1);
    ok(scanbench_reserve(handle, group, TYPE<T>, n), handle);
    const size_t reserved = scanbench_scratch_bytes(handle);
    check<T>(handle, operation, n / 2, 0, 0, 1);
    {
        capture graph;
        ok(call(handle, operation, TYPE<T>, in.data(), out.data(), &count, n, graph.stream),
           handle);
        graph.end();
        std::vector<unsigned char> later; /* where scratch was, if it is freed too early */
        for (uint64_t round = 0; round < 5; round++) {
            const std::vector<T> input = make_input<T>(n, round + 20);
            std::copy(input.begin(), input.end(), in.begin());
            std::fill(out.begin(), out.end(), 77);
            graph.launch();
            const std::vector<T> wanted = reference(operation, in);
            assert_true(std::equal(wanted.begin(), wanted.end(), out.begin()));
            assert_int_equal(count, operation == COMPACT ? wanted.size() : 0);
            /* The graph has used the scratch since the same problem was solved. */
            check<T>(handle, operation, n - 1, 0, 0, round);
            if (round == 3 && operation == SORT) { /* new scratch; the graph's own stays */
                ok(scanbench_reserve(handle, group, SCANBENCH_I64, 1 << 20), handle);
                later.assign(reserved, 77);
            }
        }
        assert_true(std::all_of(later.begin(), later.end(), [](auto byte) { return byte == 77; }));
    }
    scanbench_destroy(handle);
}

void graphs_are_captured_once_and_launched_often(void **)
{
    for (const uint64_t n : {1000, 20011})
        for (int o = 0; o < OPERATIONS; o++)
            replay<int32_t>((operation_name)o, n);
    replay<int64_t>(SORT, 20011); /* by another algorithm */
}

/* Captured only after a reserve; launched with new keys, and sorts of other problems in between. */
void graphs_sort_pairs(void **)
{
    const uint64_t n = 10007;
    scanbench_handle *handle = create(ON_GPU);
    std::vector<int32_t> in(n), out(n);
    const std::vector<uint64_t> values = make_values<uint64_t>(n);
    std::vector<uint64_t> out_values(n);
    const auto sort = [&](cudaStream_t stream) {
        return scanbench_sort_pairs(handle, SCANBENCH_I32, in.data(), out.data(), sizeof values[0],
                                    values.data(), out_values.data(), n, stream);
    };
    {
        capture graph;
        expect_status(sort(graph.stream), SCANBENCH_ERROR_SCRATCH, handle,
                      "bytes of scratch memory, and the handle has 0: reserve before the capture");
        graph.end();
    }
    ok(scanbench_reserve_pairs(handle, SCANBENCH_I32, sizeof values[0], n), handle);
    {
        capture graph;
        ok(sort(graph.stream), handle);
        graph.end();
        for (uint64_t round = 0; round < 3; round++) {
            std::vector<int32_t> wanted = make_input<int32_t>(n, round + 30);
            std::vector<uint64_t> wanted_values = values;
            std::copy(wanted.begin(), wanted.end(), in.begin());
            graph.launch();
            sort_reference(handle, wanted, wanted_values);
            assert_true(out == wanted && out_values == wanted_values);
            check<int32_t>(handle, SORT, n - round, 0, 0, round);
            check_pairs<uint32_t>(handle, make_input<int32_t>(n, round));
        }
    }
    scanbench_destroy(handle);
}

void nothing_is_allocated_during_capture(void **)
{
    scanbench_handle *handle = create(ON_GPU);
    std::vector<int32_t> in = make_input<int32_t>(20000, 1), out(20000);
    {
        capture graph;
        expect_status(
            scanbench_sort_keys(handle, SCANBENCH_I32, in.data(), out.data(), 20000, graph.stream),
            SCANBENCH_ERROR_SCRATCH, handle);
        graph.end(); /* of nothing, but valid */
        graph.launch();
    }
    ok(scanbench_reserve(handle, SCANBENCH_SORT, SCANBENCH_I32, 20000), handle);
    capture graph;
    ok(scanbench_sort_keys(handle, SCANBENCH_I32, in.data(), out.data(), 20000, graph.stream),
       handle);
    graph.end();
    graph.launch();
    assert_true(std::is_sorted(out.begin(), out.end()));
    scanbench_destroy(handle);
}
