/* unload: loads and unloads a library with the interface of scanbench again and again. Its threads
 * outlive each call, and must not lose the code that they run.
 *
 *   unload FILE     libscanbench.so, or a plugin with the static library inside */
#include <scanbench.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TIMES = 30, THREADS = 4, N = 1 << 18 };

static int32_t ones[N], sums[N];

static void *find(void *library, const char *name)
{
    void *function = dlsym(library, name);
    if (function == NULL) {
        printf("%s\n", dlerror());
        exit(1);
    }
    return function;
}

/* Returns whether the sums are right. */
static int load_call_unload(const char *file)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        printf("%s\n", dlerror());
        exit(1);
    }
    scanbench_status (*create)(scanbench_handle **, unsigned) =
        find(library, "scanbench_create_cpu");
    scanbench_status (*sum)(scanbench_handle *, scanbench_type, const void *, void *, uint64_t,
                            void *) = find(library, "scanbench_inclusive_sum");
    void (*destroy)(scanbench_handle *) = find(library, "scanbench_destroy");
    scanbench_handle *handle;
    sums[N - 1] = 0;
    const int is_right = create(&handle, THREADS) == SCANBENCH_OK &&
                         sum(handle, SCANBENCH_I32, ones, sums, N, NULL) == SCANBENCH_OK &&
                         sums[N - 1] == N;
    destroy(handle);
    dlclose(library);
    usleep(1000);
    return is_right;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    for (int i = 0; i < N; i++)
        ones[i] = 1;
    for (int time = 0; time < TIMES; time++)
        if (!load_call_unload(argv[1])) {
            printf("wrong in round %d\n", time);
            return 1;
        }
    printf("loaded and unloaded %d times\n", TIMES);
    return 0;
}
