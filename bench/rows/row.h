/* row.h: one row of the results, every column of it. */
#ifndef SCANBENCH_BENCH_ROWS_ROW_H
#define SCANBENCH_BENCH_ROWS_ROW_H

#include <stdint.h>

/* One row. Text: NULL or "" is empty. Number: NAN is empty. Count: a negative
 * one is empty. */
struct row {
    const char *op, *algo, *kernel, *type, *kind;
    int64_t n;
    const char *pot;
    int64_t block, threads;
    const char *device, *device_name, *cache, *input, *max, *keep, *seed;
    int64_t samples;
    double time_ms, time_min_ms, time_max_ms, time_mean_ms, time_stddev_ms, noise_pct, wall_ms;
    double copies_ms, h2d_ms, d2h_ms, first_call_ms;
    const char *queued;
    double gelem_s, gb_s, memcpy_pct, peak_pct;
    int64_t scratch_bytes, launches;
    double occupancy_pct;
    const char *check, *reason;
    double sm_clock_mhz, temperature_c;
    const char *throttled;
    const char *version, *commit, *compiler, *cuda, *driver, *host, *date, *label, *simd;
    int64_t launch, grid, launch_block, static_shared_bytes, dynamic_shared_bytes, registers;
    double share_pct;
    const char *host_memory;
    double baseline_ms, baseline_ratio;
    const char *change;
    double time_q1_ms, time_q3_ms;
    int64_t throttled_samples;
    double energy_mj;
    const char *chose;
    int64_t bytes;
};

#endif
