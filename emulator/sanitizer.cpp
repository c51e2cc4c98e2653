/* sanitizer.cpp: what sanitizers find in a source of the user's becomes the failure of a launch, or
 * of the call from which it was made.
 *
 * Such a source is compiled with the address sanitizer, whose runtime was loaded before the
 * program, and with checks for undefined behaviour, which call the functions below: the runtime of
 * gcc would tell of each place only once. */
#include "sanitizer.h"

#include "scheduler.h"

#include <ctype.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

inline namespace emulator_cuda
{

struct asan_runtime asan_runtime;

/* After a report of the host's code, which goes on, accesses near the same place are not told of
 * again. */
enum { QUIET_BEFORE_BYTES = 4 << 10, QUIET_AFTER_BYTES = 256 << 10 };

/* What stands for arrays of the host's while a kernel runs. */
static struct {
    char *data;
    size_t bytes;
} hidden[2];

static bool is_hidden(uintptr_t address)
{
    bool is = false;
    for (const auto &array : hidden)
        is |= address - (uintptr_t)array.data < array.bytes;
    return is;
}

/* --- Reports of the address sanitizer ----------------------------------------------- */

bool is_source_of_ours(const char *path, size_t length)
{
    static const char *const sources[] = {
        "/plain_cuda.h",    "/cuda_runtime.h", "/device_functions.h", "/ptx.h",
        "/scanbench_own.h", "/runtime.cpp",    "/sanitizer.cpp"};
    for (const char *source : sources)
        if (length > strlen(source) &&
            strncmp(path + length - strlen(source), source, strlen(source)) == 0)
            return true;
    return memmem(path, length, "/sanitizer_common/", 18) || memmem(path, length, "/bits/", 6);
}

/* Finds the innermost line of the user's in the stack of a report: "    #1 0x55d in f(int) FILE:12"
 * or "FILE:12:3". */
static bool find_line(const char *report, char *place, size_t size)
{
    for (const char *line = strstr(report, "    #0 "); line && strncmp(line, "    #", 5) == 0;) {
        const char *end = strchrnul(line, '\n'), *digits = end;
        const char *colon = NULL;
        while (digits > line && (isdigit((unsigned char)digits[-1]) || digits[-1] == ':'))
            if (*--digits == ':')
                colon = digits;
        const char *path = colon;
        while (path && path > line && path[-1] != ' ')
            path--;
        if (colon && colon[1] != '\n' && !is_source_of_ours(path, (size_t)(colon - path))) {
            const char *name = (const char *)memrchr(path, '/', (size_t)(colon - path));
            name = name ? name + 1 : path;
            snprintf(place, size, "%.*s:%d", (int)(colon - name), name, atoi(colon + 1));
            return true;
        }
        line = *end ? end + 1 : NULL;
    }
    return false;
}

/* "WRITE of size 4 at 0x7f" */
static void read_access(const char *report, const char **how, unsigned long *bytes,
                        uintptr_t *address)
{
    const char *write = strstr(report, "WRITE of size "), *read = strstr(report, "READ of size ");
    const char *access = write ? write : read;
    *how = write ? "write" : read ? "read" : "use";
    *bytes = access ? strtoul(strstr(access, "size ") + 5, NULL, 10) : 0;
    const char *at = access ? strstr(access, " at 0x") : NULL;
    *address = at ? strtoull(at + 4, NULL, 16) : 0;
}

static bool is_of_device(uintptr_t address)
{
    for (const auto &[complement, extent] : current_device()->memory)
        if (address - ~extent.complement < extent.bytes && extent.side == SIDE_OF_DEVICE)
            return true;
    return false;
}

void describe_poisoned_access(const void *address, size_t bytes, bool writes, const char *place)
{
    const bool of_host = is_hidden((uintptr_t)address);
    describe_access(of_host ? "memory of the host used" : "access outside an array",
                    writes ? "write" : "read", bytes, of_host ? NULL : address, place);
}

static void note_report(const char *report)
{
    const bool in_kernel = in_kernel_code;
    char place[160] = "";
    const char *how;
    unsigned long bytes;
    uintptr_t address;
    enter_scheduler(); /* a tick must not switch threads within the sanitizer */
    read_access(report, &how, &bytes, &address);
    find_line(report, place, sizeof place);
    if (address && !in_kernel)
        unpoison_memory((void *)(address > QUIET_BEFORE_BYTES ? address - QUIET_BEFORE_BYTES : 0),
                        QUIET_BEFORE_BYTES + QUIET_AFTER_BYTES);
    /* An address outside of an array may happen to be near memory that was freed. */
    const bool freed = strstr(report, "heap-use-after-free") && strstr(report, " inside of ");
    const char *kind = is_hidden(address)                    ? "memory of the host used"
                       : !in_kernel && is_of_device(address) ? "memory of the device used"
                       : freed                               ? "memory used after it was freed"
                                                             : "access outside an array";
    describe_access(kind, how, bytes, kind[0] == 'm' ? NULL : (void *)address, place);
    if (in_kernel)
        leave_scheduler();
}

template <class Function> static bool find(void *object, const char *name, Function *function)
{
    *function = reinterpret_cast<Function>(dlsym(object, name));
    return *function != NULL;
}

/* Where the sanitizer writes its reports. A forked process would open a file of its own, named by
 * its number, unless it is told again. */
static void (*set_report_descriptor)(void *);
static int nowhere;

static void report_nowhere(void)
{
    set_report_descriptor((void *)(intptr_t)nowhere);
}

static bool start_sanitizing(void)
{
    void (*set_callback)(void (*)(const char *));
    struct asan_runtime found;
    if (EMULATOR_ASAN || asan_runtime.poison)
        return !EMULATOR_ASAN;
    if (!find(RTLD_DEFAULT, "__asan_poison_memory_region", &found.poison) ||
        !find(RTLD_DEFAULT, "__asan_unpoison_memory_region", &found.unpoison) ||
        !find(RTLD_DEFAULT, "__sanitizer_start_switch_fiber", &found.start_switch) ||
        !find(RTLD_DEFAULT, "__sanitizer_finish_switch_fiber", &found.finish_switch) ||
        !find(RTLD_DEFAULT, "__asan_region_is_poisoned", &found.find_poisoned) ||
        !find(RTLD_DEFAULT, "__asan_set_error_report_callback", &set_callback) ||
        !find(RTLD_DEFAULT, "__sanitizer_set_report_fd", &set_report_descriptor))
        return false;
    asan_runtime = found;
    set_callback(note_report);
    nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    report_nowhere();
    pthread_atfork(NULL, NULL, report_nowhere);
    return true;
}

/* --- Undefined behaviour -------------------------------------------------------------- */

/* What a compiler stores of a place, and of a type. */
struct checked_place {
    const char *file;
    uint32_t line, column;
};
struct checked_type {
    uint16_t kind, info;
    char name[1];
};
struct checked_index {
    struct checked_place place;
    const struct checked_type *array, *index;
};
struct checked_pointer {
    struct checked_place place;
    const struct checked_type *type;
    unsigned char log_alignment, kind;
};

} // namespace emulator_cuda

#if !EMULATOR_ASAN /* else those of the sanitizer itself */

/* What a source calls instead of the runtime's own: in a kernel, nothing after a report is worth
 * running, and a store outside an array may destroy what belongs to others. The runtime finds the
 * source's line only if the frames in between are kept, as for __builtin_frame_address(). */
static void report_access(const char *function, uintptr_t address, size_t bytes, void *frame)
{
    asm volatile("" ::"r"(frame), "r"(__builtin_frame_address(0)));
    ((void (*)(uintptr_t, size_t))dlsym(RTLD_NEXT, function))(address, bytes);
    if (!in_kernel_code)
        return;
    enter_scheduler();
    abandon_launch();
}

extern "C" {
#define REPORT(access)                                                     \
    void __asan_report_##access##_noabort(uintptr_t address, size_t bytes) \
    {                                                                      \
        report_access("__asan_report_" #access "_noabort", address, bytes, \
                      __builtin_frame_address(0));                         \
    }
REPORT(load1)
REPORT(load2)
REPORT(load4)
REPORT(load8)
REPORT(load16)
REPORT(load_n)
REPORT(store1)
REPORT(store2)
REPORT(store4)
REPORT(store8)
REPORT(store16)
REPORT(store_n)
}

/* In a kernel, nothing after this is worth running. */
static void note_undefined(const struct checked_place *place, const char *what,
                           const char *kind = "undefined behaviour")
{
    const bool in_kernel = in_kernel_code;
    enter_scheduler();
    describe_undefined(kind, {place->file, (int)place->line}, what);
    if (in_kernel)
        abandon_launch();
}

extern "C" {

void __ubsan_handle_out_of_bounds(const struct checked_index *data, uintptr_t index)
{
    char what[160];
    snprintf(what, sizeof what, "index %lld of an array of type %.100s", (long long)index,
             data->array->name);
    note_undefined(&data->place, what, "access outside an array");
}

void __ubsan_handle_type_mismatch_v1(const struct checked_pointer *data, uintptr_t pointer)
{
    char what[160];
    if (pointer == 0)
        snprintf(what, sizeof what, "a null pointer to %.100s is used", data->type->name);
    else
        snprintf(what, sizeof what,
                 "an address that is not aligned for %.80s, which takes %u bytes", data->type->name,
                 1u << data->log_alignment);
    note_undefined(&data->place, what);
}

#define HANDLER(name, what, ...)                                               \
    void __ubsan_handle_##name(const struct checked_place *place, __VA_ARGS__) \
    {                                                                          \
        note_undefined(place, what);                                           \
    }
HANDLER(shift_out_of_bounds, "a shift by a negative number, or by as many bits as there are",
        uintptr_t, uintptr_t)
HANDLER(divrem_overflow, "a division by zero, or one whose result has no room", uintptr_t,
        uintptr_t)
HANDLER(vla_bound_not_positive, "an array of no elements", uintptr_t)
HANDLER(load_invalid_value, "a bool or an enum with a value that it cannot have", uintptr_t)

void __ubsan_handle_missing_return(const struct checked_place *place)
{
    note_undefined(place, "a function ends without the value that it returns");
    abort(); /* there is nowhere to go on */
}
}

#endif

bool emulator_start_sanitizing(void)
{
    return start_sanitizing();
}

static void change_memory(bool closed, void *start, size_t bytes)
{
    void (*const change)(const volatile void *, size_t) =
        closed ? asan_runtime.poison : asan_runtime.unpoison;
    if (change && bytes > 0)
        change(start, bytes);
}

/* The margins of what the harness allocates are its own to write before and after. */
void emulator_close_margins(bool closed)
{
    for (const auto &[complement, extent] : current_device()->memory) {
        char *const memory = (char *)~complement, *const data = (char *)~extent.complement;
        if (extent.bytes == extent.allocated)
            continue;
        change_memory(closed, memory, (size_t)(data - memory));
        change_memory(closed, data + extent.bytes,
                      (size_t)(memory + extent.allocated - data) - extent.bytes);
    }
}

inline namespace emulator_cuda
{

static bool device_is_closed;

static void close_device(bool closed)
{
    device_is_closed = closed;
    for (const auto &[complement, extent] : current_device()->memory)
        if (extent.side == SIDE_OF_DEVICE)
            change_memory(closed, (char *)~extent.complement, extent.bytes);
}

device_opened::device_opened() : was_closed(device_is_closed)
{
    if (was_closed)
        close_device(false);
}

device_opened::~device_opened()
{
    if (was_closed)
        close_device(true);
}

void close_new_memory(void *memory, size_t bytes)
{
    if (device_is_closed)
        change_memory(true, memory, bytes);
}

} // namespace emulator_cuda

void emulator_hide_from_host(bool closed)
{
    close_device(closed);
}

void emulator_hide_from_kernel(const void *const arrays[2], bool closed)
{
    for (int a = 0; a < 2; a++) {
        for (const auto &[complement, extent] : current_device()->memory)
            if ((const void *)~extent.complement == arrays[a])
                hidden[a] = {(char *)~extent.complement, extent.bytes};
        change_memory(closed, hidden[a].data, hidden[a].bytes);
        if (!closed)
            hidden[a].bytes = 0;
    }
}
