/* interrupt.h: signals that end a run early, after the current sample or within a second or so,
 * with every finished row written. */
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From here on SIGINT, SIGTERM and SIGHUP only make interrupted() true; the same signal again,
 * after a fifth of a second, ends the process. A signal that was ignored when the program started
 * stays ignored, as under nohup. A closed pipe or a file size limit becomes an error of the write.
 */
void catch_interrupts(void);

/* Has such a signal arrived? A system call that it interrupted has failed with EINTR. */
bool interrupted(void);

/* Between these calls the calling thread runs an algorithm, which may never return. If a signal
 * arrives and leave_algorithm() is not called within a second, another thread calls
 * `end(context)`, which ends the process; the calling thread then stays where it is. */
void enter_algorithm(void (*end)(void *context), void *context);
void leave_algorithm(void);

#ifdef __cplusplus
}
#endif
