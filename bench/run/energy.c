/* energy: measures the energy per run with the GPU's counter. */
#include "energy.h"

#include "../../timing/clock.h"

#include <math.h>

enum {
    BATCH_MS = 5,   /* between two readings of the counter */
    LEAST_MS = 300, /* from the first tick to the last */
    GIVE_UP_MS = 2000,
    MOST_RUNS_A_BATCH = 1000
};

const char *measure_energy(struct device *device, const struct trial *trial, double run_ms,
                           double *energy_mj)
{
    const unsigned batch =
        (unsigned)fmin(fmax(BATCH_MS / fmax(run_ms, 1e-6), 1), MOST_RUNS_A_BATCH);
    const double begin_ms = clock_ms();
    double last_mj = device->can->read_energy_mj(device), first_mj = NAN, first_ms = 0;
    uint64_t runs = 0;
    const char *why = NULL;
    *energy_mj = NAN;
    while (isfinite(last_mj) && why == NULL) {
        why = device->can->run_many(device, trial, batch);
        runs += batch;
        const double now_ms = clock_ms(), now_mj = device->can->read_energy_mj(device);
        if (now_mj == last_mj && now_ms - begin_ms < GIVE_UP_MS)
            continue;
        if (now_mj == last_mj)
            break;
        last_mj = now_mj;
        if (!isfinite(first_mj)) { /* the first tick: runs count from here on */
            first_mj = now_mj;
            first_ms = now_ms;
            runs = 0;
        } else if (now_ms - first_ms >= LEAST_MS) {
            *energy_mj = (now_mj - first_mj) / (double)runs;
            break;
        }
    }
    return why;
}
