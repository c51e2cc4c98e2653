/* prefetch.h: reading ahead of the processor's own prefetcher.
 *
 * That one follows a stream of addresses up to the end of a page, and starts anew
 * in the next. So arrays are worked off in rounds of several pages, and while one
 * is worked off the pages of the next are fetched into the second-level cache, all
 * at a time: that many streams. */
#ifndef SCANBENCH_CPU_PREFETCH_H
#define SCANBENCH_CPU_PREFETCH_H

#include "simd.h"

enum {
    PAGE_BYTES = 4096,
    PAGES_A_ROUND = 8,
    ROUND_BYTES = PAGES_A_ROUND * PAGE_BYTES,
    LINES_A_ROUND = ROUND_BYTES / CACHE_LINE_BYTES,
};

/* Fetches one line of the memory from `ahead` on. To be called with 0, 1, 2, ...
 * for each line that is worked off. Memory that is not there is not read. */
static inline void prefetch_line(const void *ahead, size_t line)
{
    const size_t page = line % PAGES_A_ROUND, line_of_page = line % LINES_A_ROUND / PAGES_A_ROUND;
    const size_t round = line / LINES_A_ROUND;
    __builtin_prefetch((const char *)ahead + round * ROUND_BYTES + page * PAGE_BYTES +
                           line_of_page * CACHE_LINE_BYTES,
                       0, 2);
}

#endif
