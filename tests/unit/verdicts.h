/* verdicts.h: what the check says of the result in a test's `struct bench`, on any device. Included
 * after its definition, which has at least device, problem, input and workspace. */
#pragma once

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
