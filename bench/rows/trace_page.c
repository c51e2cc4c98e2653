/* trace_page: fills the page of report/trace with runs. Its parts are in the program. */
#include "trace_page.h"

#include <string.h>

/* Puts a file into the program, with a zero at its end. Its path is relative to where make runs. */
#define EMBED(name, file)                                                                   \
    __asm__(".pushsection .rodata\n" #name ": .incbin \"" file "\"\n.byte 0\n.popsection"); \
    extern const char name[]
EMBED(trace_page_html, "report/trace/page.html");
EMBED(trace_page_css, "report/trace/page.css");
EMBED(trace_figure_js, "report/trace/figure.js");
EMBED(trace_state_js, "report/trace/state.js");
EMBED(trace_panels_js, "report/trace/panels.js");
EMBED(trace_page_js, "report/trace/page.js");

/* The runs are data within a script element, which nothing in them may end. */
static void write_runs(const char *runs, size_t count, FILE *out)
{
    for (size_t i = 0; i < count; i++)
        if (runs[i] == '<')
            fputs("\\u003c", out);
        else
            fputc(runs[i], out);
}

/* Writes the page up to a mark, and returns what comes after that. */
static const char *write_up_to(const char *page, const char *mark, FILE *out)
{
    const char *found = strstr(page, mark);
    fwrite(page, 1, (size_t)(found - page), out);
    return found + strlen(mark);
}

void write_trace_page(const char *runs, size_t count, FILE *out)
{
    const char *rest = write_up_to(trace_page_html, "@STYLE@", out);
    fputs(trace_page_css, out);
    rest = write_up_to(rest, "@DATA@", out);
    write_runs(runs, count, out);
    rest = write_up_to(rest, "@SCRIPT@", out);
    fprintf(out, "%s\n%s\n%s\n%s", trace_state_js, trace_figure_js, trace_panels_js, trace_page_js);
    fputs(rest, out);
}
