/* command: runs compilers. No shell is between, so names of files may have any characters. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { MOST_ARGUMENTS = 256 };

/* An argument list that grows; what it points to must outlive it. */
struct arguments {
    const char *at[MOST_ARGUMENTS + 1]; /* ends with NULL */
    size_t count;
    bool overfull;
};

void add_argument(struct arguments *arguments, const char *argument);
void add_each_argument(struct arguments *arguments, const char *const *each); /* up to NULL */
#define ADD_ARGUMENTS(arguments, ...) \
    add_each_argument(arguments, (const char *const[]){__VA_ARGS__, NULL})

/* Adds the words of a text, which are separated by blanks and may be in quotes. `copy` receives
 * them, and must be as long as the text. */
void add_words(struct arguments *arguments, const char *text, char *copy);

/* What a command left. */
struct outcome {
    int status;            /* 0: success; -1: it could not be run, and `errors` says why */
    char *output, *errors; /* what it wrote; freed by forget_outcome() */
    size_t output_length;
};

/* Runs a command that reads `input`; NULL: nothing. */
struct outcome run_command(const struct arguments *arguments, const char *input);
void forget_outcome(struct outcome *outcome);

/* The path of a program: as named, if that has a slash, or where PATH has it. False: nowhere. */
bool find_program(const char *name, char *path, size_t size);
