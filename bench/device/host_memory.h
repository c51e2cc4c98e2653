/* host_memory.h: how much memory this process can still take from its host. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MEMORY_LIMIT_BYTES = 128,
    /* Left free under a limit, for page tables, stacks and small allocations: this, and a share. */
    SPARE_BYTES = 16 << 20,
    SPARE_SHARE = 128,
};

struct host_memory {
    size_t free_bytes;
    char limit[MEMORY_LIMIT_BYTES]; /* what bounds it; "": the memory of the host */
    size_t limit_bytes;
};

/* The least of what the host has available, what the cgroup of the process and those above it
 * allow (versions 1 and 2; file pages that are not in use count as free), and what RLIMIT_AS and
 * RLIMIT_DATA allow. Reads ROOT/proc and ROOT/sys; "" is the real root. */
struct host_memory read_host_memory(const char *root);

#ifdef __cplusplus
}
#endif
