/* placement.h: which devices a plan uses, requested or chosen, and whether they are there. */
#pragma once

#include "../cli/options.h"
#include "../device/backends.h"

struct placement {
    struct device_choice devices[MAX_DEVICES * (1 + MAX_GPU_COUNTS)];
    size_t count;
};

/* Is the row requested on this kind of device? A row that only a GPU can run is selected on the
 * emulator too; its row there says why it is skipped. */
bool selected_on(const struct options *options, size_t row, enum device_kind kind);

/* The device an algorithm runs on by default: the GPU if it has GPU code, else the CPU. */
struct device_choice home_device(const struct table_row *row, const struct machine *machine);

/* Is each requested device there? Returns EXIT_OK, or EXIT_UNUSABLE after one line on stderr. A
 * missing --device ends the whole run before it starts. */
int check_devices(const struct options *options, const struct machine *machine);

/* Finds the devices. Returns EXIT_OK, or after one line on stderr EXIT_USAGE or EXIT_UNUSABLE. */
int place_plan(const struct options *options, const struct machine *machine,
               struct placement *placement);
