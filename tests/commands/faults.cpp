/* faults: scanbench in which one of the calls below fails as the C library or the
 * CUDA runtime (the emulator's) would make it fail.
 *
 * Linked with the objects of an ordinary build by -Wl,--wrap=SYMBOL, one for each
 * line FAULTY or CUDA below: what is tested is what is shipped. From the environment:
 *   FAULT=N         call number N fails; with FAULT=N+ also every call of the CUDA
 *                   runtime after it in this process, as when the device is lost;
 *                   with FAULT=N~ until the device is reset
 * Calls are counted before the worker is started and in it, and from a million on in the
 * process that started it, so that the numbers do not depend on who of the two is faster. A
 * worker that goes on after another makes no faults.
 *   FAULT_LOG=FILE  gets "N SYMBOL PLACE" of each call, or only of that which failed */
#include "../../emulator/cuda_runtime.h"

#include <atomic>
#include <errno.h>
#include <fcntl.h>
#include <new>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* The unwrapped calls that logging needs. */
extern "C" int __real_open(const char *path, int how, mode_t mode);
extern "C" ssize_t __real_write(int file, const void *bytes, size_t count);
extern "C" int __real_fstat(int file, struct stat *status);

static std::atomic<long> calls;
static std::atomic<bool> was_reset;
static std::atomic<bool> looks_for_leaks{getenv("FAULT") == nullptr};
static bool is_successor;
static int workers;

static void count_worker()
{
    if (workers++ == 0)
        calls = 1000000;
}

static void enter_worker()
{
    is_successor = workers > 0;
}

__attribute__((constructor)) static void watch_forks()
{
    pthread_atfork(nullptr, count_worker, enter_worker);
}

static void log_call(long call, const char *symbol, const char *place)
{
    static const char *const path = getenv("FAULT_LOG");
    static const int file = path ? __real_open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    char line[160];
    const int length =
        snprintf(line, sizeof line, "%ld %s %td\n", call, symbol, place - (const char *)log_call);
    if (file >= 0 && __real_write(file, line, (size_t)length) != length)
        abort();
}

/* Is it this call's turn to fail? */
static bool due(const char *symbol, const void *place)
{
    if (is_successor)
        return false;
    static const char *const wanted = getenv("FAULT");
    static const long first = wanted ? atol(wanted) : 0;
    static const bool until_reset = wanted && strchr(wanted, '~');
    static const bool lost = until_reset || (wanted && strchr(wanted, '+'));
    const long call = ++calls;
    if (call == first && !lost)
        looks_for_leaks = true;
    if (!wanted || call == first)
        log_call(call, symbol, (const char *)place);
    const bool over = until_reset && was_reset;
    return call == first || (lost && !over && call > first && strstr(symbol, "emulator"));
}

/* Asked by the leak sanitizer. Looking takes longer than most runs, so that only the process looks
 * in which a call failed, and once for each call: not with + and ~. Without faults both look. */
extern "C" int __lsan_is_turned_off(void);
extern "C" int __lsan_is_turned_off(void)
{
    return !looks_for_leaks;
}

#define FAULTY_WHERE(symbol, result, parameters, arguments, failure, condition) \
    extern "C" result __real_##symbol parameters;                               \
    extern "C" result __wrap_##symbol parameters                                \
    {                                                                           \
        if ((condition) && due(#symbol, __builtin_return_address(0)))           \
            failure;                                                            \
        return __real_##symbol arguments;                                       \
    }
#define FAULTY(symbol, result, parameters, arguments, failure) \
    FAULTY_WHERE(symbol, result, parameters, arguments, failure, true)

/* ---- The C library ---- */

template <class T> static T failed(int error, T result)
{
    errno = error;
    return result;
}

static void *no_memory()
{
    return failed<void *>(ENOMEM, nullptr);
}

static void throw_bad_alloc()
{
    if (const std::new_handler handler = std::get_new_handler())
        handler();
    throw std::bad_alloc();
}

/* Errors of closing a file that was only read do not matter. */
static bool is_writable(int file)
{
    const int how = fcntl(file, F_GETFL, nullptr);
    return how != -1 && (how & O_ACCMODE) != O_RDONLY;
}

/* What two processes say to each other does not fail. */
static bool is_regular(int file)
{
    struct stat status;
    return __real_fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

/* From now on the file accepts half of this many bytes. */
static void fill_disk(int file, size_t count)
{
    struct stat status;
    if (__real_fstat(file, &status) != 0)
        abort();
    const struct rlimit limit = {(rlim_t)status.st_size + count / 2, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
}

FAULTY(malloc, void *, (size_t bytes), (bytes), return no_memory())
FAULTY(calloc, void *, (size_t count, size_t bytes), (count, bytes), return no_memory())
FAULTY(realloc, void *, (void *old, size_t bytes), (old, bytes), return no_memory())
FAULTY(_Znwm, void *, (size_t bytes), (bytes), throw_bad_alloc()) /* operator new */
FAULTY(posix_memalign, int, (void **memory, size_t alignment, size_t bytes),
       (memory, alignment, bytes), return ENOMEM)
FAULTY(mmap, void *, (void *at, size_t bytes, int how, int flags, int file, off_t from),
       (at, bytes, how, flags, file, from), return failed(ENOMEM, MAP_FAILED))
FAULTY(mprotect, int, (void *at, size_t bytes, int how), (at, bytes, how),
       return failed(ENOMEM, -1))
FAULTY(fopen, FILE *, (const char *path, const char *mode), (path, mode),
       return failed<FILE *>(EMFILE, nullptr))
FAULTY(open_memstream, FILE *, (char **text, size_t *bytes), (text, bytes),
       return (FILE *)no_memory())
FAULTY(fflush, int, (FILE * file), (file), return failed(ENOSPC, EOF))
FAULTY_WHERE(fclose, int, (FILE * file), (file), return failed(EIO, (__real_fclose(file), EOF)),
             __fwritable(file))
/* open() and fcntl() with all three arguments, as they are called here. */
FAULTY(open, int, (const char *path, int how, mode_t mode), (path, how, mode),
       return failed(EMFILE, -1))
FAULTY_WHERE(fcntl, int, (int file, int command, struct flock *lock), (file, command, lock),
             return failed(ENOLCK, -1), command != F_GETFL && command != F_GETFD)
FAULTY(stat, int, (const char *path, struct stat *status), (path, status), return failed(EIO, -1))
FAULTY(fstat, int, (int file, struct stat *status), (file, status), return failed(EIO, -1))
FAULTY_WHERE(read, ssize_t, (int file, void *bytes, size_t count), (file, bytes, count),
             return failed(EIO, -1), is_regular(file))
/* A disk that fills up in the middle of a row: half of it is written, and nothing more. */
FAULTY_WHERE(write, ssize_t, (int file, const void *bytes, size_t count), (file, bytes, count),
             return (fill_disk(file, count), __real_write(file, bytes, count)), is_regular(file))
FAULTY(ftruncate, int, (int file, off_t bytes), (file, bytes), return failed(EIO, -1))
FAULTY_WHERE(close, int, (int file), (file), return failed(EIO, (__real_close(file), -1)),
             is_writable(file) && is_regular(file))

/* ---- What is the same in every run and on every machine ---- */

#define FIXED(symbol, result, parameters) extern "C" result __wrap_##symbol parameters

/* To fill the caches of a large machine takes seconds per run. */
extern "C" long __real_sysconf(int name);
FIXED(sysconf, long, (int name))
{
    return name == _SC_LEVEL3_CACHE_SIZE ? 4 << 20 : __real_sysconf(name);
}

/* Or the calls of one run could not be counted in another. */
FIXED(getentropy, int, (void *bytes, size_t count))
{
    static std::atomic<unsigned char> drawn;
    memset(bytes, ++drawn, count);
    return 0;
}

/* ---- The CUDA runtime ---- */

/* This does not fail by itself: it is called only when others do. */
FAULTY_WHERE(_ZN13emulator_cuda15cudaDeviceResetEv, cudaError_t, (void), (),
             return cudaErrorLaunchFailure, (was_reset = true, true))

#define CUDA(symbol, error, parameters, arguments) \
    FAULTY(symbol, cudaError_t, parameters, arguments, return error)

CUDA(_ZN13emulator_cuda13cudaSetDeviceEi, cudaErrorInvalidDevice, (int device), (device))
CUDA(_ZN13emulator_cuda10cudaMallocEPPvm, cudaErrorMemoryAllocation, (void **memory, size_t bytes),
     (memory, bytes))
CUDA(_ZN13emulator_cuda13cudaHostAllocEPPvmj, cudaErrorMemoryAllocation,
     (void **memory, size_t bytes, unsigned flags), (memory, bytes, flags))
CUDA(_ZN13emulator_cuda14cudaMemGetInfoEPmS0_, cudaErrorLaunchFailure,
     (size_t * free_bytes, size_t *total), (free_bytes, total))
CUDA(_ZN13emulator_cuda10cudaMemcpyEPvPKvmNS_14cudaMemcpyKindE, cudaErrorLaunchFailure,
     (void *to, const void *from, size_t bytes, cudaMemcpyKind kind), (to, from, bytes, kind))
CUDA(_ZN13emulator_cuda10cudaMemsetEPvim, cudaErrorLaunchFailure,
     (void *to, int byte, size_t bytes), (to, byte, bytes))
CUDA(_ZN13emulator_cuda15emulator_submitEPKNS_23emulator_launch_requestE, cudaErrorLaunchFailure,
     (const struct emulator_launch_request *request), (request))
CUDA(_ZN13emulator_cuda25cudaStreamCreateWithFlagsEPPNS_15emulator_streamEj,
     cudaErrorMemoryAllocation, (cudaStream_t * stream, unsigned flags), (stream, flags))
CUDA(_ZN13emulator_cuda21cudaStreamSynchronizeEPNS_15emulator_streamE, cudaErrorLaunchFailure,
     (cudaStream_t stream), (stream))
CUDA(_ZN13emulator_cuda15cudaEventCreateEPPNS_14emulator_eventE, cudaErrorMemoryAllocation,
     (cudaEvent_t * event), (event))
CUDA(_ZN13emulator_cuda15cudaEventRecordEPNS_14emulator_eventEPNS_15emulator_streamE,
     cudaErrorLaunchFailure, (cudaEvent_t event, cudaStream_t stream), (event, stream))
CUDA(_ZN13emulator_cuda20cudaEventElapsedTimeEPfPNS_14emulator_eventES2_, cudaErrorLaunchFailure,
     (float *ms, cudaEvent_t start, cudaEvent_t stop), (ms, start, stop))
