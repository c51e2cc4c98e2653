/* stress_team.h: the part of stress that works on several devices, by `peer`. */
#pragma once

#include "../../bench/device/backend.h"

struct team_settings {
    const struct backend *backend;
    unsigned gpus;
    uint64_t repeats, max_n, seed;
    int multiprocessors; /* that algorithms see; 0: all */
};

/* Repeats: one problem on fresh data, run a few times, every element checked. Returns how many
 * results were wrong. */
uint64_t stress_team(const struct team_settings *settings);
