/* one_input.h: the inputs of the fuzzers, and of the test that replays their corpus.
 *
 * Each function takes any bytes and returns if the program does. It looks for a crash, a hang,
 * a leak or a sanitizer's report. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Uses the bytes as a file for --baseline, --append and --resume. */
void one_csv_file(const uint8_t *bytes, size_t size);

/* Uses the bytes as arguments, one per line. */
void one_command_line(const uint8_t *bytes, size_t size);
