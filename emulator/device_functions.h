/* device_functions.h: the functions that a kernel may call.
 *
 * Barriers and warp collectives record the place they are called from, so that an error can
 * name it. The rules are stricter than a GPU's: it is an error if a barrier or a mask includes
 * a thread that has exited, or if value collectives of one mask are reached from different
 * lines. A shuffle from a lane outside the mask reads 0xCBCB... */
#pragma once

#include "vector_types.h"

#include <stdint.h>
#include <string.h>
#include <type_traits>

#define __host__
#define __device__
#define __global__
#define __constant__
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __forceinline__ inline
/* Defined as nothing, because libstdc++ writes __attribute__((__noinline__)). */
#define __noinline__
#define __shared__ \
    _Pragma("GCC error \"__shared__ does not exist here: use shared_memory<Layout>()\"")

/* Kernels are compiled so that their loads and stores call access_hooks.cpp. A function that stands
 * for one instruction of a GPU says itself what it accesses, if anything. */
#define EMULATOR_UNCOUNTED __attribute__((no_sanitize_thread))

#define EMULATOR_PLACE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline namespace emulator_cuda
{

/* Constant for a thread, though the scheduler writes them: a read of a constant is not counted. */
#ifndef EMULATOR_CONSTANT
#define EMULATOR_CONSTANT const
#endif
extern EMULATOR_CONSTANT uint3 threadIdx, blockIdx;
extern EMULATOR_CONSTANT dim3 blockDim, gridDim;
inline constexpr int warpSize = 32;

/* Nothing runs concurrently with the host: a launch is complete when it returns. */
inline constexpr bool device_runs_asynchronously = false;

/* The shared memory of the running block: exactly the bytes of the launch. */
void *emulator_shared_memory(void);

/* Must be called in each turn of a loop that waits for another thread. */
void spin_wait(EMULATOR_PLACE);
static inline void __nanosleep(unsigned, EMULATOR_PLACE)
{
    spin_wait(file, line);
}

/* Marks a point at which a GPU might run other threads first. */
extern long long emulator_operations_to_yield;
void emulator_preempt(void);
EMULATOR_UNCOUNTED static inline void emulator_yield_point(void)
{
    if (--emulator_operations_to_yield <= 0)
        emulator_preempt();
}

[[noreturn]] void __trap(EMULATOR_PLACE);
long long clock64(void);

/* --- What is observed (accesses.h) ------------------------------------------ */

/* Is there an observer of the running launch? */
extern bool emulator_observes_accesses;

enum emulator_access_kind : uint8_t {
    EMULATOR_ACCESS_LOAD,
    EMULATOR_ACCESS_STORE,
    EMULATOR_ACCESS_ATOMIC,
    EMULATOR_ACCESS_BULK_LOAD, /* by the copy engine, of any length */
    EMULATOR_ACCESS_BULK_STORE,
};
void emulator_note_access(emulator_access_kind kind, const void *address, size_t bytes);

/* What a thread does that orders accesses of different threads: a fence; a release, with the fence
 * that it needs, and an acquisition, both of what lies at an address. */
enum ordering : uint8_t { ORDER_FENCE, ORDER_RELEASE, ORDER_ACQUIRE };
void emulator_note_ordering(ordering kind, const void *address);

EMULATOR_UNCOUNTED static inline void emulator_observe_access(emulator_access_kind kind,
                                                              const void *address, size_t bytes)
{
    if (emulator_observes_accesses)
        emulator_note_access(kind, address, bytes);
}
EMULATOR_UNCOUNTED static inline void emulator_observe_ordering(ordering kind,
                                                                const void *address = nullptr)
{
    if (emulator_observes_accesses)
        emulator_note_ordering(kind, address);
}

/* --- Barriers --------------------------------------------------------------- */

void __syncthreads(EMULATOR_PLACE);
int __syncthreads_count(int predicate, EMULATOR_PLACE);
int __syncthreads_and(int predicate, EMULATOR_PLACE);
int __syncthreads_or(int predicate, EMULATOR_PLACE);

static inline void __threadfence(void)
{
    asm volatile("" ::: "memory");
    emulator_yield_point();
    emulator_observe_ordering(ORDER_FENCE);
}
static inline void __threadfence_block(void)
{
    __threadfence();
}
static inline void __threadfence_system(void)
{
    __threadfence();
}

/* --- Warp collectives ------------------------------------------------------- */

enum collective_op : uint8_t {
    COLLECTIVE_SYNC,
    COLLECTIVE_SHFL,
    COLLECTIVE_SHFL_UP,
    COLLECTIVE_SHFL_DOWN,
    COLLECTIVE_SHFL_XOR,
    COLLECTIVE_BALLOT,
    COLLECTIVE_ANY,
    COLLECTIVE_ALL,
    COLLECTIVE_MATCH_ANY,
    COLLECTIVE_MATCH_ALL,
    COLLECTIVE_ADD,
    COLLECTIVE_MIN_SIGNED,
    COLLECTIVE_MAX_SIGNED,
    COLLECTIVE_MIN_UNSIGNED,
    COLLECTIVE_MAX_UNSIGNED,
    COLLECTIVE_AND,
    COLLECTIVE_OR,
    COLLECTIVE_XOR,
};

/* A lane's operands: the value and, for shuffles, the lane or distance and the width. */
struct collective_operand {
    uint64_t value;
    uint32_t lane, width;
};

/* Waits for all lanes of the mask; returns this lane's result. */
uint64_t emulator_collective(collective_op op, unsigned mask, collective_operand operand,
                             const char *file, int line);

template <class T> static inline uint64_t emulator_bits(T value)
{
    static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}

template <class T> static inline T emulator_from_bits(uint64_t bits)
{
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* +value: types smaller than int are shuffled as int, as in CUDA. */
#define EMULATOR_SHUFFLE(name, op, lane_type)                                       \
    template <class T>                                                              \
    static inline auto name(unsigned mask, T value, lane_type lane, int width = 32, \
                            EMULATOR_PLACE)                                         \
        ->decltype(+value)                                                          \
    {                                                                               \
        const collective_operand operand = {emulator_bits(+value), (uint32_t)lane,  \
                                            (uint32_t)width};                       \
        return emulator_from_bits<decltype(+value)>(                                \
            emulator_collective(op, mask, operand, file, line));                    \
    }

EMULATOR_SHUFFLE(__shfl_sync, COLLECTIVE_SHFL, int)
EMULATOR_SHUFFLE(__shfl_up_sync, COLLECTIVE_SHFL_UP, unsigned)
EMULATOR_SHUFFLE(__shfl_down_sync, COLLECTIVE_SHFL_DOWN, unsigned)
EMULATOR_SHUFFLE(__shfl_xor_sync, COLLECTIVE_SHFL_XOR, int)
#undef EMULATOR_SHUFFLE

static inline void __syncwarp(unsigned mask = 0xFFFFFFFFu, EMULATOR_PLACE)
{
    emulator_collective(COLLECTIVE_SYNC, mask, {}, file, line);
}

#define EMULATOR_WARP(result, name, type, op)                              \
    static inline result name(unsigned mask, type value, EMULATOR_PLACE)   \
    {                                                                      \
        const collective_operand operand = {emulator_bits(value), 0, 0};   \
        return (result)emulator_collective(op, mask, operand, file, line); \
    }

EMULATOR_WARP(unsigned, __ballot_sync, int, COLLECTIVE_BALLOT)
EMULATOR_WARP(int, __any_sync, int, COLLECTIVE_ANY)
EMULATOR_WARP(int, __all_sync, int, COLLECTIVE_ALL)
EMULATOR_WARP(unsigned, __reduce_add_sync, unsigned, COLLECTIVE_ADD)
EMULATOR_WARP(int, __reduce_add_sync, int, COLLECTIVE_ADD)
EMULATOR_WARP(unsigned, __reduce_min_sync, unsigned, COLLECTIVE_MIN_UNSIGNED)
EMULATOR_WARP(int, __reduce_min_sync, int, COLLECTIVE_MIN_SIGNED)
EMULATOR_WARP(unsigned, __reduce_max_sync, unsigned, COLLECTIVE_MAX_UNSIGNED)
EMULATOR_WARP(int, __reduce_max_sync, int, COLLECTIVE_MAX_SIGNED)
EMULATOR_WARP(unsigned, __reduce_and_sync, unsigned, COLLECTIVE_AND)
EMULATOR_WARP(unsigned, __reduce_or_sync, unsigned, COLLECTIVE_OR)
EMULATOR_WARP(unsigned, __reduce_xor_sync, unsigned, COLLECTIVE_XOR)
#undef EMULATOR_WARP

template <class T> static inline unsigned __match_any_sync(unsigned mask, T value, EMULATOR_PLACE)
{
    const collective_operand operand = {emulator_bits(value), 0, 0};
    return (unsigned)emulator_collective(COLLECTIVE_MATCH_ANY, mask, operand, file, line);
}

template <class T>
static inline unsigned __match_all_sync(unsigned mask, T value, int *all, EMULATOR_PLACE)
{
    const collective_operand operand = {emulator_bits(value), 0, 0};
    const unsigned result =
        (unsigned)emulator_collective(COLLECTIVE_MATCH_ALL, mask, operand, file, line);
    *all = result != 0;
    return result;
}

/* Only this lane, since no other lane is guaranteed to be at the same instruction. */
static inline unsigned __activemask(void)
{
    return 1u << (threadIdx.x % 32);
}

/* --- Loads and stores with a cache hint ------------------------------------- */

/* What goes past the L1 is for other blocks to see, as if it were volatile. */
template <class T, bool PAST_L1>
using emulator_seen_as = std::conditional_t<PAST_L1 && std::is_scalar_v<T>, volatile T, T>;

#define EMULATOR_LOAD(name, past_l1)                                        \
    template <class T> static inline T name(const T *address)               \
    {                                                                       \
        emulator_yield_point();                                             \
        return *static_cast<const emulator_seen_as<T, past_l1> *>(address); \
    }
#define EMULATOR_STORE(name, past_l1)                                                     \
    template <class T> static inline void name(T *address, std::type_identity_t<T> value) \
    {                                                                                     \
        emulator_yield_point();                                                           \
        *static_cast<emulator_seen_as<T, past_l1> *>(address) = value;                    \
    }
EMULATOR_LOAD(__ldg, false)
EMULATOR_LOAD(__ldca, false)
EMULATOR_LOAD(__ldcg, true)
EMULATOR_LOAD(__ldcs, false)
EMULATOR_LOAD(__ldlu, false)
EMULATOR_LOAD(__ldcv, true)
EMULATOR_STORE(__stwb, false)
EMULATOR_STORE(__stcg, true)
EMULATOR_STORE(__stcs, false)
EMULATOR_STORE(__stwt, true)
#undef EMULATOR_LOAD
#undef EMULATOR_STORE

/* --- Atomics ---------------------------------------------------------------- */

/* Plain operations, since threads switch only at marked points. The types are exactly those of
 * CUDA, so that code that compiles here compiles there. */
#define EMULATOR_ATOMIC(name, type, expression)                                 \
    EMULATOR_UNCOUNTED                                                          \
    static inline type name(type *address, type value)                          \
    {                                                                           \
        emulator_yield_point();                                                 \
        emulator_observe_access(EMULATOR_ACCESS_ATOMIC, address, sizeof(type)); \
        const type old = *address;                                              \
        *address = (expression);                                                \
        return old;                                                             \
    }
#define EMULATOR_ATOMIC_32(name, expression) \
    EMULATOR_ATOMIC(name, int, expression)   \
    EMULATOR_ATOMIC(name, unsigned, expression)
#define EMULATOR_ATOMIC_BITS(name, expression) \
    EMULATOR_ATOMIC_32(name, expression)       \
    EMULATOR_ATOMIC(name, unsigned long long, expression)
#define EMULATOR_ATOMIC_ORDER(name, expression) \
    EMULATOR_ATOMIC_BITS(name, expression)      \
    EMULATOR_ATOMIC(name, long long, expression)

EMULATOR_ATOMIC(atomicAdd, int, (int)((unsigned)old + (unsigned)value))
EMULATOR_ATOMIC(atomicAdd, unsigned, old + value)
EMULATOR_ATOMIC(atomicAdd, unsigned long long, old + value)
EMULATOR_ATOMIC(atomicAdd, float, old + value)
EMULATOR_ATOMIC(atomicAdd, double, old + value)
EMULATOR_ATOMIC(atomicSub, int, (int)((unsigned)old - (unsigned)value))
EMULATOR_ATOMIC(atomicSub, unsigned, old - value)
EMULATOR_ATOMIC(atomicInc, unsigned, old >= value ? 0 : old + 1)
EMULATOR_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)
EMULATOR_ATOMIC_ORDER(atomicMin, value < old ? value : old)
EMULATOR_ATOMIC_ORDER(atomicMax, value > old ? value : old)
EMULATOR_ATOMIC_BITS(atomicAnd, old &value)
EMULATOR_ATOMIC_BITS(atomicOr, old | value)
EMULATOR_ATOMIC_BITS(atomicXor, old ^ value)
EMULATOR_ATOMIC_BITS(atomicExch, value)
EMULATOR_ATOMIC(atomicExch, float, value)
#undef EMULATOR_ATOMIC
#undef EMULATOR_ATOMIC_32
#undef EMULATOR_ATOMIC_BITS
#undef EMULATOR_ATOMIC_ORDER

#define EMULATOR_ATOMIC_CAS(type)                                               \
    EMULATOR_UNCOUNTED                                                          \
    static inline type atomicCAS(type *address, type compare, type value)       \
    {                                                                           \
        emulator_yield_point();                                                 \
        emulator_observe_access(EMULATOR_ACCESS_ATOMIC, address, sizeof(type)); \
        const type old = *address;                                              \
        if (old == compare)                                                     \
            *address = value;                                                   \
        return old;                                                             \
    }
EMULATOR_ATOMIC_CAS(int)
EMULATOR_ATOMIC_CAS(unsigned)
EMULATOR_ATOMIC_CAS(unsigned short)
EMULATOR_ATOMIC_CAS(unsigned long long)
#undef EMULATOR_ATOMIC_CAS

/* --- Bits and arithmetic ---------------------------------------------------- */

#define EMULATOR_PURE(result, name, parameters, value) \
    static inline result name parameters               \
    {                                                  \
        return value;                                  \
    }

EMULATOR_PURE(int, __popc, (unsigned x), __builtin_popcount(x))
EMULATOR_PURE(int, __popcll, (unsigned long long x), __builtin_popcountll(x))
EMULATOR_PURE(int, __clz, (int x), x ? __builtin_clz((unsigned)x) : 32)
EMULATOR_PURE(int, __clzll, (long long x), x ? __builtin_clzll((unsigned long long)x) : 64)
EMULATOR_PURE(int, __ffs, (int x), __builtin_ffs(x))
EMULATOR_PURE(int, __ffsll, (long long x), __builtin_ffsll(x))

static inline unsigned long long __brevll(unsigned long long x)
{
    x = (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
    x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
    x = (x >> 4 & 0x0F0F0F0F0F0F0F0Fu) | (x & 0x0F0F0F0F0F0F0F0Fu) << 4;
    return __builtin_bswap64(x);
}
EMULATOR_PURE(unsigned, __brev, (unsigned x), (unsigned)(__brevll(x) >> 32))
EMULATOR_PURE(unsigned, __funnelshift_l, (unsigned low, unsigned high, unsigned shift),
              (unsigned)((((uint64_t)high << 32 | low) << (shift & 31)) >> 32))
EMULATOR_PURE(unsigned, __funnelshift_r, (unsigned low, unsigned high, unsigned shift),
              (unsigned)(((uint64_t)high << 32 | low) >> (shift & 31)))
EMULATOR_PURE(unsigned, __funnelshift_lc, (unsigned low, unsigned high, unsigned shift),
              shift < 32 ? __funnelshift_l(low, high, shift) : low)
EMULATOR_PURE(unsigned, __funnelshift_rc, (unsigned low, unsigned high, unsigned shift),
              shift < 32 ? __funnelshift_r(low, high, shift) : high)

static inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector)
{
    const uint64_t bytes = (uint64_t)high << 32 | low;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned select = selector >> (4 * i);
        unsigned byte = (unsigned)(bytes >> (8 * (select & 7))) & 0xFF;
        if (select & 8) /* replicates the sign bit into all eight bits */
            byte = byte & 0x80 ? 0xFF : 0;
        result |= byte << (8 * i);
    }
    return result;
}

EMULATOR_PURE(int, __mulhi, (int a, int b), (int)(((int64_t)a * b) >> 32))
EMULATOR_PURE(unsigned, __umulhi, (unsigned a, unsigned b), (unsigned)(((uint64_t)a * b) >> 32))
EMULATOR_PURE(long long, __mul64hi, (long long a, long long b),
              (long long)(((__extension__(__int128) a) * b) >> 64))
EMULATOR_PURE(unsigned long long, __umul64hi, (unsigned long long a, unsigned long long b),
              (unsigned long long)(((__extension__(unsigned __int128) a) * b) >> 64))
EMULATOR_PURE(unsigned, __float_as_uint, (float x), (unsigned)emulator_bits(x))
EMULATOR_PURE(int, __float_as_int, (float x), (int)emulator_bits(x))
EMULATOR_PURE(float, __uint_as_float, (unsigned x), emulator_from_bits<float>(x))
EMULATOR_PURE(float, __int_as_float, (int x), emulator_from_bits<float>((unsigned)x))
EMULATOR_PURE(long long, __double_as_longlong, (double x), (long long)emulator_bits(x))
EMULATOR_PURE(double, __longlong_as_double, (long long x), emulator_from_bits<double>((uint64_t)x))
#undef EMULATOR_PURE

template <class A, class B>
requires(std::is_arithmetic_v<A>
             &&std::is_arithmetic_v<B>) static constexpr std::common_type_t<A, B> min(A a, B b)
{
    const std::common_type_t<A, B> x = a, y = b;
    return y < x ? y : x;
}
template <class A, class B>
requires(std::is_arithmetic_v<A>
             &&std::is_arithmetic_v<B>) static constexpr std::common_type_t<A, B> max(A a, B b)
{
    const std::common_type_t<A, B> x = a, y = b;
    return x < y ? y : x;
}

} // namespace emulator_cuda
