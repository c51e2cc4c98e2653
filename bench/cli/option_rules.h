/* option_rules.h: what the flags of a command line mean and allow together, whatever they select.
 */
#pragma once

#include "../base/errors.h"
#include "option_table.h"

#include <stdbool.h>

/* Completes line->options from flags that depend on one another. Returns false and complains if
 * flags contradict one another, or if one has no effect with the others. */
bool follow_option_rules(const struct command_line *line);

/* --check of files of the user's in the emulator: has the process start anew with the sanitizer,
 * unless it is there. */
void prepare_to_check(const struct options *options);

/* Flags that ask for values besides times, which only single devices with kernels have. */
enum { MEASURE_COUNT = 4 };
extern const enum option_id measures[MEASURE_COUNT];

/* A flag as it was given, for messages. The result is stored in `text` and returned. */
enum { FLAG_TEXT_BYTES = 2 * SHORT_TEXT_BYTES };
const char *as_given(const struct command_line *line, enum option_id id,
                     char text[FLAG_TEXT_BYTES]);

/* Complains and returns false if both flags are given. */
bool not_both(const struct command_line *line, enum option_id a, enum option_id b, const char *why);

/* Is the kind of device among those of --device, or is none given? */
bool device_chosen(const struct options *options, enum device_kind kind);

/* Has any chosen device what a member of its backend says, a bool at this offset? */
bool any_device_has(const struct options *options, size_t member);

/* Is a file of the user's among the words of --algo? */
bool names_own_file(const struct options *options);

/* Do devices share arrays, by --gpus or as several processes? */
bool has_teams(const struct options *options);

/* Is one device asked for beside teams? */
bool asks_for_one_gpu(const struct options *options);
