/* stdout: keeps what others print away from the results.
 *
 * Code of the user's may print. From redirect_stdout() on, what is written to stdout goes to
 * stderr, except by who has asked for results_descriptor() before. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Where results go: the program's stdout, even when others are redirected. */
int results_descriptor(void);

/* May be called again. restore_stdout() undoes it. */
void redirect_stdout(void);
void restore_stdout(void);

#ifdef __cplusplus
}
#endif
