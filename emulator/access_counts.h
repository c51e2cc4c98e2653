/* access_counts.h: the accesses of a warp's lanes, until they are counted.
 *
 * Threads run one after the other, so the accesses of a warp's lanes come one by one and are put
 * together again: into one request go accesses of the same place in the code that have as many
 * synchronisations with other lanes before them, the k-th of each lane since. */
#pragma once

#include "accesses.h"

#include <stddef.h>
#include <stdint.h>
#include <vector>

inline namespace emulator_cuda
{

/* What the accesses of a request have in common. */
struct access_site {
    uint64_t place;
    uint32_t epoch; /* synchronisations of the lane so far, see warp_accesses */
    uint32_t word;  /* of an object that is accessed by several instructions there: which */
    uint8_t bytes;  /* 1 to 16, a power of two */
    emulator_access_kind kind;
    memory_space space;
};

enum : uint32_t { NO_REQUEST = UINT32_MAX };

struct access_request {
    uint32_t lanes; /* bit mask of those with an address */
    uint32_t next;  /* the next request of the site, or NO_REQUEST */
    uintptr_t address[EMULATOR_WARP_SIZE];
};

/* The requests of a site, as a list. */
struct access_group {
    access_site site;
    struct memory_counts *counts; /* of its place */
    uint32_t first;
    uint32_t latest[EMULATOR_WARP_SIZE]; /* each lane's latest, or NO_REQUEST */
};

/* The accesses of a warp since all its lanes last synchronised. */
struct warp_accesses {
    /* Lanes that synchronise go on with the same epoch, higher than any of theirs before. */
    uint32_t epoch[EMULATOR_WARP_SIZE];
    std::vector<access_group> groups;
    std::vector<access_request> requests;
    std::vector<uint32_t> table; /* of groups by site: index + 1; 0: free. A power of two */
};

} // namespace emulator_cuda
