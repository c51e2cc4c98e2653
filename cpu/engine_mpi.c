/* engine_mpi: processes exchange data by messages.
 * Source:  the MPI standard; the harness waits for the messages, and for processes that end. */
#include "../bench/base/processes.h"
#include "../bench/engine.h"

#include <stdlib.h>

static void all_gather(const struct team *team, uint32_t number, size_t from, size_t to,
                       size_t bytes)
{
    (void)number;
    char *scratch = team->call->scratch;
    gather_from_processes(scratch + from, bytes, scratch + to);
}

static void exchange_runs(const struct team *team, uint32_t number, size_t from, size_t to,
                          size_t counts)
{
    (void)number;
    char *scratch = team->call->scratch;
    const uint64_t *count = (const uint64_t *)(scratch + counts);
    const size_t bytes = element_bytes(team->call->problem.type);
    size_t sent[MOST_MEMBERS], got[MOST_MEMBERS];
    for (unsigned k = 0; k < team->size; k++) {
        sent[k] = count[team->first * team->size + k] * bytes;
        got[k] = count[k * team->size + team->first] * bytes;
    }
    exchange_between_processes(scratch + from, sent, scratch + to, got);
}

static const char *supports(const struct problem *problem)
{
    (void)problem;
    return why_no_processes();
}

const struct engine cpu_engine_mpi = {
    .name = "mpi",
    .summary = "messages between processes",
    .source = "MPI",
    .supports = supports,
    .missing = missing_for_processes,
    .all_gather = all_gather,
    .exchange_runs = exchange_runs,
};
