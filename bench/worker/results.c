/* results: a report, used directly or by requests over the channel between worker and parent.
 *
 * A request is a head and its bytes; the answer has a fixed size. Announcements and traces have
 * none, so that the worker does not wait for each. */
#include "results.h"

#include "../base/errors.h"
#include "../base/processes.h"
#include "../base/text.h"
#include "row_wire.h"

#include <errno.h>
#include <stdint.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum request {
    REQUEST_OPEN,
    REQUEST_ANNOUNCE,
    REQUEST_ADD,
    REQUEST_TRACE,
    REQUEST_END_GROUP,
    REQUEST_HAD,
    REQUEST_SETTLE_OUTPUT
};

struct head {
    uint32_t request;
    int32_t entry;    /* whose row is added; NO_ENTRY: of none */
    uint32_t samples; /* times of samples, before the row */
    uint64_t bytes;
};

struct answer {
    int32_t code;
    bool failed;
    struct had had;
};

/* ---- bytes ---- */

static bool send_bytes(int channel, const void *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        const ssize_t sent = write(channel, (const char *)bytes + done, count - done);
        if (sent < 0 && errno != EINTR)
            return false;
        done += sent > 0 ? (size_t)sent : 0;
    }
    return true;
}

static bool receive_bytes(int channel, void *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        const ssize_t got = read(channel, (char *)bytes + done, count - done);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* ---- the worker's side ---- */

/* Without its parent nobody reads what the worker does; and that lives, or this process would not.
 */
static void lose_channel(void)
{
    end_process(EXIT_ERROR, "it closed descriptors of this program, or wrote over its memory");
}

static void send_head_and_bytes(const struct results *results, const struct head *head,
                                const char *bytes)
{
    if (!send_bytes(results->channel, head, sizeof *head) ||
        !send_bytes(results->channel, bytes, head->bytes))
        lose_channel();
}

static void send_request(const struct results *results, struct head head, const struct row *row,
                         const double *time_ms)
{
    struct text text;
    open_text(&text);
    if (head.samples > 0)
        fwrite(time_ms, sizeof *time_ms, head.samples, text.out);
    if (row != NULL)
        put_row(text.out, row);
    close_text(&text);
    head.bytes = text.count;
    send_head_and_bytes(results, &head, text.bytes);
    free(text.bytes);
}

static struct answer receive_answer(struct results *results)
{
    struct answer answer;
    if (!receive_bytes(results->channel, &answer, sizeof answer))
        lose_channel();
    results->failed = answer.failed;
    return answer;
}

static struct answer ask(struct results *results, enum request request, const struct row *row)
{
    send_request(results, (struct head){.request = request, .entry = NO_ENTRY}, row, NULL);
    return receive_answer(results);
}

/* ---- what each request does ---- */

/* A new worker finds the report open. */
static int open_once(const struct output_spec *spec, struct report **report)
{
    int code = EXIT_OK;
    if (*report == NULL)
        *report = open_report(spec, &code);
    return code;
}

/* From then on the row is not measured again, even if the worker dies at once. */
static bool add_row(struct report *report, struct run_state *state, int entry,
                    const struct row *row, const double *time_ms, size_t count)
{
    const bool added = report_row(report, row, time_ms, count);
    if (entry != NO_ENTRY)
        state->entries[entry] = ENTRY_DONE;
    return added;
}

int results_open(struct results *results)
{
    if (results->channel >= 0)
        return ask(results, REQUEST_OPEN, NULL).code;
    const int code = open_once(results->spec, &results->report);
    return all_processes(results->report != NULL) ? EXIT_OK : worse_exit_code(code, EXIT_ERROR);
}

void results_announce(struct results *results, const struct row *row)
{
    const struct head head = {.request = REQUEST_ANNOUNCE, .entry = NO_ENTRY};
    if (results->channel >= 0)
        send_request(results, head, row, NULL);
    else
        announce_row(results->report, row);
}

bool results_add(struct results *results, int entry, const struct row *row, const double *time_ms,
                 size_t count)
{
    const struct head head = {.request = REQUEST_ADD, .entry = entry, .samples = (uint32_t)count};
    if (results->channel < 0)
        return add_row(results->report, results->state, entry, row, time_ms, count);
    send_request(results, head, row, time_ms);
    return !receive_answer(results).failed;
}

void results_add_trace(struct results *results, const char *trace, size_t count)
{
    const struct head head = {.request = REQUEST_TRACE, .entry = NO_ENTRY, .bytes = count};
    if (results->channel >= 0)
        send_head_and_bytes(results, &head, trace);
    else
        report_trace(results->report, trace, count);
}

bool results_end_group(struct results *results)
{
    return results->channel >= 0 ? !ask(results, REQUEST_END_GROUP, NULL).failed
                                 : end_group_of_rows(results->report);
}

bool results_failed(const struct results *results)
{
    return results->channel >= 0 ? results->failed : report_failed(results->report);
}

struct had results_had(struct results *results, const struct row *row)
{
    if (results->spec->opening != FILE_RESUME)
        return (struct had){0};
    return results->channel >= 0 ? ask(results, REQUEST_HAD, row).had
                                 : report_had(results->report, row);
}

/* The parent has read what was printed before the request when it answers. */
void mark_output(struct results *results, const char *name)
{
    struct run_state *state = results->state;
    if (results->channel >= 0 && strcmp(state->name, name) != 0) {
        if (__fpending(stdout) > 0)
            fflush(stdout);
        ask(results, REQUEST_SETTLE_OUTPUT, NULL);
    }
    snprintf(state->name, sizeof state->name, "%s", name);
}

/* ---- the parent's side ---- */

/* A worker of the same build made the bytes, but the user's code may have written over them. */
static bool is_sound(const struct head *head, bool report_is_open)
{
    static const uint64_t MOST_BYTES = (uint64_t)1 << 30;
    const bool needs_report =
        head->request != REQUEST_OPEN && head->request != REQUEST_SETTLE_OUTPUT;
    return head->request <= REQUEST_SETTLE_OUTPUT && (report_is_open || !needs_report) &&
           head->entry >= NO_ENTRY && head->entry < MOST_ENTRIES && head->bytes <= MOST_BYTES &&
           head->samples * sizeof(double) <= head->bytes;
}

static struct answer do_request(const struct head *head, const char *bytes,
                                const struct output_spec *spec, struct report **report,
                                struct run_state *state)
{
    struct answer answer = {.code = EXIT_OK};
    struct row row;
    const size_t times = head->samples * sizeof(double);
    const bool has_row = take_row(bytes + times, bytes + head->bytes, &row) != NULL;
    if (head->request == REQUEST_OPEN)
        answer.code = open_once(spec, report);
    else if (head->request == REQUEST_TRACE)
        report_trace(*report, bytes, head->bytes);
    else if (head->request == REQUEST_END_GROUP)
        end_group_of_rows(*report);
    else if (has_row && head->request == REQUEST_ANNOUNCE)
        announce_row(*report, &row);
    else if (has_row && head->request == REQUEST_ADD)
        add_row(*report, state, head->entry, &row, (const double *)(const void *)bytes,
                head->samples);
    else if (has_row && head->request == REQUEST_HAD)
        answer.had = report_had(*report, &row);
    answer.failed = *report != NULL && report_failed(*report);
    return answer;
}

static bool has_answer(uint32_t request)
{
    return request != REQUEST_ANNOUNCE && request != REQUEST_TRACE;
}

bool answer_worker(int channel, const struct output_spec *spec, struct report **report,
                   struct run_state *state)
{
    struct head head;
    if (!receive_bytes(channel, &head, sizeof head) || !is_sound(&head, *report != NULL))
        return false;
    char *bytes = allocate_or_die(NULL, head.bytes);
    bool alive = receive_bytes(channel, bytes, head.bytes);
    if (alive) {
        const struct answer answer = do_request(&head, bytes, spec, report, state);
        alive = !has_answer(head.request) || send_bytes(channel, &answer, sizeof answer);
    }
    free(bytes);
    return alive;
}
