/* terminal: the width of a terminal, and whether it shows colour. */
#include "terminal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int terminal_width(int descriptor)
{
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return USUAL_WIDTH;
    return size.ws_col;
}

bool terminal_has_colour(int descriptor)
{
    const char *refused = getenv("NO_COLOR"), *kind = getenv("TERM");
    if (refused != NULL && refused[0] != '\0')
        return false;
    return isatty(descriptor) == 1 && kind != NULL && strcmp(kind, "dumb") != 0;
}

int wrapping_width(FILE *out)
{
    return isatty(fileno(out)) == 1 ? terminal_width(fileno(out)) : INT_MAX;
}

void print_wrapped(FILE *out, int width, int indent, int column, const char *text)
{
    if (indent > 0 && column + 2 > indent) {
        fputc('\n', out);
        column = 0;
    }
    column += fprintf(out, "%*s", indent - column, "");
    bool first = true;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (!first && column + 1 + length > width) {
            column = fprintf(out, "\n%*s", indent, "") - 1;
            first = true;
        }
        column += fprintf(out, "%s%.*s", first ? "" : " ", length, text);
        first = false;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

int shown_width(const char *text)
{
    int width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80; /* not a byte that continues another */
    return width;
}
