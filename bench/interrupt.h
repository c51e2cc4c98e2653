/* interrupt.h: signals that end a run early, after the current sample, with every finished row
 * written. */
#ifndef SCANBENCH_BENCH_INTERRUPT_H
#define SCANBENCH_BENCH_INTERRUPT_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From here on SIGINT, SIGTERM and SIGHUP only make interrupted() true; the same signal again
 * ends the process. A signal that was ignored when the program started stays ignored, as under
 * nohup. A closed pipe or a file size limit becomes an error of the write. */
void catch_interrupts(void);

/* Blocks these signals until catch_interrupts() is called, even by a new program in this
 * process. */
void hold_interrupts(void);

/* Has such a signal arrived? A system call that it interrupted has failed with EINTR. */
bool interrupted(void);

#ifdef __cplusplus
}
#endif

#endif
