/* trace.h: what each thread of the traced launches read and wrote, step by step.
 *
 * A step is what lies between two barriers of a block and, in a warp, between two collectives other
 * than votes. The steps of different blocks and warps with the same number are one step, whichever
 * ran first. */
#pragma once

#include "accesses.h"

#include <list>
#include <map>
#include <stddef.h>
#include <stdint.h>
#include <string>
#include <utility>
#include <vector>

inline namespace emulator_cuda
{

enum trace_kind : uint8_t {
    TRACE_LOAD,
    TRACE_STORE,
    TRACE_ATOMIC,
    TRACE_BULK_LOAD,
    TRACE_GIVE,    /* a lane's operand of a shuffle or a reduction, the last of its step */
    TRACE_SHUFFLE, /* lanes read registers of other lanes */
    TRACE_REDUCE,  /* each lane reads the registers of all */
};

enum trace_space : uint8_t { TRACE_GLOBAL, TRACE_SHARED, TRACE_REGISTERS };

/* Memory with a name. Shared memory and registers are of one launch, and each block has its own. */
struct traced_region {
    std::string name;
    trace_space space;
    uintptr_t base; /* of shared memory: of the first block that was seen */
    size_t bytes;
    size_t launch;    /* whose shared memory or registers it is */
    std::string type; /* of its elements, such as "i32"; empty: whatever its accesses say */
};

/* What lanes of a warp access together by one instruction. */
struct traced_request {
    trace_kind kind;
    const void *caller;
    uint64_t place;
    size_t region;
    size_t bytes;                      /* per lane */
    uint32_t lanes;                    /* bit mask */
    size_t offset[EMULATOR_WARP_SIZE]; /* in the region */
    /* `bytes` bytes per lane: what it read or, except for loads, what was there afterwards. */
    std::vector<unsigned char> value;
    std::vector<unsigned char> before; /* of atomics; of reductions, what the lane gave */
    uint64_t when[EMULATOR_WARP_SIZE]; /* in the order of all accesses */
};

/* The requests of a warp in a step, in the order of each lane. */
struct warp_step {
    std::list<traced_request> requests;
    struct traced_request *latest[EMULATOR_WARP_SIZE]; /* each lane's; NULL: none */
};

struct step_number {
    uint32_t barriers, collectives; /* before it, of the block and since then of the lane */
    auto operator<=>(const step_number &) const = default;
};

struct warp_number {
    uint32_t block, warp;
    auto operator<=>(const warp_number &) const = default;
};

struct traced_launch {
    std::string kernel;
    uint64_t grid;
    unsigned block;
    size_t shared_bytes;
    std::map<step_number, std::map<warp_number, warp_step>> steps;
};

struct trace {
    std::string type; /* of the problem's elements */
    std::vector<traced_region> regions;
    std::vector<traced_launch> launches;
};

/* Writes it as JSON; emulator.h says what is in it. */
void write_trace(const struct trace *trace, FILE *out);

} // namespace emulator_cuda
