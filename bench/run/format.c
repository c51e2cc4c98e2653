/* format: devices, inputs and memory as text. */
#include "format.h"

#include "../device/host_memory.h"
#include "../names.h"

#include <stdio.h>

void format_device(struct device_choice device, char *text, size_t size)
{
    const char *name = device_kind_name(device.kind);
    if (backend_of(device.kind)->numbered && device.members == 0)
        snprintf(text, size, "%s%d", name, device.index);
    else
        snprintf(text, size, "%s", name);
}

void format_max(const struct input_spec *input, char *text, size_t size)
{
    if (input->max_text[0] != '\0')
        snprintf(text, size, "%s", input->max_text);
    else
        snprintf(text, size, "%llu", (unsigned long long)input->max);
}

void format_bytes(double bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int unit = 0;
    while (bytes >= 1024 && unit < 5) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, size, "%.*f %s", unit == 0 ? 0 : 1, bytes, units[unit]);
}

void format_memory_bound(const struct session *session, char text[MEMORY_BOUND_BYTES])
{
    char bytes[32];
    text[0] = '\0';
    if (!session->device->can->in_host_memory)
        return;
    const struct host_memory host = read_host_memory("");
    format_bytes((double)host.limit_bytes, bytes, sizeof bytes);
    if (host.limit[0] != '\0')
        snprintf(text, MEMORY_BOUND_BYTES, " (%s is %s)", host.limit, bytes);
}
