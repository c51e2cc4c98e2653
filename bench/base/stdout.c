/* stdout: two descriptors instead of one. */
#define _GNU_SOURCE /* F_DUPFD_CLOEXEC */
#include "stdout.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static int kept = -1; /* a duplicate of stdout; -1: none so far */
static bool redirected;

int results_descriptor(void)
{
    return kept >= 0 ? kept : STDOUT_FILENO;
}

void redirect_stdout(void)
{
    if (redirected)
        return;
    fflush(stdout);
    if (kept < 0)
        kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    redirected = kept >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) == STDOUT_FILENO;
}

void restore_stdout(void)
{
    if (!redirected)
        return;
    fflush(stdout);
    redirected = dup2(kept, STDOUT_FILENO) != STDOUT_FILENO;
}
