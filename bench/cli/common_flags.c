/* common_flags: whether all processes have the same flags. */
#include "common_flags.h"

#include "../base/processes.h"
#include "../base/text.h"
#include "option_parsers.h"
#include "option_rules.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* What the flags from `first` to `last` of the table set. */
struct setting {
    enum option_id first, last;
    enum { ITEMS, POINTER_TO_ITEMS, STRINGS, STRING } form;
    size_t at, item_bytes, stride;
    size_t count_at; /* of the number of items, a size_t; 0: there is one */
};

#define VALUE_BYTES(member) sizeof(((struct options *)0)->member)

#define SET_BY_ALL(first, last, member)                                                 \
    {                                                                                   \
        first, last, ITEMS, offsetof(struct options, member), VALUE_BYTES(member), 0, 0 \
    }
#define SET_BY(flag, member) SET_BY_ALL(flag, flag, member)
#define LISTED_BY(first, last, form, array, count)                                 \
    {                                                                              \
        first, last, form, offsetof(struct options, array), VALUE_BYTES(array[0]), \
            VALUE_BYTES(array[0]), offsetof(struct options, count)                 \
    }
/* Each item begins with its value; how it was typed does not matter. */
#define VALUES_BY(flag, array, count)                                                    \
    {                                                                                    \
        flag, flag, ITEMS, offsetof(struct options, array), VALUE_BYTES(array[0].value), \
            VALUE_BYTES(array[0]), offsetof(struct options, count)                       \
    }

/* What their rows in the table of flags do not say. */
static const struct setting special_settings[] = {
    SET_BY_ALL(OPTION_LIST, OPTION_HELP, action),
    LISTED_BY(OPTION_ALGO, OPTION_ALGO, STRINGS, algo_words, algo_word_count),
    LISTED_BY(OPTION_N, OPTION_NPOT, POINTER_TO_ITEMS, sizes.n, sizes.count),
    LISTED_BY(OPTION_BLOCK, OPTION_BLOCK, ITEMS, blocks, block_count),
    LISTED_BY(OPTION_THREADS, OPTION_THREADS, ITEMS, threads, thread_count),
    SET_BY_ALL(OPTION_KIND, OPTION_INCLUSIVE, kinds),
    VALUES_BY(OPTION_SEGMENTS, segments, segments_count),
    LISTED_BY(OPTION_DEVICE, OPTION_DEVICE, ITEMS, devices, device_count),
    LISTED_BY(OPTION_GPUS, OPTION_GPUS, ITEMS, gpus, gpus_count),
    VALUES_BY(OPTION_MAX, maxima, max_count),
    VALUES_BY(OPTION_KEEP, keeps, keep_count),
    SET_BY(OPTION_SEED, seed),
    SET_BY(OPTION_CACHE, cache),
    SET_BY(OPTION_COUNTS, counts),
    SET_BY(OPTION_SHOW, show),
};

/* Finds setting `s`, in the order of flags: --min-time may raise max_time_ms, and so comes first.
 * But before all comes what to do: with --help, the rest may not have been read. Returns false if
 * there is none: the flag is set with another, or concerns the results, which process 0 alone
 * writes. */
static bool find_setting(int s, struct setting *setting)
{
    const enum option_id id = s == 0 ? OPTION_LIST : (enum option_id)(s - 1);
    const struct option_row *row = &option_rows[id];
    for (size_t i = 0; i < sizeof special_settings / sizeof *special_settings; i++)
        if (special_settings[i].first == id) {
            *setting = special_settings[i];
            return true;
        }
    *setting = (struct setting){.first = id,
                                .last = id,
                                .form = row->parse == parse_text ? STRING : ITEMS,
                                .at = row->at,
                                .item_bytes = row->bytes};
    return row->bytes > 0 && group_of_option(id) != GROUP_RESULTS;
}
enum { SETTING_COUNT = 1 + OPTION_COUNT };

/* ---- what a flag has set ---- */

static void write_setting(const struct setting *setting, const struct options *options, FILE *out)
{
    const char *const base = (const char *)options;
    const void *items = base + setting->at;
    size_t count = 1;
    if (setting->count_at > 0)
        memcpy(&count, base + setting->count_at, sizeof count);
    if (setting->form != ITEMS)
        memcpy(&items, base + setting->at, sizeof items);
    fwrite(&count, sizeof count, 1, out);
    if (setting->form == STRINGS)
        for (size_t i = 0; i < count; i++)
            fprintf(out, "%s,", ((const char *const *)items)[i]);
    if (setting->form == STRING)
        fprintf(out, "%s,", items != NULL ? (const char *)items : "");
    for (size_t i = 0; i < count && setting->form < STRINGS; i++)
        fwrite((const char *)items + i * setting->stride, setting->item_bytes, 1, out);
}

void write_common_settings(const struct options *options, FILE *out)
{
    struct setting setting;
    for (int s = 0; s < SETTING_COUNT; s++)
        if (find_setting(s, &setting))
            write_setting(&setting, options, out);
}

/* The first process in which a setting is not that of process 0, or any if `setting` is NULL; 0:
 * none. */
static unsigned who_differs(const struct setting *setting, const struct options *options)
{
    struct text text;
    open_text(&text);
    if (setting != NULL)
        write_setting(setting, options, text.out);
    else
        write_common_settings(options, text.out);
    close_text(&text);
    const unsigned process = first_that_differs(text.bytes, text.count);
    free(text.bytes);
    return process;
}

/* ---- saying who differs ---- */

enum { FLAGS_BYTES = 2 * LIST_BYTES };

static void list_given(const struct command_line *line, const struct setting *setting,
                       char text[FLAGS_BYTES])
{
    text[0] = '\0';
    for (int id = (int)setting->first; id <= (int)setting->last; id++) {
        char one[FLAG_TEXT_BYTES];
        const size_t used = strlen(text);
        if (line->given[id] != NULL)
            snprintf(text + used, FLAGS_BYTES - used, "%s%s", used > 0 ? " " : "",
                     as_given(line, id, one));
    }
}

/* Returns the flags of a process or, if it has none of them, "no" and the other's first. */
static const char *or_none(const char *own, const char *others, char text[FLAGS_BYTES])
{
    if (own[0] != '\0')
        return own;
    snprintf(text, FLAGS_BYTES, "no %.*s", (int)strcspn(others, "= "), others);
    return text;
}

static void complain_of_setting(const struct command_line *line, const struct setting *setting,
                                unsigned process)
{
    char mine[FLAGS_BYTES], its_none[FLAGS_BYTES], first_none[FLAGS_BYTES];
    list_given(line, setting, mine);
    char *all = gathered(mine, FLAGS_BYTES);
    const char *its = all + (size_t)process * FLAGS_BYTES;
    complain("rank %u has %s, and rank 0 has %s; every process needs the same flags", process,
             or_none(its, all, its_none), or_none(all, its, first_none));
    free(all);
}

/* If all say the same, it is said as by one process. */
static void complain_of_command_line(const char complaint[COMPLAINT_BYTES])
{
    const bool by_all = first_that_differs(complaint, strlen(complaint)) == 0;
    unsigned p = 0;
    char *all = gathered(complaint, COMPLAINT_BYTES);
    while (p + 1 < processes.count && all[(size_t)p * COMPLAINT_BYTES] == '\0')
        p++;
    const char *its = all + (size_t)p * COMPLAINT_BYTES;
    if (by_all)
        complain("%s", its);
    else
        complain("rank %u: %s", p, its);
    free(all);
}

bool agree_on_flags(const struct command_line *line, int code,
                    const char complaint[COMPLAINT_BYTES])
{
    if (worst_of_processes(code) != EXIT_OK) {
        complain_of_command_line(complaint);
        return false;
    }
    if (who_differs(NULL, line->options) == 0)
        return true;
    unsigned process = 0;
    for (int s = 0; s < SETTING_COUNT && process == 0; s++) {
        struct setting setting;
        process = find_setting(s, &setting) ? who_differs(&setting, line->options) : 0;
        if (process > 0)
            complain_of_setting(line, &setting, process);
    }
    return false;
}
