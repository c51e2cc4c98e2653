/* bench.h: what a test works on, on any device, and what the check says of it. Included after
 * cmocka.h. */
#pragma once

#include "../../bench/device/verify.h"

#include <string.h>

/* A test uses what it needs of it. */
struct bench {
    struct device *device;
    struct device_info info;
    struct device_limits limits;
    struct workspace workspace;
    struct problem problem;
    struct input input;
    struct call call;
    const struct algorithm *algorithm;
    void *kept;          /* by the algorithm */
    uint64_t kept_count; /* of a compaction */
};

static inline struct verdict judge(const struct bench *bench)
{
    struct verdict verdict;
    assert_null(verify(bench->device, &bench->problem, RESULT_OF_OPERATION, &bench->input,
                       &bench->workspace, &verdict));
    return verdict;
}

static inline void expect_right(const struct bench *bench)
{
    const struct verdict verdict = judge(bench);
    const struct problem *p = &bench->problem;
    if (!verdict.passed)
        fail_msg("op %d, type %d, n = %d, shape %d: %s", p->op, p->type, (int)p->n,
                 bench->input.shape, verdict.reason);
}

/* Expects a reason with this part. */
static inline void expect_wrong(const struct bench *bench, const char *part)
{
    const struct verdict verdict = judge(bench);
    assert_false(verdict.passed);
    if (strstr(verdict.reason, part) == NULL)
        fail_msg("%s, where %s was expected", verdict.reason, part);
}
