/* show_manual.h: --manual, the manual page for reading. */
#pragma once

/* Shows the manual page through man. Without man, prints it as plain text, on a terminal through
 * the pager. */
void show_manual(void);
