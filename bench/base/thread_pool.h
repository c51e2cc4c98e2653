/* thread_pool.h: threads that share the parts of a job. */
#pragma once

enum { MOST_PARTS = 4096 };

/* Does one of the parts of a job, which are numbered from 0. A part must not wait for another one
 * to begin: one thread may do them all, one after the other. */
typedef void part_job(void *context, unsigned part, unsigned parts);

/* Does each of at most MOST_PARTS parts once, on the calling thread and on helpers; returns when
 * all are done. Helpers are started when first needed, and stay. One that has not begun its part
 * delays nobody: another thread does it. One that is stopped within its part is waited for. Without
 * memory or threads the caller does everything.
 *
 * Part k is for the same helper in each call, as long as it is not late. If `processors` (a
 * cpu_set_t) is not NULL, helpers that are started are pinned to one of them each, the caller
 * having the first. Threads that call at the same time have helpers of their own, as has a child of
 * fork(). */
void run_parts(unsigned parts, const void *processors, part_job *job, void *context);

/* Sends helpers that spin to sleep, from the `first` on, which are at least 1, and returns once
 * they do. Must not be called during a call. */
void rest_helpers(unsigned first);

/* Call this in a loop that waits for another thread: it yields the processor after a while. `spins`
 * starts at 0. */
void spin_or_yield(unsigned *spins);
