/* session.h: an open device and the memory of one group of measurements. */
#ifndef SCANBENCH_BENCH_RUN_SESSION_H
#define SCANBENCH_BENCH_RUN_SESSION_H

#include "copies.h"
#include "plan.h"
#include "../device/verify.h"

struct session {
    struct device *device;      /* NULL: no device is open */
    struct device_choice which; /* which of the devices it is */
    struct device_info info;
    struct device_limits limits;
    char driver[32];
    double max_time_ms; /* --max-time */
    struct workspace workspace;
    struct host_arrays host; /* --copies */
};

/* Opens the device unless it is open already. Returns NULL, or why it cannot be used. */
const char *open_session(struct session *session, struct device_choice device,
                         const struct options *options);
void close_session(struct session *session);

/* Replaces `auto` in each entry of a group by the algorithm it stands for. If there is none,
 * entry_unsupported() says so. */
void resolve_choices(const struct session *session, struct plan_group *group);

/* Formats what `auto` stands for, as "lookback block 256". Returns false if the entry is not a
 * choice. */
bool format_choice(const struct plan_entry *entry, char *text, size_t size);

/* The problem of one entry of a group. */
struct problem entry_problem(const struct session *session, const struct plan_group *group,
                             const struct plan_entry *entry);

/* The bytes the entry needs in total, and its scratch bytes alone; in a team, on each device. */
size_t entry_scratch_bytes(const struct session *session, const struct plan_group *group,
                           const struct plan_entry *entry);
/* The bytes of the count; in a team the place of each part follows it. */
size_t count_bytes(const struct session *session, const struct plan_group *group);

/* The bytes of the output buffer: enough for the result and for a copy of the input. */
size_t output_bytes(const struct plan_group *group);

size_t entry_bytes(const struct session *session, const struct plan_group *group,
                   const struct plan_entry *entry);

/* The memory that measuring the entry takes: its buffers, what the algorithm allocates by
 * itself, what the device adds, and with `copies` the arrays of the host if it is the same memory.
 */
size_t needed_bytes(const struct session *session, const struct plan_group *group,
                    const struct plan_entry *entry, bool copies);

/* What bounds the device's free memory, such as " (ulimit -v is 1.0 GiB)"; "": its memory. */
enum { MEMORY_BOUND_BYTES = 168 };
void format_memory_bound(const struct session *session, char text[MEMORY_BOUND_BYTES]);

/* Returns NULL, or why the entry cannot run on the open device. Memory is not considered. */
const char *entry_unsupported(const struct session *session, const struct plan_group *group,
                              const struct plan_entry *entry);

/* Milliseconds since a time of clock_ms(): in a team the same in all processes, which must not
 * decide differently. */
double ms_since(const struct session *session, double start_ms);

/* "cpu", "emulator", "gpu0"; "gpu" for a team of them. */
void format_device(struct device_choice device, char *text, size_t size);

/* The largest value of an input, as typed if it was. */
void format_max(const struct input_spec *input, char *text, size_t size);

/* 1536 -> "1.5 KiB". */
void format_bytes(double bytes, char *text, size_t size);

#endif
