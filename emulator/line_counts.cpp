/* line_counts.cpp: what is counted at each place in the code, and by line of the source. */
#include "line_counts.h"
#include "source_lines.h"

#include <map>
#include <stdlib.h>
#include <unordered_map>

inline namespace emulator_cuda
{

enum { MOST_CALLS = 33 };

using places = std::unordered_map<uint64_t, memory_counts>;

struct kernel_places {
    std::string kernel;
    places at;
};

static std::vector<kernel_places> kernels;                         /* by their first launches */
static std::unordered_map<uint64_t, std::vector<uintptr_t>> calls; /* that lead to each place */
static places running;                                             /* of the running launch */
static std::string running_kernel;

void forget_places(void)
{
    kernels.clear();
    calls.clear();
}

void begin_places(const char *kernel)
{
    running.clear();
    running_kernel = kernel;
}

struct memory_counts *counts_of_place(uint64_t place, const struct memory_access *access)
{
    const auto [counts, is_new] = running.try_emplace(place);
    if (is_new && calls.count(place) == 0) {
        uintptr_t all[MOST_CALLS];
        calls[place].assign(all, all + calls_of(access, all, MOST_CALLS));
    }
    return &counts->second;
}

static places *places_of(const std::string &kernel)
{
    for (kernel_places &known : kernels)
        if (known.kernel == kernel)
            return &known.at;
    kernels.push_back({kernel, {}});
    return &kernels.back().at;
}

void end_places(struct memory_counts *launch)
{
    places *all = places_of(running_kernel);
    for (const auto &[place, counts] : running) {
        add_memory_counts(launch, &counts);
        add_memory_counts(&(*all)[place], &counts);
    }
    running.clear();
}

/* --- By line ------------------------------------------------------------------ */

using known_lines = std::unordered_map<const void *, std::string>;

/* A line in the order of the source; last are the places that have none. */
struct source_line {
    std::string file;
    int number;
    auto operator<=>(const source_line &) const = default;
};
static const source_line UNKNOWN = {"\x7F", 0};

static known_lines lines_of_calls(void)
{
    std::vector<const void *> addresses;
    for (const auto &[place, all] : calls)
        for (const uintptr_t call : all)
            addresses.push_back((const void *)call);
    return source_lines(addresses);
}

static source_line line_of(uint64_t place, const known_lines &known)
{
    for (const uintptr_t call : calls[place])
        if (const auto line = known.find((const void *)call); line != known.end()) {
            const size_t colon = line->second.rfind(':');
            return {line->second.substr(0, colon), atoi(line->second.c_str() + colon + 1)};
        }
    return UNKNOWN;
}

static void add_lines_of(const kernel_places &kernel, const known_lines &known,
                         std::vector<line_counts> *all)
{
    std::map<source_line, memory_counts> lines;
    for (const auto &[place, counts] : kernel.at)
        add_memory_counts(&lines[line_of(place, known)], &counts);
    for (const auto &[line, counts] : lines) {
        line_counts made = {"", "unknown", counts};
        snprintf(made.kernel, sizeof made.kernel, "%s", kernel.kernel.c_str());
        if (line != UNKNOWN)
            snprintf(made.line, sizeof made.line, "%s:%d", line.file.c_str(), line.number);
        all->push_back(made);
    }
}

} // namespace emulator_cuda

size_t emulator_counts_of_lines(const struct line_counts **lines)
{
    static std::vector<line_counts> all;
    const known_lines known = lines_of_calls();
    all.clear();
    for (const kernel_places &kernel : kernels)
        add_lines_of(kernel, known, &all);
    *lines = all.data();
    return all.size();
}
