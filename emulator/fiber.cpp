/* fiber.cpp: stack switching, in assembly on x86-64 and aarch64, with ucontext elsewhere. */
#include "fiber.h"
#include "sanitizer.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__linux__) && defined(__x86_64__) && !defined(EMULATOR_UCONTEXT)
#define SWITCH_BY_HAND 1
#elif defined(__linux__) && defined(__aarch64__) && !defined(EMULATOR_UCONTEXT)
#define SWITCH_BY_HAND 1
#else
#define SWITCH_BY_HAND 0
#include <ucontext.h>
#endif

enum {
    STACKS_PER_SLAB = 64,
    COLOUR_STEP = 5 * 64,
    COLOUR_RANGE = 4096,
};

/* Redzones make frames larger. */
static size_t stack_size(void)
{
    return (EMULATOR_ASAN || asan_runtime.poison ? 256 : 64) * 1024;
}

static struct fiber *idle_fibers;
static size_t fibers_made;

/* The two ends of the switch under way. */
static struct fiber *switched_from, *switched_to;

#if SWITCH_BY_HAND

extern "C" void emulator_switch_stack(void **save, void *to);

#if defined(__x86_64__)
/* The `ret` is predicted well: all fibers switch at the same place of the same call chain, so
 * the return stack of one fits the next. */
asm(R"(
    .text
    .globl emulator_switch_stack
    .hidden emulator_switch_stack
    .type emulator_switch_stack, @function
emulator_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size emulator_switch_stack, . - emulator_switch_stack
)");
enum { ENTRY_WORD = 6, FRAME_WORDS = 8 };
#else
asm(R"(
    .text
    .globl emulator_switch_stack
    .hidden emulator_switch_stack
    .type emulator_switch_stack, %function
emulator_switch_stack:
    stp x19, x20, [sp, #-160]!
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x2, sp
    str x2, [x0]
    mov sp, x1
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    ldp x19, x20, [sp], #160
    ret
    .size emulator_switch_stack, . - emulator_switch_stack
)");
enum { ENTRY_WORD = 11, FRAME_WORDS = 20 };
#endif

#else

static ucontext_t *context_of(struct fiber *fiber)
{
    if (!fiber->context)
        fiber->context = calloc(1, sizeof(ucontext_t));
    if (!fiber->context) {
        perror("scanbench: emulator: cannot make a fiber");
        _exit(1);
    }
    return (ucontext_t *)fiber->context;
}
#endif

/* Tells ASan which stack was left and which one is running. */
static void finish_switch(struct fiber *self)
{
    /* Not on the stack, where they would have redzones to set and clear in every switch. */
    static const void *stack;
    static size_t bytes;
    /* The OS thread's own stack, whose bounds only ASan knows. */
    if (finish_fiber_switch(self->asan_fake_stack, &stack, &bytes) && !switched_from->stack) {
        switched_from->stack = (char *)stack;
        switched_from->stack_bytes = bytes;
    }
}

static fiber_main_function *fiber_main;

static void fiber_entry(void)
{
    finish_switch(switched_to);
    fiber_main();
    abort(); /* fiber_main does not return */
}

/* Prepares the stack so that the first switch to it "returns" into fiber_entry. */
static void prepare_stack(struct fiber *fiber)
{
    const size_t usable = fiber->stack_bytes - fiber->colour;
#if SWITCH_BY_HAND
    /* The last word stays 0, where a debugger's stack walk ends. */
    void **frame = (void **)(fiber->stack + usable) - FRAME_WORDS;
    for (int i = 0; i < FRAME_WORDS; i++)
        frame[i] = NULL;
    frame[ENTRY_WORD] = (void *)fiber_entry;
    fiber->stack_pointer = frame;
#else
    ucontext_t *const context = context_of(fiber);
    getcontext(context);
    context->uc_stack.ss_sp = fiber->stack;
    context->uc_stack.ss_size = usable;
    context->uc_link = NULL;
    makecontext(context, fiber_entry, 0);
#endif
}

/* Maps stacks, each with a guard page below. Their tops have different offsets within a page;
 * otherwise hundreds of stacks would share a few cache sets. */
static void make_fibers(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t bytes = stack_size(), stride = bytes + page;
    char *slab = (char *)mmap(NULL, STACKS_PER_SLAB * stride, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    struct fiber *fibers = (struct fiber *)calloc(STACKS_PER_SLAB, sizeof *fibers);
    bool made = slab != MAP_FAILED && fibers;
    for (int i = STACKS_PER_SLAB - 1; made && i >= 0; i--) {
        struct fiber *fiber = &fibers[i];
        fiber->stack = slab + (size_t)i * stride + page;
        fiber->stack_bytes = bytes;
        fiber->colour = (fibers_made + (size_t)i) * COLOUR_STEP % COLOUR_RANGE;
        made = mprotect(fiber->stack, bytes, PROT_READ | PROT_WRITE) == 0;
        fiber->next_idle = idle_fibers;
        idle_fibers = fiber;
    }
    if (!made) {
        perror("scanbench: emulator: no memory for the threads' stacks");
        _exit(1);
    }
    fibers_made += STACKS_PER_SLAB;
}

struct fiber *fiber_take(fiber_main_function *main)
{
    fiber_main = main;
    if (!idle_fibers)
        make_fibers();
    struct fiber *fiber = idle_fibers;
    idle_fibers = fiber->next_idle;
    if (!fiber->stack_pointer && !fiber->context)
        prepare_stack(fiber);
    return fiber;
}

void fiber_give_back(struct fiber *fiber)
{
    fiber->next_idle = idle_fibers;
    idle_fibers = fiber;
}

void fiber_reset(struct fiber *fiber, fiber_main_function *main)
{
    fiber_main = main;
    /* The abandoned frames never return, so nothing else removes their redzones. */
    unpoison_memory(fiber->stack, fiber->stack_bytes);
    prepare_stack(fiber);
    fiber_give_back(fiber);
}

bool fiber_overflows(const struct fiber *fiber, const void *address)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (uintptr_t)fiber->stack - (uintptr_t)address - 1 < page;
}

__attribute__((noinline)) void fiber_switch(struct fiber *from, struct fiber *to)
{
    switched_from = from;
    switched_to = to;
    start_fiber_switch(&from->asan_fake_stack, to->stack, to->stack_bytes);
#if SWITCH_BY_HAND
    emulator_switch_stack(&from->stack_pointer, to->stack_pointer);
#else
    swapcontext(context_of(from), (ucontext_t *)to->context);
#endif
    finish_switch(from);
}
