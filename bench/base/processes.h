/* processes.h: the processes that mpirun or srun has started to run this program together.
 *
 * They all follow the same plan, and call these functions in the same order. Only process 0 writes
 * rows. With one process, every function returns at once. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct processes {
    unsigned count, number;
    unsigned hosts;
    unsigned on_this_host, number_on_host;
};

extern struct processes processes;

/* Joins the others, if there are any. Returns EXIT_OK, or EXIT_USAGE after one line on stderr if
 * this build cannot, or if another process is of another build. */
int join_processes(void);

/* Returns the worst exit code of all processes. leave_processes() also leaves the others. */
int worst_of_processes(int code);
int leave_processes(int code);

/* Each contributes `bytes` bytes; all get those of process p at all + p * bytes. */
void gather_from_processes(const void *mine, size_t bytes, void *all);

/* The same, in memory that is to be freed. */
void *gathered(const void *mine, size_t bytes);

/* Each sends sent[p] bytes to process p, which lie consecutively at `from`, and gets got[p] bytes
 * from it, which are stored consecutively at `to`. */
void exchange_between_processes(const void *from, const size_t *sent, void *to, const size_t *got);

/* Waits until all have called it. */
void meet_processes(void);

/* Do all of them say yes? Does process 0? */
bool all_processes(bool yes);
bool first_process(bool yes);

/* The first process whose bytes, or their number, are not those of process 0; 0: all are. Digests
 * are compared. */
unsigned first_that_differs(const void *mine, size_t bytes);

bool is_on_this_host(unsigned process);

/* Returns NULL, or why there is only one process. */
const char *why_no_processes(void);

/* How to build what this build lacks for several processes; NULL: it lacks nothing. */
const char *missing_for_processes(void);

#ifdef __cplusplus
}
#endif
