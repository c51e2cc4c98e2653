/* scan_serial_O0: the serial loop compiled without optimisation, as in a debug build, with
 * which a GPU is sometimes compared.
 * Source:  none; the definition of a scan.
 * Work:    n - 1 additions, one after the other.
 * DRAM:    one read, one write. */
#ifdef __clang__
#pragma clang optimize off
#else
#pragma GCC optimize("O0")
#endif
#include "serial_scan.h"

const struct algorithm cpu_scan_serial_O0 = {
    .name = "serial-O0",
    .op = OP_SCAN,
    .summary = "the serial loop compiled without optimisation",
    .source = "definition",
    .wide_sum_types = TYPES_OF_WIDE_SUMS,
    .recurrence_types = TYPES_OF_OWN_SUMS,
    .segment_types = ALL_TYPES,
    .segment_operator_types = ALL_TYPES,
    .run = run_any,
};
