/* own_call.h: calls a function of the user's on a device. */
#pragma once

#include "../algorithm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Calls the function of own_entry(). */
void gpu_run_own(const struct call *call);
void emulated_run_own(const struct call *call);

/* The compute capability of the first GPU, 90 for sm_90; 0: there is none. */
int gpu_compute_capability(void);

#ifdef __cplusplus
}
#endif
