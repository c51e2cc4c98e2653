/* emulator_trace_test.cpp: what launches read and write, as the emulator traces it. */
#include "emulator_testing.h"

#include <initializer_list>
#include <string>

/* Kernels of this file are compiled without the compiler's calls, and make them here. */
extern "C" {
void __tsan_read4(const void *);
void __tsan_read16(const void *);
void __tsan_write4(const void *);
}

#define LOAD(place) (__tsan_read4(&(place)), (place))
#define STORE(place, value) (__tsan_write4(&(place)), (place) = (value))

static std::string written_trace(void)
{
    char *text;
    size_t count;
    FILE *out = open_memstream(&text, &count);
    emulator_write_trace(out);
    fclose(out);
    const std::string trace(text, count);
    free(text);
    return trace;
}

/* The trace of one launch, whose arrays `in` and `out` have names. */
template <class... P, class... A>
static std::string trace_of(void (*kernel)(P...), unsigned grid, unsigned block,
                            size_t shared_bytes, array<int> &in, array<int> &out, A... arguments)
{
    const struct emulator_array arrays[] = {{"in", in.data, in.count * sizeof(int), "i32"},
                                            {"out", out.data, out.count * sizeof(int), "i32"},
                                            {"none", NULL, 0, "i32"}};
    emulator_start_tracing(arrays, 3, "i32");
    const cudaError_t error =
        LAUNCH(kernel, grid, block, shared_bytes, in.data, out.data, arguments...);
    emulator_stop_tracing();
    assert_int_equal(error, cudaSuccess);
    return written_trace();
}

static void assert_has(const std::string &trace, std::initializer_list<const char *> parts)
{
    size_t at = 0;
    for (const char *part : parts) {
        at = trace.find(part, at);
        if (at == std::string::npos)
            fail_msg("%s is not in %s, or not in this order", part, trace.c_str());
        at += strlen(part);
    }
}

static size_t count_of(const std::string &trace, const std::string &part)
{
    size_t count = 0;
    for (size_t at = trace.find(part); at != std::string::npos; at = trace.find(part, at + 1))
        count++;
    return count;
}

/* --- Steps -------------------------------------------------------------------- */

static void pairs_kernel(const int *in, int *out)
{
    int *shared = (int *)emulator_shared_memory();
    const unsigned t = threadIdx.x;
    const int x = LOAD(in[t]);
    STORE(shared[t], x);
    __syncthreads();
    if (t < 2) {
        const int sum = LOAD(shared[2 * t]) + LOAD(shared[2 * t + 1]);
        STORE(shared[2 * t + 1], sum);
    }
    __syncthreads();
    const int y = LOAD(shared[t]);
    STORE(out[t], y);
}

static void test_each_step_has_its_reads_and_writes(void **)
{
    array<int> in(4, 0), out(4, 0);
    for (int i = 0; i < 4; i++)
        in[i] = 1 << i;
    const std::string trace = trace_of(pairs_kernel, 1, 4, 4 * sizeof(int), in, out);
    assert_has(trace, {"\"name\":\"in\",\"space\":\"global\"",
                       "\"name\":\"out\"",
                       "\"name\":\"shared\",\"space\":\"shared\"",
                       "\"kernel\":\"kernel\"",
                       "\"grid\":1,\"block\":4,\"shared_bytes\":16",
                       "\"barriers\":0",
                       "\"kind\":\"load\"",
                       "\"lanes\":15,\"array\":0,\"cells\":1",
                       "\"index\":[0,1,2,3],\"value\":[1,2,4,8]",
                       "\"kind\":\"store\"",
                       "\"array\":2",
                       "\"value\":[1,2,4,8]",
                       "\"barriers\":1",
                       "\"lanes\":3,\"array\":2",
                       "\"index\":[0,2],\"value\":[1,4]",
                       "\"index\":[1,3],\"value\":[2,8]",
                       "\"kind\":\"store\"",
                       "\"index\":[1,3],\"value\":[3,12]",
                       "\"barriers\":2",
                       "\"index\":[0,1,2,3],\"value\":[1,3,4,12]",
                       "\"kind\":\"store\"",
                       "\"array\":1",
                       "\"value\":[1,3,4,12]",
                       "\"steps_left_out\":0"});
    assert_int_equal(count_of(trace, "\"barriers\""), 3);
    assert_int_equal(count_of(trace, "\"kind\""), 2 + 3 + 2);
}

static void test_steps_of_blocks_are_one(void **)
{
    array<int> in(4, 5), out(4, 0);
    const std::string trace = trace_of(pairs_kernel, 9, 4, 4 * sizeof(int), in, out);
    assert_int_equal(count_of(trace, "\"barriers\""), 3);
    assert_int_equal(count_of(trace, "\"block\":8,\"warp\":0"), 7);
    assert_int_equal(count_of(trace, "\"name\""), 3);
}

/* Half of the lanes do one thing more in between; what follows is together again. */
static void detour_kernel(const int *in, int *out)
{
    int x = LOAD(in[threadIdx.x]);
    if (threadIdx.x % 2)
        x += LOAD(in[threadIdx.x - 1]);
    STORE(out[threadIdx.x], x);
}

static void test_requests_are_in_the_order_of_each_lane(void **)
{
    array<int> in(4, 2), out(4, 0);
    const std::string trace = trace_of(detour_kernel, 1, 4, 0, in, out);
    assert_int_equal(count_of(trace, "\"kind\""), 3);
    assert_has(trace, {"\"lanes\":15", "\"lanes\":10", "\"kind\":\"store\"", "\"lanes\":15",
                       "\"value\":[2,4,2,4]"});
}

static void test_steps_across_the_launch(void **)
{
    array<int> in(4, 2), out(8, 0);
    const auto kernel = +[](const int *, int *at) {
        cluster_arrive();
        cluster_wait();
        STORE(at[blockIdx.x], 1);
    };
    const struct emulator_array named = {"out", out.data, 8 * sizeof(int), "i32"};
    emulator_start_tracing(&named, 1, "i32");
    assert_int_equal(emulator_launch(kernel, "kernel", 2, 32, 0, EMULATOR_ONE_CLUSTER, nullptr,
                                     (const int *)in.data, out.data),
                     cudaSuccess);
    emulator_stop_tracing();
    const std::string trace = written_trace();
    assert_has(trace, {"\"barriers\":1"});
    assert_int_equal(count_of(trace, "\"barriers\":0"), 0);
}

/* --- Values -------------------------------------------------------------------- */

static void ticket_kernel(const int *, int *out)
{
    atomicAdd(&out[0], 10);
}

static void test_atomics_have_the_values_on_either_side(void **)
{
    array<int> in(1, 0), out(1, 7);
    const std::string trace = trace_of(ticket_kernel, 1, 3, 0, in, out);
    assert_has(trace, {"\"kind\":\"atomic\"", "\"index\":[0,0,0]"});
    for (const char *value : {"17", "27", "37"})
        assert_has(trace, {"\"value\":[", value, "\"before\":["});
    assert_has(trace, {"\"before\":[", "\"times\":["});
}

static void shuffle_kernel(const int *in, int *out)
{
    const int x = LOAD(in[threadIdx.x]);
    const int left = __shfl_up_sync(~0u, x, 1);
    STORE(out[threadIdx.x], x + left);
}

static void test_shuffles_read_registers(void **)
{
    array<int> in(32, 3), out(32, 0);
    in[0] = 5;
    const std::string trace = trace_of(shuffle_kernel, 1, 32, 0, in, out);
    assert_has(trace,
               {"\"collectives\":0", "\"kind\":\"load\"", "\"kind\":\"give\"", "\"value\":[5,3,3",
                "\"collectives\":1", "\"kind\":\"shuffle\"", "\"index\":[0,0,1,2,3",
                "\"value\":[5,5,3,3", "\"kind\":\"store\"", "\"value\":[10,8,6,6"});
}

static void sum_kernel(const int *in, int *out)
{
    const int x = LOAD(in[threadIdx.x]);
    const bool any = __any_sync(~0u, x);
    const int sum = __reduce_add_sync(~0u, x);
    if (any && threadIdx.x == 0)
        STORE(*out, sum);
}

static void test_reductions_do_and_votes_do_not(void **)
{
    array<int> in(32, 1), out(1, 0);
    const std::string trace = trace_of(sum_kernel, 1, 32, 0, in, out);
    assert_has(trace, {"\"kind\":\"load\"", "\"kind\":\"give\"", "\"collectives\":1",
                       "\"kind\":\"reduce\"", "\"value\":[32,32", "\"before\":[1,1",
                       "\"kind\":\"store\"", "\"value\":[32]"});
    assert_int_equal(count_of(trace, "\"collectives\""), 2);
}

static void pack_kernel(const int *in, int *out)
{
    __tsan_read16(&in[4 * threadIdx.x]);
    STORE(out[threadIdx.x], in[4 * threadIdx.x + 3]);
}

static void test_wide_accesses_have_several_cells(void **)
{
    array<int> in(8, -1), out(2, 0);
    const std::string trace = trace_of(pack_kernel, 1, 2, 0, in, out);
    assert_has(trace, {"\"cells\":8", "\"cells\":4,\"index\":[0,4]",
                       "\"value\":[-1,-1,-1,-1,-1,-1,-1,-1]"});
}

static void test_memory_without_a_name_has_a_number(void **)
{
    array<int> in(2, 6), out(2, 0);
    emulator_start_tracing(NULL, 0, "i32");
    assert_int_equal(LAUNCH(detour_kernel, 1, 2, 0, in.data, out.data), cudaSuccess);
    emulator_stop_tracing();
    assert_has(written_trace(), {"\"name\":\"memory 1\"", "\"name\":\"memory 2\""});
}

/* --- How much ------------------------------------------------------------------- */

static void wait_kernel(const int *, int *out)
{
    if (threadIdx.x == 1)
        STORE(*out, 1);
    else
        while (LOAD(*out) == 0)
            spin_wait();
}

static void test_waiting_is_read_once(void **)
{
    array<int> in(1, 0), out(1, 0);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        out[0] = 0;
        emulator_set_seed(seed);
        const std::string trace = trace_of(wait_kernel, 1, 2, 0, in, out);
        assert_true(count_of(trace, "\"kind\":\"load\"") <= 2);
    }
}

static void long_kernel(const int *in, int *out, unsigned turns)
{
    for (unsigned i = 0; i < turns; i++) {
        const int x = LOAD(in[threadIdx.x]);
        STORE(out[threadIdx.x], x);
        __syncthreads();
    }
}

static void test_what_is_too_long_is_cut_at_a_step(void **)
{
    array<int> in(1024, 123456789), out(1024, 0);
    const std::string trace = trace_of(long_kernel, 1, 1024, 0, in, out, 200u);
    const size_t left_out =
        strtoul(trace.c_str() + trace.find("\"steps_left_out\":") + 17, NULL, 10);
    assert_true(trace.size() > 2000000 && trace.size() < 2100000);
    assert_int_equal(count_of(trace, "\"barriers\"") + left_out, 200);
}

static void stuck_kernel(const int *in)
{
    LOAD(in[threadIdx.x]);
    if (threadIdx.x > 0)
        __syncthreads();
}

static void test_only_between_start_and_stop(void **)
{
    array<int> in(4, 2), out(4, 0);
    emulator_start_tracing(NULL, 0, "i32");
    assert_failed(LAUNCH(stuck_kernel, 1, 4, 0, in.data), "barrier", "stuck_kernel");
    emulator_stop_tracing();
    assert_int_equal(LAUNCH(detour_kernel, 1, 4, 0, in.data, out.data), cudaSuccess);
    assert_int_equal(count_of(written_trace(), "\"kernel\""), 1);
    assert_int_equal(count_of(trace_of(detour_kernel, 1, 4, 0, in, out), "\"kind\""), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_each_step_has_its_reads_and_writes, set_up),
        cmocka_unit_test_setup(test_steps_of_blocks_are_one, set_up),
        cmocka_unit_test_setup(test_requests_are_in_the_order_of_each_lane, set_up),
        cmocka_unit_test_setup(test_steps_across_the_launch, set_up),
        cmocka_unit_test_setup(test_atomics_have_the_values_on_either_side, set_up),
        cmocka_unit_test_setup(test_shuffles_read_registers, set_up),
        cmocka_unit_test_setup(test_reductions_do_and_votes_do_not, set_up),
        cmocka_unit_test_setup(test_wide_accesses_have_several_cells, set_up),
        cmocka_unit_test_setup(test_memory_without_a_name_has_a_number, set_up),
        cmocka_unit_test_setup(test_waiting_is_read_once, set_up),
        cmocka_unit_test_setup(test_what_is_too_long_is_cut_at_a_step, set_up),
        cmocka_unit_test_setup(test_only_between_start_and_stop, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
