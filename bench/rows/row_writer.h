/* row_writer.h: writes text to a file, one write() per row.
 *
 * A named file belongs to one process at a time, and must be as this process left it. Both are
 * checked, so that no row lands inside another row, or in a file that is no longer the named
 * one. */
#pragma once

#include "../base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { NO_FILE = -1, WRITE_PROBLEM_BYTES = 160 };

struct row_writer {
    const char *path; /* "stdout" is only for messages */
    const char *flag; /* that named it; NULL: none */
    int file;         /* a descriptor, or NO_FILE */
    bool regular;     /* a named regular file: locked, and checked before each write */
    bool created;     /* this process created it */
    dev_t device;     /* the file's identity */
    ino_t inode;
    off_t bytes;                       /* its size as this process left it */
    char problem[WRITE_PROBLEM_BYTES]; /* the first problem; empty: none */
    bool cut_short; /* a signal that ends the run cut a write short (interrupt.h) */
};

/* Opens the file for appending, and creates it if needed. Returns EXIT_OK, or EXIT_ERROR after
 * one line on stderr if it cannot be opened or another process writes to it; EXIT_INTERRUPTED if a
 * signal ends the run meanwhile, as a pipe has no reader yet. `flag` is the flag that named it. */
int open_row_writer(struct row_writer *writer, const char *flag, const char *path);

struct row_writer stdout_writer(void);

/* Are both the same file, whatever their paths? */
bool same_file(const struct row_writer *a, const struct row_writer *b);

/* Writes all of the text, or notes the problem and returns false; after that nothing more is
 * written. A row cut short by a full disk is removed. */
bool write_text(struct row_writer *writer, const char *text, size_t count);

/* Closes the text, writes all of it, and frees it. */
bool write_and_free(struct row_writer *writer, struct text *text);

/* Truncates the file to `bytes`. */
bool cut_file(struct row_writer *writer, off_t bytes);

/* Closes the file. Returns false if there was a problem, now or earlier. */
bool close_row_writer(struct row_writer *writer);

/* Closes a file that was opened in vain, and removes it if it was created for that. */
void discard_row_writer(struct row_writer *writer);
