/* sampling.h: how many samples a measurement takes, and when they suffice. */
#pragma once

#include "measurement.h"

/* More would not fit the queue of a held stream. */
enum { HOLDABLE_LAUNCHES = 500 };

/* The settings for this kind of device, from those requested. Without --samples, the emulator
 * takes a few, and --check as many as it says. */
struct sampling device_sampling(const struct options *options, const struct backend *backend);

/* The number of samples to take in one turn. */
unsigned turn_samples(const struct run *run, const struct measurement *m);

/* How often to time a row's launches; 0: not at all. Without --kernels once, if the occupancy
 * of the whole run depends on it. */
unsigned launch_samples(const struct run *run, const struct measurement *m);

/* Adds the samples up to `count` to the statistics; returns true if they suffice. GPU samples
 * taken while it was throttled are dropped. */
bool judge_samples(const struct run *run, struct measurement *m, size_t count);
