/* ptx.h: the emulator's version of what kernels/platform.cuh writes as PTX.
 *
 * A bulk copy stays in flight until a waiting thread has checked once without success; then its
 * bytes arrive. Until then its destination holds poison, which a reader that does not wait will
 * find. */
#pragma once

#include "device_functions.h"

#include <stdint.h>
#include <string.h>

inline namespace emulator_cuda
{

/* ---- Applications of operators (kernels/counting.cuh) ---- */

#ifdef EMULATOR_COUNTS
inline constexpr bool counts_applications = true;
#else
inline constexpr bool counts_applications = false;
#endif

/* Asked before kernels are launched that take operands: must they count? */
bool operands_must_count(void);

/* Notes `count` applications, the last of which ends a chain of `depth`. */
void note_applications(unsigned count, uint64_t depth);

/* ---- Words of memory ---- */

template <bool = false> static inline void store_word(uint64_t *word, uint64_t value)
{
    __stcg(word, value);
}

template <bool = false> static inline uint64_t load_word(const uint64_t *word)
{
    return __ldcg(word);
}

template <bool = false>
static inline void store_words(uint64_t (*words)[2], const uint64_t (&value)[2])
{
    for (unsigned w = 0; w < 2; w++)
        __stcg(&(*words)[w], value[w]);
}

template <bool = false>
static inline void load_words(const uint64_t (*words)[2], uint64_t (&value)[2])
{
    for (unsigned w = 0; w < 2; w++)
        value[w] = __ldcg(&(*words)[w]);
}

static inline void store_flag(uint32_t *flag, uint32_t number)
{
    emulator_observe_ordering(ORDER_FENCE);
    __stcg(flag, number);
}

static inline uint32_t load_flag(const uint32_t *flag)
{
    return __ldcg(flag);
}

/* ---- Arithmetic on parts of a word ---- */

template <size_t BYTES> static inline unsigned add_parts(unsigned word, unsigned sum)
{
    for (size_t b = 0; b < sizeof word; b += BYTES)
        sum += word >> 8 * b & (BYTES == 1 ? 0xFF : 0xFFFF);
    return sum;
}

/* ---- Packs ---- */

template <class Pack> static inline void store_whole(Pack *at, const Pack &values)
{
    *at = values;
}

template <class Pack> static inline void store_passing(Pack *at, const Pack &values)
{
    *at = values;
}

static inline void prefetch_to_l2(const void *)
{
}

static inline void wait_for_launch_before()
{
}

static inline void let_next_launch_begin()
{
}

/* ---- Barriers in shared memory that count arrivals and bytes, and bulk copies ----
 *
 * A GPU's barrier is one word; what is done here to keep it is not counted as accesses. */

struct mbarrier {
    enum { MAX_COPIES = 4, ASYNC_POISON = 0xCE };

    struct copy {
        void *to;
        const void *from;
        uint32_t bytes;
    };

    uint32_t count;   /* arrivals per phase */
    uint32_t pending; /* arrivals still missing in this phase */
    int64_t bytes;    /* bytes expected but not arrived */
    uint32_t phase;   /* phases completed */
    uint32_t copy_count;
    struct copy copies[MAX_COPIES];

    EMULATOR_UNCOUNTED void complete_phase()
    {
        if (pending > 0 || bytes != 0)
            return;
        pending = count;
        phase++;
    }

    EMULATOR_UNCOUNTED void deliver()
    {
        if (copy_count == 0)
            return;
        const struct copy &arrived = copies[--copy_count];
        memcpy(arrived.to, arrived.from, arrived.bytes);
        bytes -= arrived.bytes;
        complete_phase();
    }
};

EMULATOR_UNCOUNTED static inline void mbarrier_init(mbarrier *barrier, unsigned arrivals)
{
    *barrier = {};
    barrier->count = barrier->pending = arrivals;
}

static inline void mbarrier_publish_init()
{
}

EMULATOR_UNCOUNTED static inline void mbarrier_expect(mbarrier *barrier, uint32_t more)
{
    barrier->bytes += more;
}

EMULATOR_UNCOUNTED static inline void mbarrier_arrive(mbarrier *barrier, EMULATOR_PLACE)
{
    emulator_yield_point();
    if (barrier->pending == 0)
        __trap(file, line);
    emulator_observe_ordering(ORDER_RELEASE, barrier);
    barrier->pending--;
    barrier->complete_phase();
    emulator_yield_point(); /* whatever follows may be delayed */
}

EMULATOR_UNCOUNTED static inline void mbarrier_wait(mbarrier *barrier, uint32_t parity,
                                                    EMULATOR_PLACE)
{
    emulator_yield_point();
    while ((barrier->phase & 1) == parity) {
        spin_wait(file, line);
        barrier->deliver();
    }
    emulator_observe_ordering(ORDER_ACQUIRE, barrier);
}

EMULATOR_UNCOUNTED static inline void bulk_copy_to_shared(void *to, const void *from, uint32_t size,
                                                          mbarrier *barrier, EMULATOR_PLACE)
{
    if (barrier->copy_count == mbarrier::MAX_COPIES || size % 16 != 0 || (uintptr_t)to % 16 != 0 ||
        (uintptr_t)from % 16 != 0)
        __trap(file, line);
    emulator_observe_access(EMULATOR_ACCESS_BULK_LOAD, from, size);
    emulator_observe_access(EMULATOR_ACCESS_BULK_STORE, to, size);
    emulator_observe_ordering(ORDER_RELEASE, barrier);
    memset(to, mbarrier::ASYNC_POISON, size);
    barrier->copies[barrier->copy_count++] = {to, from, size};
}

/* Copies of single elements: the destination holds poison until their thread waits. In
 * collectives.cpp. */
void emulator_store_later(void *to, const void *value, size_t bytes);
void wait_for_copies();

template <class T> static inline void copy_to_shared(T *to, const T *from)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    const T value = *from;
    T poison;
    memset(&poison, mbarrier::ASYNC_POISON, sizeof poison);
    *to = poison;
    emulator_store_later(to, &value, sizeof value);
}

static inline void order_writes_before_bulk_copies()
{
}

/* ---- Clusters of blocks ---- */

void cluster_arrive(EMULATOR_PLACE);
void cluster_wait(EMULATOR_PLACE);
/* Where another block of the cluster has what is `here` in this block's shared memory. */
void *emulator_shared_of_block(const void *here, unsigned block, EMULATOR_PLACE);

EMULATOR_UNCOUNTED static inline void mbarrier_wait_for_cluster(mbarrier *barrier, EMULATOR_PLACE)
{
    mbarrier_wait(barrier, 0, file, line);
}

/* Arrives at once. Such a store is not counted. */
template <class T>
EMULATOR_UNCOUNTED static inline void store_in_block(unsigned block, T *place, T value,
                                                     mbarrier *barrier, EMULATOR_PLACE)
{
    *static_cast<T *>(emulator_shared_of_block(place, block, file, line)) = value;
    auto *its_barrier =
        static_cast<mbarrier *>(emulator_shared_of_block(barrier, block, file, line));
    emulator_observe_ordering(ORDER_RELEASE, its_barrier);
    its_barrier->bytes -= sizeof value;
    its_barrier->complete_phase();
}

} // namespace emulator_cuda
