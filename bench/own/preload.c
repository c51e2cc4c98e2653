/* preload: starts the program anew with the address sanitizer. */
#include "preload.h"

#include "../../emulator/emulator.h"
#include "../base/errors.h"
#include "compiler.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Its value is the number of the process, which shows that it was not inherited from elsewhere. */
#define MARK "SCANBENCH_SANITIZED"

/* Faults remain the emulator's; each access is told of, and the run goes on. */
#define SETTINGS                                                                            \
    "halt_on_error=0:suppress_equal_pcs=0:detect_leaks=0:detect_stack_use_after_return=0:"  \
    "detect_odr_violation=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:" \
    "handle_abort=0:allocator_may_return_null=1:quarantine_size_mb=32"

static bool loaded;

bool has_sanitizer(void)
{
    return loaded;
}

/* ---- the new process ---- */

/* The command line of this process, as it was typed. */
static char **own_arguments(void)
{
    FILE *file = fopen("/proc/self/cmdline", "r");
    char **arguments = NULL, *word = NULL;
    size_t count = 0, size = 0;
    while (file != NULL && getdelim(&word, &size, '\0', file) > 0) {
        arguments = allocate_or_die(arguments, (count + 2) * sizeof *arguments);
        arguments[count++] = copy_text(word);
        arguments[count] = NULL;
    }
    free(word);
    if (file != NULL)
        fclose(file);
    return arguments;
}

/* Returns only if it fails. */
static void start_anew(const char *runtime)
{
    char mark[32], preload[2 * PATH_MAX];
    const char *before = getenv("LD_PRELOAD");
    char **arguments = own_arguments();
    snprintf(mark, sizeof mark, "%ld", (long)getpid());
    snprintf(preload, sizeof preload, "%s%s%s", runtime, before != NULL ? ":" : "",
             before != NULL ? before : "");
    if (arguments != NULL && setenv(MARK, mark, 1) == 0 && setenv("LD_PRELOAD", preload, 1) == 0 &&
        setenv("ASAN_OPTIONS", SETTINGS, 1) == 0)
        execv("/proc/self/exe", arguments);
}

/* Compilers must not inherit it. What was preloaded before is named after a colon. */
static void clean_environment(void)
{
    const char *preload = getenv("LD_PRELOAD");
    const char *before = preload != NULL ? strchr(preload, ':') : NULL;
    if (before != NULL)
        setenv("LD_PRELOAD", before + 1, 1);
    else
        unsetenv("LD_PRELOAD");
    unsetenv("ASAN_OPTIONS");
    unsetenv(MARK);
}

void load_sanitizer(bool quiet)
{
    char runtime[PATH_MAX];
    const char *mark = getenv(MARK);
    if (mark != NULL && strtol(mark, NULL, 10) == (long)getpid()) {
        clean_environment();
        loaded = emulator_start_sanitizing();
    } else if (find_sanitizer_runtime(runtime)) {
        start_anew(runtime);
    }
    if (!loaded && !quiet)
        complain("--check: the compiler has no address sanitizer that can be used, so accesses "
                 "outside arrays are found only by what they change");
}
