/* worker.h: runs work in a worker, and goes on in a new one when it dies. */
#pragma once

#include "results.h"
#include "run_state.h"

/* What the worker does, on results and on the state that those before it left. Returns an exit
 * code. If it set state->lost, a new worker does the rest. */
typedef int worker_task(void *context, struct results *results, struct run_state *state);

/* Does the task in a worker, and in new ones while a worker dies at an entry of the plan. Prints
 * what their code prints on stderr, marked by the name of the entry, and passes signals on. Stores
 * the report that they opened, or NULL. Returns the exit code. */
int run_in_worker(worker_task *task, void *context, const struct output_spec *spec,
                  struct report **report);
