/* machine_state: looks for load, clocks that change, and other users of the GPU. */
#include "machine_state.h"

#include "../../timing/gpu_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__attribute__((format(printf, 2, 3))) static void add(char text[DISTURBANCE_BYTES],
                                                      const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    const size_t comma =
        (size_t)snprintf(text + used, DISTURBANCE_BYTES - used, "%s", used > 0 ? ", " : "");
    vsnprintf(text + used + comma, DISTURBANCE_BYTES - used - comma, format, arguments);
    va_end(arguments);
}

/* Opens a file of /proc or /sys; NULL if it is not there. */
static FILE *open_fact(const char *root, const char *path)
{
    char full[DISTURBANCE_BYTES];
    snprintf(full, sizeof full, "%s%s", root, path);
    return fopen(full, "r");
}

/* Load of the last minute is past if nothing runs now but this program. */
static void look_at_load(const char *root, char text[DISTURBANCE_BYTES])
{
    double load;
    unsigned running;
    FILE *file = open_fact(root, "/proc/loadavg");
    if (file == NULL)
        return;
    if (fscanf(file, "%lf %*f %*f %u", &load, &running) == 2 && load >= 0.5 && running > 1)
        add(text, "load %.1f on %ld processors", load, sysconf(_SC_NPROCESSORS_ONLN));
    fclose(file);
}

static void look_at_governor(const char *root, char text[DISTURBANCE_BYTES])
{
    char governor[32];
    FILE *file = open_fact(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    if (file == NULL)
        return;
    if (fscanf(file, "%31s", governor) == 1 && strcmp(governor, "performance") != 0)
        add(text, "CPU governor %s, not performance", governor);
    fclose(file);
}

/* This program's own context is one of the processes. */
static void look_at_gpu(const struct session *session, char text[DISTURBANCE_BYTES])
{
    const unsigned processes = count_gpu_processes(session->info.pci_bus_id);
    if (processes > 1)
        add(text, "%u other process%s on the GPU", processes - 1, processes > 2 ? "es" : "");
    if (session->clocks.keeper == 0)
        add(text, "GPU clocks not locked (--lock-clocks)");
}

void find_disturbances(const char *root, const struct session *session,
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
        look_at_gpu(session, text);
}
