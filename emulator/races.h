/* races.h: two accesses of a launch that nothing orders. */
#pragma once

#include "accesses.h"

#include <stdint.h>

inline namespace emulator_cuda
{

/* One of the two. */
struct racing_access {
    uint32_t block;
    uint16_t thread;
    bool writes;
    char place[96]; /* FILE:LINE, or empty */
};

struct race {
    struct racing_access first, second;
    memory_space space;
    const char *address;
    unsigned bytes; /* that both access, within a word of WORD_BYTES */
};
enum { WORD_BYTES = 4 };

/* failure.cpp: fails the running launch. */
void describe_race(const struct race *race);

} // namespace emulator_cuda
