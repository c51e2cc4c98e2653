/* continuation.h: a run that goes on in a new process.
 *
 * Some drivers give no other context to a process whose kernel has failed, whatever it
 * resets; a new process gets one at once. So the program starts itself again, under the
 * same process ID, and does what is left of its plan. The files it writes to stay open and
 * locked meanwhile. */
#ifndef SCANBENCH_BENCH_CONTINUATION_H
#define SCANBENCH_BENCH_CONTINUATION_H

#include <stdbool.h>
#include <stddef.h>

enum { CONTINUATION_ENTRIES = 4096 };

/* What became of an entry of the plan's group, a letter each. */
enum { ENTRY_TO_DO = 't', ENTRY_DONE = 'd', ENTRY_LOST_DEVICE = 'l' };

struct continuation {
    char **arguments;                       /* of the command line */
    bool going_on;                          /* this process is the new one */
    int gpus;                               /* of the machine, and groups of the plan: a new */
    size_t groups;                          /* process that finds others cannot go on */
    size_t group;                           /* the first of the plan with something to do */
    size_t rows;                            /* that were written before */
    int code;                               /* the exit code that those make */
    char entries[CONTINUATION_ENTRIES + 1]; /* of that group */
};

/* What the process before left in the environment; nothing, if there was none. */
struct continuation read_continuation(char **arguments);

/* Replaces this process. Returns only if that cannot be, or if the run was interrupted. */
void go_on_in_new_process(const struct continuation *continuation);

#endif
