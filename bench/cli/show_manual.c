/* show_manual: shows the manual page through man, a pager, or as plain text. */
#include "manual.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The exit status of a shell that found no such command, and of one that could not be run. */
enum { NO_COMMAND = 127 };

/* Runs a command and waits for it. Returns its exit status. */
static int run_command(char *const arguments[], bool with_errors)
{
    posix_spawn_file_actions_t actions;
    pid_t process;
    int status = 0;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return NO_COMMAND;
    bool started = with_errors || posix_spawn_file_actions_addopen(&actions, STDERR_FILENO,
                                                                   "/dev/null", O_WRONLY, 0) == 0;
    started =
        started && posix_spawnp(&process, arguments[0], &actions, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    if (!started || waitpid(process, &status, 0) != process)
        return NO_COMMAND;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 0; /* a signal: the reader has seen it */
}

/* man's own errors are not the user's: the text follows. */
static bool show_by_man(char *path)
{
    char *const arguments[] = {"man", "-l", path, NULL};
    return run_command(arguments, false) == 0;
}

static bool show_by_pager(char *path)
{
    char script[] = "p=${PAGER:-less}; command -v \"${p%% *}\" >/dev/null || exit 127; $p \"$0\"";
    char *const arguments[] = {"sh", "-c", script, path, NULL};
    return isatty(STDOUT_FILENO) == 1 && run_command(arguments, true) != NO_COMMAND;
}

static void print_page(FILE *out)
{
    generate(GENERATED_MAN, out);
}

/* Writes the text to a file of its own, and shows that. Returns whether it was shown. */
static bool show_file(void (*print)(FILE *), bool (*show)(char *path))
{
    char path[] = "/tmp/scanbench.1.XXXXXX";
    const int descriptor = mkstemp(path);
    if (descriptor < 0)
        return false;
    FILE *file = fdopen(descriptor, "w");
    bool written = false;
    if (file != NULL) {
        print(file);
        written = fclose(file) == 0;
    } else {
        close(descriptor);
    }
    const bool shown = written && show(path);
    unlink(path);
    return shown;
}

void show_manual(void)
{
    fflush(stdout);
    if (!show_file(print_page, show_by_man) && !show_file(print_manual, show_by_pager))
        print_manual(stdout);
}
