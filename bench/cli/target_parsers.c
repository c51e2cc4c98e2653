/* target_parsers: parses --algo and --device: what runs, and on what. */
#define _GNU_SOURCE /* strcasestr */
#include "option_parsers.h"

#include "../base/errors.h"
#include "../base/nearest.h"
#include "../base/text.h"
#include "../device/backends.h"
#include "../own/own.h"
#include "parsing.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Does the text contain each part of "hillis-steele", in either case? */
static bool contains_parts(const char *text, const char *word)
{
    while (*word != '\0') {
        char part[WORD_BYTES];
        const size_t length = strcspn(word, "-_ ");
        snprintf(part, sizeof part, "%.*s", (int)length, word);
        if (strcasestr(text, part) == NULL)
            return false;
        word += length + (word[length] != '\0');
    }
    return true;
}

/* Is the name one of those in a list: "naive, naive-smem"? */
static bool is_named(const char *name, const char *list)
{
    const size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

/* Lists a few algorithms whose summary or source has the word, those of "blelloch": of those that
 * run on a GPU, for which such names are known, or of the others. */
static void list_described(const char *word, bool on_gpu, char *text, size_t size)
{
    enum { SHORTEST = 4, MOST = 5 };
    int found = 0;
    text[0] = '\0';
    for (size_t i = 0; i < table_row_count() && strlen(word) >= SHORTEST; i++) {
        const struct table_row *row = table_row(i);
        const struct algorithm *algorithm = row_descriptor(row);
        char about[2 * PROBLEM_BYTES];
        if (algorithm == NULL || algorithm->family != FAMILY_OWN || is_named(row->name, text) ||
            (row->on[DEVICE_EMULATOR] != NULL) != on_gpu)
            continue;
        snprintf(about, sizeof about, "%s %s", algorithm->summary, algorithm->source);
        if (!contains_parts(about, word) || found++ >= MOST)
            continue;
        append_text(text, size, "%s%s", comma_after(text), row->name);
    }
}

static const char *take_algo(struct command_line *line, const char *word)
{
    struct options *options = line->options;
    if (!is_own_file(word) && !registry_knows(word)) {
        const char *nearest = registry_nearest(word);
        char described[PROBLEM_BYTES / 2], file[PROBLEM_BYTES / 2];
        if (lacks_ending(word, file, sizeof file))
            return wrong_value("is not an algorithm; did you mean the file \"%s\"?", file);
        if (!table_is_whole() && is_near(word, nearest))
            return wrong_value("is not in this build, which has few algorithms; did you mean "
                               "\"%s\"? `make NVCC=` adds the others",
                               nearest);
        if (!table_is_whole())
            return "is not in this build, which has few algorithms; `make NVCC=` adds the others";
        if (strpbrk(word, "*?["))
            return "matches no algorithm (--list shows all)";
        list_described(word, true, described, sizeof described);
        if (described[0] == '\0')
            list_described(word, false, described, sizeof described);
        if (described[0] != '\0' && strcasecmp(word, nearest) != 0)
            return wrong_value("is no algorithm's name; see %s (--list shows all)", described);
        if (!is_near(word, nearest))
            return "is not an algorithm (--list shows all)";
        return wrong_value("is not an algorithm; did you mean \"%s\"? (--list shows all)", nearest);
    }
    for (size_t i = 0; i < options->algo_word_count; i++)
        if (strcmp(options->algo_words[i], word) == 0)
            return NULL;

    APPEND(options->algo_words, options->algo_word_count, copy_text(word));
    return NULL;
}

const char *parse_algo(struct command_line *line, const char *value)
{
    struct options *options = line->options;
    while (options->algo_word_count > 0)
        free((char *)options->algo_words[--options->algo_word_count]);
    return parse_list(line, value, take_algo);
}

/* Reads a GPU's number, 0..999. */
static bool read_index(const char *text, int *index)
{
    size_t length = strlen(text);
    if (length < 1 || length > 3 || strspn(text, "0123456789") != length)
        return false;
    *index = atoi(text);
    return true;
}

/* Reads "cpu", "gpu" or "gpu1". */
static bool read_device(const char *word, struct device_choice *choice)
{
    for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++) {
        const char *name = device_kind_name(kind);
        const size_t length = strlen(name);
        choice->kind = kind;
        choice->index = 0;
        if (strncmp(word, name, length) != 0)
            continue;
        if (word[length] == '\0' ||
            (backend_of(kind)->numbered && read_index(word + length, &choice->index)))
            return true;
    }
    return false;
}

const char *take_device(struct command_line *line, const char *word)
{
    struct device_choice choice = {.kind = DEVICE_GPU}; /* a bare number means a GPU */
    if (!read_index(word, &choice.index) && !read_device(word, &choice)) {
        const char *names[DEVICE_KIND_COUNT];
        for (int kind = 0; kind < DEVICE_KIND_COUNT; kind++)
            names[kind] = device_kind_name(kind);
        const char *nearest = nearest_match(word, names, DEVICE_KIND_COUNT);
        const char *right = "it must be cpu, gpu, a GPU's number such as 0 or gpu1, or emulator";
        return is_near(word, nearest)
                   ? wrong_value("is not a device; did you mean \"%s\"? (%s)", nearest, right)
                   : wrong_value("is not a device; %s", right);
    }

    struct options *options = line->options;
    return add_choice(options->devices, &options->device_count, MAX_DEVICES, "devices", &choice,
                      sizeof choice, sizeof choice);
}
