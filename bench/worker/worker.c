/* worker: starts workers, answers them, and says how they ended. */
#define _GNU_SOURCE /* F_DUPFD_CLOEXEC, pipe2, MAP_ANONYMOUS */
#include "worker.h"

#include "../../timing/clock.h"
#include "../base/errors.h"
#include "../base/interrupt.h"
#include "../rows/defect_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* PATIENCE_MS: from a signal until the worker is killed. LOOK_MS: the longest time between two
 * looks at signals and limits. */
enum { PATIENCE_MS = 5000, LOOK_MS = 500 };

/* The time for a worker to end after its last row: at least LEAST_LAST_MS, since closing several
 * GPUs takes seconds; DEFAULT_LAST_MS where rows have no limit. */
enum { LEAST_LAST_MS = 10000, DEFAULT_LAST_MS = 60000 };

enum { READ_END, WRITE_END };

struct worker {
    pid_t process;
    int channel;     /* its requests to the report */
    int printed;     /* what its code prints, on stdout and stderr */
    char text[1024]; /* the beginning of a line that it has not ended */
    size_t text_bytes;
    char name[sizeof((struct run_state *)0)->name]; /* whose line that is */
    double told_ms;                                 /* when a signal was passed on; 0: not yet */
    double looked_ms;                               /* when its limit was last looked at */
    double limited_ms;                              /* state->end_ms at that time */
    double suspended_ms; /* how long this program was suspended before that end */
    bool overdue;        /* it was killed at its limit */
};

/* ---- in the worker ---- */

/* Our own words go to stderr as they are; whatever else is printed goes to the parent. */
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

/* What the user's code does when the process ends has a limit, too. */
static void work(worker_task *task, void *context, const struct output_spec *spec, int channel,
                 struct run_state *state)
{
    struct results results = {.spec = spec, .state = state, .channel = channel};
    keep_last_words(state->last_words);
    setvbuf(stdout, NULL, _IOLBF, 0); /* what the user's code prints is marked at once */
    state->result = task(context, &results, state);
    mark_output(&results, "after the last row");
    set_limit(state, state->limit_ms > 0 ? fmax(state->limit_ms, LEAST_LAST_MS) : DEFAULT_LAST_MS);
    state->finished = true;
    exit(EXIT_OK);
}

/* ---- starting it ---- */

static bool start_worker(struct worker *worker, worker_task *task, void *context,
                         const struct output_spec *spec, struct run_state *state)
{
    int channel[2], output[2];
    const pid_t parent = getpid();
    *worker = (struct worker){.process = -1, .looked_ms = clock_ms()};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) != 0)
        return false;
    if (pipe2(output, O_CLOEXEC) == 0) {
        if (fcntl(output[READ_END], F_SETFL, O_NONBLOCK) == 0)
            worker->process = fork();
        if (worker->process == 0) {
            close(channel[READ_END]);
            become_worker(parent, output[WRITE_END]);
            work(task, context, spec, channel[WRITE_END], state);
        }
        close(output[WRITE_END]);
        worker->printed = output[READ_END];
    }
    close(channel[WRITE_END]);
    worker->channel = channel[READ_END];
    return worker->process > 0;
}

/* ---- what its code prints ---- */

/* A line of progress gives way. */
static void print_marked(struct worker *worker)
{
    if (isatty(STDERR_FILENO) == 1)
        fputs("\r\033[K", stderr);
    if (worker->name[0] != '\0')
        fprintf(stderr, "[%s] ", worker->name);
    fwrite(worker->text, 1, worker->text_bytes, stderr);
    fputc('\n', stderr);
    worker->text_bytes = 0;
}

/* The name changes when what was printed before has been read. */
static void note_name(struct worker *worker, const struct run_state *state)
{
    char name[sizeof worker->name];
    snprintf(name, sizeof name, "%.*s", (int)sizeof name - 1, state->name);
    if (worker->text_bytes > 0 && strcmp(worker->name, name) != 0)
        print_marked(worker);
    memcpy(worker->name, name, sizeof name);
}

/* Passes on what is there; of a line without an end only when it is long, or another's follows. */
static void pass_on_output(struct worker *worker, const struct run_state *state)
{
    char bytes[4096];
    ssize_t count;
    while ((count = read(worker->printed, bytes, sizeof bytes)) > 0) {
        note_name(worker, state);
        for (ssize_t b = 0; b < count; b++) {
            if (bytes[b] != '\n')
                worker->text[worker->text_bytes++] = bytes[b];
            if (bytes[b] == '\n' || worker->text_bytes == sizeof worker->text)
                print_marked(worker);
        }
    }
    if (count == 0) { /* or poll() would return at once */
        close(worker->printed);
        worker->printed = -1;
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

/* Time in which this program was suspended does not count: it did not look, either. */
static void look_at_limit(struct worker *worker, const struct run_state *state)
{
    const double end_ms = state->end_ms, now = clock_ms(), gap = now - worker->looked_ms;
    if (worker->limited_ms != end_ms)
        worker->suspended_ms = 0;
    if (gap > 2 * LOOK_MS)
        worker->suspended_ms += gap;
    worker->limited_ms = end_ms;
    worker->looked_ms = now;
    if (end_ms == 0 || now < end_ms + worker->suspended_ms || worker->overdue)
        return;
    worker->overdue = true;
    kill(worker->process, SIGKILL);
}

/* How long to wait before limits are looked at again. */
static int wait_ms(const struct worker *worker, const struct run_state *state, bool open)
{
    const double end_ms = state->end_ms, left = end_ms + worker->suspended_ms - clock_ms();
    if (!open)
        return LOOK_MS / 50;
    return end_ms == 0 || worker->overdue ? LOOK_MS : (int)fmin(fmax(ceil(left), 1), LOOK_MS);
}

static bool has_ended(const struct worker *worker)
{
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)worker->process, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid != 0;
}

/* The channel stays open if the user's code has forked. Returns when the worker has ended. */
static void serve(struct worker *worker, const struct output_spec *spec, struct report **report,
                  struct run_state *state)
{
    bool open = true;
    while (open || !has_ended(worker)) {
        struct pollfd ends[2] = {{.fd = worker->printed, .events = POLLIN},
                                 {.fd = open ? worker->channel : -1, .events = POLLIN}};
        if (poll(ends, 2, wait_ms(worker, state, open)) < 0)
            ends[1].revents = 0;
        pass_on_signal(worker);
        look_at_limit(worker, state);
        pass_on_output(worker, state);
        if (ends[1].revents != 0)
            open = answer_worker(worker->channel, spec, report, state);
        else if (open)
            open = !has_ended(worker);
        if (!open)
            shutdown(worker->channel, SHUT_RDWR); /* it may wait for an answer */
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
        print_marked(worker);
    close(worker->channel);
    if (worker->printed >= 0)
        close(worker->printed);
    return status;
}

/* ---- when it dies ---- */

/* What user code does to its process, in words. */
static void describe_end(const struct worker *worker, int status, const struct run_state *state,
                         char words[LAST_WORDS_BYTES])
{
    if (state->last_words[0] != '\0')
        snprintf(words, LAST_WORDS_BYTES, "%.*s", LAST_WORDS_BYTES - 1, state->last_words);
    else if (worker->overdue)
        snprintf(words, LAST_WORDS_BYTES, DID_NOT_END "%g s", state->limit_ms / 1e3);
    else if (WIFEXITED(status))
        snprintf(words, LAST_WORDS_BYTES, "it called exit(%d)", WEXITSTATUS(status));
    else
        snprintf(words, LAST_WORDS_BYTES, "it was ended by signal %d (%s)%s", WTERMSIG(status),
                 strsignal(WTERMSIG(status)),
                 WTERMSIG(status) == SIGKILL ? ", perhaps for want of memory" : "");
}

static void store_reason(const struct worker *worker, int status, struct run_state *state)
{
    const bool after =
        state->suspect != NO_ENTRY && (state->running != state->suspect || !state->inside);
    char words[LAST_WORDS_BYTES];
    describe_end(worker, status, state, words);
    snprintf(state->reason, sizeof state->reason, "%.200s%s", words,
             after && state->last_words[0] == '\0' ? ", after its calls" : "");
    state->reason_code = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_WRONG_ANSWER
                             ? EXIT_WRONG_ANSWER
                             : EXIT_ERROR;
}

/* The row is home, so that a line says it. */
static void tell_of_death_after_row(struct run_state *state)
{
    complain("%.*s: %s, after its row", (int)sizeof state->name - 1, state->name, state->reason);
    state->code = worse_exit_code(state->code, EXIT_ERROR);
}

/* Marks the entry at which the worker died. Returns false if one died there before. */
static bool note_death_at_entry(char *became)
{
    if (*became == ENTRY_ENDED_WORKER || *became == ENTRY_LOST_DEVICE)
        return false;
    *became = *became == ENTRY_DONE ? ENTRY_LOST_DEVICE : ENTRY_ENDED_WORKER;
    return true;
}

/* Before the first entry of a group ran, what all of them share ended the worker. Returns false if
 * none is left to do. */
static bool note_death_of_group(char *became)
{
    bool any = false;
    for (; *became != '\0'; became++)
        if (*became == ENTRY_TO_DO) {
            *became = ENTRY_ENDED_WORKER;
            any = true;
        }
    return any;
}

/* Returns false if a new worker would only die at the same place. */
static bool note_death(const struct worker *worker, int status, struct run_state *state)
{
    const int entry = state->suspect;
    char *entries = state->entries;
    if (entry >= MOST_ENTRIES || entries[0] == '\0' ||
        !(entry < 0 ? note_death_of_group(entries) : note_death_at_entry(&entries[entry])))
        return false;
    store_reason(worker, status, state);
    if (entry >= 0 && entries[entry] == ENTRY_LOST_DEVICE)
        tell_of_death_after_row(state);
    return true;
}

/* The code of a worker whose work is done; what it does when it ends may still fail. */
static int code_at_end(const struct worker *worker, int status, const struct run_state *state)
{
    char words[LAST_WORDS_BYTES];
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_OK)
        return state->result;
    describe_end(worker, status, state, words);
    complain("after the last row: %s", words);
    return worse_exit_code(state->result, EXIT_ERROR);
}

/* Returns whether a new worker must go on after one that ended so; else stores the exit code. */
static bool must_go_on(const struct worker *worker, int status, struct run_state *state, int *code)
{
    if (state->finished) {
        *code = code_at_end(worker, status, state);
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
             state->name[0] != '\0' ? state->name : "the process that measures", words);
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
        state->finished = state->lost = state->inside = false;
        set_limit(state, 0);
        state->last_words[0] = '\0';
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
