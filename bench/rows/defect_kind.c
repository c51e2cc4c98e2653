/* defect_kind: takes the reasons of rows apart.
 *
 * The checks of bench/device/verify.c and the emulator's failure.cpp write these reasons. A reason
 * that has none of the signs is shown as it is. */
#include "defect_kind.h"

#include "../../emulator/emulator.h"
#include "row.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Signs that contain others come first. */
static const struct defect_kind kinds[] = {
    {"after the last kept element", "writes more than it keeps",
     "Nothing may be written after the last element that is kept.", FORM_OUTSIDE},
    {"written after the sum", "writes more than the sum", "A reduction has one element of output.",
     FORM_OUTSIDE},
    {"written after", "writes past the end of an array",
     "The last block usually has more threads than elements: each needs a test against n.",
     FORM_OUTSIDE},
    {"written before", "writes before the start of an array", NULL, FORM_OUTSIDE},
    {"input changed", "changes its input", "The input must be the same after the call.",
     FORM_VALUES},
    {"count: ", "wrong count", "It is the number of elements that were kept.", FORM_VALUES},
    {"not stable", "not stable", "Equal keys must keep their order.", FORM_TEXT},
    {"not a permutation", "loses or repeats elements",
     "The output is in order, but its elements are not those of the input.", FORM_TEXT},
    {"in another order", "the right elements in another order",
     "Do places come from an atomic? Threads come in any order.", FORM_VALUES},
    {"not in order", "the right elements, not in order",
     "Does each pass keep the order of equal digits? Places that come from an atomic do not. If "
     "only negative keys are misplaced: their highest bit is 1, and they come first.",
     FORM_VALUES},
    {"right for the inclusive scan", "the inclusive scan, where the exclusive one is wanted",
     "Element i is the sum of those before it; SCANBENCH_SCAN(..., inclusive) asks for the other.",
     FORM_VALUES},
    {"right for the exclusive scan", "the exclusive scan, where the inclusive one is wanted",
     "Element i is included in its own sum.", FORM_VALUES},
    {"output[", "wrong result", NULL, FORM_VALUES},
    {": 0 threads per block", "a launch of no threads",
     "Was their number computed from n, or .block used without block(threads)?", FORM_TEXT},
    {": 0 blocks", "a launch that CUDA refuses",
     "(n + threads - 1) / threads blocks are enough for all n; n = 0 needs no launch.", FORM_TEXT},
    {"illegal launch", "a launch that CUDA refuses",
     "cudaGetLastError() after the launch says so on a GPU.", FORM_TEXT},
    {"illegal cudaMemcpy of -", "a copy of a negative number of bytes",
     "Is n = 0 a case of its own?", FORM_TEXT},
    {"illegal cudaMemcpy: ", "a copy in the wrong direction",
     "cudaMemcpy(to, from, bytes, kind): the destination comes first.", FORM_TEXT},
    {"illegal cudaMemcpy", "a copy of more bytes than there are",
     "cudaMemcpy() takes bytes, not elements.", FORM_TEXT},
    {"illegal cudaMemset", "sets more bytes than there are",
     "cudaMemset() takes bytes, not elements, and no more than cudaMalloc() was asked for.",
     FORM_TEXT},
    {"illegal cudaFree", "frees memory that is not allocated",
     "Each pointer of cudaMalloc() is freed once, as it was.", FORM_TEXT},
    {"divergent barrier", "a barrier that not all threads of the block reach",
     "No __syncthreads() may be where only some threads of the block come to.", FORM_TEXT},
    {"divergent warp", "a warp function that not all threads of its mask reach",
     "All threads that the mask names must call it.", FORM_TEXT},
    {"nothing orders the two blocks", "a race between threads",
     "Blocks wait for each other by another launch, or by a flag: __threadfence() before an atomic "
     "or volatile store of it.",
     FORM_TEXT},
    {"race on ", "a race between threads",
     "One must wait for the other: __syncthreads() between the two, or __syncwarp() if only "
     "threads of one warp ever meet there.",
     FORM_TEXT},
    {"the launch's shared memory", "reads or writes outside its shared memory",
     "The third value in <<<>>> is how many bytes it has, padding included; without it, none.",
     FORM_TEXT},
    {"too much shared memory", "too much shared memory", NULL, FORM_TEXT},
    {"shared memory out of bounds", "writes outside its shared memory",
     "Is the array, or the third value in <<<>>>, as large as the largest index?", FORM_TEXT},
    {"wrote outside of an array", "writes outside memory of cudaMalloc",
     "Is it as many bytes as cudaMalloc() was asked for?", FORM_TEXT},
    {"outside an array", "reads or writes outside an array",
     "Is the index tested against the size of that array?", FORM_TEXT},
    {"memory of the device used", "the host uses memory of the device",
     "cudaMemcpy() brings to the host what it reads; [] and * do not.", FORM_TEXT},
    {"memory of the host used", "a kernel uses memory of the host",
     "Its pointers are to memory of cudaMalloc(), where cudaMemcpy() brings what it reads.",
     FORM_TEXT},
    {"used after it was freed", "uses memory after it was freed",
     "cudaFree() comes after all that uses the memory.", FORM_TEXT},
    {"a null pointer to", "uses a null pointer",
     "Was cudaMalloc() called for it, with more than 0 bytes?", FORM_TEXT},
    {"undefined behaviour", "something whose effect C++ does not define", NULL, FORM_TEXT},
    {"no kernel was launched", "does its work on the CPU", "--strict wants a kernel that does it.",
     FORM_TEXT},
    {"memory leak", "leaks memory of the device", "Each cudaMalloc() needs a cudaFree().",
     FORM_TEXT},
    {"illegal memory access", "reads or writes where no memory is",
     "Is it a pointer to memory of the device, and large enough?", FORM_TEXT},
    {"stack overflow", "uses up a thread's stack", NULL, FORM_TEXT},
    {"failed assertion", "stops itself by an assertion", NULL, FORM_TEXT},
    {"deadlock", "waits forever", "A block may only wait for blocks that are sure to have begun.",
     FORM_TEXT},
    {"time limit", "too slow, or never ends", NULL, FORM_TEXT},
    {DID_NOT_END, "too slow, or never ends", NULL, FORM_TEXT},
    {"it called exit", "ends the program", "A function returns, or throws what went wrong.",
     FORM_TEXT},
    {"it was ended by signal 8", "divides by zero outside a kernel",
     ".block is 0 unless the line of the source says block(threads).", FORM_TEXT},
    {"it was ended by signal", "ends the program by a fault outside a kernel",
     "Is a pointer used that is NULL, or the device's, or does a function call itself without end?",
     FORM_TEXT},
    {"", "an error", NULL, FORM_TEXT},
};

/* ---- What an array holds before anything is written ---- */

static const struct {
    unsigned char byte;
    const char *meaning;
} fillings[] = {
    {0x5C, "the check put it there before the call: nothing was written"}, /* POISON_BYTE */
    {EMULATOR_SHARED_POISON, "what shared memory holds before anything is written to it"},
    {EMULATOR_MEMORY_POISON, "what memory of cudaMalloc holds before anything is written to it"},
};

/* The bits of an element as rows show it. Returns its number of bytes; 0: an unknown type, or one
 * so narrow that its values say nothing. */
static size_t element_bits(const char *type, const char *text, uint64_t *bits)
{
    const size_t bytes = strlen(type) == 3 && strcmp(type + 1, "32") == 0   ? 4
                         : strlen(type) == 3 && strcmp(type + 1, "64") == 0 ? 8
                                                                            : 0;
    const double number = strtod(text, NULL);
    const float single = (float)number;
    *bits = strtoull(text, NULL, 10);
    if (type[0] == 'f' && bytes == 4)
        memcpy(bits, &single, sizeof single);
    else if (type[0] == 'f')
        memcpy(bits, &number, sizeof number);
    return bytes;
}

/* NULL: it is a value as any other. Of whole numbers, a sum may have begun with what was there. */
static const char *meaning_of_value(const char *type, const char *text, const char *right)
{
    uint64_t bits, right_bits;
    const size_t bytes = type != NULL ? element_bits(type, text, &bits) : 0;
    for (size_t f = 0; f < sizeof fillings / sizeof *fillings && bytes > 0; f++) {
        const uint64_t filling = fillings[f].byte * (UINT64_MAX / 0xFF);
        if (memcmp(&bits, &filling, bytes) == 0)
            return fillings[f].meaning;
        element_bits(type, right, &right_bits);
        if (type[0] != 'f' && memcmp(&(uint64_t){bits - right_bits}, &filling, bytes) == 0)
            return "added to what was there before: is that set to 0 first?";
    }
    return NULL;
}

/* ---- Taking a reason apart ---- */

/* Removes `word` from the start. */
static bool drop_start(char *text, const char *word)
{
    const size_t length = strlen(word);
    if (strncmp(text, word, length) != 0)
        return false;
    memmove(text, text + length, strlen(text + length) + 1);
    return true;
}

/* Removes what says which call it was, and how the row went on. */
static bool drop_circumstances(char *text)
{
    static const char data[] = "; data as of --seed=";
    char *seed = strstr(text, data);
    bool later = seed != NULL;
    if (seed != NULL)
        *seed = '\0';
    while (drop_start(text, "the device was lost: ") || drop_start(text, "run: "))
        continue;
    later |= drop_start(text, "on other data after the last sample: ");
    if (strncmp(text, "sample ", 7) == 0 && strstr(text, ": ") != NULL) {
        drop_start(text, "sample ");
        memmove(text, strstr(text, ": ") + 2, strlen(strstr(text, ": ") + 2) + 1);
        later = true;
    }
    return later;
}

/* Turns "PLACE: got A, wanted B" around. Returns false if it is nothing of the kind. */
static bool turn_values_around(const char *reason, const char *type, bool outside, char *what)
{
    const char *got = strstr(reason, ": got "), *wanted = strstr(reason, ", wanted ");
    if (got == NULL || wanted == NULL || wanted < got)
        return false;
    const char *value = got + strlen(": got "), *right = wanted + strlen(", wanted ");
    const int place = (int)(got - reason), length = (int)(wanted - value);
    int right_length = (int)strcspn(right, "(;"); /* what follows is said in other words */
    right_length -= right_length > 0 && right[right_length - 1] == ' ';
    char text[64];
    snprintf(text, sizeof text, "%.*s", length, value);
    const char *meaning = meaning_of_value(type, text, right);
    if (outside)
        snprintf(what, EXPLANATION_BYTES, "%.*s = %s", place, reason, text);
    else
        snprintf(what, EXPLANATION_BYTES, "%.*s: wanted %.*s, got %s%s%s%s", place, reason,
                 right_length, right, text, meaning != NULL ? " (" : "",
                 meaning != NULL ? meaning : "", meaning != NULL ? ")" : "");
    return true;
}

/* Where a thread last waited says nothing of where the defect is. */
static void drop_last_places(char *text)
{
    char *start, *end;
    while ((start = strstr(text, " (last at ")) != NULL && (end = strchr(start, ')')) != NULL)
        memmove(start, end + 1, strlen(end + 1) + 1);
}

/* Copies the places in the source that the text names, file.cu:12, after `start`. Returns false if
 * there is none. */
static bool copy_places(const char *start, const char *text, char *key)
{
    int length = snprintf(key, EXPLANATION_BYTES, "%s", start);
    const int before = length;
    for (const char *c = text + 1; c[0] != '\0' && length < EXPLANATION_BYTES; c++) {
        if (c[0] != ':' || !isalpha((unsigned char)c[-1]) || !isdigit((unsigned char)c[1]))
            continue;
        const char *name = c;
        while (name > text && name[-1] != ' ' && name[-1] != '(')
            name--;
        length += snprintf(key + length, EXPLANATION_BYTES - (size_t)length, " %.*s%lu",
                           (int)(c + 1 - name), name, strtoul(c + 1, NULL, 10));
    }
    return length > before;
}

/* The same two lines are one race, whichever threads were there. */
static void drop_what_lies_between(char *text)
{
    char *end =
        strncmp(text, "race on ", strlen("race on ")) == 0 ? strstr(text, ", and no") : NULL;
    if (end != NULL)
        *end = '\0';
}

/* Copies the text, without its numbers, after `start`. */
static void copy_without_numbers(const char *start, const char *text, char *key)
{
    size_t length = (size_t)snprintf(key, EXPLANATION_BYTES, "%s ", start);
    for (const char *c = text; *c != '\0' && length + 2 < EXPLANATION_BYTES; c++) {
        if (!isdigit((unsigned char)*c)) {
            key[length++] = *c;
            continue;
        }
        key[length++] = '#';
        while (isxdigit((unsigned char)c[1]) || c[1] == 'x')
            c++;
    }
    key[length] = '\0';
}

/* An error's text may be the user's own, which is no check's. */
static bool is_of_kind(const struct defect_kind *kind, const struct row *row, const char *text)
{
    return (kind->form == FORM_TEXT || strcmp(row->check, "failed") == 0) &&
           strstr(text, kind->sign) != NULL;
}

bool is_other_scan(const struct explanation *explanation)
{
    return strstr(explanation->kind->sign, "right for the ") != NULL;
}

bool is_any_wrong_result(const struct explanation *explanation)
{
    return strcmp(explanation->kind->sign, "output[") == 0;
}

void explain_reason(const struct row *row, struct explanation *explanation)
{
    char text[EXPLANATION_BYTES], short_text[EXPLANATION_BYTES];
    snprintf(text, sizeof text, "%s", row->reason != NULL ? row->reason : "");
    *explanation = (struct explanation){.kind = kinds, .later = drop_circumstances(text)};
    while (!is_of_kind(explanation->kind, row, row->reason != NULL ? row->reason : ""))
        explanation->kind++;
    const enum reason_form form = explanation->kind->form;
    if (form == FORM_TEXT ||
        !turn_values_around(text, row->type, form == FORM_OUTSIDE, explanation->what))
        snprintf(explanation->what, sizeof explanation->what, "%s", text);
    if (form == FORM_TEXT) {
        snprintf(short_text, sizeof short_text, "%s", text);
        drop_last_places(short_text);
        drop_what_lies_between(short_text);
        if (!copy_places(explanation->kind->title, short_text, explanation->key))
            copy_without_numbers(explanation->kind->title, short_text, explanation->key);
    } else {
        snprintf(explanation->key, sizeof explanation->key, "%s", explanation->kind->sign);
    }
}
