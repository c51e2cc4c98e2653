/* row_writer: writes rows to a locked file and notices if it changed in between. */
#include "row_writer.h"

#include "../base/errors.h"
#include "../base/interrupt.h"
#include "../base/stdout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ANYONE_MAY = 0666 };

struct row_writer stdout_writer(void)
{
    return (struct row_writer){.path = "stdout", .file = results_descriptor()};
}

bool same_file(const struct row_writer *a, const struct row_writer *b)
{
    return a->file != NO_FILE && b->file != NO_FILE && a->device == b->device &&
           a->inode == b->inode;
}

/* ---- opening ---- */

/* The process that holds the file's lock; 0 if it was released meanwhile; negative if the
 * process runs in another container or on another machine, where its ID is unknown here. */
static pid_t holder(int file)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(file, F_GETLK, &lock) != 0)
        return -1;
    if (lock.l_type == F_UNLCK)
        return 0;
    return lock.l_pid > 0 ? lock.l_pid : -1;
}

/* Tries to lock the whole file, without waiting: rows that another process is about to write
 * would look like missing rows.
 *
 * The lock is the process's own (F_SETLK), since only for that kind does F_GETLK report the
 * holder; flock and open file description locks (F_OFD_SETLK) have none. Such a lock is
 * released as soon as the process closes any descriptor of the file, so whatever is read from
 * the file is read through this one. */
static bool lock_file(int file, const char *flag, const char *path)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    pid_t process = 0;
    while (process == 0) {
        if (fcntl(file, F_SETLK, &lock) == 0)
            return true;
        if (errno != EACCES && errno != EAGAIN) {
            complain("%s=%s: it cannot be locked (%s); make sure that nothing else writes to it",
                     flag, path, strerror(errno));
            return true;
        }
        process = holder(file);
    }
    char name[32] = "another process";
    if (process > 0)
        snprintf(name, sizeof name, "process %ld", (long)process);
    complain("%s=%s: %s is writing to it; wait until it ends, or name another file", flag, path,
             name);
    return false;
}

/* Regular files are opened for reading, too, for their contents. A pipe is not: with its
 * reading end open here, nobody would notice that its reader is gone. */
static int open_for_appending(const char *path, bool *created)
{
    struct stat status;
    *created = stat(path, &status) != 0;
    if (*created && errno != ENOENT)
        return NO_FILE;
    const int how = !*created && !S_ISREG(status.st_mode) ? O_WRONLY : O_RDWR;
    return open(path, how | O_APPEND | O_CREAT | O_CLOEXEC, ANYONE_MAY);
}

int open_row_writer(struct row_writer *writer, const char *flag, const char *path)
{
    struct stat status;
    *writer = (struct row_writer){.path = path, .flag = flag};
    do {
        if (interrupted()) {
            writer->file = NO_FILE;
            return EXIT_INTERRUPTED;
        }
        writer->file = open_for_appending(path, &writer->created);
    } while (writer->file == NO_FILE && errno == EINTR);
    if (writer->file == NO_FILE || fstat(writer->file, &status) != 0) {
        /* A file that is missing is created, so what is missing is its folder. */
        complain("%s=%s: %s%s", flag, path, strerror(errno),
                 errno == ENOENT ? "; make its folder first, or name another file" : "");
        discard_row_writer(writer);
        return EXIT_ERROR;
    }
    writer->device = status.st_dev;
    writer->inode = status.st_ino;
    writer->regular = S_ISREG(status.st_mode);
    if (!writer->regular)
        return EXIT_OK;
    if (!lock_file(writer->file, flag, path)) {
        writer->created = false; /* it belongs to the other process, even if empty */
        discard_row_writer(writer);
        return EXIT_ERROR;
    }
    /* The file may have grown before it was locked. */
    const off_t end = lseek(writer->file, 0, SEEK_END);
    writer->bytes = end < 0 ? 0 : end;
    return EXIT_OK;
}

/* ---- writing ---- */

static const char kept[] = "earlier rows are kept";

static bool note_problem(struct row_writer *writer, const char *problem)
{
    if (writer->problem[0] == '\0')
        snprintf(writer->problem, sizeof writer->problem, "%s", problem);
    return false;
}

static bool note_error(struct row_writer *writer, const char *outcome)
{
    char problem[WRITE_PROBLEM_BYTES];
    snprintf(problem, sizeof problem, "cannot write: %s%s%s", strerror(errno ? errno : EIO),
             writer->regular ? "; " : "", writer->regular ? outcome : "");
    return note_problem(writer, problem);
}

/* Does the path still name this file, and is the file as this process left it? */
static bool is_as_left(struct row_writer *writer)
{
    struct stat named, held;
    char problem[WRITE_PROBLEM_BYTES];
    if (!writer->regular)
        return true;
    if (fstat(writer->file, &held) != 0)
        return note_error(writer, kept);
    if (stat(writer->path, &named) != 0 || named.st_dev != writer->device ||
        named.st_ino != writer->inode)
        return note_problem(
            writer, "another program removed or replaced the file; no more rows are written");
    if (held.st_size == writer->bytes)
        return true;
    snprintf(problem, sizeof problem,
             "another program changed the file: it has %lld bytes instead of %lld; no more rows "
             "are written",
             (long long)held.st_size, (long long)writer->bytes);
    return note_problem(writer, problem);
}

/* After a failed write: removes the partial row, unless something else was written since.
 * Returns false if it is still there. */
static bool take_back(const struct row_writer *writer, size_t written)
{
    struct stat status;
    if (written == 0 || !writer->regular)
        return true;
    return fstat(writer->file, &status) == 0 && status.st_size == writer->bytes + (off_t)written &&
           ftruncate(writer->file, writer->bytes) == 0;
}

bool write_text(struct row_writer *writer, const char *text, size_t count)
{
    if (writer->problem[0] != '\0' || !is_as_left(writer))
        return false;
    size_t written = 0;
    while (written < count) {
        errno = 0;
        const ssize_t now = write(writer->file, text + written, count - written);
        if (now > 0) {
            written += (size_t)now;
        } else if (errno != EINTR || interrupted()) {
            const int error = errno;
            writer->cut_short = error == EINTR;
            const bool whole = take_back(writer, written);
            errno = error;
            return note_error(writer,
                              whole ? kept : "the last line is torn, earlier ones are kept");
        }
    }
    writer->bytes += (off_t)count;
    return true;
}

bool write_and_free(struct row_writer *writer, struct text *text)
{
    close_text(text);
    const bool written = write_text(writer, text->bytes, text->count);
    free(text->bytes);
    return written;
}

bool cut_file(struct row_writer *writer, off_t bytes)
{
    if (writer->problem[0] != '\0' || !is_as_left(writer))
        return false;
    if (ftruncate(writer->file, bytes) != 0)
        return note_error(writer, kept);
    writer->bytes = bytes;
    return true;
}

/* ---- closing ---- */

bool close_row_writer(struct row_writer *writer)
{
    const int file = writer->file;
    writer->file = NO_FILE;
    if (file != NO_FILE && file != results_descriptor() && close(file) != 0)
        note_error(writer, kept);
    return writer->problem[0] == '\0';
}

void discard_row_writer(struct row_writer *writer)
{
    struct stat status;
    if (writer->file == NO_FILE)
        return;
    if (writer->created && lstat(writer->path, &status) == 0 && status.st_ino == writer->inode &&
        status.st_dev == writer->device && status.st_size == 0)
        unlink(writer->path);
    close_row_writer(writer);
}
