/* continuation: passes the state of a run to a new process through the environment. */
#include "continuation.h"

#include "interrupt.h"
#include "stdout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "PID GPUS GROUPS GROUP ROWS NOISY CODE COLD DIRTY HOT ENTRIES DEVICES". The process ID shows that
 * it belongs to this run and was not inherited from elsewhere. */
#define VARIABLE "SCANBENCH_GOES_ON"

struct continuation read_continuation(char **arguments)
{
    struct continuation continuation = {.arguments = arguments};
    const char *text = getenv(VARIABLE);
    char *end = NULL;
    if (text == NULL || strtoul(text, &end, 10) != (unsigned long)getpid())
        return continuation;
    continuation.going_on = true;
    continuation.gpus = (int)strtoul(end, &end, 10);
    continuation.groups = strtoul(end, &end, 10);
    continuation.group = strtoul(end, &end, 10);
    continuation.rows = strtoul(end, &end, 10);
    continuation.noisy = strtoul(end, &end, 10);
    continuation.code = (int)strtoul(end, &end, 10);
    for (int cache = 0; cache < CACHE_STATE_COUNT; cache++)
        continuation.reference_ms[cache] = strtod(end, &end);
    end += *end == ' ';
    const int entries = (int)strcspn(end, " ");
    snprintf(continuation.entries, sizeof continuation.entries, "%.*s", entries, end);
    end += entries + (end[entries] == ' ');
    snprintf(continuation.devices, sizeof continuation.devices, "%s", end);
    unsetenv(VARIABLE);
    return continuation;
}

void go_on_in_new_process(const struct continuation *continuation)
{
    char text[CONTINUATION_ENTRIES + CONTINUATION_DEVICES + 256];
    const double *ms = continuation->reference_ms;
    snprintf(text, sizeof text, "%ld %d %zu %zu %zu %zu %d %.17g %.17g %.17g %s %s", (long)getpid(),
             continuation->gpus, continuation->groups, continuation->group, continuation->rows,
             continuation->noisy, continuation->code, ms[CACHE_COLD], ms[CACHE_DIRTY],
             ms[CACHE_HOT], continuation->entries, continuation->devices);
    /* From here on signals are held until the new process is ready to report them. */
    hold_interrupts();
    restore_stdout();
    if (!interrupted() && setenv(VARIABLE, text, 1) == 0)
        execv("/proc/self/exe", continuation->arguments);
}
