/* team_device: opens a team, and keeps its memory. */
#include "team.h"

#include "../base/errors.h"
#include "../base/processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *agree_on(struct team_device *team, const char *why)
{
    if (all_processes(why == NULL))
        return NULL;
    const size_t size = sizeof team->device.reason;
    char mine[sizeof team->device.reason] = "";
    if (why != NULL)
        snprintf(mine, size, "%s", why);
    char *all = gathered(mine, size);
    for (unsigned p = 0; p < processes.count; p++)
        if (all[p * size] != '\0') {
            if (processes.count > 1)
                snprintf(team->device.reason, size, "rank %u: %.230s", p, all + p * size);
            else
                snprintf(team->device.reason, size, "%s", mine);
            break;
        }
    free(all);
    return team->device.reason;
}

const char *failure_of(struct team_device *team, unsigned m, const char *why)
{
    char text[200];
    snprintf(text, sizeof text, "%s", why); /* it may be team->device.reason */
    snprintf(team->device.reason, sizeof team->device.reason, "device %u of the team: %s",
             team->team.first + m, text);
    return team->device.reason;
}

/* ---- memory ---- */

static size_t free_memory_bytes(struct device *device)
{
    const struct team_device *team = team_of(device);
    size_t least = SIZE_MAX;
    for (unsigned m = 0; m < team->team.here; m++) {
        const size_t bytes = team->member[m]->can->free_memory_bytes(team->member[m]);
        least = bytes < least ? bytes : least;
    }
    const unsigned sharers = team->team.here * processes.on_this_host;
    if (team->can.in_host_memory && sharers > 1) /* the members of this host share it */
        least /= sharers;
    size_t *all = gathered(&least, sizeof least);
    for (unsigned p = 0; p < processes.count; p++)
        least = all[p] < least ? all[p] : least;
    free(all);
    return least;
}

static size_t extra_bytes(struct device *device, enum cache_state cache, size_t bytes)
{
    struct device *member = team_of(device)->member[0];
    return member->can->extra_bytes != NULL ? member->can->extra_bytes(member, cache, bytes) : 0;
}

static struct slices *new_slices(struct team_device *team)
{
    unsigned b = 0;
    while (team->buffers[b] != NULL)
        if (++b == TEAM_BUFFERS)
            BUG("no room for another buffer of a team");
    team->buffers[b] = allocate_or_die(NULL, sizeof(struct slices));
    *team->buffers[b] = (struct slices){0};
    return team->buffers[b];
}

/* After a failure recover() may have released it already. */
static void release(struct device *device, struct buffer *buffer)
{
    struct team_device *team = team_of(device);
    struct slices *slices = slices_of(buffer);
    *buffer = (struct buffer){0};
    for (unsigned b = 0; b < TEAM_BUFFERS && slices != NULL; b++) {
        if (team->buffers[b] != slices)
            continue;
        for (unsigned m = 0; m < team->team.here; m++)
            team->member[m]->can->release(team->member[m], &slices->of[m]);
        team->buffers[b] = NULL;
        free(slices);
        return;
    }
}

/* Allocates bytes[m] on member m. */
static const char *allocate_each(struct team_device *team, const size_t bytes[],
                                 struct buffer *buffer)
{
    struct slices *slices = new_slices(team);
    const char *why = NULL;
    for (unsigned m = 0; m < team->team.here && why == NULL; m++) {
        why = team->member[m]->can->allocate(team->member[m], bytes[m], &slices->of[m]);
        if (why != NULL)
            why = failure_of(team, m, why);
    }
    buffer->data = slices;
    why = agree_on(team, why);
    if (why != NULL)
        release(&team->device, buffer);
    return why;
}

static const char *allocate(struct device *device, size_t bytes, struct buffer *buffer)
{
    size_t each[MOST_MEMBERS];
    for (unsigned m = 0; m < MOST_MEMBERS; m++)
        each[m] = bytes;
    *buffer = (struct buffer){.bytes = bytes, .allocated = bytes};
    return allocate_each(team_of(device), each, buffer);
}

static const char *allocate_slices(struct device *device, uint64_t n, size_t element_bytes,
                                   struct buffer *buffer)
{
    const struct team *team = &team_of(device)->team;
    size_t each[MOST_MEMBERS] = {0};
    for (unsigned m = 0; m < team->here; m++)
        each[m] = (slice_start(n, team->size, team->first + m + 1) -
                   slice_start(n, team->size, team->first + m)) *
                  element_bytes;
    *buffer = (struct buffer){.bytes = n * element_bytes, .allocated = n * element_bytes};
    return allocate_each(team_of(device), each, buffer);
}

static const char *resize(struct device *device, struct buffer *buffer, size_t bytes)
{
    struct team_device *team = team_of(device);
    const char *why = NULL;
    buffer->bytes = bytes;
    for (unsigned m = 0; m < team->team.here && why == NULL; m++)
        why = team->member[m]->can->resize(team->member[m], &slices_of(buffer)->of[m], bytes);
    return agree_on(team, why);
}

/* Calls a function of each member with its slice of a buffer. */
static const char *on_each_slice(struct device *device, const struct buffer *buffer,
                                 const char *(*function)(struct device *, const struct buffer *))
{
    struct team_device *team = team_of(device);
    const char *why = NULL;
    for (unsigned m = 0; m < team->team.here && why == NULL; m++)
        why = function(team->member[m], &slices_of(buffer)->of[m]);
    return agree_on(team, why);
}

static const char *write_guards(struct device *device, const struct buffer *buffer)
{
    return on_each_slice(device, buffer, team_of(device)->member[0]->can->write_guards);
}

static const char *poison(struct device *device, const struct buffer *buffer)
{
    return on_each_slice(device, buffer, team_of(device)->member[0]->can->poison);
}

static const char *fill_input(struct device *device, const struct input *input, void *array)
{
    struct team_device *team = team_of(device);
    const struct slices *slices = array;
    struct input slice;
    const char *why = NULL;
    for (unsigned m = 0; m < team->team.here && why == NULL; m++) {
        const unsigned member = team->team.first + m;
        slice = input_slice(input, slice_start(input->n, team->team.size, member),
                            slice_start(input->n, team->team.size, member + 1));
        why = team->member[m]->can->fill_input(team->member[m], &slice, slices->of[m].data);
    }
    return agree_on(team, why);
}

/* ---- failures ---- */

/* A member that was reset has lost its part of a buffer. If the team was, the others give up
 * theirs; if it is lost, the buffer is still to be released. */
static void lose_buffer(struct team_device *team, struct slices *slices,
                        const enum recovery each[MOST_MEMBERS], enum recovery worst)
{
    for (unsigned m = 0; m < team->team.here; m++)
        if (each[m] == DEVICE_RESET)
            slices->of[m] = (struct buffer){0};
        else if (worst == DEVICE_RESET)
            team->member[m]->can->release(team->member[m], &slices->of[m]);
    if (worst == DEVICE_RESET)
        free(slices);
}

static enum recovery recover(struct device *device)
{
    struct team_device *team = team_of(device);
    enum recovery each[MOST_MEMBERS], worst = DEVICE_USABLE;
    for (unsigned m = 0; m < team->team.here; m++) {
        each[m] = team->member[m]->can->recover(team->member[m]);
        worst = each[m] > worst ? each[m] : worst;
    }
    enum recovery *all = gathered(&worst, sizeof worst);
    for (unsigned p = 0; p < processes.count; p++)
        worst = all[p] > worst ? all[p] : worst;
    free(all);
    for (unsigned b = 0; b < TEAM_BUFFERS && worst != DEVICE_USABLE; b++) {
        if (team->buffers[b] != NULL)
            lose_buffer(team, team->buffers[b], each, worst);
        if (worst == DEVICE_RESET)
            team->buffers[b] = NULL;
    }
    return worst;
}

static const char *threads_missing(struct device *device, unsigned threads)
{
    struct team_device *team = team_of(device);
    struct device *member = team->member[0];
    const char *why =
        member->can->threads_missing != NULL ? member->can->threads_missing(member, threads) : NULL;
    return agree_on(team, why);
}

/* The state of the member that is worst off. */
static struct gpu_state read_state(struct device *device)
{
    const struct team_device *team = team_of(device);
    struct gpu_state worst = team->member[0]->can->read_state(team->member[0]);
    for (unsigned m = 1; m < team->team.here; m++) {
        const struct gpu_state state = team->member[m]->can->read_state(team->member[m]);
        if (state.throttled > worst.throttled)
            worst = state;
    }
    return worst;
}

static double agree(struct device *device, double number)
{
    (void)device;
    double *all = gathered(&number, sizeof number);
    number = all[0];
    free(all);
    return number;
}

/* ---- opening ---- */

static void close_team(struct device *device)
{
    struct team_device *team = team_of(device);
    for (unsigned m = 0; m < team->team.here; m++)
        if (team->member[m] != NULL)
            team->member[m]->can->close(team->member[m]);
    free(team);
}

/* What its members can do, by functions that let each of them do it. */
static struct backend team_backend(const struct backend *of_member)
{
    struct backend can = {
        .kind = of_member->kind,
        .numbered = of_member->numbered,
        .has_threads = of_member->has_threads,
        .has_simd = of_member->has_simd,
        .has_blocks = of_member->has_blocks,
        .simulated = of_member->simulated,
        .in_host_memory = of_member->in_host_memory,
        .has_own_time = of_member->has_own_time,
        .hides_latency = of_member->hides_latency,
        .one_cache = of_member->one_cache,
        .core_bytes_per_cycle = of_member->core_bytes_per_cycle,
        .close = close_team,
        .free_memory_bytes = free_memory_bytes,
        .extra_bytes = extra_bytes,
        .allocate = allocate,
        .release = release,
        .fill_input = fill_input,
        .poison = poison,
        .write_guards = write_guards,
        .resize = resize,
        .threads_missing = threads_missing,
        .first_call = team_first_call,
        .run_again = team_run_again,
        .run_many = team_run_many,
        .prepare = team_prepare,
        .measure = team_measure,
        .look = team_look,
        .measure_wall = team_measure_wall,
        .recover = recover,
        .allocate_slices = allocate_slices,
        .verify_slices = team_verify,
        .measure_exchange = team_measure_exchange,
        .agree = agree,
    };
    /* Processes could not agree on samples to drop. */
    if (of_member->read_state != NULL && processes.count == 1)
        can.read_state = read_state;
    return can;
}

/* Notes the first two members that cannot use each other's memory. */
static void connect(struct team_device *team)
{
    for (unsigned a = 0; a < team->team.here; a++)
        for (unsigned b = 0; b < team->team.here; b++) {
            struct device *member = team->member[a];
            const char *why =
                a != b ? member->can->as_member->reach(member, team->member[b]) : NULL;
            if (why == NULL)
                continue;
            snprintf(team->no_peers, sizeof team->no_peers,
                     "device %u cannot use the memory of device %u: %.180s", a, b, why);
            return;
        }
}

static const char *open_members(struct team_device *team, const struct backend *backend, int index,
                                uint64_t seed, struct device_info *info,
                                struct device_limits *limits)
{
    struct device_info other_info;
    struct device_limits other_limits;
    for (unsigned m = 0; m < team->team.here; m++) {
        const char *why =
            backend->open(index + (int)m, seed + team->team.first + m, m == 0 ? info : &other_info,
                          m == 0 ? limits : &other_limits, &team->member[m]);
        if (why != NULL)
            return failure_of(team, m, why);
    }
    connect(team);
    return NULL;
}

/* Each process asks its own first GPU what it can do, and all must come to the same answer: how
 * often they exchange, and what they skip, follows from it. Returns NULL, or which differs. */
static const char *unlike(struct team_device *team, const struct device_info *info)
{
    char mine[100] = "";
    snprintf(mine, sizeof mine, "%.48s (%d multiprocessors, %zu bytes of shared memory)",
             info->name, info->multiprocessors, info->shared_bytes_per_block_optin);
    const unsigned other = first_that_differs(mine, sizeof mine);
    if (other == 0)
        return NULL;
    char *all = gathered(mine, sizeof mine);
    snprintf(team->device.reason, sizeof team->device.reason,
             "GPUs that share an array must be alike: rank %u has %s, rank 0 %s", other,
             all + other * sizeof mine, all);
    free(all);
    return team->device.reason;
}

/* CPUs may differ, and all their names are recorded. */
static void join_names(struct device_info *info)
{
    char mine[sizeof info->name] = "";
    snprintf(mine, sizeof mine, "%s", info->name);
    char *all = gathered(mine, sizeof mine);
    snprintf(info->name, sizeof info->name, "%s", all);
    for (unsigned p = 1; p < processes.count; p++) {
        unsigned earlier = 0;
        while (strcmp(all + earlier * sizeof mine, all + p * sizeof mine) != 0)
            earlier++;
        const size_t used = strlen(info->name);
        if (earlier == p)
            snprintf(info->name + used, sizeof info->name - used, " and %s", all + p * sizeof mine);
    }
    free(all);
}

const char *open_team(const struct backend *backend, int index, unsigned here, uint64_t seed,
                      struct device_info *info, struct device_limits *limits,
                      struct device **device)
{
    static char reason[sizeof device[0]->reason];
    struct team_device *team = allocate_or_die(NULL, sizeof *team);
    *team = (struct team_device){.can = team_backend(backend)};
    team->device.can = &team->can;
    team->team = (struct team){.size = here * processes.count,
                               .first = here * processes.number,
                               .here = here,
                               .call = team->call,
                               .harness = team};
    const char *why = agree_on(team, open_members(team, backend, index, seed, info, limits));
    if (why == NULL && backend->has_blocks)
        why = unlike(team, info);
    if (why != NULL) {
        snprintf(reason, sizeof reason, "%s", why);
        close_team(&team->device);
        return reason;
    }
    join_names(info);
    if (backend->as_member->share != NULL)
        backend->as_member->share(team->member[0], info, limits);
    info->peak_gb_s *= team->team.size;
    info->multiprocessors *= (int)team->team.size;
    info->cache_bytes *= team->team.size;
    limits->members = team->team.size;
    limits->processes = processes.count;
    limits->no_peers = team->no_peers[0] != '\0' ? team->no_peers : NULL;
    *device = &team->device;
    return NULL;
}
