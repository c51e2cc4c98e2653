/* async_copy.h: barriers in shared memory that count arrivals and bytes, and copies that
 * complete on them; the emulator's version of the PTX in kernels/single_pass/async_copy.cuh.
 *
 * A copy stays in flight until a waiting thread has checked once without success; then its
 * bytes arrive. Until then its destination holds poison, which a reader that does not wait will
 * find. */
#ifndef SCANBENCH_EMULATOR_ASYNC_COPY_H
#define SCANBENCH_EMULATOR_ASYNC_COPY_H

#include "device_functions.h"

#include <stdint.h>
#include <string.h>

inline namespace emulator_cuda
{

struct emulated_mbarrier {
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

    void init(unsigned arrivals)
    {
        *this = {};
        count = pending = arrivals;
    }

    void expect(uint32_t more)
    {
        bytes += more;
    }

    void arrive(EMULATOR_PLACE)
    {
        emulator_yield_point();
        if (pending == 0)
            __trap(file, line);
        pending--;
        complete_phase();
        emulator_yield_point(); /* whatever follows may be delayed */
    }

    void copy(void *to, const void *from, uint32_t size, EMULATOR_PLACE)
    {
        if (copy_count == MAX_COPIES || size % 16 != 0 || (uintptr_t)to % 16 != 0 ||
            (uintptr_t)from % 16 != 0)
            __trap(file, line);
        memset(to, ASYNC_POISON, size);
        copies[copy_count++] = {to, from, size};
    }

    /* A store that arrives as so many bytes, at once. */
    template <class T> void store(T *to, T value)
    {
        *to = value;
        bytes -= sizeof value;
        complete_phase();
    }

    /* Is the phase of this parity complete? */
    bool is_over(uint32_t parity) const
    {
        return (phase & 1) != parity;
    }

    void wait(uint32_t parity, EMULATOR_PLACE)
    {
        emulator_yield_point();
        while (!is_over(parity)) {
            spin_wait(file, line);
            deliver();
        }
    }

  private:
    void complete_phase()
    {
        if (pending > 0 || bytes != 0)
            return;
        pending = count;
        phase++;
    }

    void deliver()
    {
        if (copy_count == 0)
            return;
        const struct copy &arrived = copies[--copy_count];
        memcpy(arrived.to, arrived.from, arrived.bytes);
        bytes -= arrived.bytes;
        complete_phase();
    }
};

} // namespace emulator_cuda

#endif
