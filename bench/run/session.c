/* session: opens devices. */
#include "session.h"

#include "../../timing/clock.h"
#include "../device/backends.h"
#include "../device/team_device.h"

const char *open_session(struct session *session, struct device_choice device,
                         const struct options *options)
{
    if (session->device != NULL && session->which.kind == device.kind &&
        session->which.index == device.index && session->which.members == device.members)
        return NULL;
    close_session(session);
    const struct backend *backend = backend_of(device.kind);
    const char *why = device.members > 0
                          ? open_team(backend, device.index, device.members, options->seed,
                                      &session->info, &session->limits, &session->device)
                          : backend->open(device.index, options->seed, &session->info,
                                          &session->limits, &session->device);
    if (why != NULL)
        return why;
    session->which = device;
    session->limits.kind = device.kind;
    session->limits.name = session->info.name;
    session->max_time_ms = options->sampling.max_time_ms;
    session->host.pinned = options->pinned;
    if (backend->read_driver != NULL)
        backend->read_driver(session->driver, sizeof session->driver);
    return NULL;
}

void close_session(struct session *session)
{
    if (session->device != NULL)
        session->device->can->close(session->device);
    *session = (struct session){0};
}

double ms_since(const struct session *session, double start_ms)
{
    const struct backend *can = session->device->can;
    const double ms = clock_ms() - start_ms;
    return can->agree != NULL ? can->agree(session->device, ms) : ms;
}
