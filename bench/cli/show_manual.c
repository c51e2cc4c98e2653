/* show_manual: shows the manual page through man, a pager, or as plain text. */
#include "show_manual.h"

#include "manual.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The exit status of a shell that found no such command. */
enum { NO_COMMAND = 127 };

/* Runs man for a file and waits for it. Its own errors are not the user's: the text follows. */
static bool run_man(char *path)
{
    char *const arguments[] = {"man", "-l", path, NULL};
    posix_spawn_file_actions_t actions;
    pid_t process;
    int status = -1;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    const bool started =
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
        posix_spawnp(&process, "man", &actions, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return started && waitpid(process, &status, 0) == process && status == 0;
}

static bool show_by_man(void)
{
    char path[] = "/tmp/scanbench.1.XXXXXX";
    const int descriptor = mkstemp(path);
    FILE *page = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    bool shown = false;
    if (page != NULL) {
        generate(GENERATED_MAN, page);
        shown = fclose(page) == 0 && run_man(path);
    } else if (descriptor >= 0) {
        close(descriptor);
    }
    if (descriptor >= 0)
        unlink(path);
    return shown;
}

static bool show_by_pager(void)
{
    signal(SIGPIPE, SIG_IGN); /* the reader may leave before the end */
    FILE *pager = popen("${PAGER:-less}", "w");
    if (pager == NULL)
        return false;
    print_manual(pager);
    const int status = pclose(pager);
    return !(WIFEXITED(status) && WEXITSTATUS(status) == NO_COMMAND);
}

void show_manual(void)
{
    fflush(stdout);
    if (!show_by_man() && (isatty(STDOUT_FILENO) != 1 || !show_by_pager()))
        print_manual(stdout);
}
