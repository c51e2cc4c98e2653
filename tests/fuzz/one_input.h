/* one_input.h: what a fuzzer tries, and what is tried again of what it found.
 *
 * Each takes any bytes, and returns if the program did: a crash, a hang, a leak or
 * what a sanitizer says is what is looked for. */
#ifndef SCANBENCH_TESTS_FUZZ_ONE_INPUT_H
#define SCANBENCH_TESTS_FUZZ_ONE_INPUT_H

#include <stddef.h>
#include <stdint.h>

/* The bytes as a file: for --baseline, and to go on with by --append and --resume. */
void one_csv_file(const uint8_t *bytes, size_t size);

/* The bytes as arguments, a line each. */
void one_command_line(const uint8_t *bytes, size_t size);

#endif
