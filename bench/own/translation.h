/* translation.h: the text that a translation writes, piece by piece. */
#pragma once

#include "tokens.h"
#include "translate.h"

#include <stdio.h>

struct translation {
    const struct source *source;
    FILE *out;
    size_t done; /* how much of the source is in `out` */
    unsigned shared_count;
    struct untranslatable *why;
};

/* Notes the first thing that cannot be translated, at token t. */
void refuse_translation(const struct translation *translation, size_t t, const char *what);

/* The same of what no compiler of CUDA takes: `what` is then the whole message. */
void refuse_everywhere(const struct translation *translation, size_t t, const char *what);

/* Text that whoever asks for it frees; the second, the tokens from `first` up to `end` on one line.
 */
__attribute__((format(printf, 1, 2))) char *formatted(const char *format, ...);
char *joined(const struct source *source, size_t first, size_t end);

void put_tokens(FILE *out, const struct source *source, size_t first, size_t end);

/* Writes what precedes token `first`, and leaves out the tokens up to `end`, which it returns. */
size_t leave_out(struct translation *translation, size_t first, size_t end);

/* Writes a form, in which $0, $1 and so on are the pieces, and frees these. */
void put_form(FILE *out, const char *form, char *const pieces[], size_t count);

/* Brings back the number of the line after the tokens from `first` up to `end`, where what replaces
 * them has more or fewer lines. What follows is the rest of their last line. */
void put_line_marker(const struct translation *translation, size_t first, size_t end);
