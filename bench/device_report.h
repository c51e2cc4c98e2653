/* device_report.h: --device-info. */
#ifndef SCANBENCH_BENCH_DEVICE_REPORT_H
#define SCANBENCH_BENCH_DEVICE_REPORT_H

#include "options.h"

/* Prints names and limits of the devices asked for, else of all there are. */
int print_devices(const struct options *options, FILE *out);

#endif
