/* device.h: the state of the emulated devices. */
#pragma once

#include "cuda_runtime.h"
#include "emulator.h"

#include <stdint.h>
#include <unordered_map>
#include <unordered_set>
#include <vector>

inline namespace emulator_cuda
{

/* Who may use memory. */
enum memory_side { SIDE_OF_DEVICE, SIDE_OF_HOST, BOTH_SIDES };

/* A part of device memory: what an allocation is used for. */
struct extent {
    uintptr_t complement; /* of where it begins: see below */
    size_t bytes;
    size_t allocated; /* bytes of the whole allocation */
    memory_side side;
};

enum { FAILURE_BYTES = 512 };

/* The state of one device. */
struct emulated_device {
    int index;
    unsigned multiprocessors = EMULATOR_DEFAULT_MULTIPROCESSORS;
    unsigned shared_bytes = EMULATOR_SHARED_BYTES_OPTIN; /* per block, at most */
    uint64_t seed, launches_since_seed;
    cudaError_t sticky_error; /* error of a failed kernel, until emulator_reset() */
    char failure[FAILURE_BYTES];
    /* The raised limits of dynamic shared memory, by kernel. */
    std::unordered_map<const void *, int> shared_limits;
    /* The objects that cudaDeviceReset() frees. Stored as complements, so that a leak check
     * does not see them as pointers. */
    std::unordered_map<uintptr_t, struct extent> memory, streams, events;
    std::unordered_set<int> peers; /* devices whose memory it has been given access to */
};

/* The current device, and all devices. */
struct emulated_device *current_device(void);
const std::vector<struct emulated_device *> &all_devices(void);

} // namespace emulator_cuda
