/* sanitizer.h: the address sanitizer: of a build of our own, which gcc and clang signal
 * differently, or of a source of the user's alone, whose runtime was then loaded before the
 * program. */
#pragma once

#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define EMULATOR_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMULATOR_ASAN 1
#endif
#endif

#ifdef EMULATOR_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
#define EMULATOR_ASAN 0
#endif

inline namespace emulator_cuda
{

/* The functions of a runtime that was loaded; NULL: there is none. Those of a build of our own are
 * called as they are. */
struct asan_runtime {
    void (*poison)(const volatile void *start, size_t bytes);
    void (*unpoison)(const volatile void *start, size_t bytes);
    void (*start_switch)(void **fake_stack, const void *stack, size_t bytes);
    void (*finish_switch)(void *fake_stack, const void **stack, size_t *bytes);
    void *(*find_poisoned)(void *start, size_t bytes);
};
extern struct asan_runtime asan_runtime;

static inline void start_fiber_switch(void **fake_stack, const void *stack, size_t bytes)
{
#if EMULATOR_ASAN
    __sanitizer_start_switch_fiber(fake_stack, stack, bytes);
#else
    if (asan_runtime.start_switch)
        asan_runtime.start_switch(fake_stack, stack, bytes);
#endif
}

/* Returns false if nobody tells stacks apart; then `stack` and `bytes` are not set. */
static inline bool finish_fiber_switch(void *fake_stack, const void **stack, size_t *bytes)
{
#if EMULATOR_ASAN
    __sanitizer_finish_switch_fiber(fake_stack, stack, bytes);
    return true;
#else
    if (asan_runtime.finish_switch)
        asan_runtime.finish_switch(fake_stack, stack, bytes);
    return asan_runtime.finish_switch != NULL;
#endif
}

static inline void poison_memory(const volatile void *start, size_t bytes)
{
#if EMULATOR_ASAN
    __asan_poison_memory_region(start, bytes);
#else
    if (asan_runtime.poison)
        asan_runtime.poison(start, bytes);
#endif
}

static inline void unpoison_memory(const volatile void *start, size_t bytes)
{
#if EMULATOR_ASAN
    __asan_unpoison_memory_region(start, bytes);
#else
    if (asan_runtime.unpoison)
        asan_runtime.unpoison(start, bytes);
#endif
}

/* With a sanitizer, code of the host may not touch memory of the device alone: while one of these
 * lives, it may. */
struct device_opened {
    device_opened();
    ~device_opened();
    device_opened(const device_opened &) = delete;
    device_opened &operator=(const device_opened &) = delete;

    const bool was_closed;
};

/* Closes what was allocated just now, if the rest is closed. */
void close_new_memory(void *memory, size_t bytes);

/* May the kernel not access all of it? */
static inline bool is_poisoned(const void *start, size_t bytes)
{
    return asan_runtime.find_poisoned &&
           asan_runtime.find_poisoned(const_cast<void *>(start), bytes);
}

/* Describes an access to memory that is poisoned, at FILE:LINE. */
void describe_poisoned_access(const void *address, size_t bytes, bool writes, const char *place);

/* Is it a file of the emulator's or of a library's, whose lines are not the kernel's? */
bool is_source_of_ours(const char *path, size_t length);

} // namespace emulator_cuda
