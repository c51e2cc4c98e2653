/* emulator.h: what the harness and the tests set and ask.
 *
 * Kernels do not include this; they include cuda_runtime.h, as on a GPU. One OS
 * thread runs everything and every launch is over when it returns, whichever device
 * it is on. "The device" is the current one, as cudaSetDevice() chose it. */
#ifndef SCANBENCH_EMULATOR_EMULATOR_H
#define SCANBENCH_EMULATOR_EMULATOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    EMULATOR_WARP_SIZE = 32,
    EMULATOR_MAX_BLOCK = 1024,
    EMULATOR_DEFAULT_MULTIPROCESSORS = 4,
    EMULATOR_THREADS_PER_MULTIPROCESSOR = 2048,
    EMULATOR_BLOCKS_PER_MULTIPROCESSOR = 32,
    EMULATOR_SHARED_BYTES = 48 * 1024,        /* a block, by default */
    EMULATOR_SHARED_BYTES_OPTIN = 227 * 1024, /* a block, by cudaFuncSetAttribute */
    EMULATOR_SHARED_BYTES_PER_MULTIPROCESSOR = 228 * 1024,
    EMULATOR_SHARED_BYTES_RESERVED = 1024, /* a block, as on the GPU */
    EMULATOR_SHARED_POISON = 0xCB,         /* what shared memory holds at block start */
    EMULATOR_MEMORY_POISON = 0xCD,         /* what cudaMalloc'ed memory holds */
    EMULATOR_DEFAULT_RESIDENT_BLOCKS = 4,
    EMULATOR_DEFAULT_YIELD_PER_MILLE = 2,
};

/* How many devices there are, 1 or more. 0 sets the default, 1. What was on those that
 * are no longer there must be given back before; device 0 is the current one then. */
void emulator_set_device_count(unsigned count);

/* The order of the device's blocks and threads follows from the seed and the number of
 * its launches since it was set, and from nothing else. */
void emulator_set_seed(uint64_t seed);

/* How many blocks of a plain launch are under way at a time, 1 or more; fewer if
 * the device does not hold as many threads. 0 sets the default. On all devices. */
void emulator_set_resident_blocks(unsigned blocks);

/* The multiprocessors of the device, 1 or more. 0 sets the default. Who has asked the
 * device for them before has to ask again. */
void emulator_set_multiprocessors(unsigned count);

/* How often, in a thousand, an atomic, a fence or a load or store by function
 * (__ldcg, __stcg, ...) gives way to other threads and blocks. 0: never. On all devices. */
void emulator_set_yield_rate(unsigned per_mille);

/* What was wrong with the device's last launch that failed; "" if none did since the
 * last emulator_reset(). */
const char *emulator_error_detail(void);

/* Forgets every error of the device, also the sticky one after a failed kernel. Memory,
 * streams and events stay. */
void emulator_reset(void);

#ifdef __cplusplus
}
#endif
#endif
