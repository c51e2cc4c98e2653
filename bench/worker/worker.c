/* worker: starts workers, answers them, and says how they ended. */
#define _GNU_SOURCE /* F_DUPFD_CLOEXEC, pipe2, MAP_ANONYMOUS */
#include "worker.h"

#include "../../timing/clock.h"
#include "../base/errors.h"
#include "../base/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long a worker may take to end after a signal, before it is killed; and how often that, and
 * the limit of a row, are looked at. */
enum { PATIENCE_MS = 5000, LOOK_MS = 500 };

enum { READ_END, WRITE_END };

struct worker {
    pid_t process;
    int line;        /* its calls of the report */
    int printed;     /* what its code prints, on stdout and stderr */
    char text[1024]; /* the beginning of a line that it has not ended */
    size_t text_bytes;
    double told_ms; /* when a signal was passed on; 0: not yet */
    bool overdue;   /* it was killed at the limit of a row */
};

/* ---- in the worker ---- */

/* Our own words go to stderr as they are; whatever else is printed goes to the other process. */
static void part_words_from_output(int output)
{
    const int words = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (words < 0)
        end_process(EXIT_ERROR, "too many files are open");
    speak_to(words);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
}

static void become_worker(pid_t parent, int output)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_ERROR);
    part_words_from_output(output);
}

static void work(worker_task *task, void *context, const struct output_spec *spec, int line,
                 struct run_state *state)
{
    struct results results = {.spec = spec, .line = line};
    keep_last_words(state->last_words);
    setvbuf(stdout, NULL, _IOLBF, 0); /* what the user's code prints is marked at once */
    state->result = task(context, &results, state);
    state->name[0] = '\0';
    state->finished = true;
    exit(EXIT_OK);
}

/* ---- starting it ---- */

static bool start_worker(struct worker *worker, worker_task *task, void *context,
                         const struct output_spec *spec, struct run_state *state)
{
    int line[2], output[2];
    const pid_t parent = getpid();
    *worker = (struct worker){.process = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) != 0)
        return false;
    if (pipe2(output, O_CLOEXEC) == 0) {
        if (fcntl(output[READ_END], F_SETFL, O_NONBLOCK) == 0)
            worker->process = fork();
        if (worker->process == 0) {
            close(line[READ_END]);
            become_worker(parent, output[WRITE_END]);
            work(task, context, spec, line[WRITE_END], state);
        }
        close(output[WRITE_END]);
        worker->printed = output[READ_END];
    }
    close(line[WRITE_END]);
    worker->line = line[READ_END];
    return worker->process > 0;
}

/* ---- what its code prints ---- */

/* A line of progress gives way. */
static void print_marked(struct worker *worker, const struct run_state *state)
{
    if (isatty(STDERR_FILENO) == 1)
        fputs("\r\033[K", stderr);
    if (state->name[0] != '\0')
        fprintf(stderr, "[%.*s] ", (int)sizeof state->name - 1, state->name);
    fwrite(worker->text, 1, worker->text_bytes, stderr);
    fputc('\n', stderr);
    worker->text_bytes = 0;
}

/* Passes on what is there; of a line without an end only when it is long, or the last. */
static void pass_on_output(struct worker *worker, const struct run_state *state)
{
    char bytes[4096];
    ssize_t count;
    while ((count = read(worker->printed, bytes, sizeof bytes)) > 0)
        for (ssize_t b = 0; b < count; b++) {
            if (bytes[b] != '\n')
                worker->text[worker->text_bytes++] = bytes[b];
            if (bytes[b] == '\n' || worker->text_bytes == sizeof worker->text)
                print_marked(worker, state);
        }
}

/* ---- while it works ---- */

static void pass_on_signal(struct worker *worker)
{
    if (!interrupted())
        return;
    if (worker->told_ms == 0) {
        kill(worker->process, SIGTERM);
        worker->told_ms = clock_ms();
    } else if (clock_ms() - worker->told_ms > PATIENCE_MS) {
        kill(worker->process, SIGKILL);
    }
}

static void look_at_limit(struct worker *worker, const struct run_state *state)
{
    const double end_ms = state->end_ms;
    if (end_ms == 0 || clock_ms() < end_ms || worker->overdue || state->finished)
        return;
    worker->overdue = true;
    kill(worker->process, SIGKILL);
}

static bool has_ended(const struct worker *worker)
{
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)worker->process, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid != 0;
}

/* The line stays open if the user's code has forked. Returns when the worker has ended. */
static void serve(struct worker *worker, const struct output_spec *spec, struct report **report,
                  struct run_state *state)
{
    bool open = true;
    while (open || !has_ended(worker)) {
        struct pollfd ends[2] = {{.fd = worker->printed, .events = POLLIN},
                                 {.fd = open ? worker->line : -1, .events = POLLIN}};
        if (poll(ends, 2, open ? LOOK_MS : LOOK_MS / 50) < 0)
            ends[1].revents = 0;
        pass_on_signal(worker);
        look_at_limit(worker, state);
        pass_on_output(worker, state);
        if (ends[1].revents != 0)
            open = answer_worker(worker->line, spec, report);
        else if (open)
            open = !has_ended(worker);
    }
}

/* Returns how it ended, as waitpid() does. */
static int bury(struct worker *worker, const struct run_state *state)
{
    int status = 0;
    while (waitpid(worker->process, &status, 0) < 0 && errno == EINTR)
        continue;
    pass_on_output(worker, state);
    if (worker->text_bytes > 0)
        print_marked(worker, state);
    close(worker->line);
    close(worker->printed);
    return status;
}

/* ---- when it dies ---- */

/* What user code does to its process, in words. */
static void describe_end(const struct worker *worker, int status, const struct run_state *state,
                         char words[LAST_WORDS_BYTES])
{
    if (worker->overdue)
        snprintf(words, LAST_WORDS_BYTES, "it did not end within %g s", state->limit_ms / 1e3);
    else if (WIFEXITED(status))
        snprintf(words, LAST_WORDS_BYTES, "it called exit(%d)", WEXITSTATUS(status));
    else
        snprintf(words, LAST_WORDS_BYTES, "it was ended by signal %d (%s)%s", WTERMSIG(status),
                 strsignal(WTERMSIG(status)),
                 WTERMSIG(status) == SIGKILL ? ", perhaps for want of memory" : "");
}

static void store_last_words(const struct worker *worker, int status, struct run_state *state)
{
    char words[LAST_WORDS_BYTES];
    describe_end(worker, status, state, words);
    state->last_words[LAST_WORDS_BYTES - 1] = '\0';
    if (state->last_words[0] == '\0')
        snprintf(state->last_words, LAST_WORDS_BYTES, "%.200s%s", words,
                 state->running != state->suspect || !state->inside ? ", after its calls" : "");
    state->last_code = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_WRONG_ANSWER
                           ? EXIT_WRONG_ANSWER
                           : EXIT_ERROR;
}

/* The row is home, so that a line says it. */
static void tell_of_death_after_row(struct run_state *state)
{
    complain("%.*s: %s, after its row", (int)sizeof state->name - 1, state->name,
             state->last_words);
    state->last_words[0] = '\0';
    state->code = worse_exit_code(state->code, EXIT_ERROR);
}

/* Marks the entry at which the worker died. Returns false if it was at none, or if one died there
 * before. */
static bool note_death(const struct worker *worker, int status, struct run_state *state)
{
    const int entry = state->suspect;
    if (entry < 0 || entry >= MOST_ENTRIES || state->entries[entry] == ENTRY_ENDED_WORKER ||
        state->entries[entry] == ENTRY_LOST_DEVICE)
        return false;
    store_last_words(worker, status, state);
    if (state->entries[entry] == ENTRY_DONE) {
        tell_of_death_after_row(state);
        state->entries[entry] = ENTRY_LOST_DEVICE;
    } else {
        state->entries[entry] = ENTRY_ENDED_WORKER;
    }
    state->end_ms = 0;
    state->inside = false;
    return true;
}

/* The code of a worker whose work is done; what it does when it ends may still fail. */
static int code_at_end(int status, const struct run_state *state)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_OK)
        return state->result;
    if (WIFEXITED(status))
        complain("after the last row its process ended with code %d", WEXITSTATUS(status));
    else
        complain("after the last row its process was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    return worse_exit_code(state->result, EXIT_ERROR);
}

/* Returns whether a new worker must go on after one that ended so; else stores the exit code. */
static bool must_go_on(const struct worker *worker, int status, struct run_state *state, int *code)
{
    if (state->finished) {
        *code = code_at_end(status, state);
        if (state->lost)
            complain("the device is lost for this process; a new one continues with the rest");
        return state->lost;
    }
    *code = EXIT_INTERRUPTED;
    if (interrupted())
        return false;
    if (note_death(worker, status, state))
        return true;
    char words[LAST_WORDS_BYTES];
    describe_end(worker, status, state, words);
    complain("%.*s: %s; earlier rows are kept", (int)sizeof state->name - 1,
             state->name[0] != '\0' ? state->name : "the process that measures",
             state->last_words[0] != '\0' ? state->last_words : words);
    *code = worse_exit_code(state->code, EXIT_ERROR);
    return false;
}

int run_in_worker(worker_task *task, void *context, const struct output_spec *spec,
                  struct report **report)
{
    struct worker worker;
    int code = EXIT_ERROR;
    bool go_on = true;
    *report = NULL;
    struct run_state *state =
        mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (state == MAP_FAILED)
        out_of_memory();
    *state = first_state();
    while (go_on) {
        state->finished = state->lost = false;
        if (!start_worker(&worker, task, context, spec, state)) {
            complain("no process can be started: %s; earlier rows are kept", strerror(errno));
            code = worse_exit_code(state->code, EXIT_ERROR);
            break;
        }
        catch_interrupts();
        serve(&worker, spec, report, state);
        go_on = must_go_on(&worker, bury(&worker, state), state, &code);
    }
    munmap(state, sizeof *state);
    return code;
}
