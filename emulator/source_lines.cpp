/* source_lines.cpp: asks addr2line, which comes with the linker of every compiler. */
#include "source_lines.h"
#include "sanitizer.h"

#include <ctype.h>
#include <fcntl.h>
#include <link.h>
#include <map>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

inline namespace emulator_cuda
{

/* Another process cannot name it /proc/self/exe. */
static std::string this_program(void)
{
    char path[48];
    snprintf(path, sizeof path, "/proc/%ld/exe", (long)getpid());
    return path;
}

/* `code` begins with the address. */
static int find_segment(struct dl_phdr_info *info, size_t, void *code)
{
    auto *found = static_cast<struct loaded_code *>(code);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const auto *header = &info->dlpi_phdr[i];
        const uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type != PT_LOAD || found->start - start >= header->p_memsz)
            continue;
        *found = {start, header->p_memsz, info->dlpi_addr, info->dlpi_name};
        return 1;
    }
    return 0;
}

bool find_loaded_code(uintptr_t address, struct loaded_code *code)
{
    struct loaded_code found = {address, 0, 0, ""};
    if (dl_iterate_phdr(find_segment, &found) == 0)
        return false;
    *code = found;
    return true;
}

static std::string read_all(int descriptor)
{
    std::string text;
    char part[512];
    ssize_t length;
    while ((length = read(descriptor, part, sizeof part)) > 0)
        text.append(part, (size_t)length);
    return text;
}

/* What the command prints; nothing if it cannot be run. */
static std::string output_of(const char *const *arguments)
{
    int ends[2];
    pid_t child;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return "";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const bool started = posix_spawnp(&child, arguments[0], &actions, NULL,
                                      const_cast<char *const *>(arguments), environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    const std::string text = started ? read_all(ends[0]) : "";
    close(ends[0]);
    if (started)
        waitpid(child, NULL, 0);
    return text;
}

/* "/tmp/scan.cu:12 (discriminator 3)" is scan.cu:12; "??:0" and lines of the emulator's are
 * nothing. */
static std::string own_line(const std::string &line)
{
    const size_t colon = line.find_last_of(':');
    if (colon == std::string::npos || !isdigit((unsigned char)line[colon + 1]) || line[0] == '?' ||
        is_source_of_ours(line.c_str(), colon))
        return "";
    const size_t slash = line.find_last_of('/', colon);
    return line.substr(slash + 1, colon - slash) + std::to_string(atoi(line.c_str() + colon + 1));
}

/* Asks for the lines of all places in one file. An answer is the address, and a line for each
 * function that is inlined there, the innermost first. */
static void ask(const std::string &file, const std::map<uintptr_t, const void *> &places,
                std::unordered_map<const void *, std::string> *lines)
{
    std::vector<std::string> words = {"addr2line", "-a", "-i", "-e", file};
    std::vector<const char *> arguments;
    for (const auto &[in_file, address] : places) {
        char word[32];
        snprintf(word, sizeof word, "0x%zx", (size_t)in_file);
        words.push_back(word);
    }
    for (const std::string &word : words)
        arguments.push_back(word.c_str());
    arguments.push_back(NULL);
    const std::string text = output_of(arguments.data());
    auto place = places.end();
    for (size_t start = 0, end; start < text.size(); start = end + 1) {
        end = std::min(text.find('\n', start), text.size());
        const std::string line = text.substr(start, end - start);
        if (line.compare(0, 2, "0x") == 0)
            place = places.find(strtoull(line.c_str(), NULL, 16));
        else if (place != places.end() && (*lines)[place->second].empty())
            (*lines)[place->second] = own_line(line);
    }
}

std::unordered_map<const void *, std::string>
source_lines(const std::vector<const void *> &return_addresses)
{
    static std::unordered_map<const void *, std::string> known; /* "": nobody knows */
    std::map<std::string, std::map<uintptr_t, const void *>> by_file;
    std::unordered_map<const void *, std::string> lines;
    for (const void *address : return_addresses) {
        const uintptr_t at = (uintptr_t)address - 1; /* within the instruction */
        struct loaded_code code;
        if (!known.count(address) && find_loaded_code(at, &code))
            by_file[code.file[0] ? code.file : this_program()][at - code.base] = address;
    }
    for (const auto &[file, places] : by_file)
        ask(file, places, &known);
    for (const void *address : return_addresses)
        if (!known[address].empty())
            lines[address] = known[address];
    return lines;
}

void find_line(const uintptr_t *calls, int count, char *text, size_t size)
{
    std::vector<const void *> addresses;
    for (int c = 0; c < count && calls[c] != 0; c++)
        addresses.push_back((const void *)calls[c]);
    const auto lines = source_lines(addresses);
    text[0] = '\0';
    for (const void *address : addresses)
        if (const auto line = lines.find(address); line != lines.end()) {
            snprintf(text, size, "%s", line->second.c_str());
            return;
        }
}

} // namespace emulator_cuda
