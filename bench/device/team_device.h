/* team_device.h: several devices of one kind that share arrays, as one device.
 *
 * Whoever uses it allocates, fills, measures and checks as on a single device. Behind it every
 * array is divided into slices, one per member (struct team in engine.h), and every function is
 * done by each member with its own. Members in other processes do the same there; where the
 * processes must not differ, in results, failures and times, they agree.
 *
 * The time of a run goes from a common start to the end of the last member: each member times its
 * own work from the start on, and the longest counts. docs/several-gpus.md says how the start is
 * made common, and how far it is. */
#pragma once

#include "backend.h"

/* Opens `here` devices from `index` on as the members in this process. Returns NULL, or the reason
 * why it failed, on any member of any process. */
const char *open_team(const struct backend *backend, int index, unsigned here, uint64_t seed,
                      struct device_info *info, struct device_limits *limits,
                      struct device **device);
