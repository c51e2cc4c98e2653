/* device_info.h: --device-info. */
#pragma once

#include "../device/backend.h"
#include "../cli/options.h"

/* Prints names and limits of the requested devices, or of all; as JSON with --format=json. */
int print_devices(const struct options *options, FILE *out);

/* How many blocks of one size fit on a multiprocessor, and the resources that a kernel may use
 * without lowering that number. */
struct block_residency {
    int blocks; /* resident at a time; 0: unknown */
    double occupancy_pct;
    int registers_per_thread;      /* at most, or fewer blocks fit */
    size_t shared_bytes_per_block; /* at most, or fewer blocks fit */
};

struct block_residency block_residency(const struct device_info *info, int block);
