/* row_wire: each field in the order of columns.def. A text is its length and its bytes with a zero
 * at the end; that of NULL has no bytes. */
#include "row_wire.h"

#include "../rows/columns.h"

#include <stdint.h>
#include <string.h>

static void put_text(FILE *out, const char *text)
{
    const uint32_t bytes = text != NULL ? (uint32_t)strlen(text) + 1 : 0;
    fwrite(&bytes, sizeof bytes, 1, out);
    if (bytes > 0)
        fwrite(text, 1, bytes, out);
}

void put_row(FILE *out, const struct row *row)
{
    for (int c = 0; c < COLUMN_COUNT; c++) {
        const char *field = (const char *)row + columns[c].offset;
        if (is_text(&columns[c]))
            put_text(out, *(const char *const *)field);
        else
            fwrite(field, 8, 1, out); /* a double or an int64_t */
    }
    fwrite(&row->simulated, sizeof row->simulated, 1, out);
    fwrite(&row->memcpy_unsteady, sizeof row->memcpy_unsteady, 1, out);
}

/* Copies `count` bytes, and returns the first after them; NULL if they are not there. */
static const char *take(const char *bytes, const char *end, void *to, size_t count)
{
    if (bytes == NULL || (size_t)(end - bytes) < count)
        return NULL;
    memcpy(to, bytes, count);
    return bytes + count;
}

static const char *take_text(const char *bytes, const char *end, const char **text)
{
    uint32_t count = 0;
    bytes = take(bytes, end, &count, sizeof count);
    if (bytes == NULL || (size_t)(end - bytes) < count || (count > 0 && bytes[count - 1] != '\0'))
        return NULL;
    *text = count > 0 ? bytes : NULL;
    return bytes + count;
}

const char *take_row(const char *bytes, const char *end, struct row *row)
{
    *row = empty_row();
    for (int c = 0; c < COLUMN_COUNT; c++) {
        char *field = (char *)row + columns[c].offset;
        bytes = is_text(&columns[c]) ? take_text(bytes, end, (const char **)field)
                                     : take(bytes, end, field, 8);
    }
    bytes = take(bytes, end, &row->simulated, sizeof row->simulated);
    return take(bytes, end, &row->memcpy_unsteady, sizeof row->memcpy_unsteady);
}
