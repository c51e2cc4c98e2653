/* command: runs a command and keeps what it writes. */
#define _GNU_SOURCE /* memfd_create */
#include "command.h"

#include "../base/errors.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

static int spawn_and_wait(const struct arguments *arguments, int output, int errors)
{
    posix_spawn_file_actions_t actions;
    pid_t process;
    int status = 0;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return -1;
    const bool started =
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) == 0 &&
        posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO) == 0 &&
        posix_spawnp(&process, arguments->at[0], &actions, NULL, (char *const *)arguments->at,
                     environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    if (!started)
        return -1;
    while (waitpid(process, &status, 0) != process)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

struct outcome run_command(const struct arguments *arguments)
{
    struct outcome outcome = {.status = -1};
    size_t ignored;
    const int output = memfd_create("output", MFD_CLOEXEC);
    const int errors = memfd_create("errors", MFD_CLOEXEC);
    if (output >= 0 && errors >= 0 && !arguments->overfull)
        outcome.status = spawn_and_wait(arguments, output, errors);
    outcome.output = read_all(output, &outcome.output_length);
    outcome.errors = read_all(errors, &ignored);
    if (output >= 0)
        close(output);
    if (errors >= 0)
        close(errors);
    return outcome;
}

void forget_outcome(struct outcome *outcome)
{
    free(outcome->output);
    free(outcome->errors);
    *outcome = (struct outcome){0};
}

bool find_program(const char *name, char *path, size_t size)
{
    if (strchr(name, '/') != NULL) {
        snprintf(path, size, "%s", name);
        return access(path, X_OK) == 0;
    }
    const char *folders = getenv("PATH");
    while (folders != NULL && *folders != '\0') {
        const size_t length = strcspn(folders, ":");
        snprintf(path, size, "%.*s/%s", (int)length, folders, name);
        if (length > 0 && access(path, X_OK) == 0)
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}
