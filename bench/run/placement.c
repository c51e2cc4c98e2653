/* placement: finds the devices of a plan. */
#include "placement.h"

#include "../base/errors.h"
#include "../base/processes.h"
#include "../cli/option_rules.h"

#include <stdio.h>

bool selected_on(const struct options *options, size_t row, enum device_kind kind)
{
    const bool *on = options->chosen[row].on;
    return on[kind] || (kind == DEVICE_EMULATOR && on[DEVICE_GPU]);
}

struct device_choice home_device(const struct table_row *row, const struct machine *machine)
{
    if (!row->listed_on[DEVICE_GPU])
        return (struct device_choice){.kind = DEVICE_CPU};
    if (machine->gpu_count > 0)
        return (struct device_choice){.kind = DEVICE_GPU};
    return (struct device_choice){.kind = DEVICE_EMULATOR};
}

static bool same_device(struct device_choice a, struct device_choice b)
{
    return a.kind == b.kind && a.index == b.index && a.members == b.members;
}

static void add_device(struct placement *placement, struct device_choice device)
{
    for (size_t i = 0; i < placement->count; i++)
        if (same_device(placement->devices[i], device))
            return;
    if (placement->count < sizeof placement->devices / sizeof *placement->devices)
        placement->devices[placement->count++] = device;
}

/* A team that begins with a device, or on a host of several processes with this one's share: of all
 * GPUs if `members` is 0, and even if there is none, which check_teams() finds. */
static struct device_choice team_from(struct device_choice device, unsigned members,
                                      const struct machine *machine)
{
    if (members == 0)
        members = (unsigned)(machine->gpu_count - device.index) / processes.on_this_host;
    if (members == 0)
        members = 1;
    device.members = members;
    if (backend_of(device.kind)->numbered)
        device.index += (int)(members * processes.number_on_host);
    return device;
}

/* Replaces each device by itself, as a reference, and a team for each number of --gpus. */
static struct placement add_teams(const struct options *options, const struct machine *machine,
                                  const struct placement *alone)
{
    struct placement all = {.count = 0};
    for (size_t d = 0; d < alone->count; d++) {
        const struct device_choice device = alone->devices[d];
        if (options->gpus_count > 0 && !backend_of(device.kind)->has_blocks)
            continue;
        if (processes.count == 1)
            add_device(&all, device);
        for (size_t g = 0; g < options->gpus_count; g++)
            add_device(&all, team_from(device, options->gpus[g], machine));
        if (options->gpus_count == 0)
            add_device(&all, team_from(device, 1, machine));
    }
    return all;
}

/* The devices of the plan: those requested, or the default device of every selected algorithm.
 * A ceiling (memcpy) adds its device only if it is selected alone. */
static struct placement single_devices(const struct options *options, const struct machine *machine)
{
    struct placement all = {.count = 0};
    for (size_t i = 0; i < options->device_count; i++)
        add_device(&all, options->devices[i]);
    if (options->device_count > 0)
        return all;
    for (int ceilings = 0; ceilings < 2; ceilings++)
        for (size_t r = 0; r < table_row_count(); r++) {
            const struct table_row *row = table_row(r);
            const struct device_choice home = home_device(row, machine);
            if (selected_on(options, r, home.kind) && is_ceiling(row) == (ceilings == 1) &&
                (ceilings == 0 || all.count == 0))
                add_device(&all, home);
        }
    return all;
}

/* Checks a team of all processes. Every process of a host finds the same. Emulated devices are
 * made as they are needed. */
static int check_team(const char *flag, struct device_choice device, const struct machine *machine)
{
    const struct backend *backend = backend_of(device.kind);
    const unsigned on_this_host = device.members * processes.on_this_host;
    const int first = device.index - (int)(device.members * processes.number_on_host);
    const int last = device.index + (int)device.members;
    const char *ignored;
    if (device.members * processes.count > MOST_MEMBERS) {
        complain("%s: %u devices cannot share an array, %d at most", flag,
                 device.members * processes.count, MOST_MEMBERS);
        return EXIT_USAGE;
    }
    if (device.kind == DEVICE_GPU && first + (int)on_this_host > machine->gpu_count) {
        char from[32] = "";
        if (first > 0)
            snprintf(from, sizeof from, " from gpu%d on", first);
        complain("%s: asks for %u GPUs%s, and there %s %d", flag, on_this_host, from,
                 machine->gpu_count == 1 ? "is" : "are", machine->gpu_count);
        return EXIT_UNUSABLE;
    }
    if (backend->set_device_count != NULL && last > backend->device_count(&ignored))
        backend->set_device_count(last);
    return EXIT_OK;
}

static int check_teams(const struct options *options, const struct machine *machine,
                       const struct placement *placement)
{
    const char *const flag = options->gpus_count > 0 ? "--gpus" : "mpirun";
    int code = EXIT_OK;
    for (size_t g = 0; g < options->gpus_count; g++)
        if (options->gpus[g] == 0 && machine->gpu_count == 0) {
            complain("--gpus=all: %s; emulators need a number", machine->why_none);
            return EXIT_UNUSABLE;
        }
    for (size_t d = 0; d < placement->count && code == EXIT_OK; d++)
        if (placement->devices[d].members > 0)
            code = check_team(flag, placement->devices[d], machine);
    return code;
}

int check_devices(const struct options *options, const struct machine *machine)
{
    for (size_t i = 0; i < options->device_count; i++) {
        const struct device_choice device = options->devices[i];
        if (device.kind != DEVICE_GPU || device.index < machine->gpu_count)
            continue;
        char name[16] = "gpu";
        if (device.index > 0)
            snprintf(name, sizeof name, "gpu%d", device.index);
        if (machine->gpu_count == 0)
            complain("--device=%s: %s; --device=emulator runs the same kernels on the CPU", name,
                     machine->why_none);
        else if (machine->gpu_count == 1)
            complain("--device=%s: no such GPU; there is one, --device=gpu", name);
        else
            complain("--device=%s: no such GPU; there are %d, gpu0 to gpu%d", name,
                     machine->gpu_count, machine->gpu_count - 1);
        return EXIT_UNUSABLE;
    }
    return EXIT_OK;
}

int place_plan(const struct options *options, const struct machine *machine,
               struct placement *placement)
{
    const int code = check_devices(options, machine);
    if (code != EXIT_OK)
        return code;
    *placement = single_devices(options, machine);
    if (has_teams(options))
        *placement = add_teams(options, machine, placement);
    return check_teams(options, machine, placement);
}
