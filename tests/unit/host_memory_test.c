/* host_memory_test: the least of several limits, in made-up trees of /proc and /sys. */
#define _GNU_SOURCE /* nftw */
#include "../../bench/device/host_memory.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB ((size_t)1 << 20)
#define UNLIMITED_V1 "9223372036854771712\n"

static char root[64];

static int make_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/scanbench-root-XXXXXX");
    return mkdtemp(root) != NULL ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

static int remove_root(void **state)
{
    (void)state;
    return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Writes a file below the root, and makes its folders. */
static void put(const char *path, const char *text)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    for (char *at = whole + strlen(root) + 1; (at = strchr(at, '/')) != NULL; *at++ = '/') {
        *at = '\0';
        mkdir(whole, 0700);
    }
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void put_mib(const char *path, size_t mib)
{
    char text[32];
    snprintf(text, sizeof text, "%zu\n", mib * MIB);
    put(path, text);
}

static void put_available(size_t mib)
{
    char text[128];
    snprintf(text, sizeof text, "MemTotal:       1 kB\nMemFree:  2 kB\nMemAvailable: %zu kB\n",
             mib * 1024);
    put("proc/meminfo", text);
}

/* So much is left of `mib` under a limit. */
static size_t left_of(size_t mib)
{
    const size_t bytes = mib * MIB - mib * MIB / SPARE_SHARE;
    return bytes - SPARE_BYTES;
}

static void expect_free(size_t bytes, const char *limit, size_t limit_mib)
{
    const struct host_memory memory = read_host_memory(root);
    assert_string_equal(memory.limit, limit);
    assert_int_equal(memory.free_bytes, bytes);
    assert_int_equal(memory.limit_bytes, limit_mib * MIB);
}

static void without_cgroups(void **state)
{
    (void)state;
    put_available(1000);
    expect_free(1000 * MIB, "", 0);
    put("proc/self/cgroup",
        "0::/user.slice\n4:memory:/x\nnonsense\n:::\n7:memory\n"); /* no files */
    expect_free(1000 * MIB, "", 0);
}

static void version_2(void **state)
{
    (void)state;
    put_available(1000);
    put("proc/self/cgroup", "0::/user.slice/job\n");
    put("sys/fs/cgroup/user.slice/job/memory.max", "max\n");
    put("sys/fs/cgroup/user.slice/job/memory.high", "max\n");
    put_mib("sys/fs/cgroup/user.slice/job/memory.current", 100);
    expect_free(1000 * MIB, "", 0);
    put_mib("sys/fs/cgroup/user.slice/job/memory.max", 300);
    expect_free(left_of(200), "memory.max of the cgroup /user.slice/job", 300);
    /* File pages that are not in use are given up. */
    put("sys/fs/cgroup/user.slice/job/memory.stat",
        "anon 52428800\nfile 52428800\nactive_file 31457280\ninactive_file 20971520\n");
    expect_free(left_of(220), "memory.max of the cgroup /user.slice/job", 300);
    put_mib("sys/fs/cgroup/user.slice/job/memory.high", 250);
    expect_free(left_of(170), "memory.high of the cgroup /user.slice/job", 250);
    put_mib("sys/fs/cgroup/user.slice/job/memory.current", 900); /* above its limit */
    expect_free(0, "memory.max of the cgroup /user.slice/job", 300);
}

/* A limit of a cgroup above holds for all below it together. */
static void cgroups_above(void **state)
{
    (void)state;
    put_available(1000);
    put("proc/self/cgroup", "0::/slurm/job_1/step_0\n");
    put("sys/fs/cgroup/slurm/job_1/step_0/memory.max", "max\n");
    put_mib("sys/fs/cgroup/slurm/job_1/step_0/memory.current", 50);
    put_mib("sys/fs/cgroup/slurm/job_1/memory.max", 400);
    put_mib("sys/fs/cgroup/slurm/job_1/memory.current", 150);
    put_mib("sys/fs/cgroup/slurm/memory.max", 500);
    put_mib("sys/fs/cgroup/slurm/memory.current", 200);
    expect_free(left_of(250), "memory.max of the cgroup /slurm/job_1", 400);
    put_mib("sys/fs/cgroup/slurm/memory.current", 300);
    expect_free(left_of(200), "memory.max of the cgroup /slurm", 500);
    put_available(150);
    expect_free(150 * MIB, "", 0);
}

static void version_1(void **state)
{
    (void)state;
    put_available(1000);
    put("proc/self/cgroup", "9:cpu,cpuacct:/other\n4:hugetlb,memory:/docker/abc\n"
                            "3:memory_of_another_kind:/x\n0::/\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", UNLIMITED_V1);
    put_mib("sys/fs/cgroup/memory/memory.usage_in_bytes", 500);
    put("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", UNLIMITED_V1);
    put_mib("sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes", 100);
    put_mib("sys/fs/cgroup/memory/x/memory.limit_in_bytes", 1);
    put_mib("sys/fs/cgroup/memory/x/memory.usage_in_bytes", 0);
    expect_free(1000 * MIB, "", 0);
    put_mib("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", 300);
    put("sys/fs/cgroup/memory/docker/abc/memory.stat",
        "inactive_file 0\ntotal_inactive_file 41943040\n");
    expect_free(left_of(240), "memory.limit_in_bytes of the cgroup /docker/abc", 300);
    put_mib("sys/fs/cgroup/memory/docker/memory.limit_in_bytes", 200);
    put_mib("sys/fs/cgroup/memory/docker/memory.usage_in_bytes", 100);
    expect_free(left_of(100), "memory.limit_in_bytes of the cgroup /docker", 200);
}

/* In a container the path is that of the host, and the root of the mount is its own cgroup. */
static void in_a_container(void **state)
{
    (void)state;
    put_available(1000);
    put("proc/self/cgroup", "4:memory:/docker/abc\n");
    put_mib("sys/fs/cgroup/memory/memory.limit_in_bytes", 300);
    put_mib("sys/fs/cgroup/memory/memory.usage_in_bytes", 100);
    expect_free(left_of(200), "memory.limit_in_bytes of the cgroup /", 300);
    put("proc/self/cgroup", "0::/\n");
    put_mib("sys/fs/cgroup/memory.max", 200);
    put_mib("sys/fs/cgroup/memory.current", 20);
    expect_free(left_of(180), "memory.max of the cgroup /", 200);
    put("proc/self/cgroup", "0::/../../abc\n"); /* out of the namespace */
    expect_free(left_of(180), "memory.max of the cgroup /", 200);
}

/* Version 2 beside version 1 is mounted at another place. */
static void both_versions(void **state)
{
    (void)state;
    put_available(1000);
    put("proc/self/cgroup", "4:cpu:/\n0::/job\n");
    put_mib("sys/fs/cgroup/unified/job/memory.max", 300);
    put_mib("sys/fs/cgroup/unified/job/memory.current", 100);
    expect_free(left_of(200), "memory.max of the cgroup /job", 300);
}

/* RLIMIT_DATA is far above what this process has, so that it can go on under it. */
static void limits_of_the_process(void **state)
{
    (void)state;
    struct rlimit before, limit;
    put_available((size_t)1 << 30);
    put("proc/self/status", "VmPeak:\t 9 kB\nVmSize:\t 2048 kB\nVmData:\t 1048576 kB\n");
    assert_int_equal(getrlimit(RLIMIT_DATA, &before), 0);
    limit = before;
    limit.rlim_cur = (rlim_t)1 << 46;
    assert_int_equal(setrlimit(RLIMIT_DATA, &limit), 0);
    expect_free(left_of(((size_t)1 << 26) - 1024), "ulimit -d", (size_t)1 << 26);
    assert_int_equal(setrlimit(RLIMIT_DATA, &before), 0);
}

#define WITH_ROOT(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ROOT(without_cgroups),       WITH_ROOT(version_2),
        WITH_ROOT(cgroups_above),         WITH_ROOT(version_1),
        WITH_ROOT(in_a_container),        WITH_ROOT(both_versions),
        WITH_ROOT(limits_of_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
