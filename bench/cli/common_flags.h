/* common_flags.h: whether all processes have the same flags. */
#pragma once

#include "../base/errors.h"
#include "option_table.h"

#include <stdbool.h>
#include <stdio.h>

/* Writes what the flags that all processes must share have set, as bytes: two command lines that
 * ask for the same are written alike. Flags about results may differ, since process 0 alone
 * writes them. */
void write_common_settings(const struct options *options, FILE *out);

/* For several processes, each of which has read its command line with this exit code and, if that
 * is not EXIT_OK, this complaint: if one of them could not, or asks for something else than process
 * 0, process 0 says so in one line. Returns whether all go on. */
bool agree_on_flags(const struct command_line *line, int code,
                    const char complaint[COMPLAINT_BYTES]);
