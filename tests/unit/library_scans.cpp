/* library_scans: scans by any operator, of rows, and linear recurrences. Of library_test. */
#include "library_testing.h"

#include <cstdio>
#include <cstdlib>

/* As scanbench.h says. */
template <class T>
static bool is_there(const scanbench_handle *handle, const scan &scan, uint64_t n)
{
    const bool rows = scan.row > 0 && scan.row < n;
    if (handle->side == &cpu_side)
        return true;
    if (scan.op == RECURRENCE || (rows && scan.op == SCANBENCH_OPERATOR_SUM))
        return sizeof(T) == 4 && !(rows && scan.op == RECURRENCE);
    return scan.op == SCANBENCH_OPERATOR_SUM || (sizeof(T) >= 4 && !rows);
}

template <class T> static bool is_defined(const scan &scan)
{
    return scan.op != SCANBENCH_OPERATOR_XOR || std::is_integral_v<T>;
}

/* Where the result is: in its own array, or in that of an input. */
enum place { APART, IN_FIRST, IN_SECOND, PLACES };

template <class T>
static void check_scan(scanbench_handle *handle, const scan &scan, uint64_t n, unsigned offset,
                       place place, uint64_t seed)
{
    const std::vector<T> a = scan.op == RECURRENCE ? factors<T>(n, seed) : make_input<T>(n, seed);
    const std::vector<T> b = make_input<T>(n, seed + 1);
    array<T> first(n, offset % 2), second(n, offset / 2), apart(n, offset / 3);
    first.fill(a);
    second.fill(b);
    array<T> &out = place == APART ? apart : place == IN_FIRST ? first : second;
    const scanbench_status status =
        call(handle, scan, TYPE<T>, first.data, second.data, out.data, n);
    char what[128];
    snprintf(what, sizeof what, "operator %d, kind %d, row %llu, place %d, offset %u", scan.op,
             (int)scan.kind, (unsigned long long)scan.row, (int)place, offset);
    if (!is_there<T>(handle, scan, n)) {
        expect_status(status, SCANBENCH_ERROR_UNSUPPORTED, handle);
        assert_non_null(strstr(scanbench_error(handle), "is there for"));
        return;
    }
    if (status != SCANBENCH_OK)
        fail_msg("%s: %s", what, scanbench_error(handle));
    out.expect(reference(scan, a, b), n, what);
    if (place != IN_FIRST)
        first.expect(a, n, what);
    if (place != IN_SECOND)
        second.expect(b, n, what);
}

/* Calls f(scan) for every operator and kind, with rows of that length. */
template <class T, class Function> static void with_scans(uint64_t row, Function f)
{
    for (int op = 0; op < SCANS; op++)
        for (const auto kind : {SCANBENCH_EXCLUSIVE, SCANBENCH_INCLUSIVE}) {
            const scan scan = {op, kind, row};
            if (is_defined<T>(scan) && (op != RECURRENCE || kind == SCANBENCH_INCLUSIVE))
                f(scan);
        }
}

void scans_of_every_operator_and_type(void **)
{
    for (int kind = 0; kind < KINDS; kind++) {
        scanbench_handle *handle = create((enum kind)kind);
        with_types([&](auto zero) {
            using T = decltype(zero);
            for (const uint64_t n : {0, 1, 33, 4099})
                for (const uint64_t row : {0, 1, 7, 100, 4098, 5000})
                    with_scans<T>(row, [&](const scan &scan) {
                        check_scan<T>(handle, scan, n, 0, APART, n + 1);
                    });
        });
        scanbench_destroy(handle);
    }
}

void scans_at_any_alignment_and_in_place(void **)
{
    for (int kind = 0; kind < KINDS; kind++) {
        scanbench_handle *handle = create((enum kind)kind);
        with_types([&](auto zero) {
            using T = decltype(zero);
            for (const uint64_t row : {0, 9})
                with_scans<T>(row, [&](const scan &scan) {
                    for (const unsigned offset : {0, 1, 2, 3})
                        for (const place place : {APART, IN_FIRST, IN_SECOND})
                            if (place != IN_SECOND || scan.op == RECURRENCE)
                                check_scan<T>(handle, scan, 2003, offset, place, 7);
                });
        });
        scanbench_destroy(handle);
    }
}

/* Enough for several threads: rows of which there are more than threads, and fewer; and for many
 * tiles, as one-wave, as lookahead, and as lookback where the device is old. */
void scans_of_large_arrays(void **)
{
    scanbench_handle *old = create(ON_GPU);
    old->limits.compute_capability = 70;
    old->limits.cluster_blocks = 0;
    scanbench_handle *const handles[] = {create(ON_CPU, 1), create(ON_CPU, 3), create(ON_GPU), old};
    for (scanbench_handle *handle : handles)
        for (const uint64_t row : {0, 3, 1021, 150000})
            for (const place place : {APART, IN_FIRST}) {
                const bool usual = place == APART ? row == 150000 : row == 3;
                if (!usual && getenv("LONG") == nullptr)
                    continue;
                const uint64_t n = handle->side == &cpu_side ? 400001 : 60001;
                with_scans<int32_t>(row, [&](const scan &scan) {
                    check_scan<int32_t>(handle, scan, n, 0, place, 3);
                });
                check_scan<float>(handle, {RECURRENCE, SCANBENCH_INCLUSIVE, row}, n, 0, place, 5);
                check_scan<double>(handle, {SCANBENCH_OPERATOR_MIN, SCANBENCH_EXCLUSIVE, row},
                                   n / 2, 0, place, 4);
            }
    for (scanbench_handle *handle : handles)
        scanbench_destroy(handle);
}

/* Fractions, whose sums are rounded. */
template <class T> static std::vector<T> fractions(uint64_t n)
{
    numbers numbers;
    std::vector<T> input(n);
    for (T &x : input)
        x = (T)((double)(numbers.next() >> 11) * 0x1p-53);
    return input;
}

/* Calls 50 times, each with arrays at other places in a cache line. */
template <class T>
static void check_same_bits(scanbench_handle *handle, const scan &scan, const std::vector<T> &input)
{
    const uint64_t n = input.size();
    std::vector<T> first;
    for (unsigned run = 0; run < 50; run++) {
        array<T> in(n, run % 7), out(n, run % (64 / sizeof(T)));
        in.fill(input);
        ok(call(handle, scan, TYPE<T>, in.data, nullptr, out.data, n), handle);
        if (run == 0)
            first.assign(out.data, out.data + n);
        out.expect(first, n, "another call");
    }
}

void floats_are_added_in_one_order(void **)
{
    const auto floats = fractions<float>(400003);
    const auto doubles = fractions<double>(200003);
    for (const unsigned threads : {1, 2, 8}) {
        scanbench_handle *handle = create(ON_CPU, threads);
        const int best = handle->limits.best_simd;
        for (int path = SIMD_PORTABLE; path <= best; path++)
            for (const auto kind : {SCANBENCH_EXCLUSIVE, SCANBENCH_INCLUSIVE}) {
                handle->limits.best_simd = (enum simd_path)path;
                check_same_bits(handle, {SCANBENCH_OPERATOR_SUM, kind, 0}, floats);
                check_same_bits(handle, {SCANBENCH_OPERATOR_SUM, kind, 0}, doubles);
                check_same_bits(handle, {SCANBENCH_OPERATOR_SUM, kind, 1001},
                                std::vector<float>(floats.begin(), floats.begin() + 50021));
            }
        scanbench_destroy(handle);
    }
}

/* Calls of all kinds take turns with the scratch of one handle, and with its epoch. */
void one_handle_many_scans(void **)
{
    scanbench_handle *old = create(ON_GPU);
    old->limits.compute_capability = 70;
    old->limits.cluster_blocks = 0;
    for (scanbench_handle *handle : {create(ON_CPU, 3), create(ON_GPU), old}) {
        const bool is_cpu = handle->side == &cpu_side;
        numbers numbers;
        for (unsigned i = 0; i < 150; i++) {
            const uint64_t n = numbers.next() % (i % 5 == 0 ? is_cpu ? 200000 : 40000 : 3000);
            const unsigned offset = numbers.next() % 4 == 0 ? 1 : 0;
            const place place = numbers.next() % 4 == 0 ? IN_FIRST : APART;
            const scan scan = {(int)(numbers.next() % SCANS), SCANBENCH_INCLUSIVE,
                               numbers.next() % 2 == 0 ? numbers.next() % 700 : 0};
            if (i % 7 == 0)
                check<int32_t>(handle, (operation_name)(numbers.next() % OPERATIONS), n, offset, 0,
                               i);
            if (i % 2 == 0)
                check_scan<int32_t>(handle, scan, n, offset, place, i);
            else if (is_defined<double>(scan))
                check_scan<double>(handle, scan, n, offset, place, i);
        }
        scanbench_destroy(handle);
    }
}

/* ---- Scratch and graphs ---- */

void nothing_grows_after_reserve_for_scans(void **)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (const auto operation : {SCANBENCH_SCAN, SCANBENCH_LINEAR_RECURRENCE}) {
            scanbench_handle *handle = create((enum kind)kind);
            ok(scanbench_reserve(handle, operation, SCANBENCH_F32, 300000), handle);
            const size_t reserved = scanbench_scratch_bytes(handle);
            for (const uint64_t row : {0, 10})
                with_scans<float>(row, [&](const scan &scan) {
                    if ((scan.op == RECURRENCE) == (operation == SCANBENCH_LINEAR_RECURRENCE))
                        check_scan<float>(handle, scan, kind == ON_CPU ? 300000 : 40000, row > 0,
                                          APART, 1);
                });
            assert_int_equal(scanbench_scratch_bytes(handle), reserved);
            scanbench_destroy(handle);
        }
    scanbench_handle *handle = create(ON_GPU);
    expect_status(scanbench_reserve(handle, SCANBENCH_LINEAR_RECURRENCE, SCANBENCH_F64, 1000),
                  SCANBENCH_ERROR_UNSUPPORTED, handle);
    const char *there = strstr(scanbench_error(handle), "recurrence is there for ");
    assert_non_null(there);
    assert_non_null(strstr(there, "f32"));
    assert_null(strstr(there, "f64"));
    ok(scanbench_reserve(handle, SCANBENCH_SCAN, SCANBENCH_U8, 1000), handle); /* sums are there */
    scanbench_destroy(handle);
}

/* A graph of scans of all kinds, launched often, with other calls of its handle in between. */
static void replay_scans(scanbench_handle *handle, uint64_t n)
{
    static const scan scans[] = {{SCANBENCH_OPERATOR_SUM, SCANBENCH_EXCLUSIVE, 0},
                                 {SCANBENCH_OPERATOR_MAX, SCANBENCH_INCLUSIVE, 0},
                                 {SCANBENCH_OPERATOR_SUM, SCANBENCH_INCLUSIVE, 77},
                                 {RECURRENCE, SCANBENCH_INCLUSIVE, 0},
                                 {SCANBENCH_OPERATOR_SUM, SCANBENCH_EXCLUSIVE, 3},
                                 {SCANBENCH_OPERATOR_MIN, SCANBENCH_EXCLUSIVE, 0}};
    std::vector<int32_t> in(n), second(n), outs[std::size(scans)];
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    ok(scanbench_reserve(handle, SCANBENCH_SCAN, SCANBENCH_I32, n), handle);
    ok(scanbench_reserve(handle, SCANBENCH_LINEAR_RECURRENCE, SCANBENCH_I32, n), handle);
    ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (size_t s = 0; s < std::size(scans); s++) {
        outs[s].resize(n);
        ok(call(handle, scans[s], SCANBENCH_I32, in.data(), second.data(), outs[s].data(), n,
                stream),
           handle);
    }
    ok(cudaStreamEndCapture(stream, &graph));
    ok(cudaGraphInstantiate(&executable, graph, 0));
    for (uint64_t launch = 0; launch < 4; launch++) {
        const std::vector<int32_t> b = make_input<int32_t>(n, launch + 9);
        std::vector<int32_t> a = make_input<int32_t>(n, launch);
        for (int32_t &x : a)
            x |= 1; /* the product of numbers that are not odd is 0 soon */
        std::copy(a.begin(), a.end(), in.begin());
        std::copy(b.begin(), b.end(), second.begin());
        ok(cudaGraphLaunch(executable, stream));
        ok(cudaStreamSynchronize(stream));
        for (size_t s = 0; s < std::size(scans); s++)
            if (outs[s] != reference(scans[s], a, b))
                fail_msg("n = %llu, launch %llu: scan %zu is wrong", (unsigned long long)n,
                         (unsigned long long)launch, s);
        check_scan<int32_t>(handle, scans[launch], n - 1, 0, APART, launch);
        check<double>(handle, (operation_name)launch, n / 2, 0, 0, launch);
    }
    ok(cudaGraphExecDestroy(executable));
    ok(cudaGraphDestroy(graph));
    ok(cudaStreamDestroy(stream));
}

void graphs_of_scans(void **)
{
    for (const int capability : {70, 90})
        for (const uint64_t n : {1000, 20011}) {
            scanbench_handle *handle = create(ON_GPU);
            if (capability == 70) {
                handle->limits.compute_capability = 70;
                handle->limits.cluster_blocks = 0;
            }
            replay_scans(handle, n);
            scanbench_destroy(handle);
        }
}

/* ---- Misuse ---- */

void bad_scans_return_a_status(void **)
{
    alignas(16) int32_t a[64] = {}, b[64] = {}, out[64] = {};
    const auto *odd = reinterpret_cast<char *>(b) + 2;
    for (int kind = 0; kind < KINDS; kind++) {
        scanbench_handle *h = create((enum kind)kind);
        const auto scan = [&](int op, int type, int kind, const void *in, void *to, uint64_t n = 8,
                              uint64_t row = 0) {
            return scanbench_scan(h, (scanbench_operator)op, (scanbench_type)type,
                                  (scanbench_kind)kind, in, to, n, row, nullptr);
        };
        for (const int op : {-1, 4})
            expect_status(scan(op, SCANBENCH_I32, 0, a, out), SCANBENCH_ERROR_TYPE, h,
                          op < 0 ? "op is -1" : "op is 4: it must be a scanbench_operator");
        for (const int kind : {-1, 2})
            expect_status(scan(0, SCANBENCH_I32, kind, a, out), SCANBENCH_ERROR_TYPE, h,
                          "it must be a scanbench_kind");
        for (const int type : {-1, (int)TYPE_COUNT})
            expect_status(scan(1, type, 0, a, out), SCANBENCH_ERROR_TYPE, h);
        for (const int type : {SCANBENCH_F32, SCANBENCH_F64})
            expect_status(scan(SCANBENCH_OPERATOR_XOR, type, 0, a, out), SCANBENCH_ERROR_TYPE, h,
                          "it must be of integers, as op is 3");
        expect_status(scan(1, SCANBENCH_I32, 0, nullptr, out), SCANBENCH_ERROR_NULL, h);
        expect_status(scan(1, SCANBENCH_I32, 0, a, a + 4), SCANBENCH_ERROR_OVERLAP, h);
        expect_status(scan(1, SCANBENCH_I32, 0, odd, out), SCANBENCH_ERROR_ALIGNMENT, h);
        expect_status(scan(1, SCANBENCH_I32, 0, a, out, UINT64_MAX, 8), SCANBENCH_ERROR_SIZE, h);
        ok(scan(1, SCANBENCH_I32, 0, nullptr, nullptr, 0, 8), h);
        ok(scan(1, SCANBENCH_I32, 0, a, out, 8, UINT64_MAX), h);

        const auto recur = [&](int type, const void *a, const void *b, void *to, uint64_t n = 8) {
            return scanbench_linear_recurrence(h, (scanbench_type)type, a, b, to, n, 0, nullptr);
        };
        expect_status(recur(-1, a, b, out), SCANBENCH_ERROR_TYPE, h);
        expect_status(recur(SCANBENCH_I32, a, nullptr, out), SCANBENCH_ERROR_NULL, h, "b is NULL");
        expect_status(recur(SCANBENCH_I32, nullptr, b, out), SCANBENCH_ERROR_NULL, h);
        expect_status(recur(SCANBENCH_I32, a, b, nullptr), SCANBENCH_ERROR_NULL, h);
        expect_status(recur(SCANBENCH_I32, a, odd, out), SCANBENCH_ERROR_ALIGNMENT, h);
        expect_status(recur(SCANBENCH_I32, a, b, b + 7), SCANBENCH_ERROR_OVERLAP, h);
        expect_status(recur(SCANBENCH_I32, a, b, a + 7), SCANBENCH_ERROR_OVERLAP, h,
                      "they must be the same or lie apart");
        expect_status(recur(SCANBENCH_I32, a, a + 1, a), SCANBENCH_ERROR_OVERLAP, h);
        expect_status(recur(SCANBENCH_I32, a, b, out, UINT64_MAX), SCANBENCH_ERROR_SIZE, h);
        ok(recur(SCANBENCH_I32, a, a + 1, out), h); /* both only read it */
        ok(recur(SCANBENCH_I32, a, a, a), h);
        ok(recur(SCANBENCH_I32, nullptr, nullptr, nullptr, 0), h);
        scanbench_destroy(h);
    }
    assert_int_equal(scanbench_scan(nullptr, SCANBENCH_OPERATOR_SUM, SCANBENCH_I32,
                                    SCANBENCH_INCLUSIVE, a, out, 8, 0, nullptr),
                     SCANBENCH_ERROR_NULL);
    assert_int_equal(scanbench_linear_recurrence(nullptr, SCANBENCH_I32, a, b, out, 8, 0, nullptr),
                     SCANBENCH_ERROR_NULL);
}
