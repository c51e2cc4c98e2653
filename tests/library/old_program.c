/* old_program: a program from the time of version 0.1.0, compiled with the header of that version
 * and linked with today's library. It uses every function and the values of every enumerator. */
#include "scanbench-0.1.0.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 5 };

static int failures;

static void expect(int is_right, const char *what)
{
    if (!is_right)
        printf("not as in version 0.1.0: %s\n", what);
    failures += !is_right;
}

#define EXPECT(condition) expect(condition, #condition)

/* The number of a type, and an array of it. */
static void sort_and_sum(scanbench_handle *handle, scanbench_type type, size_t bytes,
                         const void *in, const void *sorted, const void *sums)
{
    char out[N * sizeof(double)];
    EXPECT(scanbench_inclusive_sum(handle, type, in, out, N, NULL) == SCANBENCH_OK);
    EXPECT(memcmp(out, sums, N * bytes) == 0);
    if (sorted == NULL)
        return;
    EXPECT(scanbench_sort_keys(handle, type, in, out, N, NULL) == SCANBENCH_OK);
    EXPECT(memcmp(out, sorted, N * bytes) == 0);
}

#define TRY(handle, TYPE, T)                                                            \
    do {                                                                                \
        const T in[N] = {3, 0, 2, 0, 1}, sorted[N] = {0, 0, 1, 2, 3};                   \
        const T sums[N] = {3, 3, 5, 5, 6};                                              \
        sort_and_sum(handle, TYPE, sizeof(T), in, sizeof(T) < 4 ? NULL : sorted, sums); \
    } while (0)

static void types(scanbench_handle *handle)
{
    TRY(handle, SCANBENCH_I32, int32_t);
    TRY(handle, SCANBENCH_U32, uint32_t);
    TRY(handle, SCANBENCH_I64, int64_t);
    TRY(handle, SCANBENCH_U64, uint64_t);
    TRY(handle, SCANBENCH_F32, float);
    TRY(handle, SCANBENCH_F64, double);
    TRY(handle, SCANBENCH_U8, uint8_t);
    /* What orders types apart, and signed from unsigned. */
    const int32_t in[2] = {1, -1};
    int32_t out[2];
    scanbench_sort_keys(handle, SCANBENCH_I32, in, out, 2, NULL);
    EXPECT(out[0] == -1);
    scanbench_sort_keys(handle, SCANBENCH_U32, in, out, 2, NULL);
    EXPECT(out[0] == 1);
}

static void statuses(scanbench_handle *handle)
{
    int32_t in[8] = {0}, out[8];
    char *odd = (char *)in + 1;
    EXPECT(scanbench_exclusive_sum(handle, SCANBENCH_I32, NULL, out, 8, NULL) ==
           SCANBENCH_ERROR_NULL);
    EXPECT(scanbench_sort_keys(handle, (scanbench_type)99, in, out, 8, NULL) ==
           SCANBENCH_ERROR_TYPE);
    EXPECT(scanbench_exclusive_sum(handle, SCANBENCH_I32, in, out, UINT64_MAX, NULL) ==
           SCANBENCH_ERROR_SIZE);
    EXPECT(scanbench_exclusive_sum(handle, SCANBENCH_I32, odd, out, 1, NULL) ==
           SCANBENCH_ERROR_ALIGNMENT);
    EXPECT(scanbench_exclusive_sum(handle, SCANBENCH_I32, in, in + 1, 7, NULL) ==
           SCANBENCH_ERROR_OVERLAP);
    EXPECT(scanbench_exclusive_sum(handle, SCANBENCH_I32, in, out, 8, in) ==
           SCANBENCH_ERROR_STREAM);
    EXPECT(strlen(scanbench_error(handle)) > 0);
    EXPECT(strstr(scanbench_status_text(SCANBENCH_ERROR_DEVICE), "current") != NULL);
    EXPECT(strstr(scanbench_status_text(SCANBENCH_ERROR_SCRATCH), "capture") != NULL);
    EXPECT(strstr(scanbench_status_text(SCANBENCH_ERROR_MEMORY), "allocated") != NULL);
    EXPECT(strstr(scanbench_status_text(SCANBENCH_ERROR_UNSUPPORTED), "supports") != NULL);
    EXPECT(strstr(scanbench_status_text(SCANBENCH_ERROR_NO_DEVICE), "no such GPU") != NULL);
    EXPECT(strstr(scanbench_status_text(SCANBENCH_ERROR_CUDA), "CUDA runtime") != NULL);
}

int main(void)
{
    scanbench_handle *handle = NULL;
    const int32_t in[N] = {3, 0, 2, 0, 1};
    int32_t out[N] = {0};
    uint64_t count = 0;
    EXPECT(scanbench_version() >= SCANBENCH_VERSION);
    EXPECT(scanbench_create_gpu(&handle, 1000) == SCANBENCH_ERROR_NO_DEVICE && handle == NULL);
    EXPECT(scanbench_create_cpu(&handle, 2) == SCANBENCH_OK);
    EXPECT(scanbench_reserve(handle, SCANBENCH_SUM, SCANBENCH_I32, N) == SCANBENCH_OK);
    EXPECT(scanbench_reserve(handle, SCANBENCH_COMPACT, SCANBENCH_I32, N) == SCANBENCH_OK);
    EXPECT(scanbench_reserve(handle, SCANBENCH_SORT, SCANBENCH_I32, N) == SCANBENCH_OK);
    EXPECT(scanbench_scratch_bytes(handle) > 0);
    EXPECT(scanbench_exclusive_sum(handle, SCANBENCH_I32, in, out, N, NULL) == SCANBENCH_OK);
    EXPECT(out[0] == 0 && out[N - 1] == 5);
    EXPECT(scanbench_compact_nonzero(handle, SCANBENCH_I32, in, out, &count, N, NULL) ==
           SCANBENCH_OK);
    EXPECT(count == 3 && out[0] == 3 && out[1] == 2 && out[2] == 1);
    types(handle);
    statuses(handle);
    scanbench_destroy(handle);
    if (failures == 0)
        printf("as in version 0.1.0\n");
    return failures > 0;
}
