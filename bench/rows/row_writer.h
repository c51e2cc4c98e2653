/* row_writer.h: text on its way to a file, one write() for each row.
 *
 * A file with a name belongs to one process at a time, and holds what this one left
 * there: both are seen to, so that no row lands in the middle of another, or in a
 * file that is no longer the one named. */
#ifndef SCANBENCH_BENCH_ROWS_ROW_WRITER_H
#define SCANBENCH_BENCH_ROWS_ROW_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { NO_FILE = -1, WRITE_PROBLEM_BYTES = 160 };

struct row_writer {
    const char *path; /* "stdout", which is never looked at */
    int file;         /* a descriptor, or NO_FILE */
    bool regular;     /* a regular file with a name: locked, and looked at before each write */
    bool created;     /* there was none */
    dev_t device;     /* the file's identity */
    ino_t inode;
    off_t bytes;                       /* its size as this process left it */
    char problem[WRITE_PROBLEM_BYTES]; /* the first that there was; empty: none */
    bool cut_short;                    /* it was a signal that ends the run (interrupt.h) */
};

/* Opens the file for appending, and makes it if it is not there. Returns EXIT_OK, or
 * EXIT_ERROR after one line on stderr: it cannot be opened, or another process writes
 * to it. `flag` is what named it. */
int open_row_writer(struct row_writer *writer, const char *flag, const char *path);

struct row_writer stdout_writer(void);

/* Are both the same file, by whatever names? */
bool same_file(const struct row_writer *a, const struct row_writer *b);

/* Writes all of it, or notes the problem and returns false: after that nothing more
 * is written. What a full disk cut short is taken back. */
bool write_text(struct row_writer *writer, const char *text, size_t count);

/* Cuts the file off after so many bytes. */
bool cut_file(struct row_writer *writer, off_t bytes);

/* The file stays open and locked when another program takes this process over, which opens
 * it by its name; a reader of a pipe sees no end. */
void keep_open_for_successor(const struct row_writer *writer);

/* Closes what was opened; false: with a problem, now or before. */
bool close_row_writer(struct row_writer *writer);

/* The same for a file that was opened in vain: one that was made for it goes again. */
void discard_row_writer(struct row_writer *writer);

#endif
