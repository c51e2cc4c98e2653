/* platform.cuh: what differs between a GPU and the emulator, and between architectures.
 *
 * Here, and in no other file but some of sort/, the preprocessor asks which compiler reads a
 * kernel. How a kernel starts comes first. Then come instructions that CUDA C++ has no function
 * for; the emulator's, with the same names, are in emulator/ptx.h. */
#pragma once

#include "launch_log.cuh"
#include "with_type.cuh"

#include <type_traits>

namespace SCANBENCH_BACKEND
{

/* Code for an older architecture than it needs is compiled, and never run: no asm is in it. */
#ifdef __CUDA_ARCH__
constexpr unsigned COMPILED_FOR = __CUDA_ARCH__ / 10;
#else
constexpr unsigned COMPILED_FOR = 90;
#endif

/* The most threads that a multiprocessor of this architecture holds. */
constexpr unsigned MOST_RESIDENT_THREADS =
    COMPILED_FOR == 75                                                ? 1024
    : (COMPILED_FOR > 80 && COMPILED_FOR < 90) || COMPILED_FOR >= 110 ? 1536
                                                                      : 2048;

constexpr unsigned blocks_held(unsigned threads, unsigned blocks)
{
    return threads * blocks <= MOST_RESIDENT_THREADS ? blocks : MOST_RESIDENT_THREADS / threads;
}

/* Registers are shared out so that a multiprocessor holds `blocks` of so many threads, or as many
 * as it can: of more ptxas would warn. */
#define LAUNCH_BOUNDS(threads, blocks) __launch_bounds__(threads, blocks_held(threads, blocks))

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
/* Never called. */
__device__ unsigned __reduce_add_sync(unsigned mask, unsigned value);
__device__ unsigned __reduce_xor_sync(unsigned mask, unsigned value);
template <class T> __device__ T __reduce_max_sync(unsigned mask, T value);
template <class T> __device__ T __reduce_min_sync(unsigned mask, T value);
#endif

#ifndef __CUDACC__

template <class... Parameters>
cudaError_t start_kernel(void (*kernel)(Parameters...), const char *name, launch_shape shape,
                         cudaStream_t stream, std::type_identity_t<Parameters>... arguments)
{
    char short_name[64];
    kernel_name(name, short_name, sizeof short_name);
    const enum emulator_residency resident = shape.cluster       ? EMULATOR_ONE_CLUSTER
                                             : shape.cooperative ? EMULATOR_ALL_RESIDENT
                                                                 : EMULATOR_IN_TURN;
    return emulator_launch(kernel, short_name, shape.blocks, shape.threads, shape.shared_bytes,
                           resident, stream, arguments...);
}

template <class Half> unsigned two_halves(float first, float second)
{
    unsigned word;
    const Half halves[] = {narrow<Half>(first), narrow<Half>(second)};
    memcpy(&word, halves, sizeof word);
    return word;
}

/* The block's dynamic shared memory, as a Layout or an array of Layout. */
template <class Layout> Layout *shared_memory()
{
    return static_cast<Layout *>(emulator_shared_memory());
}

#else

inline constexpr bool device_runs_asynchronously = true;

template <class... Parameters>
cudaError_t start_kernel(void (*kernel)(Parameters...), const char *, launch_shape shape,
                         cudaStream_t stream, std::type_identity_t<Parameters>... arguments)
{
    void *pointers[] = {(void *)&arguments..., nullptr};
    cudaLaunchAttribute attributes[3] = {};
    unsigned count = 0;
    attributes[count].id = cudaLaunchAttributeCooperative;
    attributes[count++].val.cooperative = shape.cooperative;
    if (shape.overlaps) {
        attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[count++].val.programmaticStreamSerializationAllowed = 1;
    }
    if (shape.cluster) {
        attributes[count].id = cudaLaunchAttributeClusterDimension;
        attributes[count++].val.clusterDim = {(unsigned)shape.blocks, 1, 1};
    }
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)shape.blocks);
    config.blockDim = dim3(shape.threads);
    config.dynamicSmemBytes = shape.shared_bytes;
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = count;
    return cudaLaunchKernelExC(&config, (const void *)kernel, pointers);
}

template <class Layout> __device__ __forceinline__ Layout *shared_memory()
{
    extern __shared__ __align__(128) unsigned char dynamic_shared_memory[];
    return reinterpret_cast<Layout *>(dynamic_shared_memory);
}

/* ---- Applications of operators (counting.cuh), which a GPU does not count ---- */

inline constexpr bool counts_applications = false;

inline bool operands_must_count()
{
    return false;
}

__device__ __forceinline__ void note_applications(unsigned, uint64_t)
{
}

/* ---- Order between threads and between launches ---- */

/* Must be called in each round of a loop that waits for another thread. In the emulator it lets
 * other threads run; on a GPU they run anyway.
 *
 * Lanes leave such a loop one by one. If many warps then shuffle or vote, let __syncwarp() follow
 * the loop: on an H200, lanes that stay apart take some 250 cycles per shuffle instead of 30. */
__device__ __forceinline__ void spin_wait()
{
}

/* In a kernel that is launched with `overlaps`: waits until the launch before has ended. Every
 * thread must call it before it reads or writes global memory, and before it ends. */
__device__ __forceinline__ void wait_for_launch_before()
{
    if constexpr (COMPILED_FOR >= 90)
        asm volatile("griddepcontrol.wait;" ::: "memory");
}

/* Lets the next launch begin, if it overlaps, as soon as blocks of this one leave it room. */
__device__ __forceinline__ void let_next_launch_begin()
{
    if constexpr (COMPILED_FOR >= 90)
        asm volatile("griddepcontrol.launch_dependents;");
}

/* A flag in the memory of another device: whoever reads the number sees what was written before it
 * was stored. */
__device__ __forceinline__ void store_flag(uint32_t *flag, uint32_t number)
{
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(number) : "memory");
}

__device__ __forceinline__ uint32_t load_flag(const uint32_t *flag)
{
    uint32_t number;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(number) : "l"(flag) : "memory");
    return number;
}

/* ---- Words of memory ---- */

/* Relaxed, as a whole word, at GPU scope or, between GPUs (FAR), at that of the system. */
template <bool FAR = false>
__device__ __forceinline__ void store_word(uint64_t *word, uint64_t value)
{
    if constexpr (FAR)
        asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
    else
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
}

template <bool FAR = false> __device__ __forceinline__ uint64_t load_word(const uint64_t *word)
{
    uint64_t value;
    if constexpr (FAR)
        asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    else
        asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    return value;
}

/* Store and load two words side by side: one access, so that a reader seldom sees only one of them
 * new. Each word is whole; nobody promises that both are. */
template <bool FAR = false>
__device__ __forceinline__ void store_words(uint64_t (*words)[2], const uint64_t (&value)[2])
{
    if constexpr (FAR)
        asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(words), "l"(value[0]),
                     "l"(value[1])
                     : "memory");
    else
        asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(words), "l"(value[0]),
                     "l"(value[1])
                     : "memory");
}

template <bool FAR = false>
__device__ __forceinline__ void load_words(const uint64_t (*words)[2], uint64_t (&value)[2])
{
    if constexpr (FAR)
        asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
                     : "=l"(value[0]), "=l"(value[1])
                     : "l"(words)
                     : "memory");
    else
        asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                     : "=l"(value[0]), "=l"(value[1])
                     : "l"(words)
                     : "memory");
}

/* Has the line of an address in the L2 by the time that it is read. */
__device__ __forceinline__ void prefetch_to_l2(const void *address)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}

/* Adds the four bytes or two halves of a word to a sum. */
template <size_t BYTES> __device__ __forceinline__ unsigned add_parts(unsigned word, unsigned sum)
{
    return BYTES == 1 ? __dp4a(word, 0x01010101u, sum) : __dp2a_lo(word, 0x0101u, sum);
}

/* Two sums, rounded to elements of 16 bits that share a word; the first has the lower half. */
template <class Half> __device__ __forceinline__ unsigned two_halves(float first, float second)
{
    unsigned word;
    if constexpr (COMPILED_FOR < 80) {
        const Half halves[] = {narrow<Half>(first), narrow<Half>(second)};
        memcpy(&word, halves, sizeof word);
    } else if constexpr (std::is_same_v<Half, f16>) {
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
    } else {
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
    }
    return word;
}

/* Stores 8 or 16 bytes at a time. Left to itself, the compiler splits a pack where control flow
 * merges, and stores its elements one by one: 12 % of a scan's time on an H200. */
template <class Pack> __device__ __forceinline__ void store_whole(Pack *at, const Pack &values)
{
    constexpr unsigned WORDS = sizeof(Pack) / 4;
    static_assert(WORDS <= 2 || WORDS % 4 == 0);
    unsigned word[WORDS < 2 ? 1 : WORDS];
    memcpy(word, &values, sizeof values);
    if constexpr (WORDS < 2) /* packs of single bytes */
        *at = values;
    else if constexpr (WORDS == 2)
        asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(at), "r"(word[0]), "r"(word[1])
                     : "memory");
    else
        for (unsigned w = 0; w < WORDS; w += 4)
            asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"((char *)at + 4 * w),
                         "r"(word[w]), "r"(word[w + 1]), "r"(word[w + 2]), "r"(word[w + 3])
                         : "memory");
}

/* Stores 16 bytes that the L2 should evict first. */
template <class Pack> __device__ __forceinline__ void store_passing(Pack *at, const Pack &values)
{
    static_assert(sizeof(Pack) == 16);
    if constexpr (COMPILED_FOR >= 80) {
        unsigned word[4];
        memcpy(word, &values, sizeof values);
        uint64_t policy;
        asm("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy));
        asm volatile("st.global.L2::cache_hint.v4.u32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(at),
                     "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3]), "l"(policy)
                     : "memory");
    } else {
        *at = values;
    }
}

__device__ __forceinline__ unsigned shared_address(const void *pointer)
{
    return (unsigned)__cvta_generic_to_shared(pointer);
}

/* Copies 4 or 8 bytes from global to shared memory. They take no register meanwhile, and are there
 * after the thread's wait_for_copies(). */
template <class T> __device__ __forceinline__ void copy_to_shared(T *to, const T *from)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    if constexpr (COMPILED_FOR >= 80)
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)),
                     "l"(__cvta_generic_to_global(from)), "n"(sizeof(T))
                     : "memory");
    else
        *to = *from;
}

__device__ __forceinline__ void wait_for_copies()
{
    if constexpr (COMPILED_FOR >= 80)
        asm volatile("cp.async.wait_all;" ::: "memory");
}

/* ---- Barriers in shared memory, and copies that complete on them; sm_90 ---- */

struct mbarrier {
    uint64_t state;
};

__device__ __forceinline__ void mbarrier_init(mbarrier *barrier, unsigned arrivals)
{
    if constexpr (COMPILED_FOR >= 90)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
                     "r"(arrivals)
                     : "memory");
}

/* Call it after the last mbarrier_init() and before the __syncthreads() that shows the barriers
 * to other threads. It makes them visible to copies as well. */
__device__ __forceinline__ void mbarrier_publish_init()
{
    if constexpr (COMPILED_FOR >= 90)
        asm volatile("fence.mbarrier_init.release.cluster;\n\tfence.proxy.async.shared::cta;" ::
                         : "memory");
}

__device__ __forceinline__ void mbarrier_arrive(mbarrier *barrier)
{
    if constexpr (COMPILED_FOR >= 90)
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
                     : "memory");
}

/* Makes the phase wait for `bytes` more bytes. The caller must not have arrived in it yet. */
__device__ __forceinline__ void mbarrier_expect(mbarrier *barrier, unsigned bytes)
{
    if constexpr (COMPILED_FOR >= 90)
        asm volatile("mbarrier.expect_tx.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
                     "r"(bytes)
                     : "memory");
}

__device__ __forceinline__ void mbarrier_wait(mbarrier *barrier, unsigned parity)
{
    unsigned over = 0;
    if constexpr (COMPILED_FOR >= 90)
        while (!over)
            asm volatile("{\n\t"
                         ".reg .pred over;\n\t"
                         "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n\t"
                         "selp.u32 %0, 1, 0, over;\n\t"
                         "}"
                         : "=r"(over)
                         : "r"(shared_address(barrier)), "r"(parity)
                         : "memory");
}

/* Both addresses and the size are multiples of 16 bytes.
 *
 * The L2 is asked to evict the last read lines last, although nobody reads them again: results
 * then leave the L2 in place of the input, early and in longer runs, and DRAM switches less
 * often between reading and writing (4 % of a scan's time at 2^29 on an H200). */
__device__ __forceinline__ void bulk_copy_to_shared(void *to, const void *from, unsigned bytes,
                                                    mbarrier *barrier)
{
    if constexpr (COMPILED_FOR >= 90) {
        uint64_t policy;
        asm("createpolicy.fractional.L2::evict_last.b64 %0;" : "=l"(policy));
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
            "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(to)),
            "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(barrier)),
            "l"(policy)
            : "memory");
    }
}

/* Called by each thread that wrote to shared memory with ordinary stores, before it signals
 * that a bulk copy may overwrite the same place. */
__device__ __forceinline__ void order_writes_before_bulk_copies()
{
    if constexpr (COMPILED_FOR >= 90)
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* ---- Clusters of blocks; sm_90 ---- */

/* A barrier of all threads of the cluster, in two steps. */
__device__ __forceinline__ void cluster_arrive()
{
    if constexpr (COMPILED_FOR >= 90)
        asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

__device__ __forceinline__ void cluster_wait()
{
    if constexpr (COMPILED_FOR >= 90)
        asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* Waits for the first phase, and for what other blocks have stored in it. */
__device__ __forceinline__ void mbarrier_wait_for_cluster(mbarrier *barrier)
{
    unsigned over = 0;
    if constexpr (COMPILED_FOR >= 90)
        while (!over)
            asm volatile(
                "{\n\t"
                ".reg .pred over;\n\t"
                "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 over, [%1], 0;\n\t"
                "selp.u32 %0, 1, 0, over;\n\t"
                "}"
                : "=r"(over)
                : "r"(shared_address(barrier))
                : "memory");
}

/* The shared address in another block of what has this address here. */
__device__ __forceinline__ unsigned address_in_block(unsigned block, const void *here)
{
    unsigned there = 0;
    if constexpr (COMPILED_FOR >= 90)
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                     : "=r"(there)
                     : "r"(shared_address(here)), "r"(block));
    return there;
}

/* Stores a value of 4 or 8 bytes at the same place of another block's shared memory. It arrives as
 * so many bytes for the same barrier there. */
template <class T>
__device__ __forceinline__ void store_in_block(unsigned block, T *place, T value, mbarrier *barrier)
{
    const unsigned to = address_in_block(block, place);
    const unsigned its_barrier = address_in_block(block, barrier);
    std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t> bits;
    memcpy(&bits, &value, sizeof bits);
    if constexpr (COMPILED_FOR >= 90 && sizeof(T) == 8)
        asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, "
                     "[%2];" ::"r"(to),
                     "l"(bits), "r"(its_barrier)
                     : "memory");
    else if constexpr (COMPILED_FOR >= 90)
        asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, "
                     "[%2];" ::"r"(to),
                     "r"(bits), "r"(its_barrier)
                     : "memory");
}

#endif

} // namespace SCANBENCH_BACKEND
