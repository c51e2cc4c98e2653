/* scan_serial: the plain loop on one thread.
 * Source:  none; the definition of a scan.
 * Work:    n additions, each waiting for the previous one.
 * DRAM:    one read, one write. */
#include "serial_scan.h"

const struct algorithm cpu_scan_serial = {
    .name = "serial",
    .op = OP_SCAN,
    .wide_sum_types = TYPES_OF_WIDE_SUMS,
    .operator_types = ALL_TYPES,
    .recurrence_types = TYPES_OF_OWN_SUMS,
    .segment_types = ALL_TYPES,
    .segment_operator_types = ALL_TYPES,
    .summary = "the plain loop on one CPU thread",
    .source = "definition",
    .run = run_any,
};
