/* slow_clock: a clock for LD_PRELOAD that runs at a thousandth of its speed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time)
{
    static int (*real)(clockid_t, struct timespec *);
    if (real == NULL)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    const int result = real(clock, time);
    const long long ns = (time->tv_sec * 1000000000LL + time->tv_nsec) / 1000;
    time->tv_sec = ns / 1000000000;
    time->tv_nsec = ns % 1000000000;
    return result;
}
