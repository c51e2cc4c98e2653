/* progress: the progress line on stderr. */
#include "progress.h"

#include "../../timing/clock.h"
#include "../base/errors.h"
#include "../base/terminal.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { REFRESH_MS = 100, LINE_MS = 1000, LINE_BYTES = 512 };

static struct {
    bool on, on_terminal, shown;
    size_t row_count;
    size_t done_before; /* by other workers */
    double start_ms, last_ms;
} progress;

void start_progress(const struct options *options, size_t row_count, size_t done_before)
{
    const bool terminal = isatty(fileno(words())) == 1;
    memset(&progress, 0, sizeof progress);
    progress.on = options->progress == PROGRESS_ALWAYS ||
                  (options->progress == PROGRESS_AUTO && terminal && !options->quiet);
    progress.on_terminal = terminal;
    progress.row_count = row_count;
    progress.done_before = done_before;
    progress.start_ms = clock_ms();
}

void leave_out_of_progress(size_t row_count)
{
    progress.row_count -= row_count;
}

void format_duration(double seconds, char *text, size_t size)
{
    const unsigned long s = (unsigned long)(seconds + 0.5);
    if (s < 60)
        snprintf(text, size, "%lu s", s);
    else if (s < 3600)
        snprintf(text, size, "%lu min %lu s", s / 60, s % 60);
    else
        snprintf(text, size, "%lu h %lu min", s / 3600, s % 3600 / 60);
}

/* In place on a terminal: a line that reached its edge would leave a part behind. */
static void print_line(const char *text)
{
    if (progress.on_terminal)
        fprintf(words(), "\r\033[K%.*s", terminal_width(fileno(words())) - 1, text);
    else
        fprintf(words(), "%s\n", text);
    fflush(words());
    progress.shown = progress.on_terminal;
}

void show_progress(const char *what, double done)
{
    const double now = clock_ms();
    char left[48] = "", line[LINE_BYTES];
    if (!progress.on || now - progress.last_ms < (progress.on_terminal ? REFRESH_MS : LINE_MS))
        return;
    progress.last_ms = now;
    const double done_here = done - (double)progress.done_before;
    /* The first part of a row takes longer, because of what is done once. So there is no estimate
     * before a row, or a tenth of all, is done. */
    if (done_here > 0 && done_here >= fmin(1, (double)progress.row_count / 10)) {
        const double each_ms = (now - progress.start_ms) / done_here;
        char duration[32];
        format_duration(each_ms * ((double)progress.row_count - done) / 1e3, duration,
                        sizeof duration);
        snprintf(left, sizeof left, ", about %s left", duration);
    }
    snprintf(line, sizeof line, "%s: %zu of %zu rows%s", what, (size_t)done, progress.row_count,
             left);
    print_line(line);
}

void hide_progress(void)
{
    if (!progress.shown)
        return;
    fputs("\r\033[K", words());
    progress.shown = false;
    progress.last_ms = 0;
}
