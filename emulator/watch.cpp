/* watch.cpp: watches kernels from signal handlers. A timer finds a thread that waits without a
 * call that would let others run, and switches to another; it ends a launch that goes on for too
 * long. A fault in a kernel ends its launch instead of the process. */
#include "scheduler.h"
#include "source_lines.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

inline namespace emulator_cuda
{

enum {
    TICK_SIGNAL = SIGVTALRM, /* which debuggers and shells pass on without a word */
    ALTERNATE_STACK_BYTES = 128 * 1024,
    /* Ticks to wait until a thread is outside of the C library, where it may hold a lock. */
    PATIENT_TICKS = 100,
};
enum : int64_t {
    TICK_NS = 10 * 1000 * 1000,
    /* CPU time without a call into the emulator, after which a thread counts as waiting. Too long
     * for a kernel that computes. */
    WAITS_NS = 50 * 1000 * 1000,
    /* The same once a thread of the kernel has waited so: others may wait as well. It is still far
     * longer than an atomic takes, which must not be interrupted. */
    QUICK_TICK_NS = 500 * 1000,
    QUICK_WAITS_NS = 200 * 1000,
};

volatile bool in_kernel_code;

static struct emulator_watch watch;
static bool watching;
static pthread_t watched_thread;
static timer_t timer;
static bool has_timer, timer_set;

/* The state at an earlier tick, and the CPU time then. */
static struct {
    uint64_t switches, ended;
    long long operations_to_yield;
    int64_t operation_ns, switch_ns, end_ns;
    bool quick;
    unsigned patience;
} seen;

/* The kernel of which a thread last waited. Its next launch is quick from the start. */
static const void *waiting_kernel;

static bool in_kernel(void)
{
    return current_launch.running && !current_launch.failed && in_kernel_code;
}

static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * (int64_t)1000000000 + now.tv_nsec;
}

/* --- Where the kernel's code is --------------------------------------------- */

/* The code of the object that holds the kernel. In others, such as the C library, a thread may
 * hold a lock that the next thread would wait for in vain. */
static struct loaded_code code;

static bool is_in_code(uintptr_t address)
{
    return address - code.start < code.bytes;
}

static void find_kernel_code(const void *kernel)
{
    if (!is_in_code((uintptr_t)kernel))
        find_loaded_code((uintptr_t)kernel, &code);
}

/* Is the interrupted instruction the kernel's own? Assumed where its address is unknown. */
static bool in_own_code(const void *context)
{
#if defined(__x86_64__)
    return is_in_code((uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return is_in_code((uintptr_t)((const ucontext_t *)context)->uc_mcontext.pc);
#else
    (void)context;
    return true;
#endif
}

/* --- The timer -------------------------------------------------------------- */

/* Each tick sets the next one, so that none comes long after the last launch. */
static void set_timer(void)
{
    struct itimerspec next = {};
    next.it_value.tv_nsec = seen.quick ? QUICK_TICK_NS : TICK_NS;
    timer_set = timer_settime(timer, 0, &next, NULL) == 0;
}

static enum end_reason reason_to_end(int64_t now)
{
    if (watch.stop && watch.stop())
        return END_STOPPED;
    return watch.limit_ms > 0 && (double)(now - seen.end_ns) > watch.limit_ms * 1e6 ? END_OVERDUE
                                                                                    : END_NONE;
}

/* Notes what has moved since the last tick. */
static void compare_with_last_tick(int64_t now)
{
    if (seen.end_ns == 0) /* the launch's first */
        seen.operation_ns = seen.switch_ns = seen.end_ns = now;
    if (seen.ended != current_launch.ended) {
        seen.ended = current_launch.ended;
        seen.end_ns = now;
    }
    if (seen.operations_to_yield != emulator_operations_to_yield) {
        seen.operations_to_yield = emulator_operations_to_yield;
        seen.operation_ns = now;
    }
    if (seen.switches != current_launch.switches) {
        seen.switches = current_launch.switches;
        seen.switch_ns = now;
    }
}

/* Acts on what has moved. `own_code` says that the kernel's own was interrupted, which can be left
 * at any instruction: the interrupted frame, and this handler's above it, stay on the fiber's stack
 * until its thread's next turn. */
static void look_at_launch(bool kernel, bool own_code)
{
    const int64_t now = cpu_ns(), waits_ns = seen.quick ? QUICK_WAITS_NS : WAITS_NS;
    compare_with_last_tick(now);
    if (!current_launch.end)
        current_launch.end = reason_to_end(now);
    const bool waits = now - seen.switch_ns > waits_ns;
    seen.quick = seen.quick || waits || current_launch.end;
    if (waits)
        waiting_kernel = current_launch.request.kernel;
    set_timer();
    if (current_launch.end) {
        if (own_code || (kernel && seen.patience++ == PATIENT_TICKS)) {
            describe_end();
            abandon_launch();
        }
    } else if (waits && own_code && now - seen.operation_ns > waits_ns) {
        let_others_run();
    } else if (waits) {
        /* Its next atomic or collective lets others run. */
        seen.operations_to_yield = emulator_operations_to_yield = 0;
    }
}

static void on_tick(int, siginfo_t *, void *context)
{
    const int saved_errno = errno;
    if (!watching || !current_launch.running) {
        timer_set = false;
    } else if (!pthread_equal(pthread_self(), watched_thread)) {
        pthread_kill(watched_thread, TICK_SIGNAL);
    } else {
        const bool kernel = in_kernel();
        enter_scheduler(); /* another tick only looks */
        look_at_launch(kernel, kernel && in_own_code(context));
        in_kernel_code = kernel;
    }
    errno = saved_errno;
}

/* --- Faults ----------------------------------------------------------------- */

static const struct {
    int signal_number;
    const char *kind;
} faults[] = {
    {SIGSEGV, "illegal memory access"}, {SIGBUS, "illegal memory access"},
    {SIGFPE, "division by zero"},       {SIGILL, "illegal instruction"},
    {SIGABRT, "failed assertion"},
};
enum { FAULTS = sizeof faults / sizeof *faults };
static struct sigaction fault_before[FAULTS], tick_before;

/* Outside a kernel the signal has the effect that it would have had: the instruction runs again, or
 * abort() goes on. */
static void on_fault(int signal_number, siginfo_t *info, void *)
{
    int f = 0;
    while (faults[f].signal_number != signal_number)
        f++;
    const bool sent = info->si_code <= 0 && signal_number != SIGABRT; /* by a process */
    if (sent || !in_kernel() || !pthread_equal(pthread_self(), watched_thread)) {
        sigaction(signal_number, &fault_before[f], NULL);
        if (sent)
            raise(signal_number);
        return;
    }
    const bool has_address = signal_number == SIGSEGV || signal_number == SIGBUS;
    const bool known = info->si_code != SI_KERNEL; /* else not one that a pointer can have */
    describe_fault(faults[f].kind, has_address, known ? info->si_addr : NULL, known);
    abandon_launch();
}

/* A thread that has used up its stack has none for the handler. A sanitizer has set one already. */
static void make_alternate_stack(void)
{
    stack_t stack = {};
    if (sigaltstack(NULL, &stack) == 0 && !(stack.ss_flags & SS_DISABLE))
        return;
    static char *memory = (char *)malloc(ALTERNATE_STACK_BYTES);
    stack = {};
    stack.ss_sp = memory;
    stack.ss_size = ALTERNATE_STACK_BYTES;
    if (memory)
        sigaltstack(&stack, NULL);
}

/* SA_NODEFER: the handlers switch to threads that must be watched as well. */
static void handle(int signal_number, void (*handler)(int, siginfo_t *, void *), int flags,
                   struct sigaction *before)
{
    struct sigaction action = {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | flags;
    sigemptyset(&action.sa_mask);
    sigaction(signal_number, &action, before);
}

static void start_watching(void)
{
    make_alternate_stack();
    for (int f = 0; f < FAULTS; f++)
        handle(faults[f].signal_number, on_fault, SA_ONSTACK, &fault_before[f]);
    handle(TICK_SIGNAL, on_tick, SA_RESTART, &tick_before);
    struct sigevent event = {};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = TICK_SIGNAL;
    has_timer = has_timer || timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
}

/* A tick may still be on its way: its handler stays, and does nothing. */
static void stop_watching(void)
{
    for (int f = 0; f < FAULTS; f++)
        sigaction(faults[f].signal_number, &fault_before[f], NULL);
}

/* --- Launches --------------------------------------------------------------- */

void watch_launch(void)
{
    if (!watching)
        return;
    find_kernel_code(current_launch.request.kernel);
    watched_thread = pthread_self();
    seen = {};
    seen.quick = current_launch.request.kernel == waiting_kernel;
    if (has_timer && !timer_set)
        set_timer();
}

const struct emulator_watch *current_watch(void)
{
    return watching ? &watch : NULL;
}

} // namespace emulator_cuda

using namespace emulator_cuda;

void emulator_watch_kernels(const struct emulator_watch *settings)
{
    if (watching)
        stop_watching();
    watching = settings != NULL;
    if (!watching)
        return;
    watch = *settings;
    start_watching();
}
