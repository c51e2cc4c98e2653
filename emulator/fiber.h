/* fiber.h: stacks that one OS thread switches between.
 *
 * A fiber is a stack and the registers a function call must keep. It knows
 * nothing of CUDA. Fibers are never freed: a launch takes them from a pool and
 * puts them back, so that starting one costs nothing after the first time. */
#ifndef SCANBENCH_EMULATOR_FIBER_H
#define SCANBENCH_EMULATOR_FIBER_H

#include <stddef.h>

struct fiber {
    void *stack_pointer;
    char *stack; /* lowest usable byte; a guard page lies below it */
    size_t stack_bytes;
    size_t colour; /* bytes left free at the top, see fiber.cpp */
    void *asan_fake_stack;
    void *context; /* ucontext_t, only where it is used */
    struct fiber *next_idle;
};

/* What every fiber runs; it never returns. */
typedef void fiber_main_function(void);

/* A fiber that will run `main` from its start when first switched to. Aborts
 * if the system has no memory left. */
struct fiber *fiber_take(fiber_main_function *main);

/* Gives a fiber back as it is: whoever takes it resumes it where it is. */
void fiber_give_back(struct fiber *fiber);

/* Forgets all that stands on the fiber's stack; next time it starts anew. No
 * destructor runs. */
void fiber_reset(struct fiber *fiber, fiber_main_function *main);

/* Goes on with `to`; returns when something switches to `from`. For the OS
 * thread's own stack, `from` is a zeroed struct fiber. */
void fiber_switch(struct fiber *from, struct fiber *to);

#endif
