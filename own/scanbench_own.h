/* scanbench_own.h: makes functions of yours rows of scanbench.
 *
 *     #include <scanbench_own.h>
 *     SCANBENCH_SCAN("mine", my_scan)
 *
 * says that my_scan is a scan, and what its rows are called. `scanbench --algo=./my_scan.cu`
 * compiles the file, runs the function at every size, checks each result and times it. What it is
 * called with follows from its parameters. Those of the device form, in any order:
 *
 *     const T *            the input, n elements in device memory
 *     T *                  the output; alone, the array to work on in place
 *     int, size_t, ...     n
 *     cudaStream_t         where its work must go
 *     scanbench_context    what else there is; see below
 *
 * SCANBENCH_HOST_SCAN names a function of the host form instead: its pointers are to host memory,
 * and it copies by itself. A compaction returns how many elements it kept, those that are not 0, or
 * stores it at context.count. A reduction has one element of output or, in the host form, returns
 * the sum. T is a type of whole numbers of 1 to 8 bytes, float or double.
 *
 * What a function cannot do is said in the same line, and such rows are then skipped:
 *
 *     SCANBENCH_SCAN("mine", my_scan, powers_of_two, at_most(1 << 20), inclusive)
 *
 * docs/own.md lists these words. The name of a template with a comma in it goes in parentheses:
 * SCANBENCH_SCAN("mine", (my_scan<int, 256>)). */
#ifndef SCANBENCH_OWN_H
#define SCANBENCH_OWN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes when one of the structs below does. */
enum { SCANBENCH_OWN_INTERFACE = 2 };

/* A launch on a GPU, before and after it is queued. What only the file's own runtime knows of the
 * kernel is 0 where it cannot be told. */
struct scanbench_launch {
    const char *kernel; /* its mangled name, or "kernel" */
    uint64_t blocks;
    unsigned threads;
    size_t shared_bytes, static_shared_bytes;
    int registers, blocks_per_multiprocessor;
    void *stream; /* a cudaStream_t */
    int after;
};

/* One call of a function. */
struct scanbench_call {
    const void *input;
    void *output;
    uint64_t n;
    uint64_t *count; /* compaction: on the device, the number of elements kept; else NULL */
    void *scratch;
    size_t scratch_bytes;
    unsigned block;
    int inclusive;
    void *stream; /* a cudaStream_t */
    char *error;  /* receives what went wrong */
    size_t error_bytes;
    void (*hear)(void *listener, const struct scanbench_launch *launch); /* NULL: nobody does */
    void *listener;
};

/* What a line of the file says. */
struct scanbench_entry {
    const char *operation, *name, *type;
    const char *file;
    int line;
    const char *source_of_n; /* "int": the type that limits n */
    uint64_t at_least, at_most;
    int powers_of_two, exclusive, inclusive, stable;
    int host_form, takes_block, only_enqueues;
    unsigned default_block;
    size_t (*scratch_bytes)(size_t n);
    void (*run)(const struct scanbench_call *call);
    const struct scanbench_entry *next;
};

struct scanbench_entries {
    int interface_version;
    int emulated; /* else for a GPU */
    const struct scanbench_entry *first;
};

#ifdef __cplusplus
}
#endif

/* scanbench itself knows no more than this. */
#if defined(__cplusplus) && !defined(SCANBENCH_OWN_INTERFACE_ONLY)

#include <exception>
#include <limits>
#include <stdio.h>
#include <type_traits>

#include <cuda_runtime.h>

/* What a function can take beside its arrays. */
struct scanbench_context {
    cudaStream_t stream;
    size_t n;
    unsigned block; /* block(128) in the line makes it --block's, a power of two from 32 to 1024 */
    bool inclusive; /* scan: else exclusive */
    void *scratch;  /* device memory; scratch(f) in the line makes it f(n) bytes */
    size_t scratch_bytes;
    uint64_t *count; /* compaction: device memory for the number of elements kept */
};

/* Hidden, so that the lists of two files stay apart. */
#pragma GCC visibility push(hidden)
namespace scanbench_own
{

/* --- What a line says beside name and function ------------------------------------ */

struct said {
    uint64_t at_least = 0, at_most = UINT64_MAX;
    bool powers_of_two = false, exclusive = false, inclusive = false, stable = false;
    bool only_enqueues = false;
    unsigned block = 0;
    size_t (*scratch_bytes)(size_t) = nullptr;
};

namespace words
{
enum word { powers_of_two, exclusive, inclusive, both_kinds, stable, only_enqueues };
struct at_least {
    uint64_t n;
    constexpr explicit at_least(uint64_t n) : n(n)
    {
    }
};
struct at_most {
    uint64_t n;
    constexpr explicit at_most(uint64_t n) : n(n)
    {
    }
};
struct block {
    unsigned threads;
    constexpr explicit block(unsigned threads) : threads(threads)
    {
    }
};
struct scratch {
    size_t (*bytes)(size_t);
    constexpr explicit scratch(size_t (*bytes)(size_t)) : bytes(bytes)
    {
    }
};
} // namespace words

inline void say(said &all, words::word word)
{
    all.powers_of_two |= word == words::powers_of_two;
    all.exclusive |= word == words::exclusive || word == words::both_kinds;
    all.inclusive |= word == words::inclusive || word == words::both_kinds;
    all.stable |= word == words::stable;
    all.only_enqueues |= word == words::only_enqueues;
}
inline void say(said &all, words::at_least word)
{
    all.at_least = word.n;
}
inline void say(said &all, words::at_most word)
{
    all.at_most = word.n;
}
inline void say(said &all, words::block word)
{
    all.block = word.threads;
}
inline void say(said &all, words::scratch word)
{
    all.scratch_bytes = word.bytes;
}

/* --- What the parameters say ---------------------------------------------------------- */

template <class T> constexpr const char *type_name()
{
    if constexpr (std::is_same_v<T, float>)
        return "f32";
    else if constexpr (std::is_same_v<T, double>)
        return "f64";
    else if constexpr (!std::is_integral_v<T>)
        return "";
    else if constexpr (sizeof(T) == 8)
        return std::is_signed_v<T> ? "i64" : "u64";
    else if constexpr (sizeof(T) == 4)
        return std::is_signed_v<T> ? "i32" : "u32";
    else if constexpr (sizeof(T) == 2)
        return std::is_signed_v<T> ? "i16" : "u16";
    else if constexpr (sizeof(T) == 1 && !std::is_same_v<T, bool>)
        return std::is_signed_v<T> ? "i8" : "u8";
    else
        return "";
}

template <class P> using bare = std::remove_cv_t<std::remove_reference_t<P>>;
template <class P>
constexpr bool is_array = std::is_pointer_v<bare<P>> && !std::is_same_v<bare<P>, cudaStream_t> &&
                          !std::is_void_v<std::remove_pointer_t<bare<P>>>;
template <class P>
constexpr bool is_input = is_array<P> &&std::is_const_v<std::remove_pointer_t<bare<P>>>;
template <class P> constexpr bool is_output = is_array<P> && !is_input<P>;
template <class P>
constexpr bool is_count = std::is_integral_v<bare<P>> && !std::is_same_v<bare<P>, bool>;
template <class P> constexpr bool is_stream = std::is_same_v<bare<P>, cudaStream_t>;
template <class P> constexpr bool is_context = std::is_same_v<bare<P>, scanbench_context>;

/* The element type of the first array among the parameters. */
template <class... P> struct element {
    using type = void;
};
template <class First, class... Rest> struct element<First, Rest...> {
    using type =
        typename std::conditional_t<is_array<First>,
                                    element<std::remove_cv_t<std::remove_pointer_t<bare<First>>> *>,
                                    element<Rest...>>::type;
};
template <class T> struct element<T *> {
    using type = std::remove_cv_t<T>;
};
template <class T> struct element<T *const> : element<T *> {
};

template <class P> constexpr uint64_t most_of()
{
    if constexpr (is_count<P>)
        return (uint64_t)std::numeric_limits<bare<P>>::max();
    return UINT64_MAX;
}

template <class... P> constexpr uint64_t least_of_most()
{
    uint64_t least = UINT64_MAX;
    ((least = most_of<P>() < least ? most_of<P>() : least), ...);
    return least;
}

inline void fail(const scanbench_call *call, const char *what)
{
    if (call->error[0] == '\0')
        snprintf(call->error, call->error_bytes, "%s", what);
}

/* An error that is noted is not that of a later call as well. */
inline void succeed(const scanbench_call *call, cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    fail(call, cudaGetErrorString(error));
    (void)cudaGetLastError();
}

/* --- The arrays of a call -------------------------------------------------------------- */

/* Those of the device form are where they are. In place, the output begins as the input. */
template <class T> struct device_arrays {
    const T *input;
    T *output;

    device_arrays(const scanbench_call *call, bool in_place)
        : input((const T *)call->input), output((T *)call->output)
    {
        if (in_place)
            succeed(call, cudaMemcpyAsync(output, input, call->n * sizeof(T), cudaMemcpyDefault,
                                          (cudaStream_t)call->stream));
    }
    void hand_over(const scanbench_call *, size_t)
    {
    }
};

#ifdef SCANBENCH_EMULATED
/* The emulator's device memory is the host's. */
template <class T> using host_arrays = device_arrays<T>;
#else
/* Grow as needed, and live until the end. */
template <class T> struct host_arrays {
    T *input, *output;

    host_arrays(const scanbench_call *call, bool in_place)
    {
        static T *kept[2];
        static size_t capacity; /* of both; 0: they may be missing */
        if (capacity < call->n + 1) {
            for (T *&array : kept) {
                cudaFreeHost(array);
                array = nullptr;
                succeed(call, cudaMallocHost((void **)&array, (call->n + 1) * sizeof(T)));
            }
            capacity = call->error[0] == '\0' ? call->n + 1 : 0;
        }
        input = kept[0];
        output = kept[1];
        if (call->error[0] == '\0')
            succeed(call, cudaMemcpy(in_place ? output : input, call->input, call->n * sizeof(T),
                                     cudaMemcpyDeviceToHost));
    }
    void hand_over(const scanbench_call *call, size_t elements)
    {
        succeed(call,
                cudaMemcpy(call->output, output, elements * sizeof(T), cudaMemcpyHostToDevice));
    }
};
#endif

/* --- A call ------------------------------------------------------------------------------- */

template <class P, class Arrays>
bare<P> argument(const scanbench_call *call, const Arrays &arrays, const scanbench_context &context)
{
    if constexpr (is_input<P>)
        return arrays.input;
    else if constexpr (is_output<P>)
        return arrays.output;
    else if constexpr (is_count<P>)
        return (bare<P>)call->n;
    else if constexpr (is_stream<P>)
        return context.stream;
    else
        return context;
}

enum form { DEVICE_FORM, HOST_FORM };
enum operation { SCAN, COMPACT, SORT, REDUCE };
constexpr const char *operation_names[] = {"scan", "compact", "sort", "reduce"};

template <class Function> struct signature;
template <class R, class... P> struct signature<R (*)(P...)> {
    using T = typename element<P...>::type;
    static constexpr int inputs = (0 + ... + (int)is_input<P>);
    static constexpr int outputs = (0 + ... + (int)is_output<P>);
    static constexpr int counts = (0 + ... + (int)is_count<P>);
    static constexpr bool has_context = (false || ... || is_context<P>);
    static constexpr bool known =
        (true && ... &&
         (is_input<P> || is_output<P> || is_count<P> || is_stream<P> || is_context<P>));
    static constexpr bool one_type =
        (true && ... &&
         (!is_array<P> || std::is_same_v<T, std::remove_cv_t<std::remove_pointer_t<bare<P>>>>));
    static constexpr bool returns_number = std::is_arithmetic_v<R>;
    static constexpr uint64_t largest_n = least_of_most<P...>();

    template <auto function, operation op, class Arrays>
    static void call(const scanbench_call *call)
    {
        Arrays arrays(call, inputs == 0);
        if (call->error[0] != '\0')
            return;
        const scanbench_context context = {(cudaStream_t)call->stream,
                                           (size_t)call->n,
                                           call->block,
                                           call->inclusive != 0,
                                           call->scratch,
                                           call->scratch_bytes,
                                           call->count};
        size_t written = op == REDUCE ? 1 : call->n;
        if constexpr (op == COMPACT && returns_number) {
            const uint64_t kept = (uint64_t)function(argument<P>(call, arrays, context)...);
            written = kept < call->n ? kept : call->n;
            succeed(call, cudaMemcpy(call->count, &kept, sizeof kept, cudaMemcpyHostToDevice));
        } else if constexpr (op == REDUCE && returns_number && outputs == 0) {
            const T sum = (T)function(argument<P>(call, arrays, context)...);
            succeed(call, cudaMemcpy(call->output, &sum, sizeof sum, cudaMemcpyHostToDevice));
            written = 0;
        } else if constexpr (std::is_same_v<R, cudaError_t>) {
            succeed(call, function(argument<P>(call, arrays, context)...));
        } else {
            function(argument<P>(call, arrays, context)...);
        }
        succeed(call, cudaGetLastError());
        if (written > 0)
            arrays.hand_over(call, written);
    }
};
template <class R, class... P> struct signature<R (*)(P...) noexcept> : signature<R (*)(P...)> {
};

#ifdef SCANBENCH_HEARS_LAUNCHES
/* --- Launches --------------------------------------------------------------------------- */

inline const scanbench_call *running_call;

/* What is asked of the runtime here must not become the error that the file asks for. */
inline void describe_kernel(const void *kernel, scanbench_launch *launch)
{
    cudaFuncAttributes attributes;
    if (cudaPeekAtLastError() != cudaSuccess)
        return;
    if (cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess) {
        launch->registers = attributes.numRegs;
        launch->static_shared_bytes = attributes.sharedSizeBytes;
    }
    (void)cudaOccupancyMaxActiveBlocksPerMultiprocessor(&launch->blocks_per_multiprocessor, kernel,
                                                        (int)launch->threads, launch->shared_bytes);
#if CUDART_VERSION >= 12030
    (void)cudaFuncGetName(&launch->kernel, kernel);
#endif
    (void)cudaGetLastError();
}

template <class Launch>
cudaError_t heard(const void *kernel, dim3 grid, dim3 block, size_t shared_bytes,
                  cudaStream_t stream, Launch launch)
{
    const scanbench_call *call = running_call;
    if (call == nullptr || call->hear == nullptr)
        return launch();
    scanbench_launch what = {};
    what.kernel = "kernel";
    what.blocks = (uint64_t)grid.x * grid.y * grid.z;
    what.threads = block.x * block.y * block.z;
    what.shared_bytes = shared_bytes;
    what.stream = stream;
    describe_kernel(kernel, &what);
    call->hear(call->listener, &what);
    const cudaError_t error = launch();
    what.after = 1;
    call->hear(call->listener, &what);
    return error;
}
#endif

template <auto function, operation op, form the_form> void run(const scanbench_call *call)
{
    using S = signature<decltype(function)>;
    using T = typename S::T;
#ifdef SCANBENCH_HEARS_LAUNCHES
    running_call = call;
#endif
    try {
        S::template call<
            function, op,
            std::conditional_t<the_form == HOST_FORM, host_arrays<T>, device_arrays<T>>>(call);
    } catch (const std::exception &thrown) {
        fail(call, thrown.what());
    } catch (...) {
        fail(call, "it threw something");
    }
}

/* --- The lines of this file ------------------------------------------------------------------
 */

inline scanbench_entry *first_entry, *last_entry;

struct registered {
    scanbench_entry entry;

    registered(scanbench_entry said) : entry(said)
    {
        (last_entry ? last_entry->next : *(const scanbench_entry **)&first_entry) = &entry;
        last_entry = &entry;
    }
};

template <auto function, operation op, form the_form, class... Words>
scanbench_entry make_entry(const char *name, const char *file, int line, Words... words)
{
    using S = signature<decltype(function)>;
    using T = typename S::T;
    static_assert(S::known, "scanbench: a parameter is neither an array, n, a cudaStream_t nor a "
                            "scanbench_context");
    static_assert(!std::is_void_v<T>, "scanbench: no parameter is an array");
    static_assert(type_name<T>()[0] != '\0', "scanbench: it has no rows for this type of elements");
    static_assert(S::inputs <= 1 && S::outputs <= 1,
                  "scanbench: one array is the input, const, and one is the output, not const");
    static_assert(S::one_type, "scanbench: the input and the output have different types");
    static_assert(S::outputs > 0 || (op == REDUCE && S::returns_number),
                  "scanbench: no parameter is the output, which is not const");
    static_assert(S::inputs > 0 || (op != REDUCE && op != COMPACT),
                  "scanbench: no parameter is the input, which is const");
    static_assert(S::counts <= 1, "scanbench: one integer is n, and there is another");
    static_assert(S::counts >= 1 || S::has_context, "scanbench: no parameter is n");
    static_assert(op != COMPACT || S::returns_number || S::has_context,
                  "scanbench: a compaction returns how many elements it kept, or takes a "
                  "scanbench_context and stores it at .count");
    said all;
    (say(all, words), ...);
    const bool any_kind = !all.exclusive && !all.inclusive;
    scanbench_entry entry = {};
    entry.operation = operation_names[op];
    entry.name = name;
    entry.type = type_name<T>();
    entry.file = file;
    entry.line = line;
    entry.at_least = all.at_least;
    entry.at_most = all.at_most < S::largest_n ? all.at_most : S::largest_n;
    entry.powers_of_two = all.powers_of_two;
    entry.exclusive = any_kind || all.exclusive;
    entry.inclusive = all.inclusive || (any_kind && S::has_context);
    entry.stable = all.stable;
    entry.host_form = the_form == HOST_FORM;
    entry.takes_block = all.block > 0;
    entry.only_enqueues = all.only_enqueues;
    entry.default_block = all.block;
    entry.scratch_bytes = all.scratch_bytes;
    /* Else the compiler would say more than one of the lines above. */
    if constexpr (S::known && S::one_type)
        entry.run = run<function, op, the_form>;
    return entry;
}

} // namespace scanbench_own
#pragma GCC visibility pop

#ifdef SCANBENCH_HEARS_LAUNCHES
/* scanbench links what it compiles with --wrap of the calls that launch kernels. <<<>>> is the last
 * of them since CUDA 13, and the first before. */
#define SCANBENCH_OWN_WRAP(function, kernel_type)                                                  \
    cudaError_t __real_##function(kernel_type kernel, dim3 grid, dim3 block, void **arguments,     \
                                  size_t shared_bytes, cudaStream_t stream);                       \
    __attribute__((weak, visibility("hidden")))                                                    \
    cudaError_t __wrap_##function(kernel_type kernel, dim3 grid, dim3 block, void **arguments,     \
                                  size_t shared_bytes, cudaStream_t stream)                        \
    {                                                                                              \
        return scanbench_own::heard((const void *)kernel, grid, block, shared_bytes, stream, [&] { \
            return __real_##function(kernel, grid, block, arguments, shared_bytes, stream);        \
        });                                                                                        \
    }
extern "C" {
SCANBENCH_OWN_WRAP(cudaLaunchKernel, const void *)
SCANBENCH_OWN_WRAP(cudaLaunchCooperativeKernel, const void *)
#if CUDART_VERSION >= 13000
SCANBENCH_OWN_WRAP(__cudaLaunchKernel, cudaKernel_t)
#endif
}
#endif

/* What scanbench looks for in the compiled file. */
extern "C" __attribute__((weak, visibility("default"))) const struct scanbench_entries *
scanbench_own_entries(void)
{
    static scanbench_entries all;
    all.interface_version = SCANBENCH_OWN_INTERFACE;
#ifdef SCANBENCH_EMULATED
    all.emulated = 1;
#endif
    all.first = scanbench_own::first_entry;
    return &all;
}

#define SCANBENCH_OWN_JOIN_(a, b) a##b
#define SCANBENCH_OWN_JOIN(a, b) SCANBENCH_OWN_JOIN_(a, b)
/* The function is looked up before the words are known, and the words before what the file calls by
 * the same name: a function may be called exclusive. */
#define SCANBENCH_OWN_LINE(op, form, name, function, ...) \
    SCANBENCH_OWN_LINE_(__COUNTER__, op, form, name, function, ##__VA_ARGS__)
#define SCANBENCH_OWN_LINE_(number, op, form, name, function, ...)                              \
    static constexpr auto SCANBENCH_OWN_JOIN(scanbench_function_, number) = &function;          \
    static const ::scanbench_own::registered SCANBENCH_OWN_JOIN(scanbench_line_, number) = [] { \
        using ::scanbench_own::words::powers_of_two, ::scanbench_own::words::exclusive,         \
            ::scanbench_own::words::inclusive, ::scanbench_own::words::both_kinds,              \
            ::scanbench_own::words::stable, ::scanbench_own::words::only_enqueues,              \
            ::scanbench_own::words::at_least, ::scanbench_own::words::at_most,                  \
            ::scanbench_own::words::block, ::scanbench_own::words::scratch;                     \
        return ::scanbench_own::make_entry<SCANBENCH_OWN_JOIN(scanbench_function_, number),     \
                                           ::scanbench_own::op, ::scanbench_own::form>(         \
            name, __FILE__, __LINE__, ##__VA_ARGS__);                                           \
    }();

#define SCANBENCH_SCAN(name, ...) SCANBENCH_OWN_LINE(SCAN, DEVICE_FORM, name, __VA_ARGS__)
#define SCANBENCH_COMPACT(name, ...) SCANBENCH_OWN_LINE(COMPACT, DEVICE_FORM, name, __VA_ARGS__)
#define SCANBENCH_SORT(name, ...) SCANBENCH_OWN_LINE(SORT, DEVICE_FORM, name, __VA_ARGS__)
#define SCANBENCH_REDUCE(name, ...) SCANBENCH_OWN_LINE(REDUCE, DEVICE_FORM, name, __VA_ARGS__)
#define SCANBENCH_HOST_SCAN(name, ...) SCANBENCH_OWN_LINE(SCAN, HOST_FORM, name, __VA_ARGS__)
#define SCANBENCH_HOST_COMPACT(name, ...) SCANBENCH_OWN_LINE(COMPACT, HOST_FORM, name, __VA_ARGS__)
#define SCANBENCH_HOST_SORT(name, ...) SCANBENCH_OWN_LINE(SORT, HOST_FORM, name, __VA_ARGS__)
#define SCANBENCH_HOST_REDUCE(name, ...) SCANBENCH_OWN_LINE(REDUCE, HOST_FORM, name, __VA_ARGS__)

#endif
#endif
