/* source_lines.h: the lines of the source that addresses in the code belong to. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string>
#include <unordered_map>
#include <vector>

inline namespace emulator_cuda
{

/* A part of a file that is loaded, such as the code of a library. */
struct loaded_code {
    uintptr_t start;
    size_t bytes;
    uintptr_t base;   /* from where the file counts its addresses */
    const char *file; /* "": the program itself */
};

/* The one that holds an address. Returns false if none does. */
bool find_loaded_code(uintptr_t address, struct loaded_code *code);

/* FILE:LINE, without folders, of calls that return to these addresses: of the innermost function,
 * inlined ones included, whose source is not the emulator's. What has no debugging information is
 * left out, and so is all if there is no addr2line. */
std::unordered_map<const void *, std::string>
source_lines(const std::vector<const void *> &return_addresses);

/* The line of the innermost of some calls that has one. `calls` are return addresses, the innermost
 * first; 0: there are no more. The text is empty if nobody knows. */
void find_line(const uintptr_t *calls, int count, char *text, size_t size);

} // namespace emulator_cuda
