/* machine_state: looks for load, clocks that change, and other users of the GPU. */
#include "machine_state.h"

#include "../../timing/gpu_state.h"
#include "../base/text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Opens a file of /proc or /sys; NULL if it is not there. */
static FILE *open_fact(const char *root, const char *path)
{
    char full[DISTURBANCE_BYTES];
    snprintf(full, sizeof full, "%s%s", root, path);
    return fopen(full, "r");
}

/* If nothing else is running now, the load average is history. */
static void look_at_load(const char *root, char text[DISTURBANCE_BYTES])
{
    double load;
    unsigned running;
    FILE *file = open_fact(root, "/proc/loadavg");
    if (file == NULL)
        return;
    if (fscanf(file, "%lf %*f %*f %u", &load, &running) == 2 && load >= 0.5 && running > 1)
        append_text(text, DISTURBANCE_BYTES, "%sload %.1f on %ld processors", comma_after(text),
                    load, sysconf(_SC_NPROCESSORS_ONLN));
    fclose(file);
}

static void look_at_governor(const char *root, char text[DISTURBANCE_BYTES])
{
    char governor[32];
    FILE *file = open_fact(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    if (file == NULL)
        return;
    if (fscanf(file, "%31s", governor) == 1 && strcmp(governor, "performance") != 0)
        append_text(text, DISTURBANCE_BYTES, "%sCPU governor %s, not performance",
                    comma_after(text), governor);
    fclose(file);
}

/* This program's own context is one of the processes. If its clocks cannot be locked, --lock-clocks
 * has said so. */
static void look_at_gpu(const struct session *session, bool lock_clocks,
                        char text[DISTURBANCE_BYTES])
{
    const unsigned processes = count_gpu_processes(session->info.pci_bus_id);
    if (processes > 1)
        append_text(text, DISTURBANCE_BYTES, "%s%u other process%s on the GPU", comma_after(text),
                    processes - 1, processes > 2 ? "es" : "");
    if (!lock_clocks)
        append_text(text, DISTURBANCE_BYTES, "%sGPU clocks not locked (--lock-clocks)",
                    comma_after(text));
}

void find_disturbances(const char *root, const struct session *session, bool lock_clocks,
                       char text[DISTURBANCE_BYTES])
{
    const struct backend *can = session->device->can;
    text[0] = '\0';
    if (can->simulated)
        return;
    look_at_load(root, text);
    if (can->has_threads)
        look_at_governor(root, text);
    if (can->read_driver != NULL)
        look_at_gpu(session, lock_clocks, text);
}
