/* row_index: finds the matching rows of a file by a hash of the columns that are compared. */
#include "row_index.h"

#include "../base/errors.h"

#include <stdlib.h>
#include <string.h>

struct row_index make_row_index(const struct row_matcher *matcher)
{
    const size_t count = matcher->csv->row_count;
    size_t chains = 1;
    while (chains < count)
        chains *= 2;
    struct row_index index = {
        .matcher = *matcher,
        .hash = allocate_or_die(NULL, count * sizeof *index.hash),
        .before = allocate_or_die(NULL, count * sizeof *index.before),
        .last = allocate_or_die(NULL, chains * sizeof *index.last),
        .chain_mask = chains - 1,
    };
    memset(index.last, 0, chains * sizeof *index.last);
    for (size_t r = 0; r < count; r++) {
        const char *cells[COLUMN_COUNT];
        list_cells(matcher, r, cells);
        index.hash[r] = hash_cells(matcher, cells);
        size_t *last = &index.last[index.hash[r] & index.chain_mask];
        index.before[r] = *last;
        *last = r + 1;
    }
    return index;
}

void free_row_index(struct row_index *index)
{
    free(index->hash);
    free(index->before);
    free(index->last);
    *index = (struct row_index){0};
}

/* The first row with these cells on the way down a chain, from row `next` - 1 on. */
static long follow_chain(const struct row_index *index, size_t next, uint64_t hash,
                         const char *const cells[])
{
    for (; next > 0; next = index->before[next - 1])
        if (index->hash[next - 1] == hash && has_cells(&index->matcher, next - 1, cells))
            return (long)next - 1;
    return NO_ROW;
}

long find_last_with(const struct row_index *index, const char *const cells[])
{
    if (index->last == NULL)
        return NO_ROW;
    const uint64_t hash = hash_cells(&index->matcher, cells);
    return follow_chain(index, index->last[hash & index->chain_mask], hash, cells);
}

long find_last_match(const struct row_index *index, const struct row *row)
{
    if (index->last == NULL)
        return NO_ROW;
    struct wanted_cells wanted;
    fill_wanted(&wanted, &index->matcher, row);
    return find_last_with(index, wanted.cells);
}

long find_last_like(const struct row_index *index, size_t r)
{
    const char *cells[COLUMN_COUNT];
    list_cells(&index->matcher, r, cells);
    return find_last_with(index, cells);
}

long find_match_before(const struct row_index *index, size_t r)
{
    const char *cells[COLUMN_COUNT];
    list_cells(&index->matcher, r, cells);
    return follow_chain(index, index->before[r], index->hash[r], cells);
}
