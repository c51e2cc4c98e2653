#include "device_report.h"

#include "exit_code.h"
#include "runner.h"
#include "session.h"

static void print_text(FILE *out, const char *what, const char *value)
{
    if (value[0] != '\0')
        fprintf(out, "  %-34s %s\n", what, value);
}

static void print_number(FILE *out, const char *what, double value, const char *unit)
{
    if (value > 0)
        fprintf(out, "  %-34s %.12g%s%s\n", what, value, unit[0] != '\0' ? " " : "", unit);
}

static void print_bytes(FILE *out, const char *what, double bytes)
{
    char text[32];
    format_bytes(bytes, text, sizeof text);
    if (bytes > 0)
        print_text(out, what, text);
}

static void print_device(const struct session *session, FILE *out)
{
    const struct device_info *info = &session->info;
    char device[16], capability[16] = "";
    format_device(session->device, device, sizeof device);
    if (info->compute_capability > 0)
        snprintf(capability, sizeof capability, "%d.%d", info->compute_capability / 10,
                 info->compute_capability % 10);
    fprintf(out, "%s\n", device);
    print_text(out, "name", info->name);
    print_text(out, "compute capability", capability);
    print_number(out, session->device.kind == DEVICE_CPU ? "logical processors" : "multiprocessors",
                 info->multiprocessors, "");
    print_number(out, "threads a block, at most", info->threads_per_block, "");
    print_number(out, "threads a multiprocessor", info->threads_per_multiprocessor, "");
    print_number(out, "blocks a multiprocessor", info->blocks_per_multiprocessor, "");
    print_number(out, "blocks a grid, at most", (double)info->grid_blocks, "");
    print_number(out, "warp size", info->warp_size, "");
    print_bytes(out, "shared memory a block", (double)info->shared_bytes_per_block);
    print_bytes(out, "  with opt-in", (double)info->shared_bytes_per_block_optin);
    print_bytes(out, "shared memory a multiprocessor",
                (double)info->shared_bytes_per_multiprocessor);
    print_number(out, "registers a block", info->registers_per_block, "");
    print_number(out, "registers a multiprocessor", info->registers_per_multiprocessor, "");
    print_bytes(out, "last-level cache", (double)info->cache_bytes);
    print_bytes(out, "memory", (double)info->memory_bytes);
    print_bytes(out, "memory free", (double)session->backend->free_memory_bytes());
    print_number(out, "memory bandwidth, theoretical", info->peak_gb_s, "GB/s");
    print_number(out, "clock, at most", info->clock_mhz, "MHz");
    print_number(out, "memory clock", info->memory_clock_mhz, "MHz");
    print_number(out, "memory bus", info->memory_bus_bits, "bits");
    if (session->device.kind == DEVICE_GPU)
        print_text(out, "ECC", info->ecc ? "on" : "off");
    print_text(out, "driver", session->driver);
    print_text(out, "CUDA runtime", info->runtime);
}

int print_devices(const struct options *options, FILE *out)
{
    const struct machine machine = look_at_machine();
    struct device_choice devices[MAX_DEVICES];
    size_t count = 0;
    if (options->device_count > 0) {
        for (; count < options->device_count; count++)
            devices[count] = options->devices[count];
    } else {
        for (int i = 0; i < machine.gpu_count && count + 1 < MAX_DEVICES; i++)
            devices[count++] = (struct device_choice){.kind = DEVICE_GPU, .index = i};
        devices[count++] = (struct device_choice){.kind = DEVICE_CPU};
        if (machine.gpu_count == 0)
            complain("%s; --device=emulator runs its kernels on the CPU", machine.why_none);
    }

    struct session session = {0};
    for (size_t d = 0; d < count; d++) {
        const char *why = NULL;
        if (devices[d].kind == DEVICE_GPU && devices[d].index >= machine.gpu_count)
            why = machine.gpu_count > 0 ? "no such GPU" : machine.why_none;
        if (why == NULL)
            why = open_session(&session, devices[d], options);
        if (why != NULL) {
            char device[16];
            format_device(devices[d], device, sizeof device);
            complain("--device=%s: %s", device, why);
            close_session(&session);
            return EXIT_UNUSABLE;
        }
        print_device(&session, out);
    }
    close_session(&session);
    return EXIT_OK;
}
