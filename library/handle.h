/* handle.h: what a handle holds, and what a kind of device does for it.
 *
 * The library is a second way to the algorithms, beside the program: it knows what an algorithm
 * is (bench/algorithm.h) and how `auto` chooses (bench/choice.h), and nothing else of it. */
#pragma once

#include "../bench/choice.h"
#include "scanbench.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Scratch memory of one purpose. */
struct scratch {
    void *memory;
    size_t bytes;
};

/* Scratch memory that was too small, but that graphs may still use. */
struct retired {
    void *memory;
    struct retired *older;
};

struct scanbench_handle {
    const struct side *side;
    struct device_limits limits;
    char name[256];      /* of the device */
    int index;           /* GPU: of the device */
    unsigned threads;    /* CPU */
    uint64_t *own_count; /* GPU: for counts that go to pageable memory of the host */
    char error[256];

    struct scratch lasting; /* of algorithms with TRAIT_LASTING_SCRATCH */
    struct scratch passing; /* of all others */
    struct scratch copy;    /* of the input, where an algorithm cannot work in place */
    struct retired *retired;
    bool captured; /* graphs use the scratch at times that the handle does not know */

    /* What the passing scratch was prepared for, and the calls since then. */
    const struct algorithm *prepared; /* NULL: nothing */
    struct problem prepared_for;
    uint32_t epoch;
};

/* A kind of device. Functions that return a status refuse() what they can say more of. */
struct side {
    enum device_kind kind;

    /* Fills what handle->limits and the fields above it say about the device; `number` is its
     * index, or a number of threads. close() also takes a handle whose opening failed. */
    scanbench_status (*open)(scanbench_handle *handle, unsigned number);
    void (*close)(scanbench_handle *handle);

    /* Memory. Lasting scratch, which only algorithms of the GPU have, begins with zeros. */
    scanbench_status (*allocate)(scanbench_handle *handle, size_t bytes, void **memory);
    void (*release)(scanbench_handle *handle, void *memory);

    /* Can calls be made now? Does a graph capture them? */
    scanbench_status (*enter)(scanbench_handle *handle, void *stream, bool *capturing);

    struct resolved (*choose)(const struct problem *problem);

    /* Where an algorithm can write a count for the user: there, or to handle->own_count. */
    scanbench_status (*place_count)(scanbench_handle *handle, uint64_t *count, uint64_t **place);

    /* Copies a count from there to the user; has done so on return, unless a graph captures it.
     * NULL if place_count() never returns another place than the user's. */
    scanbench_status (*fetch_count)(scanbench_handle *handle, uint64_t *count,
                                    const uint64_t *place, void *stream, bool capturing);

    scanbench_status (*copy)(scanbench_handle *handle, void *to, const void *from, size_t bytes,
                             void *stream);
    scanbench_status (*run)(scanbench_handle *handle, const struct algorithm *algorithm,
                            struct call *call, bool prepare, void *stream);
};

extern const struct side cpu_side;
/* Linked where the library is built with CUDA, or with the emulator in its place. */
extern const struct side gpu_side __attribute__((weak, visibility("hidden")));
extern const struct side emulated_side __attribute__((weak, visibility("hidden")));

/* Creates a handle; `number` as for side->open(). */
scanbench_status create_handle(scanbench_handle **handle, const struct side *side, unsigned number);

/* Returns the status, and keeps with the handle which argument is wrong and what would be right, or
 * what else says more than the status. */
__attribute__((format(printf, 3, 4))) scanbench_status
refuse(scanbench_handle *handle, scanbench_status status, const char *reason, ...);

/* Makes scratch at least as large. What was in it is lost, unless it was large enough. */
scanbench_status grow_scratch(scanbench_handle *handle, struct scratch *scratch, size_t bytes,
                              bool capturing);

/* Can the algorithm solve this problem in place? */
static inline bool works_in_place(const struct algorithm *algorithm, const struct problem *problem)
{
    return (algorithm->traits & TRAIT_IN_PLACE) ||
           (algorithm->traits & TRAIT_INCLUSIVE_IN_PLACE && problem->kind == KIND_INCLUSIVE);
}

#ifdef __cplusplus
}
#endif
