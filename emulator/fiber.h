/* fiber.h: stacks that one OS thread switches between.
 *
 * A fiber is a stack and the registers that a function call must preserve. It knows nothing of
 * CUDA. Fibers are never freed: a launch takes them from a pool and returns them, so starting
 * one is free after the first time. */
#pragma once

#include <stddef.h>

struct fiber {
    void *stack_pointer;
    char *stack; /* lowest usable byte; a guard page lies below it */
    size_t stack_bytes;
    size_t colour;          /* bytes left free at the top, see fiber.cpp */
    const void *main_frame; /* where walks of the stack end; set by the main function */
    void *asan_fake_stack;
    void *context; /* ucontext_t, if that is used */
    struct fiber *next_idle;
};

/* The function that a fiber runs; it never returns. */
typedef void fiber_main_function(void);

/* Takes a fiber from the pool. A new one runs `main` when first switched to. Aborts if the
 * system has no memory left. */
struct fiber *fiber_take(fiber_main_function *main);

/* Returns a fiber to the pool as it is: the next user resumes it where it stopped. */
void fiber_give_back(struct fiber *fiber);

/* Discards the fiber's stack, so that it starts from the beginning next time. Runs no
 * destructors. */
void fiber_reset(struct fiber *fiber, fiber_main_function *main);

/* Is the address in the guard page below a fiber's stack? */
bool fiber_overflows(const struct fiber *fiber, const void *address);

/* Switches to `to`; returns when something switches back to `from`. For the OS thread's own
 * stack, `from` is a zeroed struct fiber. */
void fiber_switch(struct fiber *from, struct fiber *to);
