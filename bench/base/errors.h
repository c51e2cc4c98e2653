/* errors.h: exit codes, and the functions that print errors. */
#pragma once

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum exit_code {
    EXIT_OK = 0,
    EXIT_ERROR = 1,         /* a device or I/O error */
    EXIT_USAGE = 2,         /* a bad flag or value; nothing was run */
    EXIT_WRONG_ANSWER = 3,  /* a row failed its check; with --strict, a row did not pass; with
                             * --check, any defect */
    EXIT_UNUSABLE = 4,      /* a requested device cannot be used */
    EXIT_SLOWER = 5,        /* slower than the baseline */
    EXIT_INTERRUPTED = 130, /* SIGINT (Ctrl-C), SIGTERM or SIGHUP */
};

/* The worse of two exit codes; a wrong answer outranks an error. */
int worse_exit_code(int a, int b);

/* Prints "scanbench: " and one line to stderr. Line breaks and control characters in the
 * arguments are replaced. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Replaces line breaks, control characters and what is not UTF-8 by question marks. */
void replace_unprintable(char *line);

/* From here on complain() and words() write to this descriptor instead of stderr. */
void speak_to(int descriptor);

/* Where words for the user go that are no complaint. */
FILE *words(void);

/* If several processes run together, only one complains: the others say nothing, unless it is about
 * themselves. */
void say_nothing(void);
void speak_again(void);

/* From here on, the first line that complain() would print is stored in `line` instead, in a
 * process that says nothing as well; it is empty if there is none. NULL ends this. */
enum { COMPLAINT_BYTES = 1024 };
void keep_complaint(char line[COMPLAINT_BYTES]);

/* A programmer's error: prints where it is, and aborts. */
#define BUG(...) bug(__FILE__, __LINE__, __VA_ARGS__)
void bug(const char *file, int line, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));

/* Shortens `text` for an error message; a cut is marked by "...". The result is stored in the
 * second argument and returned. */
enum { SHORT_TEXT_BYTES = 64 };
const char *shorten(const char *text, char copy[SHORT_TEXT_BYTES]);

/* From here on end_process() leaves its words there, for the parent to tell. */
enum { LAST_WORDS_BYTES = 256 };
void keep_last_words(char words[LAST_WORDS_BYTES]);

/* Ends this process at once with the exit code, from a signal handler too. Its words are one line
 * on stderr, unless they are kept. */
void end_process(int code, const char *words) __attribute__((noreturn));

/* Reports that host memory is exhausted, and exits with code 1. */
void out_of_memory(void) __attribute__((noreturn));

/* malloc and realloc that never return NULL. */
void *allocate_or_die(void *old, unsigned long bytes);

/* A copy to be freed, of "" if there is no text. */
char *copy_text(const char *text);

/* Adds an item to an array of `count` that allocate_or_die() has made, or NULL if there are none.
 */
#define APPEND(array, count, ...)                                                      \
    ((array) = allocate_or_die((array), ((count) + 1) * sizeof(__typeof__(*(array)))), \
     (void)((array)[(count)++] = (__VA_ARGS__)))

#ifdef __cplusplus
}
#endif
