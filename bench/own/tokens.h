/* tokens: a preprocessed C++ source as tokens, and what stands at one of them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum token_kind { TOKEN_NAME, TOKEN_NUMBER, TOKEN_STRING, TOKEN_MARK };

struct token {
    size_t start, end;
    enum token_kind kind;
    int line;
    unsigned file; /* index of the file's name */
    bool foreign;  /* of a system header or one of the emulator */
};

struct source {
    const char *text;
    size_t length;
    const char *headers; /* the folder of the emulator's headers */
    struct token *tokens;
    size_t count, capacity;
    char **files;
    size_t file_count;
};

/* Reads the tokens of source->text, which must last. */
void read_tokens(struct source *source);
void free_tokens(struct source *source);

/* Is token `t` this text? False past the last token. */
bool is_token(const struct source *source, size_t t, const char *text);

/* Have two tokens the same text? */
bool is_same_token(const struct source *source, size_t t, size_t other);

/* Is it one of the words, which end with NULL? */
bool is_one_of(const struct source *source, size_t t, const char *const *words);
bool is_word(const struct source *source, size_t t);

/* Is the text part of the token? */
bool has_text(const struct source *source, size_t t, const char *text);

/* Do the characters of a mark, each of which is a token, begin at `t`? */
bool is_mark(const struct source *source, size_t t, const char *mark);

/* The index after the bracket that closes the one at `open`. */
size_t after_brackets(const struct source *source, size_t open);

/* The index of the bracket that opens the one at `close`; of angle brackets, if they are. */
size_t before_brackets(const struct source *source, size_t close);
