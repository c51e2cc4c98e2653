/* show: prints the first and last elements of input and result. */
#include "show.h"

#include "../base/errors.h"
#include "../device/elements.h"
#include "../names.h"
#include "../operations.h"

#include <stdio.h>

static void show_array(const struct session *session, enum element_type type, uint64_t n,
                       const char *what, const struct buffer *buffer, unsigned show)
{
    fprintf(words(), "  %-7s", what);
    const uint64_t shown = n < show ? n : show;
    for (uint64_t k = 0; k <= shown; k++) {
        const bool last = k == shown;
        const uint64_t i = last ? n - 1 : k;
        if (last && n <= shown)
            break;
        unsigned char raw[8] = {0};
        char text[40];
        const size_t bytes = element_bytes(type);
        const char *why = session->device->can->read(session->device, raw,
                                                     (const char *)buffer->data + i * bytes, bytes);
        if (why != NULL) {
            fprintf(words(), " %s", why);
            break;
        }
        format_element(type, element_load(type, raw, 0), text, sizeof text);
        fprintf(words(), "%s %s", last && n > (uint64_t)shown + 1 ? " ..." : "", text);
    }
    fputc('\n', words());
}

void show_result(const struct session *session, const struct problem *p, const char *algorithm,
                 uint64_t written, unsigned show)
{
    fprintf(words(), "%s %s, n = %llu", operation_name(p->op), algorithm, (unsigned long long)p->n);
    if (operation_has(p->op, HAS_KEEP))
        fprintf(words(), ", %llu kept", (unsigned long long)written);
    fputc('\n', words());
    show_array(session, p->type, p->n, "input", &session->workspace.input, show);
    if (session->workspace.second.data != NULL)
        show_array(session, second_type(p), second_count(p), "second", &session->workspace.second,
                   show);
    show_array(session, p->type, written, "output", &session->workspace.output, show);
    if (p->values != VALUES_NONE)
        show_array(session, index_input(p->values, p->n).type, p->n, "values",
                   &session->workspace.output_values, show);
}
