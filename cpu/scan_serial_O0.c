/* scan_serial_O0: the same loop without optimisation: what a comparison with a
 * debug build pretends that a CPU can do. */
#ifdef __clang__
#pragma clang optimize off
#else
#pragma GCC optimize("O0")
#endif
#include "serial_scan.h"

const struct algorithm cpu_scan_serial_O0 = {
    .name = "serial-O0",
    .op = OP_SCAN,
    .family = FAMILY_OWN,
    .summary = "the serial loop compiled without optimisation",
    .source = "definition",
    .run = run,
};
