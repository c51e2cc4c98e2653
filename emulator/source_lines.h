/* source_lines.h: the lines of the source that addresses in the code belong to. */
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

inline namespace emulator_cuda
{

/* FILE:LINE of calls that return to these addresses, without folders. What has no debugging
 * information is left out, and so is all if there is no addr2line. */
std::unordered_map<const void *, std::string>
source_lines(const std::vector<const void *> &return_addresses);

} // namespace emulator_cuda
