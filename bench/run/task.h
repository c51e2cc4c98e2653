/* task.h: what an entry of the plan is on the open device: an algorithm and a problem.
 *
 * It is made once, when the entry's group begins, and kept. The plan itself stays as it is. */
#pragma once

#include "session.h"

struct task {
    const struct algorithm *algorithm; /* what `auto` stands for; else the entry's, or NULL */
    struct problem problem;
    size_t scratch_bytes; /* in a team, on each device */
    char unresolved[256]; /* why `auto` stands for nothing here; empty: it stands for something */
};

/* If `auto` stands for nothing here, why_impossible() says so. */
struct task make_task(const struct session *session, const struct plan_group *group,
                      const struct plan_entry *entry);

/* What the entry asks for, or the device's own. Zero if no device is open. */
unsigned used_threads(const struct session *session, const struct plan_entry *entry);
enum simd_path used_simd(const struct session *session, const struct plan_entry *entry);

/* Returns NULL, or why the entry cannot run on the open device, which may lie in the task. Memory
 * is not considered. */
const char *why_impossible(const struct session *session, const struct plan_entry *entry,
                           const struct task *task);

/* The bytes of the output buffer: enough for the result and for a copy of the input. */
size_t output_bytes(const struct problem *problem);

/* The bytes of the count; in a team the place of each part follows it. */
size_t count_bytes(const struct session *session, enum operation op);

/* The bytes of all buffers; in a team, on each device. */
size_t buffer_bytes(const struct session *session, const struct task *task);

/* The memory that measuring the task takes: its buffers, what the algorithm allocates by itself,
 * what the device adds, and with `copies` the arrays of the host if it is the same memory. */
size_t needed_bytes(const struct session *session, const struct task *task, enum cache_state cache,
                    bool copies);
