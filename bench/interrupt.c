/* interrupt: signal handlers for a run. */
#include "interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

static volatile sig_atomic_t caught;

static void note_interrupt(int signal_number)
{
    (void)signal_number;
    caught = 1;
}

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

static void set_mask(int how)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t s = 0; s < sizeof signals / sizeof *signals; s++)
        sigaddset(&set, signals[s]);
    sigprocmask(how, &set, NULL);
}

void hold_interrupts(void)
{
    set_mask(SIG_BLOCK);
}

void catch_interrupts(void)
{
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = note_interrupt;
    /* No SA_RESTART: it would make a blocked write to a pipe wait on. */
    action.sa_flags = (int)SA_RESETHAND;
    for (size_t s = 0; s < sizeof signals / sizeof *signals; s++)
        if (sigaction(signals[s], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[s], &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    set_mask(SIG_UNBLOCK);
}

bool interrupted(void)
{
    return caught != 0;
}
