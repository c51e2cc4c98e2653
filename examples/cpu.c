/* cpu: sums, compacts and sorts an array on the CPU, and finds where the sorted elements were.
 *
 *   cc cpu.c $(pkg-config --cflags --libs scanbench) && ./a.out */
#include <scanbench.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 12 };

static void check(scanbench_status status)
{
    if (status == SCANBENCH_OK)
        return;
    fprintf(stderr, "scanbench: %s\n", scanbench_status_text(status));
    exit(1);
}

static void print(const char *what, const int32_t *array, uint64_t n)
{
    printf("%-10s", what);
    for (uint64_t i = 0; i < n; i++)
        printf(" %3" PRId32, array[i]);
    printf("\n");
}

int main(void)
{
    const int32_t in[N] = {3, 1, 0, 7, 0, 0, 4, 1, 6, 3, 0, 9};
    int32_t out[N];
    uint64_t kept;
    scanbench_handle *handle;
    check(scanbench_create_cpu(&handle, 0)); /* 0: a thread per processor */
    print("input", in, N);

    check(scanbench_exclusive_sum(handle, SCANBENCH_I32, in, out, N, NULL));
    print("exclusive", out, N);
    check(scanbench_inclusive_sum(handle, SCANBENCH_I32, in, out, N, NULL));
    print("inclusive", out, N);
    check(scanbench_compact_nonzero(handle, SCANBENCH_I32, in, out, &kept, N, NULL));
    print("nonzero", out, kept);
    check(scanbench_sort_keys(handle, SCANBENCH_I32, in, out, N, NULL));
    print("sorted", out, N);

    int32_t places[N], sorted_places[N];
    for (int i = 0; i < N; i++)
        places[i] = i;
    check(scanbench_sort_pairs(handle, SCANBENCH_I32, in, out, sizeof *places, places,
                               sorted_places, N, NULL));
    print("from", sorted_places, N);

    scanbench_destroy(handle);
    return 0;
}
