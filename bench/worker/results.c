/* results: calls of a report, directly or over a line between two processes.
 *
 * A call is a head and its bytes; the answer has a fixed size. Announcements and traces have none,
 * so that the worker does not wait for each. */
#define _DEFAULT_SOURCE /* FIONREAD */
#include "results.h"

#include "../base/errors.h"
#include "../base/processes.h"
#include "../base/text.h"
#include "row_wire.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum call_kind { CALL_OPEN, CALL_ANNOUNCE, CALL_ADD, CALL_TRACE, CALL_END_GROUP, CALL_HAD };

struct head {
    uint32_t kind;
    uint32_t samples; /* times of samples, before the row */
    uint64_t bytes;
};

struct answer {
    int32_t code;
    bool failed;
    struct had had;
};

/* ---- bytes ---- */

static bool send_bytes(int line, const void *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        const ssize_t sent = write(line, (const char *)bytes + done, count - done);
        if (sent < 0 && errno != EINTR)
            return false;
        done += sent > 0 ? (size_t)sent : 0;
    }
    return true;
}

static bool receive_bytes(int line, void *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        const ssize_t got = read(line, (char *)bytes + done, count - done);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* ---- the worker's side ---- */

/* Without the other process nobody reads what the worker does. */
static void lose_line(void)
{
    _exit(EXIT_ERROR);
}

static void send_head_and_bytes(const struct results *results, const struct head *head,
                                const char *bytes)
{
    if (!send_bytes(results->line, head, sizeof *head) ||
        !send_bytes(results->line, bytes, head->bytes))
        lose_line();
}

static void send_call(const struct results *results, enum call_kind kind, const struct row *row,
                      const double *time_ms, size_t samples)
{
    struct text text;
    struct head head = {.kind = kind, .samples = (uint32_t)samples};
    open_text(&text);
    if (samples > 0)
        fwrite(time_ms, sizeof *time_ms, samples, text.out);
    if (row != NULL)
        put_row(text.out, row);
    close_text(&text);
    head.bytes = text.count;
    send_head_and_bytes(results, &head, text.bytes);
    free(text.bytes);
}

static struct answer ask(struct results *results, enum call_kind kind, const struct row *row,
                         const double *time_ms, size_t samples)
{
    struct answer answer;
    send_call(results, kind, row, time_ms, samples);
    if (!receive_bytes(results->line, &answer, sizeof answer))
        lose_line();
    results->failed = answer.failed;
    return answer;
}

/* ---- what each call does ---- */

static struct had look_up(const struct report *report, const struct row *row)
{
    const struct resume *resume = report_resume(report);
    return (struct had){.all = resume_has_all(resume, row),
                        .passed = resume_passed(resume, row),
                        .lost = resume_lost_count(resume, row)};
}

/* A new worker finds the report open. */
static int open_once(const struct output_spec *spec, struct report **report)
{
    int code = EXIT_OK;
    if (*report == NULL)
        *report = open_report(spec, &code);
    return code;
}

int results_open(struct results *results)
{
    if (results->line >= 0)
        return ask(results, CALL_OPEN, NULL, NULL, 0).code;
    const int code = open_once(results->spec, &results->report);
    return all_processes(results->report != NULL) ? EXIT_OK : worse_exit_code(code, EXIT_ERROR);
}

void results_announce(struct results *results, const struct row *row)
{
    if (results->line >= 0)
        send_call(results, CALL_ANNOUNCE, row, NULL, 0);
    else
        announce_row(results->report, row);
}

bool results_add(struct results *results, const struct row *row, const double *time_ms,
                 size_t count)
{
    return results->line >= 0 ? !ask(results, CALL_ADD, row, time_ms, count).failed
                              : report_row(results->report, row, time_ms, count);
}

void results_add_trace(struct results *results, const char *trace, size_t count)
{
    const struct head head = {.kind = CALL_TRACE, .bytes = count};
    if (results->line >= 0)
        send_head_and_bytes(results, &head, trace);
    else
        report_trace(results->report, trace, count);
}

bool results_end_group(struct results *results)
{
    return results->line >= 0 ? !ask(results, CALL_END_GROUP, NULL, NULL, 0).failed
                              : end_group_of_rows(results->report);
}

bool results_failed(const struct results *results)
{
    return results->line >= 0 ? results->failed : report_failed(results->report);
}

struct had results_had(struct results *results, const struct row *row)
{
    if (results->spec->opening != FILE_RESUME)
        return (struct had){0};
    return results->line >= 0 ? ask(results, CALL_HAD, row, NULL, 0).had
                              : look_up(results->report, row);
}

/* The other process reads at once, unless its own output is blocked. */
void results_settle_output(const struct results *results)
{
    const struct timespec moment = {.tv_nsec = 1000 * 1000};
    int unread = 0;
    if (results->line < 0)
        return;
    fflush(stdout);
    for (int tries = 0; tries < 100; tries++) {
        if (ioctl(STDOUT_FILENO, FIONREAD, &unread) != 0 || unread == 0)
            return;
        nanosleep(&moment, NULL);
    }
}

/* ---- the other side ---- */

/* A worker of the same build made the bytes, but the user's code may have written over them. */
static bool is_sound(const struct head *head, bool report_is_open)
{
    static const uint64_t MOST_BYTES = (uint64_t)1 << 30;
    return head->kind <= CALL_HAD && (report_is_open || head->kind == CALL_OPEN) &&
           head->bytes <= MOST_BYTES && head->samples * sizeof(double) <= head->bytes;
}

static struct answer do_call(const struct head *head, const char *bytes,
                             const struct output_spec *spec, struct report **report)
{
    struct answer answer = {.code = EXIT_OK};
    struct row row;
    const size_t times = head->samples * sizeof(double);
    const bool has_row = take_row(bytes + times, bytes + head->bytes, &row) != NULL;
    if (head->kind == CALL_OPEN)
        answer.code = open_once(spec, report);
    else if (head->kind == CALL_TRACE)
        report_trace(*report, bytes, head->bytes);
    else if (head->kind == CALL_END_GROUP)
        end_group_of_rows(*report);
    else if (has_row && head->kind == CALL_ANNOUNCE)
        announce_row(*report, &row);
    else if (has_row && head->kind == CALL_ADD)
        report_row(*report, &row, (const double *)(const void *)bytes, head->samples);
    else if (has_row)
        answer.had = look_up(*report, &row);
    answer.failed = *report == NULL || report_failed(*report);
    return answer;
}

static bool has_answer(uint32_t kind)
{
    return kind != CALL_ANNOUNCE && kind != CALL_TRACE;
}

bool answer_worker(int line, const struct output_spec *spec, struct report **report)
{
    struct head head;
    if (!receive_bytes(line, &head, sizeof head) || !is_sound(&head, *report != NULL))
        return false;
    char *bytes = allocate_or_die(NULL, head.bytes);
    bool alive = receive_bytes(line, bytes, head.bytes);
    if (alive) {
        const struct answer answer = do_call(&head, bytes, spec, report);
        alive = !has_answer(head.kind) || send_bytes(line, &answer, sizeof answer);
    }
    free(bytes);
    return alive;
}
