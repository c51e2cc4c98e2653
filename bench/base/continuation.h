/* continuation.h: continues a run in a new process.
 *
 * With some drivers, a process whose kernel has failed never gets a working context again,
 * whatever it resets, but a new process gets one at once. So the program executes itself again,
 * under the same process ID, and does the rest of its plan. Its output files stay open and
 * locked meanwhile. */
#pragma once

#include "../../timing/cache_state.h"

#include <stdbool.h>
#include <stddef.h>

enum { CONTINUATION_ENTRIES = 4096, CONTINUATION_DEVICES = 4096 };

/* The state of each entry of the plan's group, one letter per entry. */
enum { ENTRY_TO_DO = 't', ENTRY_DONE = 'd', ENTRY_LOST_DEVICE = 'l' };

struct continuation {
    char **arguments; /* of the command line */
    bool going_on;    /* this process continues the run of another */
    int gpus;         /* GPUs of the machine, and */
    size_t groups;    /* groups of the plan: if they differ, the run cannot continue */
    size_t group;     /* index of the first unfinished group */
    size_t rows;      /* rows written by earlier processes, and */
    size_t noisy;     /* those of them that exceed --max-noise */
    int code;         /* exit code so far */
    double reference_ms[CACHE_STATE_COUNT]; /* of `auto` on one device, for that group */
    char entries[CONTINUATION_ENTRIES + 1]; /* states of that group's entries */
    char devices[CONTINUATION_DEVICES + 1]; /* that had rows, as JSON */
};

/* Reads the state that an earlier process left in the environment, if any. */
struct continuation read_continuation(char **arguments);

/* Replaces this process by a new one. Returns only if that fails or if the run was interrupted. */
void go_on_in_new_process(const struct continuation *continuation);
