/* show_manual.h: --manual, the manual page for reading. */
#ifndef SCANBENCH_BENCH_CLI_SHOW_MANUAL_H
#define SCANBENCH_BENCH_CLI_SHOW_MANUAL_H

/* Shows the manual page through man. Without man, prints it as plain text, on a terminal through
 * the pager. */
void show_manual(void);

#endif
