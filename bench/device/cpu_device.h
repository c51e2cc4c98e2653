/* cpu_device.h: an open CPU, shared by the files of this backend. */
#pragma once

#include "backend.h"

#include <sched.h>

struct cpu_device {
    struct device device;
    size_t cache_bytes;
    unsigned char *sweep; /* allocated when first needed */
    cpu_set_t allowed;    /* the processors this process may use, and the first of them */
    cpu_set_t first;
    int threads;                 /* used by the loops of this backend */
    double marks_ms[MOST_MARKS]; /* as a member of a team: the times marked */
    unsigned marked;
};

static inline struct cpu_device *cpu_of(struct device *device)
{
    return (struct cpu_device *)device;
}

/* Sets cpu->first from cpu->allowed. */
void cpu_find_first(struct cpu_device *cpu);

/* cpu_memory.c */
size_t cpu_free_memory_bytes(struct device *device);
const char *cpu_write_guards(struct device *device, const struct buffer *buffer);
const char *cpu_allocate(struct device *device, size_t bytes, struct buffer *buffer);
const char *cpu_resize(struct device *device, struct buffer *buffer, size_t bytes);
void cpu_release(struct device *device, struct buffer *buffer);
const char *cpu_read(struct device *device, void *host, const void *data, size_t bytes);
const char *cpu_check_guards(struct device *device, const struct buffer *buffer, bool *damaged,
                             struct guard_damage *damage);
const char *cpu_poison(struct device *device, const struct buffer *buffer);

/* cpu_check.c */
const char *cpu_fill_input(struct device *device, const struct input *input, void *array);
const char *cpu_first_wrong(struct device *device, const struct check *check, int64_t *index);
const char *cpu_count_kept(struct device *device, const struct input *input, uint64_t *count);
const char *cpu_reduce_input(struct device *device, const struct input *input, uint64_t *bits);
const char *cpu_digest(struct device *device, const struct input *input, const void *array,
                       struct digest *digest);

struct view;
uint64_t cpu_placed_digest(struct device *device, const struct view *view);

/* cpu_measure.c */
const char *cpu_first_call(struct device *device, const struct trial *trial, struct launch_log *log,
                           double *wall_ms);
const char *cpu_run_again(struct device *device, const struct trial *trial);
const char *cpu_prepare(struct device *device, const struct trial *trial);
const char *cpu_measure(struct device *device, const struct trial *trial, double *time_ms,
                        struct look *looks, unsigned count);
const char *cpu_look(struct device *device, const struct trial *trial, bool whole,
                     struct look *look);
const char *cpu_touched(struct device *device);
void cpu_clear_results(const struct trial *trial);
const char *cpu_measure_wall(struct device *device, const struct trial *trial, double *wall_ms);
size_t cpu_extra_bytes(struct device *device, enum cache_state cache, size_t bytes);
void cpu_set_cache_state(struct cpu_device *cpu, const struct trial *trial);

/* cpu_member.c */
extern const struct member_functions cpu_as_member;
