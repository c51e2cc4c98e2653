/* command: runs a command and keeps what it writes. */
#define _GNU_SOURCE /* memfd_create */
#include "command.h"

#include "../base/errors.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

void add_argument(struct arguments *arguments, const char *argument)
{
    if (arguments->count == MOST_ARGUMENTS) {
        arguments->overfull = true;
        return;
    }
    arguments->at[arguments->count++] = argument;
    arguments->at[arguments->count] = NULL;
}

void add_each_argument(struct arguments *arguments, const char *const *each)
{
    for (; *each != NULL; each++)
        add_argument(arguments, *each);
}

void add_words(struct arguments *arguments, const char *text, char *copy)
{
    for (;;) {
        text += strspn(text, " \t");
        if (*text == '\0')
            return;
        add_argument(arguments, copy);
        for (char quote = '\0'; *text != '\0' && (quote || !strchr(" \t", *text)); text++) {
            if (*text == quote)
                quote = '\0';
            else if (!quote && (*text == '\'' || *text == '"'))
                quote = *text;
            else
                *copy++ = *text;
        }
        *copy++ = '\0';
    }
}

/* Reads a whole file from its start. */
static char *read_all(int descriptor, size_t *length)
{
    const off_t end = lseek(descriptor, 0, SEEK_END);
    char *text = allocate_or_die(NULL, (size_t)(end > 0 ? end : 0) + 1);
    *length = 0;
    while (end > 0 && *length < (size_t)end) {
        const ssize_t got =
            pread(descriptor, text + *length, (size_t)end - *length, (off_t)*length);
        if (got <= 0)
            break;
        *length += (size_t)got;
    }
    text[*length] = '\0';
    return text;
}

/* Returns the exit code, or -1 with errno. */
static int spawn_and_wait(const struct arguments *arguments, const int streams[3])
{
    posix_spawn_file_actions_t actions;
    pid_t process;
    int status = 0, error = posix_spawn_file_actions_init(&actions);
    if (error == 0) {
        for (int stream = 0; stream < 3 && error == 0; stream++)
            error = posix_spawn_file_actions_adddup2(&actions, streams[stream], stream);
        if (error == 0)
            error = posix_spawnp(&process, arguments->at[0], &actions, NULL,
                                 (char *const *)arguments->at, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    if (error != 0) {
        errno = error;
        return -1;
    }
    while (waitpid(process, &status, 0) != process)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Stores a text for a command to read from its start. */
static bool write_all(int descriptor, const char *text)
{
    for (size_t left = strlen(text); left > 0;) {
        const ssize_t written = write(descriptor, text, left);
        if (written <= 0)
            return false;
        text += written;
        left -= (size_t)written;
    }
    return lseek(descriptor, 0, SEEK_SET) == 0;
}

/* Sets `streams` to files in memory. Returns false with errno if it cannot. */
static bool open_streams(int streams[3], const char *input)
{
    static const char *const names[] = {"input", "output", "errors"};
    bool opened = true;
    for (int stream = 0; stream < 3; stream++) {
        streams[stream] = memfd_create(names[stream], MFD_CLOEXEC);
        opened = opened && streams[stream] >= 0;
    }
    return opened && (input == NULL || write_all(streams[STDIN_FILENO], input));
}

static char *why_not_run(const struct arguments *arguments)
{
    const char *why = arguments->overfull ? "it has too many arguments" : strerror(errno);
    const size_t size = strlen(arguments->at[0]) + strlen(why) + 32;
    char *text = allocate_or_die(NULL, size);
    snprintf(text, size, "%s: cannot be run: %s\n", arguments->at[0], why);
    return text;
}

struct outcome run_command(const struct arguments *arguments, const char *input)
{
    struct outcome outcome = {.status = -1};
    int streams[3];
    size_t ignored;
    if (open_streams(streams, input) && !arguments->overfull)
        outcome.status = spawn_and_wait(arguments, streams);
    outcome.errors =
        outcome.status == -1 ? why_not_run(arguments) : read_all(streams[STDERR_FILENO], &ignored);
    outcome.output = read_all(streams[STDOUT_FILENO], &outcome.output_length);
    for (int stream = 0; stream < 3; stream++)
        if (streams[stream] >= 0)
            close(streams[stream]);
    return outcome;
}

void forget_outcome(struct outcome *outcome)
{
    free(outcome->output);
    free(outcome->errors);
    *outcome = (struct outcome){0};
}

static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

bool find_program(const char *name, char *path, size_t size)
{
    if (strchr(name, '/') != NULL) {
        snprintf(path, size, "%s", name);
        return is_program(path);
    }
    const char *folders = getenv("PATH");
    while (folders != NULL && *folders != '\0') {
        const size_t length = strcspn(folders, ":");
        snprintf(path, size, "%.*s/%s", (int)length, folders, name);
        if (length > 0 && is_program(path))
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}
