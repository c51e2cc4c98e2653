/* device_info: prints --device-info as a table or as JSON. */
#include "device_info.h"

#include "../base/errors.h"
#include "../base/terminal.h"
#include "runner.h"
#include "format.h"
#include "placement.h"

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

/* A member of the device's info, which is its key in JSON. */
#define ADD_TEXT(member, label) add_text(facts, #member, label, info->member)
#define ADD_NUMBER(member, label, unit) \
    add_number(facts, #member, label, (double)info->member, unit)
#define ADD_BYTES(member, label) add_bytes(facts, #member, label, info->member)

static void add_multiprocessor(struct facts *facts, const struct device_info *info)
{
    ADD_NUMBER(multiprocessors, "multiprocessors", "");
    ADD_NUMBER(threads_per_block, "threads per block, at most", "");
    ADD_NUMBER(threads_per_multiprocessor, "threads per multiprocessor", "");
    ADD_NUMBER(blocks_per_multiprocessor, "blocks per multiprocessor", "");
    ADD_NUMBER(grid_blocks, "blocks per grid, at most", "");
    ADD_NUMBER(warp_size, "warp size", "");
    ADD_BYTES(shared_bytes_per_block, "shared memory per block");
    ADD_BYTES(shared_bytes_per_block_optin, "  with opt-in");
    ADD_BYTES(shared_bytes_per_multiprocessor, "shared memory per multiprocessor");
    ADD_NUMBER(registers_per_block, "registers per block", "");
    ADD_NUMBER(registers_per_multiprocessor, "registers per multiprocessor", "");
}

static void add_memory(struct facts *facts, const struct session *session)
{
    const struct device_info *info = &session->info;
    ADD_BYTES(cache_bytes, "last-level cache");
    ADD_BYTES(memory_bytes, "memory");
    add_bytes(facts, "memory_free_bytes", "memory free",
              session->device->can->free_memory_bytes(session->device));
    ADD_NUMBER(peak_gb_s, "memory bandwidth, theoretical", "GB/s");
    ADD_NUMBER(clock_mhz, "clock, at most", "MHz");
    ADD_NUMBER(memory_clock_mhz, "memory clock", "MHz");
    ADD_NUMBER(memory_bus_bits, "memory bus", "bits");
}

static void collect(const struct session *session, struct facts *facts)
{
    const struct backend *can = session->device->can;
    const struct device_info *info = &session->info;
    *facts = (struct facts){.count = 0};
    format_device(session->which, facts->device, sizeof facts->device);
    add_text(facts, "device", "device", facts->device);
    ADD_TEXT(name, "name");
    ADD_TEXT(pci_bus_id, "PCI bus id");
    if (info->compute_capability > 0)
        snprintf(facts->capability, sizeof facts->capability, "%d.%d",
                 info->compute_capability / 10, info->compute_capability % 10);
    add_text(facts, "compute_capability", "compute capability", facts->capability);
    if (can->has_threads) {
        ADD_NUMBER(cores, "cores", "");
        add_number(facts, "logical_processors", "logical processors", info->multiprocessors, "");
        ADD_TEXT(simd, "SIMD");
        ADD_BYTES(l1_bytes, "level 1 data cache, per core");
        ADD_BYTES(l2_bytes, "level 2 cache, per core");
    }
    if (can->has_blocks)
        add_multiprocessor(facts, info);
    add_memory(facts, session);
    ADD_TEXT(ecc, "ECC");
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

int print_devices(const struct options *options, FILE *out)
{
    const struct machine machine = look_at_machine();
    struct device_choice devices[MAX_DEVICES];
    const size_t count = choose_devices(options, &machine, devices);
    const bool as_json = options->output.format == FORMAT_JSON;
    json_t *array = json_array();
    struct session session = {0};
    int code = check_devices(options, &machine);
    for (size_t d = 0; d < count && code == EXIT_OK; d++) {
        const char *why = open_session(&session, devices[d], options);
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
