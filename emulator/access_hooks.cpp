/* access_hooks.cpp: what kernels call before each load and store.
 *
 * Compilers insert these calls for ThreadSanitizer, with -fsanitize=thread, and nothing asks that
 * it be linked. Here the calls count (accesses.h), or return at once. */
#include "accesses.h"
#include "device_functions.h"

#if defined(__SANITIZE_THREAD__)
#define OWN_HOOKS 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define OWN_HOOKS 0
#endif
#endif
#ifndef OWN_HOOKS
#define OWN_HOOKS 1
#endif

#if OWN_HOOKS

extern "C" {

#define HOOK(name, bytes, kind, is_volatile)                                                 \
    void name(const void *address);                                                          \
    void name(const void *address)                                                           \
    {                                                                                        \
        if (__builtin_expect(emulator_observes_accesses, 0))                                 \
            note_access(address, bytes, EMULATOR_ACCESS_##kind, __builtin_return_address(0), \
                        is_volatile);                                                        \
    }
#define HOOKS(bytes)                                               \
    HOOK(__tsan_read##bytes, bytes, LOAD, false)                   \
    HOOK(__tsan_write##bytes, bytes, STORE, false)                 \
    HOOK(__tsan_unaligned_read##bytes, bytes, LOAD, false)         \
    HOOK(__tsan_unaligned_write##bytes, bytes, STORE, false)       \
    HOOK(__tsan_volatile_read##bytes, bytes, LOAD, true)           \
    HOOK(__tsan_volatile_write##bytes, bytes, STORE, true)         \
    HOOK(__tsan_unaligned_volatile_read##bytes, bytes, LOAD, true) \
    HOOK(__tsan_unaligned_volatile_write##bytes, bytes, STORE, true)
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

/* Tells of a whole object. If its size were its alignment, as that of 8 or 16 bytes can be, it
 * would have come by another hook: then it is one of words, which are accessed one by one. */
static inline void note_object(const void *address, size_t bytes, emulator_access_kind kind,
                               const void *caller)
{
    enum { WORD = 4 };
    const bool of_words = bytes == 2 * WORD || bytes == 4 * WORD;
    const size_t width = of_words ? (size_t)WORD : bytes;
    for (size_t i = 0; i < bytes; i += width)
        note_access(static_cast<const char *>(address) + i, width, kind, caller);
}

#define RANGE_HOOK(name, kind)                                                                \
    void name(const void *address, size_t bytes);                                             \
    void name(const void *address, size_t bytes)                                              \
    {                                                                                         \
        if (__builtin_expect(emulator_observes_accesses, 0))                                  \
            note_object(address, bytes, EMULATOR_ACCESS_##kind, __builtin_return_address(0)); \
    }
RANGE_HOOK(__tsan_read_range, LOAD)
RANGE_HOOK(__tsan_write_range, STORE)

#define EMPTY_HOOK(name, ...) \
    void name(__VA_ARGS__);   \
    void name(__VA_ARGS__)    \
    {                         \
    }
EMPTY_HOOK(__tsan_init, void)
EMPTY_HOOK(__tsan_func_entry, void *)
EMPTY_HOOK(__tsan_func_exit, void)
EMPTY_HOOK(__tsan_vptr_read, void **)
EMPTY_HOOK(__tsan_vptr_update, void **, void *)

/* Atomics by the compiler's builtins: what the instruction would have done has to be done here. */
#define ATOMIC_HOOK(result, name, parameters, access, action)                            \
    result name parameters;                                                              \
    result name parameters                                                               \
    {                                                                                    \
        if (__builtin_expect(emulator_observes_accesses, 0))                             \
            note_access(const_cast<const void *>(static_cast<const volatile void *>(a)), \
                        sizeof *a, access, __builtin_return_address(0), true);           \
        return action;                                                                   \
    }
#define FETCH_HOOK(bits, type, name, builtin)                                         \
    ATOMIC_HOOK(type, __tsan_atomic##bits##_##name, (volatile type * a, type v, int), \
                EMULATOR_ACCESS_ATOMIC, builtin(a, v, __ATOMIC_SEQ_CST))
#define ATOMIC_HOOKS(bits, type)                                                                  \
    ATOMIC_HOOK(type, __tsan_atomic##bits##_load, (const volatile type *a, int),                  \
                EMULATOR_ACCESS_LOAD, __atomic_load_n(a, __ATOMIC_SEQ_CST))                       \
    ATOMIC_HOOK(void, __tsan_atomic##bits##_store, (volatile type * a, type v, int),              \
                EMULATOR_ACCESS_STORE, __atomic_store_n(a, v, __ATOMIC_SEQ_CST))                  \
    FETCH_HOOK(bits, type, exchange, __atomic_exchange_n)                                         \
    FETCH_HOOK(bits, type, fetch_add, __atomic_fetch_add)                                         \
    FETCH_HOOK(bits, type, fetch_sub, __atomic_fetch_sub)                                         \
    FETCH_HOOK(bits, type, fetch_and, __atomic_fetch_and)                                         \
    FETCH_HOOK(bits, type, fetch_or, __atomic_fetch_or)                                           \
    FETCH_HOOK(bits, type, fetch_xor, __atomic_fetch_xor)                                         \
    FETCH_HOOK(bits, type, fetch_nand, __atomic_fetch_nand)                                       \
    ATOMIC_HOOK(                                                                                  \
        int, __tsan_atomic##bits##_compare_exchange_strong,                                       \
        (volatile type * a, type * expected, type v, int, int), EMULATOR_ACCESS_ATOMIC,           \
        __atomic_compare_exchange_n(a, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))   \
    ATOMIC_HOOK(                                                                                  \
        int, __tsan_atomic##bits##_compare_exchange_weak,                                         \
        (volatile type * a, type * expected, type v, int, int), EMULATOR_ACCESS_ATOMIC,           \
        __atomic_compare_exchange_n(a, expected, v, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))    \
    ATOMIC_HOOK(                                                                                  \
        type, __tsan_atomic##bits##_compare_exchange_val,                                         \
        (volatile type * a, type expected, type v, int, int), EMULATOR_ACCESS_ATOMIC,             \
        (__atomic_compare_exchange_n(a, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST), \
         expected))
ATOMIC_HOOKS(8, uint8_t)
ATOMIC_HOOKS(16, uint16_t)
ATOMIC_HOOKS(32, uint32_t)
ATOMIC_HOOKS(64, uint64_t)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int)
{
    if (__builtin_expect(emulator_observes_accesses, 0))
        emulator_note_ordering(ORDER_FENCE, nullptr);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
}

#endif
