/* fork: calls in a child of fork(), where the threads of the parent are missing, and which starts
 * its own. A child that waits for those of the parent is ended by an alarm. */
#include <scanbench.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 300007, THREADS = 4, SECONDS = 30 };

static int32_t in[N], out[N];
static scanbench_handle *handle; /* created before any fork() */

static int thread_count(void)
{
    DIR *threads = opendir("/proc/self/task");
    int count = 0;
    if (threads == NULL)
        return -1;
    for (const struct dirent *entry; (entry = readdir(threads)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(threads);
    return count;
}

static int fail(const char *what)
{
    printf("wrong: %s\n", what);
    return 1;
}

#define EXPECT(condition) \
    if (!(condition))     \
    return fail(#condition)

/* Every operation, for an input of 0, 1, 2, 0, 1, 2, ... Returns 0 if all is right. */
static int call_all(scanbench_handle *h)
{
    uint64_t kept = 0;
    EXPECT(scanbench_inclusive_sum(h, SCANBENCH_I32, in, out, N, NULL) == SCANBENCH_OK);
    EXPECT(out[2] == 3 && out[N - 1] == N - 1);
    EXPECT(scanbench_exclusive_sum(h, SCANBENCH_I32, in, out, N, NULL) == SCANBENCH_OK);
    EXPECT(out[3] == 3 && out[N - 1] == N - 1);
    EXPECT(scanbench_compact_nonzero(h, SCANBENCH_I32, in, out, &kept, N, NULL) == SCANBENCH_OK);
    EXPECT(kept == N / 3 * 2 && out[0] == 1 && out[kept - 1] == 2);
    EXPECT(scanbench_sort_keys(h, SCANBENCH_I32, in, out, N, NULL) == SCANBENCH_OK);
    for (int i = 0; i < N; i++)
        EXPECT(out[i] == (i > N / 3) + (i > N / 3 * 2));
    return 0;
}

static int call_all_with_new_handle(void)
{
    scanbench_handle *created;
    EXPECT(scanbench_create_cpu(&created, THREADS) == SCANBENCH_OK);
    const int status = call_all(created);
    scanbench_destroy(created);
    return status;
}

/* Runs `test` in a child; returns its exit status, or -1. */
static int in_child(int (*test)(void))
{
    int status;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        const int result = test();
        fflush(stdout);
        _exit(result);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : -1;
}

static int on_all_threads(void)
{
    EXPECT(thread_count() == 1);
    EXPECT(call_all(handle) == 0);
    EXPECT(call_all_with_new_handle() == 0);
    EXPECT(thread_count() == THREADS);
    return 0;
}

static int in_grandchild(void)
{
    return in_child(on_all_threads);
}

int main(void)
{
    for (int i = 0; i < N; i++)
        in[i] = i % 3;
    EXPECT(scanbench_create_cpu(&handle, THREADS) == SCANBENCH_OK);
    EXPECT(in_child(on_all_threads) == 0);
    EXPECT(call_all(handle) == 0);
    EXPECT(thread_count() == THREADS);
    EXPECT(in_child(on_all_threads) == 0);
    EXPECT(in_child(in_grandchild) == 0);
    EXPECT(call_all(handle) == 0);
    EXPECT(thread_count() == THREADS);
    scanbench_destroy(handle);
    printf("children of fork() can call it\n");
    return 0;
}
