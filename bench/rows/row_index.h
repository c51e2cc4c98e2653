/* row_index.h: finds the matching rows of a file by a hash of the columns that are compared. */
#pragma once

#include "row_match.h"

#include <stddef.h>
#include <stdint.h>

/* The rows of a file, in chains of those whose hashes end in the same bits. */
struct row_index {
    struct row_matcher matcher;
    uint64_t *hash;    /* of each row */
    size_t *before;    /* for each row: the row before it in its chain, plus one; 0: none */
    size_t *last;      /* for each chain: its last row, plus one; 0: none */
    size_t chain_mask; /* the number of chains, a power of two, minus one */
};

/* Keeps a copy of the matcher, and refers to its file. */
struct row_index make_row_index(const struct row_matcher *matcher);
void free_row_index(struct row_index *index);

/* The last row of the file that has these cells, one per compared column; that matches a row; or
 * that matches another row of the file, which may be that row itself. NO_ROW: none. */
long find_last_with(const struct row_index *index, const char *const cells[]);
long find_last_match(const struct row_index *index, const struct row *row);
long find_last_like(const struct row_index *index, size_t r);

/* The last row before row r of the file that matches it, or NO_ROW. */
long find_match_before(const struct row_index *index, size_t r);
