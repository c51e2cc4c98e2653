/* source_lines.cpp: asks addr2line, which comes with every compiler. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include "source_lines.h"

#include <dlfcn.h>
#include <limits.h>
#include <map>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

inline namespace emulator_cuda
{

/* A program that was found by PATH has a name that is no path. */
static std::string path_of(const Dl_info &object)
{
    char path[PATH_MAX];
    if (strchr(object.dli_fname, '/'))
        return object.dli_fname;
    const ssize_t bytes = readlink("/proc/self/exe", path, sizeof path);
    return std::string(path, bytes > 0 ? (size_t)bytes : 0);
}

static std::string quoted(const std::string &word)
{
    std::string text = "'";
    for (const char c : word)
        text += c == '\'' ? "'\\''" : std::string(1, c);
    return text + "'";
}

/* "/tmp/scan.cu:12 (discriminator 3)" is scan.cu:12; "??:0" is nothing. */
static std::string short_line(char *text)
{
    text[strcspn(text, " \n")] = '\0';
    const char *slash = strrchr(text, '/'), *name = slash ? slash + 1 : text;
    const char *colon = strrchr(name, ':');
    return name[0] != '?' && colon && colon[1] > '0' && colon[1] <= '9' ? name : "";
}

/* The return address is that of the next instruction, maybe of another line. */
static void ask(const std::string &path, const std::map<const void *, uintptr_t> &offsets,
                std::unordered_map<const void *, std::string> *lines)
{
    std::string command = "addr2line -e " + quoted(path);
    char text[PATH_MAX + 64];
    for (const auto &[address, offset] : offsets) {
        snprintf(text, sizeof text, " %#zx", (size_t)(offset - 1));
        command += text;
    }
    FILE *answers = popen((command + " 2>/dev/null").c_str(), "r");
    if (!answers)
        return;
    for (const auto &[address, offset] : offsets)
        if (fgets(text, sizeof text, answers)) {
            const std::string line = short_line(text);
            if (!line.empty())
                (*lines)[address] = line;
        }
    pclose(answers);
}

std::unordered_map<const void *, std::string>
source_lines(const std::vector<const void *> &return_addresses)
{
    std::map<std::string, std::map<const void *, uintptr_t>> by_object;
    std::unordered_map<const void *, std::string> lines;
    for (const void *address : return_addresses) {
        Dl_info object;
        if (address && dladdr(address, &object) && object.dli_fname)
            by_object[path_of(object)][address] = (uintptr_t)address - (uintptr_t)object.dli_fbase;
    }
    for (const auto &[path, offsets] : by_object)
        ask(path, offsets, &lines);
    return lines;
}

} // namespace emulator_cuda
