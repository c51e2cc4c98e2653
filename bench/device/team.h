/* team.h: an open team, shared by the files of team_device. */
#pragma once

#include "../engine.h"
#include "team_device.h"
#include "verify.h"

/* What a buffer of a team points to: the buffer of each member. */
struct slices {
    struct buffer of[MOST_MEMBERS];
};

enum { TEAM_BUFFERS = 8 };

struct team_device {
    struct device device;
    struct backend can;
    struct device *member[MOST_MEMBERS];
    struct call call[MOST_MEMBERS];
    void *kept[MOST_MEMBERS];
    struct team team;
    unsigned marked;                      /* marks of the current run */
    double began_ms;                      /* when the host began it */
    struct slices *buffers[TEAM_BUFFERS]; /* those allocated; NULL: free */
    char no_peers[256];
};

static inline struct team_device *team_of(struct device *device)
{
    return (struct team_device *)device;
}

static inline struct slices *slices_of(const struct buffer *buffer)
{
    return buffer->data;
}

/* The first failure of any process, the same in all; NULL: none. */
const char *agree_on(struct team_device *team, const char *why);

/* `why`, with the number of the member that failed. */
const char *failure_of(struct team_device *team, unsigned m, const char *why);

/* team_verify.c */
const char *team_verify(struct device *device, const struct problem *problem, enum result result,
                        const struct input *input, const struct workspace *workspace,
                        struct verdict *verdict);

/* team_measure.c */
const char *team_first_call(struct device *device, const struct trial *trial,
                            struct launch_log *log, double *wall_ms);
const char *team_run_again(struct device *device, const struct trial *trial);
const char *team_run_many(struct device *device, const struct trial *trial, unsigned count);
const char *team_prepare(struct device *device, const struct trial *trial);
const char *team_measure(struct device *device, const struct trial *trial, double *time_ms,
                         struct look *looks, unsigned count);
const char *team_look(struct device *device, const struct trial *trial, bool whole,
                      struct look *look);
const char *team_measure_wall(struct device *device, const struct trial *trial, double *wall_ms);
const char *team_measure_exchange(struct device *device, const struct trial *trial,
                                  struct team_times *times);
