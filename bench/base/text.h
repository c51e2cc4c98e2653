/* text.h: text that grows in a buffer or in memory of its own. */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* Appends to the text in a buffer of `size` bytes, as far as it fits. */
void append_text(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What separates the next word of a list from the text so far: nothing before the first. */
const char *comma_after(const char *text);

/* A text that is written to `out` and, once that is closed, lies in `bytes`. */
struct text {
    char *bytes; /* free it */
    size_t count;
    FILE *out;
};

/* Begins a text, at an address that must last: `out` refers to it. */
void open_text(struct text *text);
void close_text(struct text *text);
