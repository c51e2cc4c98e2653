/* decimal: reads decimal numbers with strtod, after a check of how they begin. */
#include "decimal.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

bool read_decimal(const char *text, double *number, const char **end)
{
    const bool starts_right =
        isdigit((unsigned char)text[0]) || (text[0] == '.' && isdigit((unsigned char)text[1]));
    if (!starts_right || (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')))
        return false;
    char *stop;
    *number = strtod(text, &stop);
    *end = stop;
    return true;
}

bool is_decimal(const char *text, double *number)
{
    const char *end;
    return read_decimal(text, number, &end) && *end == '\0' && isfinite(*number);
}
