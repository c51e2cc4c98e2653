/* send_trace: traces a run, and sends it home. */
#include "send_trace.h"

#include "../base/text.h"
#include "../rows/columns.h"
#include "run_rows.h"

#include <jansson.h>
#include <stdlib.h>

/* The axes of the row, and others that decide what the run does. */
static void write_title(const struct row *row, FILE *out)
{
    json_t *title = json_object();
    for (int c = 0; c < COLUMN_COUNT; c++) {
        char text[FIELD_BYTES];
        if (columns[c].class != CLASS_AXIS || column_empty(&columns[c], row))
            continue;
        column_text(&columns[c], row, text, sizeof text);
        json_object_set_new(title, columns[c].name, json_string(text));
    }
    json_dumpf(title, out, JSON_COMPACT);
    json_decref(title);
}

const char *send_trace(const struct run *run, const struct measurement *m,
                       const struct trial *trial)
{
    struct device *device = run->session->device;
    struct row_texts texts;
    const struct row row = make_row(run, m->entry, &texts);
    struct text text;
    open_text(&text);
    fputs("{\"title\":", text.out);
    write_title(&row, text.out);
    fputc(',', text.out);
    const char *why = device->can->trace(device, trial, text.out);
    fputc('}', text.out);
    close_text(&text);
    if (why == NULL)
        results_add_trace(run->results, text.bytes, text.count);
    free(text.bytes);
    return why;
}
