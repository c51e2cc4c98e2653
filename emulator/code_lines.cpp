/* code_lines.cpp: the line of a place in the code, as addr2line tells it, which comes with the
 * linker of every compiler. */
#include "races.h"
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

/* Where an address is: in which file, and at which address of that. */
struct object_place {
    uintptr_t address, in_file;
    std::string file;
};

/* Another process cannot name it /proc/self/exe. */
static std::string this_program(void)
{
    char path[48];
    snprintf(path, sizeof path, "/proc/%ld/exe", (long)getpid());
    return path;
}

static int find_object(struct dl_phdr_info *info, size_t, void *wanted)
{
    auto *place = static_cast<struct object_place *>(wanted);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const auto *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_LOAD ||
            place->address - (info->dlpi_addr + header->p_vaddr) >= header->p_memsz)
            continue;
        place->in_file = place->address - info->dlpi_addr;
        place->file = info->dlpi_name[0] ? info->dlpi_name : this_program();
        return 1;
    }
    return 0;
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

/* Finds the first line that is not the emulator's: "FILE:12" or "FILE:12 (discriminator 3)". */
static bool find_own_line(const std::string &lines, char *text, size_t size)
{
    for (size_t start = 0; start < lines.size();) {
        const size_t end = std::min(lines.find('\n', start), lines.size());
        const std::string line = lines.substr(start, end - start);
        const size_t colon = line.find_last_of(':');
        start = end + 1;
        if (colon == std::string::npos || !isdigit((unsigned char)line[colon + 1]) ||
            is_source_of_ours(line.c_str(), colon))
            continue;
        const size_t slash = line.find_last_of('/', colon);
        snprintf(text, size, "%s:%d", line.substr(slash + 1, colon - slash - 1).c_str(),
                 atoi(line.c_str() + colon + 1));
        return true;
    }
    return false;
}

static std::string ask_for_lines(const struct object_place &place)
{
    char address[32];
    snprintf(address, sizeof address, "0x%zx", (size_t)place.in_file);
    const char *const arguments[] = {"addr2line", "-i", "-e", place.file.c_str(), address, NULL};
    return output_of(arguments);
}

void find_code_line(const uintptr_t *calls, int count, char *text, size_t size)
{
    static std::map<std::pair<std::string, uintptr_t>, std::string> known;
    text[0] = '\0';
    for (int c = 0; c < count && calls[c] != 0; c++) {
        struct object_place place = {calls[c] - 1, 0, ""}; /* within the instruction */
        if (!dl_iterate_phdr(find_object, &place))
            continue;
        const auto [lines, is_new] = known.try_emplace({place.file, place.in_file});
        if (is_new)
            lines->second = ask_for_lines(place);
        if (find_own_line(lines->second, text, size))
            return;
    }
}

} // namespace emulator_cuda
