/* interrupt.h: signals that end a run early: after the sample at hand, with every
 * finished row written, instead of in the middle of either. */
#ifndef SCANBENCH_BENCH_INTERRUPT_H
#define SCANBENCH_BENCH_INTERRUPT_H

#include <stdbool.h>

/* From here on SIGINT, SIGTERM and SIGHUP only set what interrupted() tells; the
 * same signal again ends the process. One that was ignored when the program was
 * started stays ignored, as under nohup. A closed pipe, or a file that may not grow,
 * is an error of the write. */
void catch_interrupts(void);

/* They wait until catch_interrupts() is called, by another program in this process, too. */
void hold_interrupts(void);

/* Has such a signal come? A system call that it cut short has failed with EINTR. */
bool interrupted(void);

#endif
