/* copies: times a run() together with the copies between host and device memory. */
#include "copies.h"

#include "../../timing/clock.h"

#include <string.h>

/* Reads what is copied to the device: the elements and, after them, the values or the second input
 * if there are any. */
static const char *read_inputs(struct device *device, const struct call *call, char *host)
{
    const size_t keys = call->problem.n * element_bytes(call->problem.type);
    const char *why = device->can->read(device, host, call->input, keys);
    if (why == NULL && call->input_values != NULL)
        why = device->can->read(device, host + keys, call->input_values,
                                call->problem.n * value_bytes(call->problem.values));
    if (why == NULL && call->second != NULL)
        why = device->can->read(device, host + keys, call->second, second_bytes(&call->problem));
    return why;
}

/* Touches every page, so that no sample pays for the first touch. */
static const char *make_host_arrays(struct device *device, const struct call *call,
                                    struct host_arrays *host)
{
    const struct problem *p = &call->problem;
    host->bytes = p->n * (element_bytes(p->type) + value_bytes(p->values)) + second_bytes(p);
    const char *why = device->can->allocate_host(device, host->bytes, host->pinned, &host->input);
    if (why == NULL)
        why = device->can->allocate_host(device, host->bytes, host->pinned, &host->output);
    if (why == NULL)
        why = read_inputs(device, call, host->input);
    if (why == NULL)
        memset(host->output, POISON_BYTE, host->bytes);
    else
        release_host_arrays(device, host);
    return why;
}

const char *time_copies(struct device *device, const struct trial *trial, uint64_t written,
                        unsigned samples, double max_time_ms, struct host_arrays *host,
                        struct copy_samples *times)
{
    times->count = 0;
    const char *why = NULL;
    if (host->input == NULL)
        why = make_host_arrays(device, trial->call, host);
    else if (host->stale)
        why = read_inputs(device, trial->call, host->input);
    host->stale = false;
    const double start = clock_ms();
    while (why == NULL && times->count < samples && times->count < COPY_SAMPLES) {
        if (times->count >= LEAST_COPY_SAMPLES && clock_ms() - start > max_time_ms)
            break;
        const unsigned i = times->count++;
        why =
            device->can->measure_copies(device, trial, host->input, host->output, written,
                                        &times->whole_ms[i], &times->h2d_ms[i], &times->d2h_ms[i]);
    }
    return why;
}

void release_host_arrays(struct device *device, struct host_arrays *host)
{
    if (host->input != NULL)
        device->can->release_host(device, host->input, host->pinned);
    if (host->output != NULL)
        device->can->release_host(device, host->output, host->pinned);
    *host = (struct host_arrays){.pinned = host->pinned};
}

void forget_host_arrays(struct device *device, struct host_arrays *host)
{
    if (host->pinned)
        *host = (struct host_arrays){.pinned = true};
    else
        release_host_arrays(device, host);
}
