/* emulator.h: settings and queries for the harness and the tests.
 *
 * Kernels do not include this file but cuda_runtime.h, as on a GPU. One OS thread runs
 * everything, and every launch is complete when it returns, on any device. "The device" is the
 * current one, chosen with cudaSetDevice(). */
#pragma once

#include "../timing/memory_counts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    EMULATOR_WARP_SIZE = 32,
    EMULATOR_MAX_BLOCK = 1024,
    EMULATOR_DEFAULT_MULTIPROCESSORS = 4,
    EMULATOR_THREADS_PER_MULTIPROCESSOR = 2048,
    EMULATOR_BLOCKS_PER_MULTIPROCESSOR = 32,
    EMULATOR_SHARED_BYTES = 48 * 1024,        /* per block, by default */
    EMULATOR_SHARED_BYTES_OPTIN = 227 * 1024, /* per block, with cudaFuncSetAttribute */
    EMULATOR_SHARED_BYTES_PER_MULTIPROCESSOR = 228 * 1024,
    EMULATOR_SHARED_BYTES_RESERVED = 1024, /* per block, as on a GPU */
    EMULATOR_SHARED_POISON = 0xCB,         /* contents of shared memory when a block starts */
    EMULATOR_MEMORY_POISON = 0xCD,         /* contents of new memory from cudaMalloc */
    EMULATOR_DEFAULT_RESIDENT_BLOCKS = 4,
    EMULATOR_DEFAULT_YIELD_PER_MILLE = 2,
};

/* Sets the number of devices, 1 or more. 0 sets the default, 1. Objects on devices that
 * disappear must be freed first. Device 0 becomes the current one if the current one
 * disappears. */
void emulator_set_device_count(unsigned count);

/* Can devices use each other's memory? They can by default. */
void emulator_set_peer_access(bool allowed);

/* Sets the seed. The order of the device's blocks and threads depends only on it and on the
 * number of launches since it was set. */
void emulator_set_seed(uint64_t seed);

/* Orders as after the seed was set. */
void emulator_restart_orders(void);

/* Sets how many blocks of a plain launch are resident at a time, 1 or more; fewer if the device
 * does not hold as many threads. 0 sets the default. Applies to all devices. */
void emulator_set_resident_blocks(unsigned blocks);

/* Sets the number of multiprocessors of the device, 1 or more. 0 sets the default. Code that
 * has read the number before must read it again. */
void emulator_set_multiprocessors(unsigned count);

/* Sets how many bytes of shared memory a block of the device can have, with cudaFuncSetAttribute;
 * 0 sets the default. Code that has read the number before must read it again. */
void emulator_set_shared_bytes(unsigned bytes);

/* Sets how often in a thousand an atomic, a fence, or a load or store by function (__ldcg,
 * __stcg, ...) yields to other threads and blocks. 0: never. Applies to all devices. */
void emulator_set_yield_rate(unsigned per_mille);

/* What ends a launch before its threads have ended. */
struct emulator_watch {
    double limit_ms;       /* CPU time in which no thread of it ends. 0: no limit */
    bool (*stop)(void);    /* asked by a signal handler every few milliseconds. NULL: never */
    bool own_streams_only; /* a launch on the default stream fails */
};

/* Watches the launches from here on; NULL: no longer. A watched kernel that faults, calls abort(),
 * or is ended by one of these settings, fails with a description. One of its threads that waits for
 * another without a call, by reading memory in a loop, is interrupted after 50 ms of CPU time, so
 * that others run; then the order of threads does not depend on the seed alone. Meanwhile the
 * handlers of SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT and SIGVTALRM are the emulator's. */
void emulator_watch_kernels(const struct emulator_watch *settings);

/* Counts what the launches from here on do to memory, on any device, until it is stopped. Kernels
 * must be compiled with EMULATOR_COUNTS (Makefile); what others do to memory is not seen. The order
 * of blocks and threads does not depend on the seed meanwhile. */
void emulator_start_counting(void);
void emulator_stop_counting(void);

/* The number of launches counted since the start, and the counts of launch 0, 1, ... */
size_t emulator_counted_launches(void);
const struct memory_counts *emulator_counts_of_launch(size_t launch);

/* How often a launch applied the operator of its scan or reduction, and the longest chain of
 * applications, each of which needs the result of the one before, that ends in it: parts of the
 * chain may lie in earlier launches. */
struct application_counts {
    uint64_t applications, depth;
};

/* Counts the applications of the launches from here on, until it is stopped. Kernels that take
 * operands (kernels/operators.cuh) get some that count, instead of numbers: whatever such an
 * operand is read from must be 0, and results are of no use. */
void emulator_start_counting_applications(void);
void emulator_stop_counting_applications(void);

/* What each launch since the start has applied. Returns how many there are, valid until the next
 * start; 0: none of their kernels takes operands. */
size_t emulator_applications_of_launches(const struct application_counts **each);

/* The counts of accesses by kernel and line of the source, all launches of a kernel together:
 * kernels in the order of their first launches, lines in that of the source. A line is the
 * innermost that is not the emulator's; addr2line has to be installed. Returns how many there are,
 * which are valid until the next call or start. */
size_t emulator_counts_of_lines(const struct line_counts **lines);

/* From here on, a launch fails in which two threads access the same word, one of them writes, and
 * nothing orders the two (races.cpp), or no longer. What is not compiled with EMULATOR_COUNTS is
 * not seen, and costs nothing either way. */
void emulator_find_races(bool wanted);
bool emulator_finds_races(void);

/* Was a race found in the last launch since they were wanted? */
bool emulator_found_race(void);

/* Memory with a name, as a trace shows it. */
struct emulator_array {
    const char *name;
    const void *data;
    size_t bytes;     /* 0: there is no such array */
    const char *type; /* of its elements, as in types.def; NULL: its accesses show their sizes */
};

/* Traces the launches from here on, on any device, until it is stopped: what each thread reads and
 * writes. `type` is that of the problem's elements, for memory whose own type is unknown. Kernels
 * must be compiled as for counting, and the order of blocks and threads is likewise fixed. */
void emulator_start_tracing(const struct emulator_array *arrays, size_t count, const char *type);
void emulator_stop_tracing(void);

/* Writes the members of a JSON object, of 2 MB and one step at most:
 * - arrays: name, space (global, shared or registers), `from` (its first byte in the memory of that
 *   name), `at` (bytes from a multiple of 128), type of the cells, bytes per cell, cells. Of shared
 *   memory and registers each block has its own.
 * - launches: kernel, grid, block, shared_bytes, and steps: barriers and collectives before it, and
 *   requests.
 * - steps_left_out: how many did not fit.
 *
 * A request is what lanes of a warp access by one instruction: kind, block, warp, bit mask of
 * lanes, array, cells per lane; in the order of the lanes, the index of the first cell and the
 * value of each cell after it; `time`, by which requests of different warps are in order; and
 * `line`, FILE:LINE of the source, where addr2line is installed and knows it. Kinds are load,
 * store, bulk load, and atomic, which has the values before it and the times of its lanes as well.
 * A register shows what its lane gives to a collective (give, at the end of a step) and receives
 * from it: shuffle, whose index is the thread that is read, or reduce, with what the lane gave
 * before it. */
void emulator_write_trace(FILE *out);

/* Tells that an allocation holds `bytes` bytes for a kernel, from `data` on; the rest is the
 * caller's own. The description of an illegal access is in terms of this part. */
void emulator_describe_memory(void *allocation, const void *data, size_t bytes);

/* From here on, what the address sanitizer finds in a source that was compiled with it fails the
 * launch, or is the description of a failure outside of one. Returns false if its runtime was not
 * loaded before the program. */
bool emulator_start_sanitizing(void);

/* With a sanitizer: nothing may touch what is left of described allocations (see above), until they
 * are opened again. */
void emulator_close_margins(bool closed);

/* With a sanitizer: what begins at these addresses stands for memory of the host's, so no kernel
 * may touch it while it is closed. */
void emulator_hide_from_kernel(const void *const arrays[2], bool closed);

/* With a sanitizer: only kernels, copies and the like may touch memory of the device's, except for
 * what is lent to the host, until it is no longer hidden. */
void emulator_hide_from_host(bool closed);

/* What begins at these addresses is the host's for cudaMemcpy(), until it is no longer lent. */
void emulator_lend_to_host(const void *const arrays[2], bool lent);

/* The number of allocations of the device's memory that have not been freed. */
size_t emulator_allocations(void);

/* The description of the device's last failed launch; "" if none failed since the last
 * emulator_reset(). */
const char *emulator_error_detail(void);

/* Clears every error of the device, including the sticky one after a failed kernel. Memory,
 * streams and events are kept. */
void emulator_reset(void);

#ifdef __cplusplus
}
#endif
