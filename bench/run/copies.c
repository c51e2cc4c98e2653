#include "copies.h"

#include "../../timing/clock.h"

#include <string.h>

/* Every page is touched, so that no sample pays for the first touch. */
static const char *make_host_arrays(const struct backend *backend, const struct call *call,
                                    struct host_arrays *host)
{
    host->bytes = call->problem.n * element_bytes(call->problem.type);
    const char *why = backend->allocate_host(host->bytes, host->pinned, &host->input);
    if (why == NULL)
        why = backend->allocate_host(host->bytes, host->pinned, &host->output);
    if (why == NULL)
        why = backend->read(host->input, call->input, host->bytes);
    if (why == NULL)
        memset(host->output, POISON_BYTE, host->bytes);
    else
        release_host_arrays(backend, host);
    return why;
}

const char *time_copies(const struct backend *backend, const struct trial *trial, uint64_t written,
                        unsigned samples, double max_time_ms, struct host_arrays *host,
                        struct copy_samples *times)
{
    times->count = 0;
    const char *why = host->input == NULL ? make_host_arrays(backend, trial->call, host) : NULL;
    const double start = clock_ms();
    while (why == NULL && times->count < samples && times->count < COPY_SAMPLES) {
        if (times->count >= LEAST_COPY_SAMPLES && clock_ms() - start > max_time_ms)
            break;
        const unsigned i = times->count++;
        why = backend->measure_copies(trial, host->input, host->output, written,
                                      &times->whole_ms[i], &times->h2d_ms[i], &times->d2h_ms[i]);
    }
    return why;
}

void release_host_arrays(const struct backend *backend, struct host_arrays *host)
{
    if (host->input != NULL)
        backend->release_host(host->input, host->pinned);
    if (host->output != NULL)
        backend->release_host(host->output, host->pinned);
    *host = (struct host_arrays){.pinned = host->pinned};
}

void forget_host_arrays(const struct backend *backend, struct host_arrays *host)
{
    if (host->pinned)
        *host = (struct host_arrays){.pinned = true};
    else
        release_host_arrays(backend, host);
}
