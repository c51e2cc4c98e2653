/* device_info: prints --device-info as a table or as JSON. */
#include "device_info.h"

#include "../base/errors.h"
#include "../base/terminal.h"
#include "runner.h"
#include "format.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- the facts, in no format yet ---- */

enum fact_kind { FACT_TEXT, FACT_NUMBER, FACT_BYTES };

struct fact {
    const char *key;   /* in JSON */
    const char *label; /* in the table */
    enum fact_kind kind;
    const char *text; /* "": unknown */
    double number;    /* 0: unknown */
    const char *unit;
};

enum { MOST_FACTS = 40 };

struct facts {
    struct fact fact[MOST_FACTS];
    size_t count;
    char device[16], capability[16];
};

static void add(struct facts *facts, struct fact fact)
{
    const bool known = fact.kind == FACT_TEXT ? fact.text[0] != '\0' : fact.number > 0;
    if (!known)
        return;
    if (facts->count == MOST_FACTS)
        BUG("MOST_FACTS does not hold every fact");
    facts->fact[facts->count++] = fact;
}

static void add_text(struct facts *facts, const char *key, const char *label, const char *text)
{
    add(facts, (struct fact){key, label, FACT_TEXT, text, 0, ""});
}

static void add_number(struct facts *facts, const char *key, const char *label, double number,
                       const char *unit)
{
    add(facts, (struct fact){key, label, FACT_NUMBER, "", number, unit});
}

static void add_bytes(struct facts *facts, const char *key, const char *label, size_t bytes)
{
    add(facts, (struct fact){key, label, FACT_BYTES, "", (double)bytes, ""});
}

static void add_multiprocessor(struct facts *facts, const struct device_info *info)
{
    add_number(facts, "multiprocessors", "multiprocessors", info->multiprocessors, "");
    add_number(facts, "threads_per_block", "threads per block, at most", info->threads_per_block,
               "");
    add_number(facts, "threads_per_multiprocessor", "threads per multiprocessor",
               info->threads_per_multiprocessor, "");
    add_number(facts, "blocks_per_multiprocessor", "blocks per multiprocessor",
               info->blocks_per_multiprocessor, "");
    add_number(facts, "grid_blocks", "blocks per grid, at most", (double)info->grid_blocks, "");
    add_number(facts, "warp_size", "warp size", info->warp_size, "");
    add_bytes(facts, "shared_bytes_per_block", "shared memory per block",
              info->shared_bytes_per_block);
    add_bytes(facts, "shared_bytes_per_block_optin", "  with opt-in",
              info->shared_bytes_per_block_optin);
    add_bytes(facts, "shared_bytes_per_multiprocessor", "shared memory per multiprocessor",
              info->shared_bytes_per_multiprocessor);
    add_number(facts, "registers_per_block", "registers per block", info->registers_per_block, "");
    add_number(facts, "registers_per_multiprocessor", "registers per multiprocessor",
               info->registers_per_multiprocessor, "");
}

static void add_memory(struct facts *facts, const struct session *session)
{
    const struct device_info *info = &session->info;
    add_bytes(facts, "cache_bytes", "last-level cache", info->cache_bytes);
    add_bytes(facts, "memory_bytes", "memory", info->memory_bytes);
    add_bytes(facts, "memory_free_bytes", "memory free",
              session->device->can->free_memory_bytes(session->device));
    add_number(facts, "peak_gb_s", "memory bandwidth, theoretical", info->peak_gb_s, "GB/s");
    add_number(facts, "clock_mhz", "clock, at most", info->clock_mhz, "MHz");
    add_number(facts, "memory_clock_mhz", "memory clock", info->memory_clock_mhz, "MHz");
    add_number(facts, "memory_bus_bits", "memory bus", info->memory_bus_bits, "bits");
}

static void collect(const struct session *session, struct facts *facts)
{
    const struct backend *can = session->device->can;
    const struct device_info *info = &session->info;
    *facts = (struct facts){.count = 0};
    format_device(session->which, facts->device, sizeof facts->device);
    add_text(facts, "device", "device", facts->device);
    add_text(facts, "name", "name", info->name);
    add_text(facts, "pci_bus_id", "PCI bus id", info->pci_bus_id);
    if (info->compute_capability > 0)
        snprintf(facts->capability, sizeof facts->capability, "%d.%d",
                 info->compute_capability / 10, info->compute_capability % 10);
    add_text(facts, "compute_capability", "compute capability", facts->capability);
    if (can->has_threads) {
        add_number(facts, "cores", "cores", info->cores, "");
        add_number(facts, "logical_processors", "logical processors", info->multiprocessors, "");
        add_text(facts, "simd", "SIMD", info->simd);
        add_bytes(facts, "l1_bytes", "level 1 data cache, per core", info->l1_bytes);
        add_bytes(facts, "l2_bytes", "level 2 cache, per core", info->l2_bytes);
    }
    if (can->has_blocks)
        add_multiprocessor(facts, info);
    add_memory(facts, session);
    add_text(facts, "ecc", "ECC", info->ecc);
    add_text(facts, "driver", "driver", session->driver);
    add_text(facts, "cuda", "CUDA runtime", info->runtime);
}

struct block_residency block_residency(const struct device_info *info, int block)
{
    const int warps = info->warp_size > 0 ? (block + info->warp_size - 1) / info->warp_size : 0;
    const int threads = warps * info->warp_size;
    if (threads == 0 || block > info->threads_per_block)
        return (struct block_residency){0};
    int blocks = info->threads_per_multiprocessor / threads;
    if (info->blocks_per_multiprocessor > 0 && blocks > info->blocks_per_multiprocessor)
        blocks = info->blocks_per_multiprocessor;
    if (blocks == 0)
        return (struct block_residency){0};
    /* Registers are allocated per warp in units of 8 per thread, at most 255. */
    int registers = info->registers_per_multiprocessor / (blocks * threads) / 8 * 8;
    registers = registers > 255 ? 255 : registers;
    /* The part of the shared memory that not even a single block can use is reserved for each
     * block. Shared memory is allocated in units of 128 bytes. */
    const size_t all = info->shared_bytes_per_multiprocessor;
    const size_t kept_back = all - info->shared_bytes_per_block_optin;
    const size_t shared = all / (size_t)blocks / 128 * 128 - kept_back;
    return (struct block_residency){
        .blocks = blocks,
        .occupancy_pct = 100.0 * blocks * threads / info->threads_per_multiprocessor,
        .registers_per_thread = registers,
        .shared_bytes_per_block = shared,
    };
}

/* ---- the table ---- */

enum { FACT_COLUMN = 37 };

static void print_facts(const struct facts *facts, FILE *out)
{
    fprintf(out, "%s\n", facts->device);
    for (size_t i = 1; i < facts->count; i++) {
        const struct fact *fact = &facts->fact[i];
        char bytes[32];
        format_bytes(fact->number, bytes, sizeof bytes);
        if (fact->kind == FACT_NUMBER)
            fprintf(out, "  %-34s %.12g%s%s\n", fact->label, fact->number, fact->unit[0] ? " " : "",
                    fact->unit);
        else
            print_wrapped(out, wrapping_width(out), FACT_COLUMN, fprintf(out, "  %s", fact->label),
                          fact->kind == FACT_TEXT ? fact->text : bytes);
    }
}

static void print_blocks(const struct device_info *info, FILE *out)
{
    if (block_residency(info, 32).blocks == 0)
        return;
    fprintf(out, "  %5s %8s %10s  of a kernel with at most\n", "block", "resident", "occupancy");
    for (int block = 32; block <= 1024; block *= 2) {
        const struct block_residency r = block_residency(info, block);
        char shared[32];
        format_bytes((double)r.shared_bytes_per_block, shared, sizeof shared);
        if (r.blocks > 0)
            fprintf(out, "  %5d %8d %8.1f %%  %d registers, %s of shared memory per block\n", block,
                    r.blocks, r.occupancy_pct, r.registers_per_thread, shared);
    }
}

/* ---- JSON ---- */

static json_t *json_blocks(const struct device_info *info)
{
    json_t *array = json_array();
    for (int block = 32; block <= 1024; block *= 2) {
        const struct block_residency r = block_residency(info, block);
        if (r.blocks > 0)
            json_array_append_new(array, json_pack("{s:i, s:i, s:f, s:i, s:I}", "block", block,
                                                   "resident_blocks", r.blocks, "occupancy_pct",
                                                   r.occupancy_pct, "registers_per_thread",
                                                   r.registers_per_thread, "shared_bytes_per_block",
                                                   (json_int_t)r.shared_bytes_per_block));
    }
    return array;
}

static json_t *json_device(const struct facts *facts, const struct device_info *info)
{
    json_t *object = json_object();
    for (size_t i = 0; i < facts->count; i++) {
        const struct fact *fact = &facts->fact[i];
        const bool whole = fact->number == (double)(json_int_t)fact->number;
        json_object_set_new(object, fact->key,
                            fact->kind == FACT_TEXT ? json_string(fact->text)
                            : whole                 ? json_integer((json_int_t)fact->number)
                                                    : json_real(fact->number));
    }
    json_object_set_new(object, "blocks", json_blocks(info));
    return object;
}

/* ---- which devices ---- */

static size_t choose_devices(const struct options *options, const struct machine *machine,
                             struct device_choice devices[MAX_DEVICES])
{
    size_t count = 0;
    for (; count < options->device_count; count++)
        devices[count] = options->devices[count];
    if (count > 0)
        return count;
    for (int i = 0; i < machine->gpu_count && count + 1 < MAX_DEVICES; i++)
        devices[count++] = (struct device_choice){.kind = DEVICE_GPU, .index = i};
    devices[count++] = (struct device_choice){.kind = DEVICE_CPU};
    if (machine->gpu_count == 0 && !options->quiet)
        complain("%s; --device=emulator runs its kernels on the CPU", machine->why_none);
    return count;
}

static const char *open_device(const struct options *options, const struct machine *machine,
                               struct device_choice device, struct session *session)
{
    if (device.kind == DEVICE_GPU && device.index >= machine->gpu_count)
        return machine->why_none == NULL || machine->gpu_count > 0 ? "no such GPU"
                                                                   : machine->why_none;
    return open_session(session, device, options);
}

int print_devices(const struct options *options, FILE *out)
{
    const struct machine machine = look_at_machine();
    struct device_choice devices[MAX_DEVICES];
    const size_t count = choose_devices(options, &machine, devices);
    const bool as_json = options->output.format == FORMAT_JSON;
    json_t *array = json_array();
    struct session session = {0};
    int code = EXIT_OK;
    for (size_t d = 0; d < count && code == EXIT_OK; d++) {
        const char *why = open_device(options, &machine, devices[d], &session);
        struct facts facts;
        if (why != NULL) {
            format_device(devices[d], facts.device, sizeof facts.device);
            complain("--device=%s: %s", facts.device, why);
            code = EXIT_UNUSABLE;
            break;
        }
        collect(&session, &facts);
        if (as_json) {
            json_array_append_new(array, json_device(&facts, &session.info));
        } else {
            print_facts(&facts, out);
            print_blocks(&session.info, out);
        }
    }
    close_session(&session);
    if (as_json && code == EXIT_OK) {
        json_dumpf(array, out, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
        fputc('\n', out);
    }
    json_decref(array);
    return code;
}
