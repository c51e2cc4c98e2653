/* library_misuse: bad arguments, and what there is not, get a status and a text. Of library_test.
 */
#include "library_testing.h"

#include <set>
#include <string>

void bad_arguments_return_a_status(void **)
{
    alignas(16) int32_t in[64] = {}, out[64] = {};
    uint64_t count[2] = {};
    char *odd = reinterpret_cast<char *>(in) + 2;
    for (int kind = 0; kind < KINDS; kind++) {
        scanbench_handle *h = create((enum kind)kind);
        for (int o = 0; o < OPERATIONS; o++) {
            const auto operation = (operation_name)o;
            const auto status = [&](const void *from, void *to, uint64_t n,
                                    int type = SCANBENCH_I32) {
                return call(h, operation, (scanbench_type)type, from, to, count, n);
            };
            expect_status(status(nullptr, out, 8), SCANBENCH_ERROR_NULL, h, "input is NULL");
            expect_status(status(in, nullptr, 8), SCANBENCH_ERROR_NULL, h, "output is NULL");
            expect_status(status(odd, out, 8), SCANBENCH_ERROR_ALIGNMENT, h, "input is 0x");
            expect_status(status(in, odd, 8), SCANBENCH_ERROR_ALIGNMENT, h,
                          "it must be a multiple of 4");
            expect_status(status(in + 1, out, 8, SCANBENCH_F64), SCANBENCH_ERROR_ALIGNMENT, h);
            expect_status(status(in, in + 4, 8), SCANBENCH_ERROR_OVERLAP, h, "output at 0x");
            expect_status(status(in + 4, in, 8), SCANBENCH_ERROR_OVERLAP, h);
            expect_status(status(in, out, UINT64_MAX), SCANBENCH_ERROR_SIZE, h);
            expect_status(status(in, out, (uint64_t)1 << 62), SCANBENCH_ERROR_SIZE, h,
                          "n is 4611686018427387904: it must be at most");
            expect_status(status(in, out, 8, TYPE_COUNT), SCANBENCH_ERROR_TYPE, h,
                          "type is 12: it must be a scanbench_type");
            expect_status(status(in, out, 8, -1), SCANBENCH_ERROR_TYPE, h);
            ok(status(in, out, 8), h);
            assert_string_equal(scanbench_error(h), "");
            assert_int_equal(call(nullptr, operation, SCANBENCH_I32, in, out, count, 8),
                             SCANBENCH_ERROR_NULL);
        }
        expect_status(call(h, COMPACT, SCANBENCH_I32, in, out, nullptr, 8), SCANBENCH_ERROR_NULL, h,
                      "count is NULL: it must be the address of 8 bytes");
        auto *odd_count = reinterpret_cast<uint64_t *>(reinterpret_cast<char *>(count) + 4);
        expect_status(call(h, COMPACT, SCANBENCH_I32, in, out, odd_count, 8),
                      SCANBENCH_ERROR_ALIGNMENT, h, "count is 0x");
        ok(scanbench_reserve(h, SCANBENCH_SORT, SCANBENCH_U8, 8), h);
        expect_status(scanbench_reserve(h, (scanbench_operation)5, SCANBENCH_I32, 8),
                      SCANBENCH_ERROR_TYPE, h, "operation is 5");
        expect_status(scanbench_reserve(h, SCANBENCH_SORT, SCANBENCH_I32, UINT64_MAX),
                      SCANBENCH_ERROR_SIZE, h);
        scanbench_destroy(h);
    }
    assert_int_equal(scanbench_reserve(nullptr, SCANBENCH_SUM, SCANBENCH_I32, 8),
                     SCANBENCH_ERROR_NULL);
}

/* A count in one of the arrays would be an element as well. */
void counts_lie_outside_of_the_arrays(void **)
{
    alignas(16) uint64_t in[9] = {3, 0, 2}, out[9] = {};
    for (int kind = 0; kind < KINDS; kind++) {
        scanbench_handle *h = create((enum kind)kind);
        const auto status = [&](void *to, uint64_t *count, uint64_t n) {
            return scanbench_compact_nonzero(h, SCANBENCH_I64, in, to, count, n, nullptr);
        };
        for (uint64_t *array : {in, out})
            for (const int i : {0, 3, 7})
                expect_status(status(out, array + i, 8), SCANBENCH_ERROR_OVERLAP, h);
        expect_status(status(in, in + 7, 8), SCANBENCH_ERROR_OVERLAP, h, "count at 0x");
        assert_int_equal(in[0], 3);
        ok(status(out, in + 8, 8), h);
        ok(status(out, out + 8, 8), h);
        assert_int_equal(in[8], 2);
        assert_int_equal(out[8], 2);
        /* Elements of 4 bytes, the last of which is half of the count. */
        expect_status(scanbench_compact_nonzero(h, SCANBENCH_I32, in, out, out + 4, 9, nullptr),
                      SCANBENCH_ERROR_OVERLAP, h);
        /* Arrays without elements have no place. */
        ok(status(out, out, 0), h);
        assert_int_equal(out[0], 0);
        scanbench_destroy(h);
    }
}

void more_threads_than_there_can_be(void **)
{
    int left_alone;
    for (const unsigned threads : {SCANBENCH_MAX_THREADS + 1u, 65536u, UINT32_MAX}) {
        auto *handle = reinterpret_cast<scanbench_handle *>(&left_alone);
        assert_int_equal(scanbench_create_cpu(&handle, threads), SCANBENCH_ERROR_THREADS);
        assert_null(handle);
    }
    scanbench_destroy(create(ON_CPU, SCANBENCH_MAX_THREADS));
}

void bad_pairs_return_a_status(void **)
{
    alignas(16) int32_t in[64] = {}, out[64] = {}, values[64] = {}, out_values[64] = {};
    const auto *odd = reinterpret_cast<char *>(in) + 2;
    auto *odd_out = reinterpret_cast<char *>(out) + 2;
    for (int kind = 0; kind < KINDS; kind++) {
        scanbench_handle *h = create((enum kind)kind);
        const auto status = [&](const void *from, void *to, const void *its_values, void *values_to,
                                size_t bytes = 4, uint64_t n = 8, int type = SCANBENCH_I32) {
            return scanbench_sort_pairs(h, (scanbench_type)type, from, to, bytes, its_values,
                                        values_to, n, nullptr);
        };
        expect_status(status(nullptr, out, values, out_values), SCANBENCH_ERROR_NULL, h);
        expect_status(status(in, nullptr, values, out_values), SCANBENCH_ERROR_NULL, h);
        expect_status(status(in, out, nullptr, out_values), SCANBENCH_ERROR_NULL, h);
        expect_status(status(in, out, values, nullptr), SCANBENCH_ERROR_NULL, h,
                      "output_values is NULL");
        for (const size_t bytes : {0, 1, 2, 5, 16})
            expect_status(status(in, out, values, out_values, bytes), SCANBENCH_ERROR_TYPE, h,
                          "it must be 4 or 8");
        expect_status(status(in, out, values, out_values, 4, 8, SCANBENCH_U8), SCANBENCH_ERROR_TYPE,
                      h, "type is 6: values move with keys of 4 and 8 bytes only");
        expect_status(status(in, out, values, out_values, 4, UINT64_MAX), SCANBENCH_ERROR_SIZE, h);
        expect_status(status(odd, out, values, out_values), SCANBENCH_ERROR_ALIGNMENT, h);
        expect_status(status(in, odd_out, values, out_values), SCANBENCH_ERROR_ALIGNMENT, h);
        expect_status(status(in, out, odd, out_values), SCANBENCH_ERROR_ALIGNMENT, h);
        expect_status(status(in, out, values, odd_out), SCANBENCH_ERROR_ALIGNMENT, h);
        expect_status(status(in, out, values + 1, out_values, 8), SCANBENCH_ERROR_ALIGNMENT, h);
        ok(status(in, out, values, out_values, 8, 8), h);
        ok(status(nullptr, nullptr, nullptr, nullptr, 8, 0), h);
        scanbench_destroy(h);
    }
    assert_int_equal(
        scanbench_sort_pairs(nullptr, SCANBENCH_I32, in, out, 4, values, out_values, 8, nullptr),
        SCANBENCH_ERROR_NULL);
}

/* What is written may be its own input, and nothing else. */
void pairs_must_not_overlap(void **)
{
    alignas(16) int32_t a[64] = {}, b[64] = {}, c[64] = {};
    for (int kind = 0; kind < KINDS; kind++) {
        scanbench_handle *h = create((enum kind)kind);
        const auto sort = [&](const void *keys, void *to, const void *values, void *values_to,
                              size_t bytes = 4) {
            return scanbench_sort_pairs(h, SCANBENCH_I32, keys, to, bytes, values, values_to, 16,
                                        nullptr);
        };
        expect_status(sort(a, a + 15, b, c), SCANBENCH_ERROR_OVERLAP, h);
        expect_status(sort(a, b, c, c + 15), SCANBENCH_ERROR_OVERLAP, h);
        expect_status(sort(a, b, b + 15, c), SCANBENCH_ERROR_OVERLAP, h);
        expect_status(sort(a, b, c, b + 15), SCANBENCH_ERROR_OVERLAP, h);
        expect_status(sort(a, b, c, a + 15), SCANBENCH_ERROR_OVERLAP, h);
        expect_status(sort(a, b, b, c), SCANBENCH_ERROR_OVERLAP, h, "overlaps input_values at 0x");
        expect_status(sort(a, b, c, a), SCANBENCH_ERROR_OVERLAP, h);
        expect_status(sort(a, a, a, b), SCANBENCH_ERROR_OVERLAP, h);
        expect_status(sort(a, b, c, b), SCANBENCH_ERROR_OVERLAP, h);
        expect_status(sort(a, a, b, b + 16, 8), SCANBENCH_ERROR_OVERLAP, h);
        ok(sort(a, a, b, b + 16), h);
        ok(sort(a, a + 16, a + 32, a + 48), h);
        ok(sort(a, b, a, c), h); /* both only read it */
        scanbench_destroy(h);
    }
}

void bad_reserves_of_pairs(void **)
{
    scanbench_handle *h = create(ON_GPU);
    expect_status(scanbench_reserve_pairs(h, SCANBENCH_I32, 3, 8), SCANBENCH_ERROR_TYPE, h,
                  "value_bytes is 3: it must be 4 or 8");
    expect_status(scanbench_reserve_pairs(h, SCANBENCH_I32, 0, 8), SCANBENCH_ERROR_TYPE, h);
    expect_status(scanbench_reserve_pairs(h, SCANBENCH_U8, 4, 8), SCANBENCH_ERROR_TYPE, h);
    expect_status(scanbench_reserve_pairs(h, SCANBENCH_I32, 4, UINT64_MAX), SCANBENCH_ERROR_SIZE,
                  h);
    assert_int_equal(scanbench_reserve_pairs(nullptr, SCANBENCH_I32, 4, 8), SCANBENCH_ERROR_NULL);
    scanbench_destroy(h);
}

void what_there_is_not(void **)
{
    scanbench_handle *handle;
    int32_t in[4] = {}, out[4];
    assert_int_equal(scanbench_create_gpu(nullptr, 0), SCANBENCH_ERROR_NULL);
    assert_int_equal(scanbench_create_cpu(nullptr, 1), SCANBENCH_ERROR_NULL);
    assert_int_equal(scanbench_create_gpu(&handle, -1), SCANBENCH_ERROR_NO_DEVICE);
    assert_null(handle);
    assert_int_equal(scanbench_create_gpu(&handle, 1000), SCANBENCH_ERROR_NO_DEVICE);
    assert_null(handle);
    scanbench_destroy(nullptr);
    assert_string_equal(scanbench_error(nullptr), "");
    assert_int_equal(scanbench_scratch_bytes(nullptr), 0);

    handle = create(ON_CPU);
    expect_status(scanbench_exclusive_sum(handle, SCANBENCH_I32, in, out, 4, in),
                  SCANBENCH_ERROR_STREAM, handle, "stream is 0x");
    scanbench_destroy(handle);

    handle = create(ON_GPU);
    expect_status(scanbench_reserve(handle, SCANBENCH_SUM, SCANBENCH_I64, (uint64_t)1 << 55),
                  SCANBENCH_ERROR_MEMORY, handle);
    ok(scanbench_exclusive_sum(handle, SCANBENCH_I32, in, out, 4, nullptr), handle);
    scanbench_destroy(handle);
}

void statuses_have_texts(void **)
{
    std::set<std::string> texts;
    for (int status = SCANBENCH_OK; status <= SCANBENCH_ERROR_THREADS; status++)
        texts.insert(scanbench_status_text((scanbench_status)status));
    assert_int_equal(texts.size(), SCANBENCH_ERROR_THREADS + 1);
    assert_string_equal(scanbench_status_text(SCANBENCH_ERROR_THREADS),
                        ("threads are more than " + std::to_string(SCANBENCH_MAX_THREADS) +
                         ", SCANBENCH_MAX_THREADS")
                            .c_str());
    assert_string_equal(scanbench_status_text((scanbench_status)99), "unknown status");
    assert_string_equal(scanbench_status_text((scanbench_status)-1), "unknown status");
    assert_int_equal(scanbench_version(), SCANBENCH_VERSION);
}
