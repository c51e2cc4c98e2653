/* device_report.h: --device-info. */
#ifndef SCANBENCH_BENCH_RUN_DEVICE_REPORT_H
#define SCANBENCH_BENCH_RUN_DEVICE_REPORT_H

#include "../device/backend.h"
#include "../cli/options.h"

/* Prints names and limits of the devices asked for, else of all there are; as
 * JSON with --format=json. */
int print_devices(const struct options *options, FILE *out);

/* How a multiprocessor holds blocks of one size, whose kernel leaves it at that. */
struct block_residency {
    int blocks; /* at once; 0: not known */
    double occupancy_pct;
    int registers_per_thread;      /* at most, or fewer blocks fit */
    size_t shared_bytes_per_block; /* at most, or fewer blocks fit */
};

struct block_residency block_residency(const struct device_info *info, int block);

#endif
